"""Every tool answers --help and --version."""

import pytest


@pytest.mark.parametrize("name", ["fp8-opt", "fp8-compile", "fp8-run"])
def test_help_and_version(tool, name):
    out, _ = tool(name, "--help")
    assert "USAGE" in out or "usage" in out
    out, _ = tool(name, "--version")
    assert "22." in out
