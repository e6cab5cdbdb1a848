#!/usr/bin/env python3
"""Compares the constraint labels of docs/spec.md, of the verifiers and of the tests.

`(C3)` under the heading of `fp8.scaled_matmul` in docs/spec.md, a comment
`// scaled_matmul_c3` in a verifier and a symbol `@scaled_matmul_c3` in a test
of invalid IR are the same label; those of the plan dialect begin with `plan_`.
Exits 1, with one line a label, where one of the three lacks it.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LABEL = re.compile(r"\b[a-z_]+_c[0-9]+\b")


def labels_of_spec():
    labels, op = set(), None
    for line in (ROOT / "docs" / "spec.md").read_text().splitlines():
        heading = re.match(r"### `(\w+)\.(\w+)`", line)
        if heading:
            dialect, name = heading.groups()
            op = name if dialect == "fp8" else f"{dialect}_{name}"
        item = re.match(r"- \(C([0-9]+)\)", line)
        if item:
            labels.add(f"{op}_c{item.group(1)}")
    return labels


def labels_of_verifiers():
    labels = set()
    for path in (ROOT / "lib" / "Dialect").rglob("*.cpp"):
        for comment in re.findall(r"//([a-z0-9_, ]+)$", path.read_text(), re.M):
            labels.update(LABEL.findall(comment))
    return labels


def labels_of_tests():
    labels = set()
    for path in (ROOT / "test" / "Dialect").rglob("invalid*.mlir"):
        for symbol in re.findall(r"@([a-z0-9_]+)", path.read_text()):
            labels.update(LABEL.findall(symbol))
    return labels


def main():
    places = {
        "docs/spec.md": labels_of_spec(),
        "the verifiers": labels_of_verifiers(),
        "the tests": labels_of_tests(),
    }
    labels = sorted(set().union(*places.values()))
    missing = [
        f"{label} is not in {place}"
        for label in labels
        for place, found in places.items()
        if label not in found
    ]
    for line in missing:
        print(line, file=sys.stderr)
    if not missing:
        print(f"{len(labels)} constraints agree")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
