"""Every tool answers --help and --version; options of fp8-run that change no result."""

import pytest

from models import Model


@pytest.mark.parametrize("name", ["fp8-opt", "fp8-compile", "fp8-run"])
def test_help_and_version(tool, name):
    out, _ = tool(name, "--help")
    assert "USAGE" in out or "usage" in out
    out, _ = tool(name, "--version")
    assert "22." in out


@pytest.mark.parametrize("model", [Model("dit_delayed"), Model("gated_mlp_dynamic"), Model("vit", core=True)], ids=str)
def test_poison(tool, tmp_path, package, model):
    """Nothing is read before it is written: 0xFF in intermediate values and outputs changes no byte."""
    files = [tmp_path / "plain.safetensors", tmp_path / "poisoned.safetensors"]
    for path, flags in zip(files, ([], ["--poison"])):
        tool("fp8-run", package, f"--inputs={model.file('inputs')}", f"--calls={model.calls}", f"--outputs={path}", *flags)
    assert files[0].read_bytes() == files[1].read_bytes()
