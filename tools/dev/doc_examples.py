#!/usr/bin/env python3
"""Checks that docs/pipeline.md shows what the compiler gives, or rewrites it.

    doc_examples.py [--update] [--bin build/bin]

The page's fenced blocks have a level after `mlir`: the block `import` is the input, each other block is what
`fp8-compile --emit=LEVEL` makes of it.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"```mlir (\w+)\n(.*?)```", re.DOTALL)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true")
    source = pathlib.Path(__file__).resolve().parents[2]
    parser.add_argument("--bin", type=pathlib.Path, default=source / "build" / "bin")
    options = parser.parse_args()
    page = source / "docs" / "pipeline.md"
    text = page.read_text()
    stale = []
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder) / "import.mlir"
        model.write_text(dict(BLOCK.findall(text))["import"])

        def current(match):
            level, shown = match.groups()
            if level == "import":
                return match.group(0)
            command = [str(options.bin / "fp8-compile"), str(model), f"--emit={level}", "-o", "-"]
            made = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip() + "\n"
            if made != shown:
                stale.append(level)
            return f"```mlir {level}\n{made}```"

        updated = BLOCK.sub(current, text)
    if options.update:
        page.write_text(updated)
    elif stale:
        sys.exit(f"docs/pipeline.md is stale at {', '.join(stale)}: run tools/dev/doc_examples.py --update")
    return 0


if __name__ == "__main__":
    sys.exit(main())
