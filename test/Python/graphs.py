"""Small graphs: exported by PyTorch or written as text, compiled, run, their bytes shown."""

import subprocess
import sys

import numpy
import torch
from safetensors.torch import load_file, save_file

from models import SOURCE

E4, E5 = torch.float8_e4m3fn, torch.float8_e5m2
NAN = float("nan")
INF = float("inf")


class Function(torch.nn.Module):
    """A module of a function; `buffers` are attributes of its first argument."""

    def __init__(self, function, **buffers):
        super().__init__()
        self.function = function
        for name, value in buffers.items():
            self.register_buffer(name, value)

    def forward(self, *args):
        return self.function(self, *args) if self._buffers else self.function(*args)


class Graph:
    """A compiled graph."""

    def __init__(self, tool, folder, archive, flags=()):
        self.tool, self.folder, self.archive, self.flags = tool, folder, archive, flags
        self.package = folder / "graph.fp8"
        tool("fp8-compile", archive, "-o", self.package, *flags)
        signature, _ = tool("fp8-run", self.package, "--list")
        self.inputs = [line.split()[1] for line in signature.splitlines() if line.startswith("input ")]

    @classmethod
    def export(cls, tool, folder, module, args, shapes=None, core=False, flags=()):
        module = module if isinstance(module, torch.nn.Module) else Function(module)
        if isinstance(module, Function):
            shapes = shapes and (tuple(shapes),)  # its arguments are one tuple
        program = torch.export.export(module, args, dynamic_shapes=shapes, strict=False)
        program = program.run_decompositions() if core else program
        torch.export.save(program, folder / "graph.pt2")
        graph = cls(tool, folder, folder / "graph.pt2", flags)
        graph.module = program.module()  # what PyTorch runs: of core ATen not always the bytes of eager
        return graph

    @classmethod
    def parse(cls, tool, folder, text, flags=()):
        """Of the text that make_pt2.py reads: what torch itself would refuse to export."""
        script = SOURCE / "test" / "Import" / "Inputs" / "make_pt2.py"
        subprocess.run([sys.executable, script, folder / "graph.pt2"], input=text, text=True, check=True)
        return cls(tool, folder, folder / "graph.pt2", flags)

    def run(self, tensors, *options, status=0):
        path = self.folder / "inputs.safetensors"
        # Copies: safetensors refuses tensors that share memory.
        save_file({name: t.contiguous().clone() for name, t in zip(self.inputs, tensors, strict=True)}, path)
        return self.tool("fp8-run", self.package, f"--inputs={path}", *options, status=status)

    def __call__(self, *tensors):
        """The outputs; state begins with its initial value."""
        path = self.folder / "outputs.safetensors"
        self.run(tensors, f"--outputs={path}")
        outputs = load_file(path)
        return [outputs[f"output{i}"] for i in range(len(outputs))]

    def step(self, state, *tensors):
        """(outputs, state after the call); `state` of None is the initial one."""
        paths = {key: self.folder / f"{key}.safetensors" for key in ("outputs", "before", "after")}
        options = [f"--outputs={paths['outputs']}", f"--state-out={paths['after']}"]
        if state is not None:
            save_file(state, paths["before"])
            options.append(f"--state-in={paths['before']}")
        self.run(tensors, *options)
        outputs = load_file(paths["outputs"])
        return [outputs[f"output{i}"] for i in range(len(outputs))], load_file(paths["after"])

    def error(self, *tensors):
        """The message of a call that fails."""
        _, errors = self.run(tensors, status=1)
        return errors

    def emit(self, level):
        text, _ = self.tool("fp8-compile", self.archive, f"--emit={level}", "-o", "-", *self.flags)
        return text


def codes(tensor):
    """The bytes of an f8 tensor as text; a NaN is NaN, whatever its code."""
    pairs = zip(tensor.flatten().view(torch.uint8).tolist(), tensor.flatten().float().isnan().tolist())
    return " ".join("NaN" if nan else f"{code:02X}" for code, nan in pairs)


def f32(*values):
    """A number, or the bits of one as an int of 8 hex digits' size."""
    bits = [v if isinstance(v, int) and v > 0xFFFF else int(numpy.float32(v).view(numpy.uint32)) for v in values]
    return torch.from_numpy(numpy.array(bits, numpy.uint32).view(numpy.float32))


def assert_same(got, expected):
    """Equal dtypes, shapes and bytes, but for which NaN it is."""
    assert len(got) == len(expected)
    for a, b in zip(got, expected):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        unsigned = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[a.element_size()]
        nan_a, nan_b = (t.float().isnan() for t in (a, b))
        assert torch.equal(nan_a, nan_b), f"NaN: got {a}, expected {b}"
        same = (a.contiguous().view(unsigned) == b.contiguous().view(unsigned)) | nan_a
        assert same.all(), f"{int((~same).sum())} of {same.numel()} values differ: got {a}, expected {b}"


def integers(shape, largest=8, seed=0):
    """Whole numbers that are exact in f8, of both signs, in f32."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(-largest, largest + 1, shape, generator=generator).float()
