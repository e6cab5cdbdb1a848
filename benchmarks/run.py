#!/usr/bin/env python3
"""Times models against eager PyTorch on the same cores.

    run.py [--only NAME ...] [--size tiny|real] [--depth N] [--bin build/bin] [--out build/benchmarks]

Exports each model of test/Models, compiles it, and prints for each: seconds to compile, to load the package, and
milliseconds a call of fp8c and of eager PyTorch (as exported, and for models without FP8 in f32), medians over calls.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import time

import torch

SOURCE = pathlib.Path(__file__).resolve().parents[1]


def time_eager(model, args):
    """Median milliseconds of a call."""
    seconds = []
    with torch.no_grad():
        model(*args)
        while len(seconds) < 5 or (sum(seconds) < 2 and len(seconds) < 1000):
            start = time.perf_counter()
            model(*args)
            seconds.append(time.perf_counter() - start)
    return 1e3 * statistics.median(seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=["llama", "gated_mlp_static", "dit_row"])
    parser.add_argument("--size", default="real", choices=["tiny", "real"])
    parser.add_argument("--depth", type=int, default=2)
    parser.add_argument("--bin", type=pathlib.Path, default=SOURCE / "build" / "bin")
    parser.add_argument("--out", type=pathlib.Path, default=SOURCE / "build" / "benchmarks")
    options = parser.parse_args()
    sys.path.insert(0, str(SOURCE / "test" / "Models"))
    import export

    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads")
    print(f"{'model':24} {'compile s':>10} {'package MB':>11} {'fp8c ms':>10} {'eager ms':>10} {'eager f32 ms':>13}")
    for name in options.only:
        subprocess.run([sys.executable, str(SOURCE / "test" / "Models" / "export.py"), str(options.out), "--only", name,
                        "--size", options.size, "--depth", str(options.depth)], check=True, capture_output=True)
        archive, package = options.out / f"{name}.pt2", options.out / f"{name}.fp8"
        start = time.perf_counter()
        subprocess.run([str(options.bin / "fp8-compile"), str(archive), "-o", str(package)], check=True)
        compile_seconds = time.perf_counter() - start
        inputs = options.out / f"{name}.inputs.safetensors"
        run = subprocess.run([str(options.bin / "fp8-run"), str(package), f"--inputs={inputs}", "--benchmark=json"],
                             check=True, capture_output=True, text=True)
        ours = json.loads(run.stdout.strip().splitlines()[-1])["median_ms"]
        torch.manual_seed(0)
        model, args, _ = export.catalogue()[name](options.size, options.depth)
        eager = time_eager(model, args)
        wide = float("nan")
        if not any("float8" in str(t.dtype) for t in model.state_dict().values()):
            wide = time_eager(model.float(), [t.float() if t.is_floating_point() else t for t in args])
        print(f"{name:24} {compile_seconds:10.2f} {package.stat().st_size / 1e6:11.1f} {ours:10.3f} {eager:10.3f} "
              f"{wide:13.3f}", flush=True)


if __name__ == "__main__":
    main()
