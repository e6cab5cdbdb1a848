#!/usr/bin/env python3
"""Checks products that run as one with the kernel after them, on a GPU.

    check_joined.py [--bin build/bin] [--work DIR] [--target sm_90a] [--sanitize] [--time]

Each case is a linear layer of f8 operands and what may follow it, at sizes with and without ends of tiles. `own` joins them,
the first algorithm of the library (`fixed`) never does; sums have one order in both, so that every byte must be equal: of the
results, after 0xFF, as CUDA graphs, and of the same weights given as inputs elsewhere. Needs PyTorch for CUDA and
lib/libfp8rt.so beside --bin. --sanitize runs the small ones under compute-sanitizer; --time adds the device's time of both.
"""

import argparse
import pathlib
import re
import subprocess
import sys

import torch
import torch.nn.functional as F
from torch import nn

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(SOURCE / "benchmarks"))

E4M3 = torch.float8_e4m3fn
#: What follows, M of two batches, N, K, bias: both forms, ends of rows, columns and K.
CASES = [
    ("gelu", 8192, 2048, 2048, True), ("gelu", 2048, 2048, 1024, True), ("gelu", 8198, 2080, 1040, True),
    ("gelu", 2050, 2080, 272, False), ("gelu", 4096, 8192, 2048, True), ("gelu", 16384, 8192, 2048, True),
    ("cast", 8192, 2048, 512, False), ("cast", 2050, 2080, 528, True), ("silu", 8200, 2048, 512, False),
    ("gate", 8192, 2048, 512, True), ("gate", 2050, 2080, 272, True), ("swiglu", 8192, 2048, 512, False),
    ("bf16", 8192, 2048, 128, True), ("bf16", 2054, 2144, 16, True), ("small", 300, 8192, 256, True),
    ("divide", 2048, 2048, 256, True),
]


#: Two kernels read the product.
APART = ("swiglu",)


class Layer(nn.Module):
    def __init__(self, kind, n, k, bias):
        super().__init__()
        self.kind = kind
        self.register_buffer("weight", torch.randn(n, k).to(E4M3))
        self.register_buffer("bias", torch.randn(n).bfloat16() if bias else None)
        for name, value in {"a": 0.037, "b": 0.041, "c": 0.013}.items():
            self.register_buffer(f"scale_{name}", torch.tensor(value))

    def forward(self, x, *more):
        batch, rows, k = x.shape
        y = torch._scaled_mm(x.reshape(-1, k), self.weight.t(), scale_a=self.scale_a, scale_b=self.scale_b, bias=self.bias,
                             out_dtype=torch.bfloat16, use_fast_accum=True).reshape(batch, rows, -1)
        if self.kind in ("gelu", "small"):
            y = F.gelu(y, approximate="tanh")
        elif self.kind == "silu":
            return F.silu(y) * 0.5
        elif self.kind == "gate":
            return more[0] + more[1] * y
        elif self.kind == "swiglu":
            return ((F.silu(y) * more[0]).float() / self.scale_c).clamp(-448, 448).to(E4M3), (y + 1).abs()
        elif self.kind == "bf16":
            return y * 2 + 1
        elif self.kind == "divide":  # by what the quick way does not take
            return (y.float() / more[0]).clamp(-448, 448).to(E4M3)
        return (y.float() / self.scale_c).clamp(-448, 448).to(E4M3)

    def make_inputs(self, m, n, k):
        x = torch.randn(2, m // 2, k).to(E4M3)
        more = {"gate": (torch.randn(2, m // 2, n).bfloat16(), torch.randn(2, 1, n).bfloat16()),
                "swiglu": (torch.randn(2, m // 2, n).bfloat16(),), "divide": (torch.tensor(1e-37),)}
        return x, *more.get(self.kind, ())


def export(kind, m, n, k, bias, path):
    torch.manual_seed(0)
    with torch.device("cuda"):
        layer = Layer(kind, n, k, bias).eval()
        inputs = layer.make_inputs(m, n, k)
    rows = torch.export.Dim("rows", min=2, max=1 << 20)
    sizes = [{1: rows} if value.dim() == 3 and value.shape[1] > 1 else {} for value in inputs]
    shapes = {"x": sizes[0]} | ({"more": tuple(sizes[1:])} if sizes[1:] else {})
    with torch.no_grad():
        torch.export.save(torch.export.export(layer, inputs, dynamic_shapes=shapes), path)
    return layer, inputs


def measure(package, inputs):
    """Microseconds of the device, of a call as a CUDA graph; a rest before each."""
    call = package.bind(*inputs)
    for _ in range(3):
        call()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(4):
            call()
    times = []
    for _ in range(9):
        torch.cuda.synchronize()
        torch.cuda._sleep(20_000_000)
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) * 250)
    return sorted(times)[4]


def main():
    import runtime

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=SOURCE / "build" / "bin")
    parser.add_argument("--work", type=pathlib.Path, default=SOURCE / "build" / "check_joined")
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--sanitize", action="store_true")
    parser.add_argument("--time", action="store_true")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    library, missed = options.bin.parent / "lib" / "libfp8rt.so", 0

    def report(case, check, passed, detail=""):
        nonlocal missed
        missed += not passed
        if detail or not passed:
            print("hold" if passed else "MISS", *case, check, detail, flush=True)

    def equal(results, others):
        counts = [int((x.view(torch.uint8) != y.view(torch.uint8)).sum()) for x, y in zip(results, others)]
        return not any(counts), f"bytes that differ: {counts}" if any(counts) else ""

    for case in CASES:
        kind, m, n, k, bias = case
        path = options.work / "_".join(map(str, case))
        layer, inputs = export(*case, f"{path}.pt2")
        subprocess.run([str(options.bin / "fp8-compile"), f"{path}.pt2", "-o", f"{path}.fp8", f"--target={options.target}",
                        "--div-by-number=reciprocal"], check=True)
        load = lambda **more: runtime.Package(library, f"{path}.fp8", "cuda", **more)  # noqa: E731
        fixed = load(backends="fixed", graphs="off")(*inputs)
        with torch.no_grad():
            eager = layer(*inputs)
        report(case, "fixed against PyTorch", *equal(fixed, eager if isinstance(eager, tuple) else (eager,)))
        report(case, "own", *equal(load(backends="own", graphs="off")(*inputs), fixed))
        report(case, "own after 0xFF", *equal(load(backends="own", graphs="off", poison=True)(*inputs), fixed))
        call = load(backends="own").bind(*inputs)
        for _ in range(4):
            results = call()
        report(case, "own by graphs", *equal(results, fixed))
        report(case, "auto", *equal(load()(*inputs), fixed))
        profile = subprocess.run([str(options.bin / "fp8-run"), f"{path}.fp8", "--device=cuda", "--random", "--profile",
                                  "--backends=own", "--dim", f"x.1={m // 2}"], capture_output=True, text=True)
        joins = "as one with the product" in profile.stdout
        report(case, "joined", joins == (kind not in APART), "" if joins == (kind not in APART) else profile.stdout + profile.stderr)
        if options.time:
            times = [measure(load(backends=backends, graphs="off"), inputs) for backends in ("fixed", "own", "auto")]
            chosen = subprocess.run([str(options.bin / "fp8-run"), f"{path}.fp8", "--device=cuda", "--random", "--profile",
                                     "--dim", f"x.1={m // 2}"], capture_output=True, text=True).stdout
            tiles = re.findall(r"tiles of \d+ x \d+|cuBLASLt[^)]*", chosen)
            print(*case, "us fixed, own, auto:", *(f"{time:.1f}" for time in times), *tiles, flush=True)
        if options.sanitize and m < 3000:
            for tool in ("memcheck", "racecheck", "initcheck"):
                found = subprocess.run(["compute-sanitizer", f"--tool={tool}", "--error-exitcode=9", str(options.bin / "fp8-run"),
                                        f"{path}.fp8", "--device=cuda", "--random", "--backends=own", "--dim", f"x.1={m // 2}"],
                                       capture_output=True, text=True)
                report(case, tool, found.returncode == 0, "" if found.returncode == 0 else found.stdout[-600:] + found.stderr[-300:])
    print(f"{missed} missed")
    return missed != 0


if __name__ == "__main__":
    sys.exit(main())
