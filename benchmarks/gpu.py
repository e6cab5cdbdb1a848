"""The cases of run.py for a GPU: what is measured, and PyTorch's way to compute the same on that GPU.

    fused/KERNEL        a generated kernel at each of FUSED_SHAPES, against torch.compile; the limit is a copy of as many bytes
    product/MxNxK       an FP8 product of tensor scales (product/bf16/...: of bf16), against torch._scaled_mm (torch.mm)
    attention/BxHxSxKxD bf16 attention (.../causal), against PyTorch's cuDNN and its default
    six_linears/RECIPE/BxS, dit/RECIPE/BxS, model/NAME/RECIPE
                        two blocks of test/Models at real size, against torch.compile: a call without CUDA graphs until its
                        results are there; .../graph: the device's time of one, in a graph on both sides. One package of a
                        recipe serves all sizes; torch.compile gets each size for itself
    .../first_call      a call at a length that the package has not seen, until its results are there; the limit is 3 ms
    host/MODEL          the host's time to put a call into a busy stream; the limit is that of its launches and library calls

Both sides run in one process, in turns. Device time: one CUDA graph of many calls over sets of inputs that take 200 MB
together, on both sides, after a rest.
"""

import contextlib
import fcntl
import functools
import math
import signal
import statistics
import time

import torch
import torch.nn.functional as F
from torch import nn

E4M3 = torch.float8_e4m3fn
SET_BYTES = 200 << 20
#: One call of the driver or a library, measured on an H200's host.
RAW_US = {"launch": 3.9, "product": 9.1}


def to_f8(value, scale):
    return (value.float() / scale).clamp(-448, 448).to(E4M3)


class Product(nn.Module):
    """The weight is an input too, so that no cache holds it from call to call."""

    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.ones(1, 1))

    def forward(self, a, weight):
        return torch._scaled_mm(a, weight.t(), scale_a=self.scale, scale_b=self.scale, out_dtype=torch.bfloat16,
                                use_fast_accum=True)


class ProductBF16(nn.Module):
    def forward(self, a, weight):
        return torch.mm(a, weight.t())


class Attention(nn.Module):
    def __init__(self, causal):
        super().__init__()
        self.causal = causal

    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)


class Fused(nn.Module):
    """The kernels of the table of fused kernels, by name."""

    def __init__(self, kind, width):
        super().__init__()
        self.kind = kind
        self.register_buffer("weight", torch.randn(width).bfloat16())
        self.register_buffer("scale", torch.tensor([[6 / 448]]))

    def cast_rows(self, value):
        scale = value.abs().amax(dim=-1, keepdim=True).float().clamp(min=1e-12) / 448
        return to_f8(value, scale), scale

    def forward(self, x, *more):
        if self.kind == "rms_static":
            return to_f8(F.rms_norm(x, x.shape[-1:], self.weight, 1e-6), self.scale)
        if self.kind == "rms_row":
            return self.cast_rows(F.rms_norm(x, x.shape[-1:], self.weight, 1e-6))
        if self.kind == "gelu_static":
            return to_f8(F.gelu(x, approximate="tanh"), self.scale)
        if self.kind == "swiglu_row":
            return self.cast_rows(F.silu(x) * more[0])
        if self.kind == "cast_tensor":
            scale = x.abs().max().float().clamp(min=1e-12) / 448
            return to_f8(x, scale), scale
        if self.kind == "residual":
            x = x + more[2] * more[3]
        h = F.layer_norm(x, x.shape[-1:], eps=1e-6) * (1 + more[0]) + more[1]
        if self.kind == "adaln_static":
            return to_f8(h, self.scale)
        if self.kind == "residual":
            return x, to_f8(h, self.scale)
        return h.abs().max(), to_f8(h, self.scale)  # adaln_amax


#: Bytes an element that a kernel reads and writes.
FUSED = {"rms_static": 3, "rms_row": 3, "adaln_static": 3, "adaln_amax": 3, "gelu_static": 3, "swiglu_row": 5,
         "cast_tensor": 3, "residual": 7}
#: Rows and their length; with vectors of each batch, of 4 batches together.
FUSED_SHAPES = [(16384, 4096), (8192, 2048), (4096, 1152), (2048, 14336), (16, 8192), (256, 2048), (50000, 257)]
BATCHED = ("adaln_static", "adaln_amax", "residual")
PRODUCTS = ["8192x8192x8192", "8192x12288x2048", "8192x8192x2048", "1024x8192x2048", "256x12288x2048", "256x2048x2048",
            "16x8192x8192", "240x4096x4096", "1x4096x4096"]
ATTENTION = ["4x16x4096x4096x128", "1x32x4096x4096x128/causal", "16x16x257x257x80", "4x16x4096x77x128", "1x16x256x256x128"]
BLOCKS = {"six_linears": ["8x1024", "1x256", "1x240"], "dit": ["4x4096", "1x1024", "1x256", "1x250"]}
RECIPES = ["static", "row", "dynamic"]
#: Tokens of calls after one of 256.
NEW_LENGTHS = [250, 243, 201, 131, 255]
FIRST_CALL_US = 3000
#: Of model/: the name in test/Models and the tokens of a call.
MODELS = {"llama/bf16": ("llama", 512), "llama/row": ("llama_torchao", 512), "llama/dynamic": ("llama_torchao_tensor", 512),
          "vit/bf16": ("vit", None)}
HOST = {"six_linears_static": "six_linears/static/1x256", "dit_static": "dit/static/1x256", "dit_row": "dit/row/1x256"}
DEPTH, HIDDEN = 2, 2048


def names():
    for kind in FUSED:
        yield f"fused/{kind}"
    for size in PRODUCTS:
        yield f"product/{size}"
    for size in ("8192x8192x2048", "240x4096x4096", "1x4096x4096"):
        yield f"product/bf16/{size}"
    for size in ATTENTION:
        yield f"attention/{size}"
    for block, sizes in BLOCKS.items():
        for recipe in RECIPES:
            for size in sizes:
                yield from (f"{block}/{recipe}/{size}", f"{block}/{recipe}/{size}/graph")
            yield f"{block}/{recipe}/first_call"
    for model in MODELS:
        yield from (f"model/{model}", f"model/{model}/graph")
    for model in HOST:
        yield f"host/{model}"


def parts(case):
    """What is exported and measured apart for a case: (name of a Case, its shape); two cases may share one."""
    if case.startswith("fused/"):
        is_batched = case.removeprefix("fused/") in BATCHED
        shapes = [f"4x{rows // 4}x{width}" if is_batched else f"{rows}x{width}" for rows, width in FUSED_SHAPES]
        return [(f"{case}/{shape}", shape) for shape in shapes]
    if case.startswith("host/"):
        case = HOST[case.removeprefix("host/")]
    case = case.removesuffix("/graph")
    return [(case, "2 blocks" if case.startswith(("dit", "six", "model")) else "")]


def make_block_inputs(batch, tokens):
    return [torch.randn(*shape, HIDDEN).bfloat16() for shape in ((batch, tokens), (batch, 77), (batch,))]


class Case:
    """A module with inputs, the same for both sides."""

    def __init__(self, name):
        self.name = name
        kind, *rest = name.split("/")
        self.limit_bytes, self.compiled, self.notes = None, False, []
        torch.manual_seed(0)
        if kind == "fused":
            shape = [*map(int, rest[1].split("x"))]
            width, vector = shape[-1], (shape[0], 1, shape[-1])
            self.module = Fused(rest[0], width)
            shapes = [shape]
            if rest[0] == "swiglu_row":
                shapes.append(shape)
            if rest[0] in BATCHED:
                shapes += [vector, vector]
            if rest[0] == "residual":
                shapes += [vector, shape]
            args = [torch.randn(each).bfloat16() for each in shapes]
            self.limit_bytes, self.compiled = FUSED[rest[0]] * math.prod(shape), True
        elif kind == "product":
            m, n, k = map(int, rest[-1].split("x"))
            is_f8 = rest[0] != "bf16"
            self.module = Product() if is_f8 else ProductBF16()
            args = [to_f8(torch.randn(r, k), 1.0) if is_f8 else torch.randn(r, k).bfloat16() for r in (m, n)]
        elif kind == "attention":
            b, h, s, t, d = map(int, rest[0].split("x"))
            self.module = Attention("causal" in rest)
            args = [torch.randn(b, h, length, d).bfloat16() for length in (s, t, t)]
        elif kind == "model":
            import export

            name, tokens = MODELS["/".join(rest)]
            self.module, args, _ = export.catalogue()[name]("real", DEPTH)
            if tokens:
                args = [torch.randint(0, 32000, (1, tokens))]
            self.compiled = True
        else:
            import export

            self.module, self.exported, self.sizes = export.catalogue()[f"{kind}_{rest[0]}"]("real", DEPTH)
            is_first = rest[1] == "first_call"
            args = make_block_inputs(*map(int, ("1x256" if is_first else rest[1]).split("x")))
            self.compiled = not is_first
        self.module, self.args = self.module.cuda().eval(), tuple(arg.cuda() for arg in args)

    def archive(self):
        """Its name without what one package serves: of blocks all sizes."""
        return "_".join(self.name.split("/")[:2] if self.name.startswith(tuple(BLOCKS)) else self.name.split("/"))

    def export(self, path):
        if self.name.startswith(tuple(BLOCKS)):
            import export

            program = export.export(self.module, tuple(arg.cuda() for arg in self.exported), self.sizes)
        else:
            sizes = None
            if self.name.startswith("fused"):  # any numbers of batches and tokens
                dynamic = [{i: torch.export.Dim.AUTO for i in range(arg.dim() - 1) if arg.shape[i] > 1}
                           for arg in self.args]
                sizes = (dynamic[0], *([tuple(dynamic[1:])] if dynamic[1:] else []))
            with torch.no_grad():
                program = torch.export.export(self.module, self.args, dynamic_shapes=sizes, strict=False)
        torch.export.save(program, f"{path}.pt2")

    def save_inputs(self, path, names):
        from safetensors.torch import save_file

        save_file({name: arg.cpu() for name, arg in zip(names, self.args)}, path)

    def peers(self, modes):
        """(name, function) of each way of PyTorch's."""
        if self.compiled:
            for mode in modes:
                yield f"torch.compile {mode}", torch.compile(self.module, mode=mode, dynamic=False)
        elif self.name.endswith("first_call"):
            return
        elif self.name.startswith("attention"):
            from torch.nn.attention import SDPBackend, sdpa_kernel

            def cudnn(*args):
                with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
                    return self.module(*args)
            yield "PyTorch with cuDNN", cudnn
            yield "PyTorch's default", self.module
        else:
            yield "torch.mm" if "bf16" in self.name else "torch._scaled_mm", self.module


@contextlib.contextmanager
def taking_turns(path):
    """Processes that prepare cases at the same time use the GPU one after the other when Inductor measures its choices."""
    from torch._inductor.runtime.triton_heuristics import CachingAutotuner
    from torch._inductor.select_algorithm import AlgorithmSelectorCache

    def alone(measure):
        def measure_alone(*args, **kwargs):
            with open(path, "w") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                return measure(*args, **kwargs)
        return measure_alone
    ways = [(CachingAutotuner, "bench"), (AlgorithmSelectorCache, "benchmark_in_current_process")]
    known = [(owner, name, vars(owner)[name]) for owner, name in ways if name in vars(owner)]
    for owner, name, method in known:
        is_bound = isinstance(method, classmethod)
        setattr(owner, name, staticmethod(alone(getattr(owner, name))) if is_bound else alone(method))
    yield
    for owner, name, method in known:
        setattr(owner, name, method)


class NotReady(BaseException):
    """No Exception: Inductor takes those of its choices' compilation for its own."""


@contextlib.contextmanager
def limited(seconds):
    """Ends what runs in it after so long with NotReady; in the main thread."""
    def stop(*_):
        raise NotReady(f"not ready after {seconds:.0f} s")
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def make_sets(args, most=8):
    """Sets of the same inputs that take SET_BYTES together."""
    size = sum(arg.numel() * arg.element_size() for arg in args)
    return [args] + [tuple(arg.clone() for arg in args) for _ in range(min(most - 1, SET_BYTES // max(size, 1)))]


class Peer:
    """A function on sets of inputs, by itself and as a CUDA graph of calls, about 5 ms of them."""

    REST_S, LATENCY_S, STALL_CYCLES, HOST_CALLS = 0.02, 0.05, 10_000_000, 4

    def __init__(self, function, sets):
        # A package describes its tensors once.
        self.calls = [function.bind(*each) if hasattr(function, "bind") else functools.partial(function, *each) for each in sets]
        with torch.no_grad():
            for call in 3 * self.calls:
                call()
            torch.cuda.synchronize()
            start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start.record()
            self.calls[0]()
            stop.record()
            torch.cuda.synchronize()
            self.count = max(len(sets), min(64, int(5 / max(start.elapsed_time(stop), 1e-3))))
            self.graph, self.results = torch.cuda.CUDAGraph(), {}
            with torch.cuda.graph(self.graph):
                for i in range(self.count):  # results of a set are kept: else all calls would write the same memory
                    self.results[i % len(sets)] = self.calls[i % len(sets)]()

    def device_us(self):
        """Of a call in the graph; the graph has just run before."""
        start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        self.graph.replay()
        start.record()
        self.graph.replay()
        stop.record()
        torch.cuda.synchronize()
        return 1e3 * start.elapsed_time(stop) / self.count

    def call_us(self):
        """Of a call until its results are there, without a graph: the median."""
        times = []
        with torch.no_grad():
            while len(times) < 5 or sum(times) < self.LATENCY_S:
                call = self.calls[len(times) % len(self.calls)]
                start = time.perf_counter()
                call()
                torch.cuda.synchronize()
                times.append(time.perf_counter() - start)
        return 1e6 * statistics.median(times)

    def host_us(self):
        """To put a call into the stream of a busy device: the median of some in a row."""
        times = []
        torch.cuda._sleep(self.STALL_CYCLES)
        with torch.no_grad():
            for i in range(self.HOST_CALLS):
                call = self.calls[i % len(self.calls)]
                start = time.perf_counter()
                call()
                times.append(time.perf_counter() - start)
        torch.cuda.synchronize()
        return 1e6 * statistics.median(times)


def copy(size):
    """A device-to-device copy that reads and writes `size` bytes together (in units of 16: fewer take a slower way), as a
    function and its arguments."""
    tensors = tuple(torch.empty(size // 32 * 16, dtype=torch.uint8, device="cuda").random_() for _ in range(2))
    return lambda a, b: b.copy_(a), tensors


class Race:
    """Functions that are measured in turns: each once a round."""

    ROUNDS, MOST_SETS = 15, 64

    def __init__(self, functions, args, size=0, most_sets=MOST_SETS):
        """`functions`: name to function, all on the same inputs; a copy of `size` bytes runs with them."""
        sets = make_sets(args, most_sets)
        self.peers = {name: Peer(function, sets) for name, function in functions.items()}
        if size:
            function, tensors = copy(size)
            self.peers["copy"] = Peer(function, make_sets(tensors, most_sets))

    def run(self, rounds=range(ROUNDS), measure=Peer.device_us, rest_s=0.0):
        """Microseconds by `measure` of each in each of `rounds`."""
        times = {name: [] for name in self.peers}
        for _ in rounds:
            for name, peer in self.peers.items():
                time.sleep(rest_s)
                times[name].append(measure(peer))
        return times
