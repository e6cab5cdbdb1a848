#!/usr/bin/env python3
"""Exports dit.py with dynamic batch and tokens, with inputs and PyTorch's own outputs.

    export.py OUT

writes OUT/dit.pt2, OUT/dit.inputs.safetensors (keys: the graph's inputs), OUT/dit.outputs.safetensors and
OUT/dit.trace.safetensors, the value of every node of the graph (keys: the nodes' names).
"""

import pathlib
import sys
import warnings

import torch
from safetensors.torch import save_file
from torch.export import Dim

from dit import DiT


class Tracer(torch.fx.Interpreter):
    """Runs an exported graph and keeps the value of every node."""

    def __init__(self, module):
        super().__init__(module)
        self.values = {}

    def run_node(self, node):
        value = super().run_node(node)
        if torch.is_tensor(value) and node.op in ("placeholder", "call_function"):
            self.values[node.name] = value.detach().clone().contiguous()
        return value


def main():
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    model = DiT().eval()
    args = (torch.randn(2, 48, 256).bfloat16(), torch.randn(2, 256).bfloat16())
    batch, tokens = Dim("batch"), Dim("tokens")
    with torch.no_grad():
        program = torch.export.export(model, args, dynamic_shapes=({0: batch, 1: tokens}, {0: batch}), strict=False)
        result = model(*args)
        tracer = Tracer(program.module())
        tracer.run(*args)
    torch.export.save(program, out / "dit.pt2")
    save_file(dict(zip(program.graph_signature.user_inputs, args)), out / "dit.inputs.safetensors")
    save_file({"output0": result.contiguous()}, out / "dit.outputs.safetensors")
    save_file(tracer.values, out / "dit.trace.safetensors")
    print(f"exported {out / 'dit.pt2'}: {len(program.graph.nodes)} nodes, torch {torch.__version__}")


if __name__ == "__main__":
    main()
