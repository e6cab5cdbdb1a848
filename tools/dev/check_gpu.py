#!/usr/bin/env python3
"""Checks the cuda device against PyTorch on the same GPU: all models of test/Models, exported there.

    check_gpu.py [--bin build/bin] [--work DIR] [--size tiny|real ...] [--dialect training|core ...] [--only GLOB ...]
                 [--shapes NAME ...] [--exported DIR] [--skip-lockstep] [--sanitize MODEL ...] [--json FILE]

For each model, size and dialect: exported on the GPU, compiled for cpu and the GPU's target, then, at the export's size and at
those of --shapes, by our own products and attention, by the libraries' first algorithms and by measured ones:

    against eager PyTorch: the distance, below the bar of test/Python/models.py. Our own products add in another order than
    PyTorch's on a GPU, as do its own on the CPU: there the bar is OTHER_ORDER. Where that is not held, of models with bf16
    products (for a few rows our kernels compute them) and of torchao's, an answer is right whose distance from that of exact
    products is no more than AS_NEAR times PyTorch's;
    with every intermediate value and output filled with 0xFF before the call: every byte as before; as are those of calls
    again at the same addresses, one by one and as CUDA graphs;
    in lock-step with the cpu device: every result of every command within the bars of numerics.md.

With no rows: a result, or the error that an amax of nothing is. --sanitize runs tiny models under compute-sanitizer's memcheck,
racecheck and initcheck. Needs PyTorch for CUDA and lib/libfp8rt.so beside --bin; what public models need besides (diffusers is
not needed, torchao is) as test/Models/public.py says. Models that this PyTorch does not export on a GPU are taken from
--exported, a folder of test/Python/models.py, with the CPU's outputs.
"""

import argparse
import concurrent.futures
import contextlib
import fnmatch
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(SOURCE / "test" / "Models"), str(SOURCE / "test" / "Python"), str(SOURCE / "benchmarks")]

from models import MODELS, Model  # noqa: E402

#: Batch, tokens and context of the runs besides the export's.
SHAPES = {"one": (1, 1, 1), "seventeen": (1, 17, 17), "prime": (3, 7, 11), "long": (1, 513, 513)}
#: Those that --exported has, by its name.
EXPORTED = {"one": "ones", "prime": "prime", "long": "long"}
BACKENDS = ("own", "fixed", "auto")
SANITIZERS = ("memcheck", "racecheck", "initcheck")
#: How far apart two right answers may be whose sums are added in another order: one flipped FP8 code spreads.
OTHER_ORDER = 0.04
#: How much farther than PyTorch's an answer may be from that of exact products, as attention's may.
AS_NEAR = 1.2


@contextlib.contextmanager
def exact_products():
    """F.linear and torch._scaled_mm as in f64, rounded once."""
    import torch
    import torch.nn.functional as F

    linear, scaled_mm = F.linear, torch._scaled_mm

    def exact_linear(x, weight, bias=None):
        if type(weight) not in (torch.Tensor, torch.nn.Parameter):  # of torchao: it calls torch._scaled_mm
            return linear(x, weight, bias)
        return linear(x.double(), weight.double(), bias if bias is None else bias.double()).to(x.dtype)

    def exact_scaled_mm(a, b, scale_a, scale_b, bias=None, scale_result=None, out_dtype=None, use_fast_accum=False):
        result = (a.double() @ b.double()) * scale_a.double() * scale_b.double()
        return (result if bias is None else result + bias.double()).to(out_dtype)
    F.linear, torch._scaled_mm = exact_linear, exact_scaled_mm
    try:
        yield
    finally:
        F.linear, torch._scaled_mm = linear, scaled_mm


def make_references(name, size, dialects, shapes, out, depth=2):
    """Exports a model in each dialect and saves what eager PyTorch gives; returns a message on failure."""
    import torch

    from torch.nn.attention import SDPBackend, sdpa_kernel

    import export
    import sizes

    torch.manual_seed(0)
    with torch.device("cuda"):  # random weights are made there
        model, args, dims = export.catalogue()[name](size, depth)
    model, args = model.to("cuda"), tuple(tensor.to("cuda") for tensor in args)
    calls = Model(name).calls
    with torch.no_grad():
        program = export.export(model, args, dims)
    inputs = {"export": dict(zip(program.graph_signature.user_inputs, args))}
    for label in shapes:
        inputs[label] = {key: value.cuda() for key, value in sizes.make_inputs(program, SHAPES[label]).items()}
    initial = {key: value.clone() for key, value in model.state_dict().items()}
    for dialect in dialects:
        # Attention spelled out, as on a CPU: PyTorch cannot save cuDNN's.
        with sdpa_kernel(SDPBackend.MATH):
            exported = program.run_decompositions() if dialect == "core" else program
        torch.export.save(exported, out / f"{name}.{size}.{dialect}.pt2")
    for label, tensors in inputs.items():
        export.save(out / f"{name}.{size}.{label}.inputs.safetensors", tensors.keys(), tensors.values())
        model.load_state_dict(initial)
        try:
            results = export.outputs(model, list(tensors.values()), calls)
        except RuntimeError as error:  # eager PyTorch has no product for some sizes
            print(f"{name}.{size}: PyTorch at {label}: {str(error)[:120]}", flush=True)
            continue
        names = [f"output{i}" for i in range(len(results))]
        export.save(out / f"{name}.{size}.{label}.outputs.safetensors", names, results)
        if name.endswith(("bf16", "weight_only")) or "torchao" in name:
            with exact_products():
                results = export.outputs(model, list(tensors.values()), calls)
            export.save(out / f"{name}.{size}.{label}.exact.safetensors", names, results)


def take_exported(name, size, dialects, shapes, source, out):
    """The same files, of a model that was exported on a CPU."""
    for dialect in dialects:
        shutil.copy(source / dialect / f"{name}.pt2", out / f"{name}.{size}.{dialect}.pt2")
    for label in ["export", *shapes]:
        stem = name if label == "export" else f"{name}.{EXPORTED.get(label)}"
        for kind in ("inputs", "outputs"):
            shutil.copy(source / "training" / f"{stem}.{kind}.safetensors", out / f"{name}.{size}.{label}.{kind}.safetensors")


def lockstep_runs(size, dialect, shapes):
    """(shape, backends): of tiny models, in which nothing is large enough to be measured, all that differ; of real ones a part."""
    if size == "tiny":
        return [(shape, backends) for shape in ["export", *shapes] for backends in BACKENDS[:2]]
    if dialect == "core":
        return [("export", "own")]
    return [("export", "own"), ("export", "auto"), (shapes[-1], "own")]


def relative(got, want):
    got, want = got.double(), want.double()
    return float((got - want).norm() / want.norm())


def compile_package(options, stem, division):
    command = [options.bin / "fp8-compile", f"{stem}.pt2", "-o", f"{stem}.fp8", f"--target=cpu,{options.target}",
               f"--div-by-number={division}"]
    return subprocess.run(list(map(str, command)), capture_output=True, text=True)


def run_package(options, name, size, dialect, bar):
    """(check, passed, detail) of every shape and backend, in this process."""
    import torch
    from safetensors.torch import load_file

    import runtime

    path, calls = options.work / f"{name}.{size}", Model(name).calls

    # State begins anew; the weights of real models are kept once.
    @functools.lru_cache(maxsize=0 if calls > 1 else 1 if size == "real" else None)
    def load(backends, poison, graphs):
        return runtime.Package(options.bin.parent / "lib" / "libfp8rt.so", f"{path}.{dialect}.fp8", "cuda", backends=backends,
                               poison=poison, graphs=graphs)

    def run(backends, inputs, poison=False, graphs="off", count=calls):
        """The results of the last of `count` calls with the same tensors."""
        package = load(backends, poison, graphs)
        call = package.bind(*[inputs[key].cuda() for key in package.inputs])
        for _ in range(count):
            results = call()
        return [result.cpu() for result in results]

    def is_equal(results, others):
        return all(torch.equal(x.view(torch.uint8), y.view(torch.uint8)) for x, y in zip(results, others))

    for shape in ["export", *options.shapes]:
        inputs = load_file(f"{path}.{shape}.inputs.safetensors")
        expected = pathlib.Path(f"{path}.{shape}.outputs.safetensors")
        for backends in BACKENDS:
            results = run(backends, inputs)
            if not expected.exists():
                yield f"distance/{shape}/{backends}", None, "eager PyTorch computes none"
            else:
                wanted = load_file(expected)
                distance = max(relative(result, wanted[f"output{i}"]) for i, result in enumerate(results))
                limit = max(bar, OTHER_ORDER) if backends == "own" else bar
                passed, detail, exact = distance <= limit, f"{distance:.3e}", pathlib.Path(f"{path}.{shape}.exact.safetensors")
                if not passed and exact.exists():
                    exact = load_file(exact)
                    ours, theirs = (max(relative(answer[key], exact[key]) for key in exact) for answer in
                                    ({f"output{i}": result for i, result in enumerate(results)}, wanted))
                    passed, detail = ours <= AS_NEAR * theirs, f"{detail}; to exact products {ours:.3e}, PyTorch's {theirs:.3e}"
                yield f"distance/{shape}/{backends}", passed, detail
            # Measured algorithms may differ from context to context.
            if backends == "auto":
                continue
            yield f"poison/{shape}/{backends}", is_equal(results, run(backends, inputs, poison=True)), ""
            if calls == 1:
                for graphs in ("off", "auto"):
                    again = run(backends, inputs, graphs=graphs, count=4)
                    yield f"again/{shape}/{backends}/{graphs}", is_equal(results, again), ""
    inputs = {key: value[:0] for key, value in load_file(f"{path}.export.inputs.safetensors").items()}
    try:
        run("auto", inputs)
        yield "empty", True, ""
    except RuntimeError as error:
        yield "empty", bool(re.search(r"the amax of an empty tensor has no value|got 0, expected", str(error))), str(error)


def worker(options):
    """Exports and compiles a model, and compares in this process; a line of JSON a check."""
    import warnings

    warnings.simplefilter("ignore")
    name, size = options.worker, options.size[0]
    bar, division = Model(name).max_distance, "reciprocal"
    try:
        make_references(name, size, options.dialect, options.shapes, options.work)
    except Exception as error:
        print(f"{name}: {type(error).__name__}: {str(error)[:300]}", file=sys.stderr, flush=True)
        if not options.exported or size != "tiny":
            raise
        take_exported(name, size, options.dialect, options.shapes, options.exported, options.work)
        bar, division = OTHER_ORDER, "ieee"
    for dialect in options.dialect:
        label = f"{name}.{size}.{dialect}"

        def report(check, passed, detail):
            print(json.dumps({"model": label, "check": check, "passed": passed, "detail": detail}), flush=True)
        result = compile_package(options, options.work / label, division)
        (options.work / f"{label}.pt2").unlink()
        report("compile", result.returncode == 0, result.stderr.strip())
        if result.returncode:
            continue
        try:
            for row in run_package(options, name, size, dialect, bar):
                report(*row)
        except Exception as error:
            report("run", False, f"{type(error).__name__}: {str(error)[:300]}")


class Checks:
    def __init__(self, options):
        self.options, self.rows = options, []
        self.file = open(options.json, "w") if options.json else None

    def run(self, tool, *args, prefix=()):
        command = [*prefix, str(self.options.bin / tool), *map(str, args)]
        result = subprocess.run(command, capture_output=True, text=True, timeout=300)
        return result.returncode, result.stdout, result.stderr

    def report(self, model, check, passed, detail):
        """`passed`: None where there is nothing to compare with."""
        self.rows.append({"model": model, "check": check, "passed": passed, "detail": detail})
        if self.file:
            print(json.dumps(self.rows[-1]), file=self.file, flush=True)
        if not passed:
            print(f"{'none' if passed is None else 'MISS'} {model} {check}: {detail}", flush=True)

    def check(self, name, size):
        """What a process of its own checks of a model."""
        options = self.options
        exported = ["--exported", str(options.exported)] if options.exported else []
        command = [sys.executable, __file__, "--bin", str(options.bin), "--work", str(options.work), "--size", size, "--dialect",
                   *options.dialect, "--shapes", *options.shapes, "--target", options.target, *exported, "--worker", name]
        with subprocess.Popen(command, env=os.environ | {"OMP_NUM_THREADS": "1"}, stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout:
                if line.startswith("{"):
                    self.report(**json.loads(line))
        if process.returncode:
            self.report(f"{name}.{size}", "export", False, f"exit status {process.returncode}")
        return name, size

    def check_lockstep(self, name, size, dialect, shape, backends):
        label, work = f"{name}.{size}.{dialect}", self.options.work
        inputs = work / f"{name}.{size}.{shape}.inputs.safetensors"
        if not (work / f"{label}.fp8").exists() or not inputs.exists():
            return
        status, text, errors = self.run("fp8-run", work / f"{label}.fp8", "--device=cuda", "--compare=cpu", f"--inputs={inputs}",
                                        "--quiet", f"--calls={Model(name).calls}", f"--backends={backends}")
        self.report(label, f"lock-step/{shape}/{backends}", status == 0, (text + errors).strip()[-1500:])

    def sanitize(self, name, tool):
        work = self.options.work
        package = work / f"{name}.tiny.training.fp8"
        inputs = work / f"{name}.tiny.export.inputs.safetensors"
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
    parser.add_argument("--shapes", nargs="*", default=["one", "long"], choices=list(SHAPES))
    parser.add_argument("--exported", type=pathlib.Path)
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--skip-lockstep", action="store_true")
    parser.add_argument("--sanitize", nargs="*", default=[], metavar="MODEL")
    parser.add_argument("--json", type=pathlib.Path, help="a line a check")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    if options.worker:
        return worker(options)
    names = [name for name in MODELS if any(fnmatch.fnmatch(name, pattern) for pattern in options.only)]
    checks = Checks(options)
    start = time.perf_counter()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as exports, \
            concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        made, tasks = [exports.submit(checks.check, name, size) for size in options.size for name in names], []
        for done in concurrent.futures.as_completed(made):
            name, size = done.result()
            tasks += [pool.submit(checks.check_lockstep, name, size, dialect, shape, backends)
                      for dialect in options.dialect for shape, backends in lockstep_runs(size, dialect, options.shapes)
                      if not options.skip_lockstep]
        print(f"exported, compiled and run after {time.perf_counter() - start:.0f} s", flush=True)
        tasks += [pool.submit(checks.sanitize, name, tool) for name in options.sanitize for tool in SANITIZERS]
        for task in tasks:
            task.result()
    print(f"checked after {time.perf_counter() - start:.0f} s", flush=True)
    missed = [row for row in checks.rows if row["passed"] is False]
    worst = {}
    for row in checks.rows:
        if row["check"].startswith("distance") and row["passed"]:
            worst[row["model"]] = max(worst.get(row["model"], 0.0), float(row["detail"].split(";")[0]))
    for model, distance in sorted(worst.items()):
        print(f"{model}: {distance:.2e}")
    print(f"{len(checks.rows)} checks, {len(missed)} missed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
