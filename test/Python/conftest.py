"""What the Python tests share: the build under test and how to call its tools."""

import os
import pathlib
import subprocess

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("FP8C_BUILD_DIR", SOURCE / "build"))


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
