#!/usr/bin/env python3
"""Compares the table of cases in docs/cases.md with the tests.

A row `| C2 | what | files |` says that each of the files tests case C2: a Python test's name has it (`test_c2_...`), another
test says "case C2" in a comment. Exits 1, with one line a fault, where a file of a row does not have the case, or a file
that has it is not in the row.
"""

import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CASE = r"[A-G][0-9]+"


def cases_of_page():
    rows = {}
    for line in (ROOT / "docs" / "cases.md").read_text().splitlines():
        row = re.match(rf"\| ({CASE}) \|[^|]*\|(.*)\|$", line)
        if row:
            rows[row.group(1)] = set(re.findall(r"`([^`]+)`", row.group(2)))
    return rows


def cases_of_tests():
    found = collections.defaultdict(set)
    for path in (ROOT / "test").rglob("*"):
        if path.suffix not in (".py", ".mlir", ".test", ".cpp"):
            continue
        text = path.read_text()
        names = re.findall(r"^def test_((?:[a-g][0-9]+_)+)", text, re.M)
        cases = [case for name in names for case in name.strip("_").split("_")]
        cases += [case for words in re.findall(rf"\b[Cc]ases? ((?:{CASE}(?:, | and )?)+)", text)
                  for case in re.findall(CASE, words)]
        for case in cases:
            found[case.upper()].add(str(path.relative_to(ROOT / "test")))
    return found


def main():
    page, tests = cases_of_page(), cases_of_tests()
    faults = [f"{case}: docs/cases.md names {name}, which does not test it"
              for case in page for name in sorted(page[case] - tests[case])]
    faults += [f"{case}: {name} tests it, docs/cases.md does not say so"
               for case in sorted(tests) for name in sorted(tests[case] - page.get(case, set()))]
    faults += [f"{case}: no test" for case in page if not page[case]]
    print("\n".join(faults) or f"{len(page)} cases, each with its tests")
    return 1 if faults or not page else 0


if __name__ == "__main__":
    sys.exit(main())
