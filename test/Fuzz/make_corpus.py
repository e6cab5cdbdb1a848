"""Writes the graphs of test/Import as archives, what the fuzzers of archives start from: make_corpus.py FOLDER"""

import pathlib
import re
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent / "Import"


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for test in sorted(TESTS.glob("*.test")):
        text = test.read_text()
        if "Inputs/make_pt2.py" not in text:
            continue
        # Files that split-file separates, or one graph.
        parts = re.split(r"^//--- (\S+)\n", text, flags=re.M)
        graphs = zip(parts[1::2], parts[2::2]) if len(parts) > 1 else [("graph", text)]
        for name, graph in graphs:
            out = folder / f"{test.stem}-{name}.pt2"
            subprocess.run([sys.executable, TESTS / "Inputs/make_pt2.py", out], input=graph, text=True, check=True)


if __name__ == "__main__":
    main()
