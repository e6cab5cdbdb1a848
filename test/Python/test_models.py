"""Exported models end to end and in lock-step with PyTorch's value of every node."""

import pytest

from models import MODELS, Model


def cases():
    """All models in both dialects."""
    return [pytest.param(name, core, id=f"{name}-{'core' if core else 'training'}")
            for core in (False, True) for name in MODELS]


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    return tmp_path_factory.mktemp("packages")


def compile_model(tool, model, folder):
    """The package of a model, compiled once a module."""
    package = folder / f"{model.name}{'.core' if model.core else ''}.fp8"
    if not package.exists():
        tool("fp8-compile", model.file("pt2"), "-o", package)
    return package


@pytest.mark.parametrize("name,core", cases())
def test_end_to_end(tool, packages, name, core):
    model = Model(name, core)
    tool("fp8-run", compile_model(tool, model, packages), f"--inputs={model.file('inputs.safetensors')}",
         f"--calls={model.calls}", f"--expect={model.file('outputs.safetensors')}",
         f"--max-distance={model.max_distance}")


@pytest.mark.parametrize("name,core", cases())
def test_lockstep(tool, packages, name, core):
    model = Model(name, core)
    state = []
    if name.endswith("delayed"):  # the trace is of the last call: it begins with PyTorch's state
        state = [f"--state-in={model.file('start.safetensors')}", f"--expect-state={model.file('state.safetensors')}"]
    tool("fp8-run", compile_model(tool, model, packages), f"--inputs={model.file('inputs.safetensors')}",
         f"--expect-trace={model.file('trace.safetensors')}", *state)
