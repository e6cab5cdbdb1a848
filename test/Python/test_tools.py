"""What holds for every tool: --help, --version, exit statuses, which files they read; options that change no result."""

import json
import struct

import pytest

from models import Model

TOOLS = ["fp8-opt", "fp8-translate", "fp8-compile", "fp8-run"]
MODEL = """func.func @forward(%x: tensor<4xf32> {fp8.name = "x"}) -> (tensor<4xf32> {fp8.name = "output0"}) {
  return %x : tensor<4xf32>
}
"""


@pytest.mark.parametrize("name", TOOLS)
def test_help_and_version(tool, name):
    out, _ = tool(name, "--help")
    # LLVM's own options are hidden.
    assert "USAGE" in out and "EXAMPLES" in out and "aarch64" not in out
    out, _ = tool(name, "--version")
    assert out.startswith("fp8c ") and "LLVM 22." in out and "plan format" in out


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "model.mlir"
    path.write_text(MODEL)
    return path


WRONG_USAGE = [(name, "--no-such-option") for name in TOOLS] + [
    ("fp8-compile", "MODEL"),
    ("fp8-compile", "MODEL", "--report", "--emit=plan"),
    *(("fp8-compile", "MODEL", "-o", "OUT", option) for option in (
        "--dim=x", "--target=sm_1", "--numerics=loose", "--recipe=best", "--report=pdf", "--emit=everything",
        "--cast-overflow=wrap", "--div-by-number=fast")),
    *(("fp8-run", "MODEL", "--random", option) for option in (
        "--dim=x", "--dim=x.0=-1", "--dim=x.0=99999999999999999999", "--device=gpu", "--device=cuda:x", "--compare=gpu",
        "--report=pdf", "--graph=maybe", "--calls=0", "--calls=many", "--random=x", "--input=x", "--max-distance=-1",
        "--benchmark=xml", "--target=sm_1")),
    ("fp8-run", "MODEL", "--dim=x.0=4"),
]


@pytest.mark.parametrize("line", WRONG_USAGE, ids=" ".join)
def test_wrong_usage(tool, tmp_path, source, line):
    out = tmp_path / "out.fp8"
    _, errors = tool(*(str({"MODEL": source, "OUT": out}.get(part, part)) for part in line), status=2)
    assert errors.count("\n") == 1 and not out.exists(), errors


def test_report_goes_to_a_file(tool, tmp_path, source):
    """In the same way from both tools."""
    package, compiled, kept = (tmp_path / name for name in ("out.fp8", "compiled.html", "kept.html"))
    tool("fp8-compile", source, "-o", package, f"--report=html:{compiled}")
    tool("fp8-run", package, f"--report=html:{kept}")
    assert compiled.read_text() == kept.read_text() != ""


def deep(open_, close):
    return open_ * 20000 + close * 20000


TOO_DEEP = {
    "modules": deep("module {", "}"),
    "attributes": "module attributes {a = " + deep("[", "]") + "} {}",
    "types": "func.func private @f(" + deep("tuple<", ">") + ")",
    "expressions": "#m = affine_map<(d0) -> (" + deep("(", ")") + ")>",
}


@pytest.mark.parametrize("name", TOO_DEEP)
@pytest.mark.parametrize("line", [("fp8-opt",), ("fp8-translate", "--plan-to-ptx"), ("fp8-compile", "-o", "-"), ("fp8-run",)],
                         ids=lambda line: line[0])
def test_nesting(tool, tmp_path, name, line):
    path = tmp_path / "deep.mlir"
    path.write_text(TOO_DEEP[name])
    _, errors = tool(*line, path, status=1)
    assert "line 1 nests deeper than 256" in errors and errors.count("\n") == 1


def test_brackets_that_nest_nothing(tool, tmp_path):
    path = tmp_path / "flat.mlir"
    text = "module attributes {a = \"" + "[" * 1000 + "\\\"" + "(" * 1000 + "\"} {}  // " + "{" * 1000 + "\n"
    text += "#s = affine_set<(d0) : (d0 >= 0, 9 - d0 >= 0)>\n" * 300
    path.write_text(text + "// -----\nmodule {\n" * 300)
    tool("fp8-opt", "--split-input-file", "--verify-diagnostics=only-expected", path)


FILES = {
    "endless": ("fp8-compile", "/dev/zero", "-o", "-", "is neither a regular file nor a pipe"),
    "endless, run": ("fp8-run", "/dev/zero", "is not a regular file"),
    "endless, opt": ("fp8-opt", "/dev/zero", "is neither a regular file nor a pipe"),
    "endless, translate": ("fp8-translate", "--import-pt2", "/dev/zero", "is neither a regular file nor a pipe"),
    "endless inputs": ("fp8-run", "MODEL", "--inputs=/dev/zero", "neither a regular file nor a pipe"),
    "endless input": ("fp8-run", "MODEL", "--input=x=/dev/zero", "neither a regular file nor a pipe"),
    "a package": ("fp8-compile", "PACKAGE", "-o", "-", "is a package, which is compiled already; fp8-run runs it"),
    "text of another name": ("fp8-compile", "TEXT", "-o", "-", "is neither an archive of torch.export.save"),
    "weights without an archive": ("fp8-compile", "WEIGHTS", "-o", "-", "compile the .pt2 that it comes from"),
}


@pytest.mark.parametrize("name", FILES)
def test_files_that_are_refused(tool, tmp_path, source, name):
    paths = {"MODEL": source, "PACKAGE": tmp_path / "out.fp8", "TEXT": tmp_path / "model.txt", "WEIGHTS": tmp_path / "w.mlir"}
    paths["TEXT"].write_text(MODEL)
    paths["WEIGHTS"].write_text('fp8.global weight @w source = "data/weights/weight_0" : tensor<4xf32>\n' + MODEL)
    tool("fp8-compile", source, "-o", paths["PACKAGE"])
    *line, message = FILES[name]
    _, errors = tool(*(str(paths.get(part, part)) for part in line), status=1)
    assert message in errors, errors


def test_a_file_is_what_it_holds(tool, tmp_path, source):
    """Whatever its name says."""
    package = tmp_path / "package.bin"
    tool("fp8-compile", source, "-o", package)
    out, _ = tool("fp8-run", package, "--list")
    assert "output0" in out


def safetensors(header, data=bytes(32)):
    text = header if isinstance(header, str) else json.dumps(header)
    return struct.pack("<Q", len(text)) + text.encode() + data


def entry(begin, end, dtype="F32"):
    return {"dtype": dtype, "shape": [4], "data_offsets": [begin, end]}


TENSORS = {
    "hole": (safetensors({"x": entry(16, 32)}), 'tensor "x": its data begins at byte 16, expected 0'),
    "overlap": (safetensors({"x": entry(0, 16), "y": entry(8, 24)}), 'tensor "y": its data begins at byte 8, expected 16'),
    "rest": (safetensors({"x": entry(0, 16)}), "has 32 bytes of data, its tensors take 16"),
    "twice": (safetensors('{"x": %s, "x": %s}' % ((json.dumps(entry(0, 16)),) * 2)), 'the header has the key "x" twice'),
    "twice inside": (safetensors('{"x": {"dtype": "F32", "dtype": "F16", "shape": [4], "data_offsets": [0, 32]}}'),
                     'the header has the key "dtype" twice'),
    "dtype": (safetensors({"x": entry(0, 32, "C64")}), 'tensor "x": has the dtype "C64", expected one of BOOL, U8, I8'),
    "header": (struct.pack("<Q", 1 << 60) + bytes(64), "header of 1152921504606846976 bytes in a file of 72"),
}


@pytest.mark.parametrize("name", TENSORS)
def test_safetensors_that_are_refused(tool, tmp_path, source, name):
    content, message = TENSORS[name]
    path = tmp_path / "inputs.safetensors"
    path.write_bytes(content)
    _, errors = tool("fp8-run", source, f"--inputs={path}", status=1)
    assert errors.startswith(f'fp8-run: "{path}": ') and message in errors and errors.count("\n") == 1, errors


def test_safetensors_with_metadata(tool, tmp_path, source):
    path = tmp_path / "inputs.safetensors"
    path.write_bytes(safetensors({"__metadata__": {"format": "pt"}, "x": entry(0, 16)}, bytes(16)))
    tool("fp8-run", source, f"--inputs={path}", "--outputs=" + str(tmp_path / "out.safetensors"))


@pytest.mark.parametrize("model", [Model("dit_delayed"), Model("gated_mlp_dynamic"), Model("vit", core=True)], ids=str)
def test_poison(tool, tmp_path, package, model):
    """Nothing is read before it is written: 0xFF in intermediate values and outputs changes no byte."""
    files = [tmp_path / "plain.safetensors", tmp_path / "poisoned.safetensors"]
    for path, flags in zip(files, ([], ["--poison"])):
        tool("fp8-run", package, f"--inputs={model.file('inputs')}", f"--calls={model.calls}", f"--outputs={path}", *flags)
    assert files[0].read_bytes() == files[1].read_bytes()
