#!/usr/bin/env python3
"""Measures choices for generated GPU kernels, which LaunchChoices.cpp has the defaults of.

    tune_kernels.py CASE ... [--grid threads=64,128 rows=1,4,8 stages=0,2 ...] [--grid ...] [--target sm_90a]
                    [--rounds 7] [--best 12] [--bin build/bin] [--json FILE]

CASE is one of benchmarks/gpu.py with its shape: fused/rms_row/8192x2048. It is compiled once as it is and once for each
combination of each grid (fp8-compile --launch), and all of them and a copy of as many bytes run in turns in this process:
device time, CUDA graphs of many calls over the same sets of inputs. Choices that give equal code run once. Prints the
fastest with time, share of the copy and ratio to the default, each the median of those of a round. What a kernel cannot do
(a number of threads that does not divide its row) leaves its default.

threads: of a row; width: elements of a vector; vectors: of a thread, in elementwise kernels; rows: most rows a block does;
stages: rows brought ahead by bulk copies (0 or 2); blocks: a multiprocessor's, that registers suffice for; wave: tasks that
run at a time; ahead: reads all operands before the first reduction; beside: casts of all vectors side by side; dependent:
programmatic dependent launch; cluster: blocks that share a row; few: in launches of at most so many.
"""

import argparse
import concurrent.futures
import hashlib
import itertools
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import zipfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "benchmarks"))


def parse(grid):
    """Every combination, spelled for fp8-compile."""
    names, values = [], []
    for part in grid:
        name, _, numbers = part.partition("=")
        if not numbers:
            sys.exit(f"--grid {part}: expected name=number,...")
        names.append(name)
        values.append(numbers.split(","))
    for numbers in itertools.product(*values):
        yield "{" + ", ".join(f"{name} = {number}" for name, number in zip(names, numbers)) + "}"


class Tuner:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder

    def compile(self, numbered):
        """The package of a choice, and what its code is."""
        number, choice = numbered
        package = self.folder / f"{number}.fp8"
        flags = [f"--launch={choice}"] if choice else []
        done = subprocess.run([self.options.bin / "fp8-compile", self.folder / "case.pt2", f"--target={self.options.target}",
                               "--div-by-number=reciprocal", *flags, "-o", package], stderr=subprocess.PIPE, text=True)
        if done.returncode:
            sys.exit(done.stderr.strip())
        with zipfile.ZipFile(package) as file:
            code = hashlib.sha256(b"".join(file.read(name) for name in sorted(file.namelist())
                                           if name.endswith((".ptx", ".fb")))).hexdigest()
        return package, code

    def run(self, name):
        """Rows of a case."""
        import gpu
        import runtime

        case = gpu.Case(name)
        case.export(self.folder / "case")
        choices = ["", *dict.fromkeys(itertools.chain.from_iterable(map(parse, self.options.grid)))]
        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            made = list(pool.map(self.compile, enumerate(choices)))
        packages = {}
        for choice, (package, code) in zip(choices, made):
            packages.setdefault(code, (choice, package))
        library = self.options.bin.parent / "lib" / "libfp8rt.so"
        race = gpu.Race({choice: runtime.Package(library, package, "cuda", graphs="off") for choice, package in packages.values()},
                        case.args, case.limit_bytes)
        times = race.run(range(self.options.rounds))
        copy, default = times.pop("copy"), times[""]

        def ratio(left, right):
            return statistics.median(a / b for a, b in zip(left, right))
        rows = [{"case": name, "choice": choice or "default", "us": statistics.median(values), "share": ratio(copy, values),
                 "ratio": ratio(values, default)} for choice, values in times.items()]
        return sorted(rows, key=lambda row: row["ratio"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", nargs="+")
    parser.add_argument("--grid", nargs="*", action="append", help="name=number,...: what is tried; several times: each")
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--best", type=int, default=12, help="rows to print of a case, the default's besides")
    parser.add_argument("--bin", type=pathlib.Path, default=SOURCE / "build" / "bin")
    parser.add_argument("--json", type=pathlib.Path, help="also write all rows there")
    options = parser.parse_args()
    options.grid = options.grid or [["dependent=0,1"]]
    everything = []
    for name in options.case:
        with tempfile.TemporaryDirectory() as folder:
            rows = Tuner(options, pathlib.Path(folder)).run(name)
        print(name)
        for i, row in enumerate(rows):
            if i < options.best or row["choice"] == "default":
                print(f"{row['us']:10.2f} us  {row['share']:.3f}  {row['ratio']:.3f}  {row['choice']}", flush=True)
        everything += rows
        if options.json:
            options.json.write_text(json.dumps(everything, indent=1))


if __name__ == "__main__":
    main()
