"""The runtime as a shared library, called by benchmarks/runtime.py."""

import sys

import pytest
import torch
from torch.export import Dim

from conftest import BUILD, SOURCE
from graphs import assert_same

sys.path.append(str(SOURCE / "benchmarks"))
import runtime  # noqa: E402

LIBRARY = BUILD / "lib" / "libfp8rt.so"


def double(x, y):
    return x + x, (x * y).to(torch.float8_e4m3fn)


def test_call(export_graph):
    """A package gives what it gives by fp8-run, at any size, and again with a bound call."""
    x, y = torch.randn(3, 5).bfloat16(), torch.randn(5).bfloat16()
    graph = export_graph(double, (x, y), ({0: Dim("rows")}, None))
    package = runtime.Package(LIBRARY, graph.package, "cpu")
    assert package.inputs == graph.inputs
    for rows in (3, 1, 17):
        x = torch.randn(rows, 5).bfloat16()
        assert_same(package(x, y), graph(x, y))
    call = package.bind(x, y)
    expected = graph(x, y)
    assert_same(call(), expected)
    assert_same(call(), expected)


def test_errors(export_graph, tmp_path):
    x, y = torch.randn(3, 5).bfloat16(), torch.randn(5).bfloat16()
    graph = export_graph(double, (x, y), ({0: Dim("rows")}, None))
    package = runtime.Package(LIBRARY, graph.package, "cpu")
    with pytest.raises(RuntimeError, match="5"):
        package(torch.randn(3, 6).bfloat16(), y)
    with pytest.raises(RuntimeError, match="missing.fp8"):
        runtime.Package(LIBRARY, tmp_path / "missing.fp8", "cpu")
