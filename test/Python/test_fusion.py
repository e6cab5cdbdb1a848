"""Fusion, model by model, in both dialects: every scaled cast of an activation sits in the kernel of its producer, with
its row amax if it has one. Casts that are left alone are counted, each with its reason."""

import collections
import json
import re

import pytest

from models import Model, all_models

REASONS = {
    "its input is the graph input": "input",
    "its input is the result of fp8.attention": "attention",
    "its scale needs the amax of the whole tensor first": "amax first",
}

# Casts a model: fused with their producer, and left because they read a graph input, an attention's result, or wait for
# the amax of the whole tensor.
# The six linears read a context twice, with equal scales once the amax is the tensor's own: one cast.
EXPECTED = {
    "six_linears_static": {"fused": 10, "input": 2},
    "six_linears_dynamic": {"amax first": 9, "input": 1},
    "six_linears_row": {"fused": 9, "input": 1},
    "six_linears_row_v2": {"fused": 9, "input": 1},
    "six_linears_block": {"fused": 9, "input": 1},
    "six_linears_delayed": {"fused": 10, "input": 2},
    "gated_mlp_static": {"fused": 3},
    "gated_mlp_dynamic": {"amax first": 2},
    "gated_mlp_row": {"fused": 2},
    "gated_mlp_row_v2": {"fused": 2},
    "gated_mlp_block": {"fused": 2},
    "gated_mlp_delayed": {"fused": 3},
    "dit_static": {"fused": 10, "attention": 4, "input": 2},
    "dit_dynamic": {"amax first": 9, "attention": 4, "input": 1},
    "dit_row": {"fused": 9, "attention": 4, "input": 1},
    "dit_row_v2": {"fused": 9, "attention": 4, "input": 1},
    "dit_block": {"fused": 9, "attention": 4, "input": 1},
    "dit_delayed": {"fused": 10, "attention": 4, "input": 2},
    "llama_torchao": {"fused": 7, "attention": 2},
    "llama_torchao_tensor": {"amax first": 7, "attention": 2},
    # No cast of an activation: bf16, or f8 weights that their products decode.
    **{f"{model}_{linear}": {} for model in ("six_linears", "gated_mlp", "dit") for linear in ("bf16", "weight_only")},
    "vit": {},
    "llama": {},
}


def classify(row):
    if row["fused"]:
        return "fused"
    for text, name in REASONS.items():
        if row["reason"].startswith(text):
            return name
    return row["reason"]


def get_report(tool, model):
    return json.loads(tool("fp8-compile", model.file("pt2"), "--report=json")[0])


def get_kernels(tool, model):
    """The text of each kernel of @forward, and the lines outside of kernels."""
    text = tool("fp8-compile", model.file("pt2"), "--emit=kernels", "-o", "-")[0]
    forward = re.search(r"^  func.func @forward.*?^  }", text, re.MULTILINE | re.DOTALL).group(0)
    kernels = re.findall(r"^    [^\n]*= fp8\.kernel \(.*?^    }", forward, re.MULTILINE | re.DOTALL)
    outside = re.sub(r"^    [^\n]*= fp8\.kernel \(.*?^    }", "", forward, flags=re.MULTILINE | re.DOTALL)
    return kernels, outside


def is_cast(line):
    return re.search(r"fp8\.cast .* to f8|fp8\.quantize", line)


@pytest.mark.parametrize("model", all_models(), ids=str)
def test_casts_sit_with_their_producers(tool, model):
    name = model.name
    kernels, outside = get_kernels(tool, model)
    assert not any(map(is_cast, outside.splitlines()))
    report = get_report(tool, model)
    casts = [row for row in report["casts"] if row["function"] == "forward" and row["what"] == "cast"]
    assert collections.Counter(map(classify, casts)) == EXPECTED[name]
    # The report has a row a cast of the IR.
    in_ir = sum(bool(is_cast(line)) for kernel in kernels for line in kernel.splitlines())
    assert len(casts) == in_ir
    fused = sum(row["fused"] for row in casts)
    assert (report["counts"]["casts_fused"], report["counts"]["casts_left"]) == (fused, len(casts) - fused)
    amaxs = [row for row in report["casts"] if row["function"] == "forward" and row["what"] == "amax"]
    fused = sum(row["fused"] for row in amaxs)
    assert (report["counts"]["amaxs_fused"], report["counts"]["amaxs_left"]) == (fused, len(amaxs) - fused)
    # A row's amax, or a block's, is taken where it is cast.
    if name.endswith(("row", "row_v2", "block")) or name == "llama_torchao":
        for kernel in kernels:
            if is_cast(kernel):
                assert "math.absf" in kernel and "arith.maximumf" in kernel
        assert {row["input"] for row in amaxs} <= {row["input"] for row in casts} and amaxs
    # A tensor's amax is taken where the tensor is made.
    for row in amaxs:
        assert classify(row) in ("fused", "input", "attention"), row


@pytest.mark.parametrize("model", [Model("dit_row")], ids=str)
def test_report_says_what_became_of_a_model(tool, tmp_path, model):
    report = get_report(tool, model)
    before, after = report["traffic"]["before"], report["traffic"]["after"]
    assert after["launches"] < before["launches"]
    assert 0 < after["total"]["value"] < before["total"]["value"]
    assert all(symbol["name"] in after["total"]["expr"] for symbol in report["symbols"])
    assert all(symbol["hint"] == report["sizes"][symbol["name"]] for symbol in report["symbols"])
    products = report["products"]
    assert {row["a"] for row in products} == {"f8E4M3FN"}
    assert all(row["back_end"] and row["reason"] for row in products + report["attention"])
    nodes = {node for row in report["kernels"] for node in row["nodes"]}
    assert {row["node"] for row in report["casts"] if row["function"] == "forward" and row["what"] == "cast"} <= nodes
    assert all(row["reason"] for row in report["decisions"] if row["kind"] == "missed")
    assert 0 < report["memory"]["live_at_once"] <= report["memory"]["buffers"]["value"]

    # The package keeps it; people read it as text or html.
    package = tmp_path / "model.fp8"
    _, errors = tool("fp8-compile", model.file("pt2"), "-o", package)
    assert errors == ""
    assert json.loads(tool("fp8-run", package, "--report=json")[0]) == report
    text = tool("fp8-run", package, "--report")[0]
    assert f"casts to f8: {report['counts']['casts_fused']} fused" in text
    page = tmp_path / "report.html"
    tool("fp8-compile", model.file("pt2"), f"--report=html:{page}")
    assert "its input is the graph input 'context'" in page.read_text()


@pytest.mark.parametrize("model", [Model("six_linears_delayed")], ids=str)
def test_report_has_the_state(tool, model):
    state = get_report(tool, model)["state"]
    assert len(state) == 24 and all(row["type"] for row in state)


@pytest.mark.parametrize("model", [Model("six_linears_bf16"), Model("six_linears_weight_only")], ids=str)
def test_package_without_f8_products_gets_a_warning(tool, tmp_path, model):
    _, errors = tool("fp8-compile", model.file("pt2"), "-o", tmp_path / "model.fp8")
    if model.name.endswith("bf16"):
        assert "warning: no product in the package has an f8 operand" in errors
    else:
        assert errors == ""


@pytest.mark.parametrize("model", [Model("six_linears_bf16")], ids=str)
def test_report_rejects_other_formats(tool, model):
    _, errors = tool("fp8-compile", model.file("pt2"), "--report=xml", status=2)
    assert "--report=xml: expected text, json or html" in errors
