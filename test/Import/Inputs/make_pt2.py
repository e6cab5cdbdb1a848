"""Writes a .pt2 archive of user inputs and nodes from a few lines of text, without torch.

    make_pt2.py OUT.pt2 < GRAPH

    %x = input bf16[s0, 64]
    %y = aten.gelu.default(self=%x, approximate="tanh") -> bf16[s0, 64]
    %a, %b = aten.chunk.default(self=%x, chunks=2, dim=1) -> bf16[s0, 32], bf16[s0, 32]
    %n = aten.sym_size.int(self=%x, dim=0) -> size s0
    %z = aten.select.int(self=%x, dim=0, index=@n) -> bf16[64]
    guard L['x'].size()[0] >= 2
    return %y

Values of arguments: %name a tensor, @name a size, [..] a list of integers or tensors, a number, True, False, None, "text", and a dtype
as !bf16. A size is a number, a product of symbols as srepr, or another expression as Python, `floordiv` for `//`.
"""

import json
import re
import sys
import zipfile

DTYPES = {"u8": 1, "i8": 2, "i32": 4, "i64": 5, "f16": 6, "f32": 7, "f64": 8, "bool": 12, "bf16": 13, "e4m3": 29,
          "e5m2": 30, "e8m0": 33}


def size(text):
    if re.fullmatch(r"-?\d+", text):
        return {"as_int": int(text)}
    if not re.fullmatch(r"[\w*]+", text) or "floordiv" in text:
        return {"as_expr": {"expr_str": text.replace("floordiv", "//"), "hint": None}}
    symbols = ", ".join(f"Symbol('{s}', positive=True, integer=True)" for s in text.split("*"))
    return {"as_expr": {"expr_str": symbols if "*" not in text else f"Mul({symbols})", "hint": None}}


def meta(text):
    dtype, sizes = re.fullmatch(r"(\w+)\[(.*)\]", text.strip()).groups()
    sizes = [size(s.strip()) for s in re.split(r",(?![^(]*\))", sizes) if s.strip()]
    return {"dtype": DTYPES[dtype], "sizes": sizes, "requires_grad": False, "device": {"type": "cpu", "index": None},
            "strides": [{"as_int": 1}] * len(sizes), "storage_offset": {"as_int": 0}, "layout": 7}


def split(text):
    return [part.strip() for part in re.split(r",(?![^\[]*\])(?=(?:[^\"]*\"[^\"]*\")*[^\"]*$)", text) if part.strip()]


def value(text):
    if text.startswith("["):
        parts = split(text[1:-1].replace("[", "").replace("]", ""))
        if parts and all(part.startswith("%") for part in parts):
            return {"as_tensors": [{"name": part[1:]} for part in parts]}
        return {"as_ints": [int(part) for part in parts]}
    if text.startswith("%"):
        return {"as_tensor": {"name": text[1:]}}
    if text.startswith("@"):
        return {"as_sym_int": {"as_name": text[1:]}}
    if text.startswith("!"):
        return {"as_scalar_type": DTYPES[text[1:]]}
    if text.startswith('"'):
        return {"as_string": text[1:-1]}
    if text in ("True", "False"):
        return {"as_bool": text == "True"}
    if text == "None":
        return {"as_none": True}
    return {"as_int": int(text)} if re.fullmatch(r"-?\d+", text) else {"as_float": float(text)}


def main():
    tensors, sizes, inputs, nodes, returned, symbols, guards = {}, {}, [], [], [], set(), []
    for number, line in enumerate(sys.stdin, 1):
        line = line.split("//")[0].strip()
        if not line:
            continue
        if line.startswith("guard "):
            guards.append(line[len("guard "):].replace("floordiv", "//"))
            continue
        symbols.update(re.findall(r"\bs\d+\b", line))
        if line.startswith("return"):
            returned = [part[1:] for part in split(line[len("return"):])]
            continue
        names, rest = line.split(" = ", 1)
        names = [name.strip()[1:] for name in names.split(",")]
        if rest.startswith("input "):
            inputs.append(names[0])
            tensors[names[0]] = meta(rest[len("input "):])
            continue
        target, arguments, results = re.fullmatch(r"([\w.]+)\((.*)\) -> (.*)", rest).groups()
        if results.startswith("size "):
            sizes[names[0]] = size(results[len("size "):])
            outputs = [{"as_sym_int": {"as_name": names[0]}}]
        else:
            tensors.update((name, meta(result)) for name, result in zip(names, split(results)))
            outputs = [{"as_tensor": {"name": name}} for name in names]
        if any(word in target for word in ("chunk", "split", "unbind")):
            outputs = [{"as_tensors": [{"name": name} for name in names]}]
        bound = [argument.split("=", 1) for argument in split(arguments)]
        nodes.append({
            "target": "torch.ops." + target,
            "inputs": [{"name": name.strip(), "arg": value(text.strip()), "kind": 1} for name, text in bound],
            "outputs": outputs, "name": names[0], "is_hop_single_tensor_return": None,
            "metadata": {"stack_trace": f'File "model.py", line {number}, in forward\n    {line}'}})
    graph = {"inputs": [{"as_tensor": {"name": name}} for name in inputs],
             "outputs": [{"as_tensor": {"name": name}} for name in returned], "nodes": nodes, "tensor_values": tensors,
             "sym_int_values": sizes, "sym_bool_values": {}, "sym_float_values": {}, "custom_obj_values": {},
             "is_single_tensor_return": False}
    signature = {"input_specs": [{"user_input": {"arg": {"as_tensor": {"name": name}}}} for name in inputs],
                 "output_specs": [{"user_output": {"arg": {"as_tensor": {"name": name}}}} for name in returned]}
    program = {"graph_module": {"graph": graph, "signature": signature, "module_call_graph": [], "metadata": {},
                                "treespec_namedtuple_fields": {}},
               "opset_version": {"aten": 10}, "schema_version": {"major": 8, "minor": 20}, "verifiers": ["TRAINING"],
               "range_constraints": {s: {"min_val": 0, "max_val": None} for s in sorted(symbols)},
               "torch_version": "2.15.0", "guards_code": guards}
    with zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_STORED) as archive:
        def add(name, text):
            archive.writestr("model/" + name, text)
        add("archive_format", "pt2")
        add("archive_version", "0")
        add("byteorder", "little")
        add(".data/version", "3\n")
        add("models/model.json", json.dumps(program))
        add("data/weights/model_weights_config.json", '{"config": {}}')
        add("data/constants/model_constants_config.json", '{"config": {}}')


if __name__ == "__main__":
    main()
