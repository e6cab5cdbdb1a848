"""What the Python tests share: the build under test, its tools, the exported models and their packages."""

import os
import pathlib
import re
import subprocess

import pytest

from graphs import Graph
from models import Model, export

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("FP8C_BUILD_DIR", SOURCE / "build"))


def get_models(item):
    """The models among a test's parameters."""
    params = item.callspec.params if hasattr(item, "callspec") else {}
    return [value for value in params.values() if isinstance(value, Model)]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """All tests of a model run in one process, which compiles it once."""
    for item in items:
        for model in get_models(item):
            item.add_marker(pytest.mark.xdist_group(str(model)))


def pytest_collection_finish(session):
    if not session.config.option.collectonly:
        export([model for item in session.items for model in get_models(item)])


def run_tool(name, *args, status=0):
    """Runs a tool of the build; fails the test on another exit status. Returns (stdout, stderr)."""
    result = subprocess.run([str(BUILD / "bin" / name), *map(str, args)], capture_output=True, text=True)
    assert result.returncode == status, (
        f"{name} {' '.join(map(str, args))}: exit {result.returncode}\n{result.stdout}\n{result.stderr}")
    return result.stdout, result.stderr


@pytest.fixture
def tool():
    """`tool("fp8-run", "--help")`."""
    return run_tool


@pytest.fixture(scope="session")
def packages(tmp_path_factory):
    return tmp_path_factory.mktemp("packages")


@pytest.fixture
def package(packages, model):
    """The package of the test's model, compiled once."""
    path = packages / f"{model}.fp8"
    if not path.exists():
        run_tool("fp8-compile", model.file("pt2"), "-o", path)
    return path


@pytest.fixture
def lockstep(tool, package, model):
    """`lockstep(size)`: the model against PyTorch's value of every node at that size; every product is compared."""
    def run(size=None):
        state = []
        if model.has_state:  # the trace is of the last call: it begins with PyTorch's state
            state = [f"--state-in={model.file('start', size)}", f"--expect-state={model.file('state', size)}"]
        rows, _ = tool("fp8-run", package, f"--inputs={model.file('inputs', size)}",
                       f"--expect-trace={model.file('trace', size)}", *state)
        unseen = re.findall(r".*(?:matmul|attention) +no counterpart.*", rows)
        # ViT's patches: the graph has the product transposed.
        assert len(unseen) == (1 if model.name == "vit" else 0), unseen
    return run


@pytest.fixture(params=["training", "core"])
def export_graph(tool, tmp_path, request):
    """`export_graph(function, args)`: exported in each dialect and compiled."""
    def make(module, args, shapes=None, flags=()):
        return Graph.export(tool, tmp_path, module, args, shapes, request.param == "core", flags)
    return make


@pytest.fixture
def parse_graph(tool, tmp_path):
    """`parse_graph(text)`: of make_pt2.py's text, compiled."""
    return lambda text, flags=(): Graph.parse(tool, tmp_path, text, flags)
