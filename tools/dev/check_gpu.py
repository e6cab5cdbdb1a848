#!/usr/bin/env python3
"""Checks the cuda device against PyTorch on the same GPU: all models of test/Models, exported there.

    check_gpu.py [--bin build/bin] [--work DIR] [--size tiny|real ...] [--dialect training|core ...] [--only GLOB ...]
                 [--skip-lockstep] [--sanitize MODEL ...] [--keep] [--json FILE]

For each model, size and dialect: exported on the GPU, compiled for cpu and the GPU's target, then run

    at the export's size and at those of --shapes against eager PyTorch: the distance, below the bar of test/Python/models.py;
    again with every intermediate value and output filled with 0xFF before the call: every byte as before;
    at 1 and 17 rows (--shapes) and none: a result of the right shape, or the error that an amax of nothing is;
    in lock-step with the cpu device, by our own products (whose sums are the cpu's), by cuBLASLt's first algorithms and by
    measured ones.

--sanitize runs tiny models under compute-sanitizer's memcheck, racecheck and initcheck. Needs PyTorch for CUDA; what
public models need besides (diffusers is not needed, torchao is) as test/Models/public.py says.
"""

import argparse
import concurrent.futures
import fnmatch
import json
import os
import pathlib
import re
import subprocess
import sys
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(SOURCE / "test" / "Models"), str(SOURCE / "test" / "Python")]

from models import MODELS, Model  # noqa: E402

#: Batch, tokens and context of the runs besides the export's.
SHAPES = {"one": (1, 1, 1), "seventeen": (1, 17, 17), "prime": (3, 7, 11), "long": (1, 513, 513)}


def make_references(name, size, dialects, shapes, out, depth=2):
    """Exports a model in each dialect and saves what eager PyTorch gives; returns a message on failure."""
    import torch

    from torch.nn.attention import SDPBackend, sdpa_kernel

    import export
    import sizes

    torch.manual_seed(0)
    model, args, dims = export.catalogue()[name](size, depth)
    model, args = model.to("cuda"), tuple(tensor.to("cuda") for tensor in args)
    calls = Model(name).calls
    with torch.no_grad():
        program = export.export(model, args, dims)
    inputs = {"export": dict(zip(program.graph_signature.user_inputs, args))}
    for label in shapes:
        inputs[label] = {key: value.cuda() for key, value in sizes.make_inputs(program, SHAPES[label]).items()}
    empty = {key: value[:0] for key, value in inputs["export"].items()}
    initial = {key: value.clone() for key, value in model.state_dict().items()}
    for dialect in dialects:
        # Attention spelled out, as on a CPU: PyTorch cannot save cuDNN's.
        with sdpa_kernel(SDPBackend.MATH):
            exported = program.run_decompositions() if dialect == "core" else program
        torch.export.save(exported, out / f"{name}.{size}.{dialect}.pt2")
    for label, tensors in inputs.items():
        model.load_state_dict(initial)
        try:
            results = export.outputs(model, list(tensors.values()), calls)
        except RuntimeError as error:  # eager PyTorch has no product for some sizes
            print(f"{name}.{size}: PyTorch at {label}: {str(error)[:120]}", flush=True)
            continue
        export.save(out / f"{name}.{size}.{label}.inputs.safetensors", tensors.keys(), tensors.values())
        export.save(out / f"{name}.{size}.{label}.outputs.safetensors", [f"output{i}" for i in range(len(results))], results)
    export.save(out / f"{name}.{size}.empty.inputs.safetensors", empty.keys(), empty.values())


def worker(options):
    """Makes the references of the models on the command line, one after the other."""
    import warnings

    import torch

    warnings.simplefilter("ignore")
    for name in options.worker:
        try:
            make_references(name, options.size[0], options.dialect, options.shapes, options.work)
        except Exception as error:  # one model's failure must not hide the others
            print(f"{name}: {type(error).__name__}: {str(error)[:300]}", file=sys.stderr, flush=True)
        torch.cuda.empty_cache()


class Checks:
    def __init__(self, options):
        self.options, self.rows = options, []

    def run(self, tool, *args, prefix=()):
        command = [*prefix, str(self.options.bin / tool), *map(str, args)]
        result = subprocess.run(command, capture_output=True, text=True, timeout=300)
        return result.returncode, result.stdout, result.stderr

    def report(self, model, what, passed, detail):
        self.rows.append({"model": model, "check": what, "passed": passed, "detail": detail})
        if not passed:
            print(f"MISS {model} {what}: {detail}", flush=True)

    def check(self, name, size, dialect):
        work, label = self.options.work, f"{name}.{size}.{dialect}"
        if not (work / f"{label}.pt2").exists():
            return self.report(label, "export", False, "no archive")
        package = work / f"{label}.fp8"
        start = time.perf_counter()
        status, _, errors = self.run("fp8-compile", work / f"{label}.pt2", "-o", package, f"--target=cpu,{self.options.target}",
                                     "--div-by-number=reciprocal")
        self.report(label, "compile", status == 0, errors.strip() or f"{time.perf_counter() - start:.1f} s")
        if status:
            return
        model = Model(name)
        for shape in ["export", *self.options.shapes]:
            if not (work / f"{name}.{size}.{shape}.outputs.safetensors").exists():
                self.report(label, f"reference/{shape}", False, "eager PyTorch gave none")
                continue
            self.check_shape(label, package, work / f"{name}.{size}.{shape}", model, shape)
        self.check_empty(label, package, work / f"{name}.{size}.empty.inputs.safetensors")
        if not self.options.skip_lockstep:
            for backends in ("own", "fixed", "auto"):
                self.check_lockstep(label, package, work / f"{name}.{size}.export.inputs.safetensors", model, backends)
        if size == "real" and not self.options.keep:
            package.unlink()
            (work / f"{label}.pt2").unlink()

    def check_shape(self, label, package, path, model, shape):
        fixed = "--backends=fixed"  # the same additions in every process
        call = [package, "--device=cuda", f"--inputs={path}.inputs.safetensors", f"--calls={model.calls}"]
        plain, poisoned = (self.options.work / f"{label}.{shape}.{kind}.safetensors" for kind in ("plain", "poisoned"))
        expect = [f"--expect={path}.outputs.safetensors", f"--max-distance={model.max_distance}"]
        status, text, errors = self.run("fp8-run", *call, *expect)
        found = re.search(r"^output0\s+\S+\s+(\S+)", text, re.M)
        self.report(label, f"distance/{shape}", status == 0, found[1] if found and not status else (text + errors)[-400:])
        self.run("fp8-run", *call, f"--outputs={plain}", fixed)
        status, _, errors = self.run("fp8-run", *call, f"--outputs={poisoned}", "--poison", fixed)
        equal = status == 0 and plain.exists() and plain.read_bytes() == poisoned.read_bytes()
        self.report(label, f"poison/{shape}", equal, errors.strip())
        for file in (plain, poisoned):
            file.unlink(missing_ok=True)

    def check_empty(self, label, package, inputs):
        status, _, errors = self.run("fp8-run", package, "--device=cuda", f"--inputs={inputs}")
        known = re.search(r"the amax of an empty tensor has no value|got 0, expected", errors)
        self.report(label, "empty", status == 0 or bool(status == 1 and known), errors.strip())

    def check_lockstep(self, label, package, inputs, model, backends):
        status, text, errors = self.run("fp8-run", package, "--device=cuda", "--compare=cpu", f"--inputs={inputs}", "--quiet",
                                        f"--calls={model.calls}", f"--backends={backends}")
        self.report(label, f"lock-step/{backends}", status == 0, (text + errors).strip()[-600:])

    def sanitize(self, name):
        work = self.options.work
        package = work / f"{name}.tiny.training.fp8"
        inputs = work / f"{name}.tiny.export.inputs.safetensors"
        for tool in ("memcheck", "racecheck", "initcheck"):
            status, text, errors = self.run("fp8-run", package, "--device=cuda", f"--inputs={inputs}", "--backends=own",
                                            prefix=("compute-sanitizer", f"--tool={tool}", "--error-exitcode=9"))
            found = re.findall(r"(?:ERROR|RACECHECK) SUMMARY: .*", text)
            self.report(name, tool, status == 0, found[-1] if found else (text + errors)[-400:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=SOURCE / "build" / "bin")
    parser.add_argument("--work", type=pathlib.Path, default=SOURCE / "build" / "check_gpu")
    parser.add_argument("--size", nargs="*", default=["tiny"], choices=["tiny", "real"])
    parser.add_argument("--dialect", nargs="*", default=["training", "core"], choices=["training", "core"])
    parser.add_argument("--only", nargs="*", default=["*"], help="patterns of models")
    parser.add_argument("--shapes", nargs="*", default=["one", "seventeen", "long"], choices=list(SHAPES))
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 1) - 2))
    parser.add_argument("--skip-lockstep", action="store_true")
    parser.add_argument("--sanitize", nargs="*", default=[], metavar="MODEL")
    parser.add_argument("--keep", action="store_true", help="keep packages and archives of real models")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--worker", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    if options.worker:
        return worker(options)
    names = [name for name in MODELS if any(fnmatch.fnmatch(name, pattern) for pattern in options.only)]
    checks = Checks(options)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for size in options.size:
            start = time.perf_counter()
            workers = [subprocess.Popen([sys.executable, __file__, "--work", str(options.work), "--size", size, "--dialect",
                                         *options.dialect, "--shapes", *options.shapes, "--worker", *names[i::options.jobs]],
                                        env=os.environ | {"OMP_NUM_THREADS": "1"})
                       for i in range(min(options.jobs, len(names)))]
            for process in workers:
                process.wait()
            print(f"{size}: references after {time.perf_counter() - start:.0f} s", flush=True)
            tasks = [pool.submit(checks.check, name, size, dialect) for name in names for dialect in options.dialect]
            for task in tasks:
                task.result()
            print(f"{size}: checked after {time.perf_counter() - start:.0f} s", flush=True)
        for task in [pool.submit(checks.sanitize, name) for name in options.sanitize]:
            task.result()
    missed = [row for row in checks.rows if not row["passed"]]
    worst = {}
    for row in checks.rows:
        if row["check"].startswith("distance") and row["passed"]:
            worst[row["model"]] = max(worst.get(row["model"], 0.0), float(row["detail"]))
    for model, distance in sorted(worst.items()):
        print(f"{model}: {distance:.2e}")
    print(f"{len(checks.rows)} checks, {len(missed)} missed")
    if options.json:
        options.json.write_text(json.dumps(checks.rows, indent=1) + "\n")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
