#!/usr/bin/env python3
"""Measures choices for generated GPU kernels, which LaunchChoices.cpp has the defaults of.

    tune_kernels.py MODEL.{pt2,mlir} [--dim x.0=4 --dim x.1=2048] [--grid threads=64,128 rows=1,4,8 stages=0,2 ...]
                    [--target sm_90a] [--rounds 5] [--bin build/bin] [--json FILE]

Compiles the model once as it is and once for each combination of the grid (fp8-compile --launch), and runs all of them in
turns on random inputs: device time, one CUDA graph of many calls over sets of inputs. Prints each choice with its time and
its ratio to the default's within a round, the fastest first. Choose a model of one kernel: every kernel gets the choice.
What a kernel cannot do (a number of threads that does not divide its row) leaves its default.

threads: of a row; width: elements of a vector; vectors: of a thread, in elementwise kernels; rows: most rows a block does;
stages: rows brought ahead by bulk copies (0 or 2); blocks: a multiprocessor's, that registers suffice for; wave: tasks that
run at a time; ahead: reads all operands before the first reduction; beside: casts of all vectors side by side; dependent:
programmatic dependent launch.
"""

import argparse
import itertools
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile


def parse(grid):
    """Every combination, as dictionaries."""
    names, values = [], []
    for part in grid:
        name, _, numbers = part.partition("=")
        if not numbers:
            sys.exit(f"--grid {part}: expected name=number,...")
        names.append(name)
        values.append([int(number) for number in numbers.split(",")])
    return [dict(zip(names, numbers)) for numbers in itertools.product(*values)]


def spell(choice):
    return "{" + ", ".join(f"{name} = {number}" for name, number in choice.items()) + "}"


class Tuner:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.packages = {}

    def compile(self, choice):
        package = self.folder / f"{len(self.packages)}.fp8"
        flags = [f"--launch={spell(choice)}"] if choice else []
        done = subprocess.run([self.options.bin / "fp8-compile", self.options.model, f"--target={self.options.target}", *flags,
                               "-o", package], stderr=subprocess.PIPE, text=True)
        if done.returncode:
            sys.exit(done.stderr.strip())
        self.packages[spell(choice)] = package

    def measure(self, package):
        """Microseconds of a call."""
        dims = [flag for dim in self.options.dim for flag in ("--dim", dim)]
        text = subprocess.run([self.options.bin / "fp8-run", package, "--device=cuda", "--random", *dims, "--benchmark=json"],
                              check=True, stdout=subprocess.PIPE, text=True).stdout
        return 1e3 * json.loads(text.strip().splitlines()[-1])["device_ms"]

    def run(self):
        times = {name: [] for name in self.packages}
        for _ in range(self.options.rounds):
            for name, package in self.packages.items():
                times[name].append(self.measure(package))
        default = times[spell({})]
        rows = [{"choice": name, "us": statistics.median(values),
                 "ratio": statistics.median(a / b for a, b in zip(values, default))} for name, values in times.items()]
        return sorted(rows, key=lambda row: row["ratio"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("--dim", action="append", default=[], help="a size of the inputs")
    parser.add_argument("--grid", nargs="*", default=["dependent=0,1"], help="name=number,...: what is tried")
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2] / "build" / "bin")
    parser.add_argument("--json", type=pathlib.Path, help="also write the rows there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tuner = Tuner(options, pathlib.Path(folder))
        for choice in [{}, *parse(options.grid)]:
            tuner.compile(choice)
        rows = tuner.run()
    for row in rows:
        print(f"{row['us']:10.2f} us  {row['ratio']:.3f}  {row['choice']}")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
