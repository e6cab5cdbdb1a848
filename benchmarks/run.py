#!/usr/bin/env python3
"""Measures fp8c and writes benchmarks/results/DEVICE.json, from which report.py makes docs/performance.md.

    run.py [--device cpu|cuda] [--case GLOB ...] [--budget SECONDS] [--modes MODE ...] [--patience SECONDS] [--jobs N]
           [--after FILE] [--bin build/bin] [--work build/benchmarks] [--out benchmarks/results/cpu.json]

Exports the models of test/Models, compiles them, and measures in turns A B A B: a round of fp8c (on a CPU a process of its
own), then a round of the peer. A figure is the median of the rounds with minimum and maximum, a ratio that of the ratios within
a round. A case goes on until its budget is spent, for at least three rounds; each case replaces its row of the file.

    model/NAME       a call, against eager PyTorch: of the f32 model where there is no FP8, else of the model as it is
    compile/NAME     .pt2 to package at 32 blocks: with tiny weights, so that the compiler is measured, against 4 blocks; with
                     real ones against the tiny, which leaves the copying and checking of weights; time by the clock, and
                     of processors (/processor), which other load on the machine changes less
    load/NAME        a package of 32 blocks: mapped, checked, kernels opened, context made
    memory/NAME      bytes of the package and of the process after a call, for each byte of its weights

The cases of the GPU are listed in gpu.py (--device cuda); the results are named after it (h200.json). compile/ is measured
there too, for the GPU's target.
"""

import argparse
import datetime
import fcntl
import fnmatch
import json
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import time
import zipfile

SOURCE = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(SOURCE / "test" / "Models"))

#: case: (model, depth, dims, shapes of the inputs, a vocabulary's size for tokens; else inputs are bf16 numbers)
MODELS = {
    "model/llama": ("llama", 2, ["input_ids.0=1", "input_ids.1=64"], [(1, 64)], 32000),
    "model/gated_mlp_static": ("gated_mlp_static", 1, ["x.0=1", "x.1=64"], [(1, 64, 4096)], None),
    "model/dit_row": ("dit_row", 2, ["x.0=1", "x.1=64", "context.1=77"], [(1, 64, 2048), (1, 77, 2048), (1, 2048)], None),
}
BLOCKS = "six_linears_static"

#: Runs a command and prints the largest resident memory that it had, in KiB. A process of its own: what is counted begins
#: with the pages of the process that starts the command.
RESIDENT = """
import resource, subprocess, sys
status = subprocess.call(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(status)
"""


def summary(values):
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def row(case, shape, ours, peer_name=None, peer=None):
    """Microseconds of each round, and the ratio within a round."""
    result = {"case": case, "shape": shape, "rounds": len(ours), "ours_us": summary(ours)}
    if peer:
        result |= {"peer": peer_name, "peer_us": summary(peer), "ratio": summary([a / b for a, b in zip(ours, peer)])}
    return result


class Bench:
    def __init__(self, options):
        self.bin, self.work, self.budget = options.bin, options.work, options.budget
        self.modes, self.target, self.patience = options.modes, options.target, options.patience
        self.after = options.after
        self.target_flags = ["--target=cpu"] if options.device == "cpu" else [f"--target={options.target}"]
        self.work.mkdir(parents=True, exist_ok=True)

    def archive(self, name, size, depth):
        """Exports a model, once; its path without a suffix. PyTorch does not run it: that takes long for large ones."""
        path = self.work / f"{name}.{size}.{depth}"
        if not pathlib.Path(f"{path}.pt2").exists():
            import export
            import torch

            torch.manual_seed(0)
            model, args, shapes = export.catalogue()[name](size, depth)
            torch.export.save(export.export(model, args, shapes), f"{path}.pt2")
        return path

    def compile(self, path):
        """Microseconds from archive to package: by the clock, and of processors."""
        start = time.perf_counter()
        child = subprocess.Popen([str(self.bin / "fp8-compile"), f"{path}.pt2", "-o", f"{path}.fp8", *self.target_flags])
        _, status, usage = os.wait4(child.pid, 0)
        if status:
            raise RuntimeError(f"fp8-compile {path}.pt2: exit status {status}")
        return 1e6 * (time.perf_counter() - start), 1e6 * (usage.ru_utime + usage.ru_stime)

    def run(self, path, dims, more=("--random",)):
        """What fp8-run --benchmark=json measured, and the process's largest resident memory."""
        flags = [flag for dim in dims for flag in ("--dim", dim)]
        command = [str(self.bin / "fp8-run"), f"{path}.fp8", "--benchmark=json", *flags, *more]
        child = subprocess.run([sys.executable, "-S", "-c", RESIDENT, *command], stdout=subprocess.PIPE, text=True)
        if child.returncode:
            raise RuntimeError(f"fp8-run {path}.fp8: exit status {child.returncode}")
        result, resident = child.stdout.strip().splitlines()[-2:]
        return json.loads(result) | {"resident": int(resident) * 1024}

    def package_gpu(self, measured):
        """The package of a case, made by the first process that needs it."""
        path = self.work / measured.archive()
        with open(f"{path}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not pathlib.Path(f"{path}.fp8").exists():
                measured.export(path)
                subprocess.run([str(self.bin / "fp8-compile"), f"{path}.pt2", "-o", f"{path}.fp8", f"--target={self.target}",
                                "--div-by-number=reciprocal"], check=True)
        return path

    def prepare_gpu(self, name):
        """Both sides of a case of gpu.py, compiled."""
        import gpu
        import torch

        measured, peers = gpu.Case(name), {}
        with gpu.taking_turns(self.work / "gpu.lock"):
            for peer, function in measured.peers(self.modes):
                try:
                    with torch.no_grad(), gpu.limited(self.patience):
                        function(*measured.args)
                    peers[peer] = function
                except (Exception, gpu.NotReady) as error:  # PyTorch has no product for some sizes
                    reason = re.sub(r"\s+", " ", str(error))
                    print(f"{name}: {peer}: {reason[:300]}", file=sys.stderr, flush=True)
                    measured.notes.append(f"without {peer}: {reason[:60]}")
        return self.package_gpu(measured), measured, peers

    def load_gpu(self, path):
        import runtime

        return runtime.Package(self.bin.parent / "lib" / "libfp8rt.so", f"{path}.fp8", "cuda", graphs="off")

    def measure_gpu(self, name, shape, path, measured, peers):
        """Rows of a case: device time in graphs, of blocks and models that of a call without them and the host's too."""
        import gpu
        import torch

        package = self.load_gpu(path)
        if name.endswith("first_call"):
            yield self.first_calls(name, shape, package)
            return
        is_fused, is_model = measured.limit_bytes is not None, measured.name.startswith(("six_linears", "dit", "model"))
        check = package.bind(*measured.args)
        first = [result.clone() for result in check()]
        race = gpu.Race({"fp8c": package, **peers}, measured.args, measured.limit_bytes, 64 if is_fused else 8)
        # Kernels are short; blocks are measured after a rest, since a GPU that was busy for long is slower.
        least, rest_s = (15, 0.0) if is_fused else (9, gpu.Peer.REST_S)

        def compare(case, times):
            times, ours = dict(times), times["fp8c"]
            limit = times.pop("copy", None)
            del times["fp8c"]
            result = row(case, shape, ours)
            if times:
                best = min(times, key=lambda peer: statistics.median(times[peer]))
                result = row(case, shape, ours, best, times[best]) | {
                    "peers_us": {peer: summary(values) for peer, values in times.items()}}
            if measured.notes:
                result["note"] = "; ".join(measured.notes)
            if limit:
                result |= {"limit_us": statistics.median(limit), "share": summary([a / b for a, b in zip(limit, ours)])}
            return result

        device = race.run(self.rounds(least), rest_s=rest_s)
        for before, after in zip(first, check()):
            before, after = (result.reshape(-1).view(torch.uint8) for result in (before, after))
            assert torch.equal(before, after), f"{name}: calls give different bytes"
        if not is_model:
            yield compare(name.rsplit("/", 1)[0] if is_fused else name, device)
            return
        yield compare(f"{name}/graph", device)
        calls = race.run(range(5), gpu.Peer.call_us)
        host = [race.peers["fp8c"].host_us() for _ in range(least)]
        yield compare(name, calls) | {"host_us": summary(host)}
        for model, of in gpu.HOST.items():
            if of == name:
                yield self.host_row(f"host/{model}", of, path, measured, package, host)

    def host_row(self, case, of, path, measured, package, host):
        """The commands are those that a profile lists."""
        import gpu

        measured.save_inputs(f"{path}.inputs.safetensors", package.inputs)
        command = [str(self.bin / "fp8-run"), f"{path}.fp8", "--device=cuda", f"--inputs={path}.inputs.safetensors", "--profile"]
        text = subprocess.run(command, capture_output=True, text=True).stdout
        kinds = re.findall(r"^ +[\d.]+ +[\d.]+% .*?% +(\w+)", text, re.M)
        limit = sum(gpu.RAW_US["product" if kind in ("Matmul", "Attention") else "launch"] for kind in kinds)
        return row(case, f"{of}, {len(kinds)} commands", host) | {"limit_us": limit}

    def first_calls(self, case, shape, package):
        """Calls of lengths that the package meets for the first time."""
        import gpu
        import torch

        def call_us(tokens):
            args = [arg.cuda() for arg in gpu.make_block_inputs(1, tokens)]
            torch.cuda.synchronize()
            start = time.perf_counter()
            package(*args)
            torch.cuda.synchronize()
            return 1e6 * (time.perf_counter() - start)
        for _ in range(3):
            call_us(256)
        return row(case, shape, [call_us(tokens) for tokens in gpu.NEW_LENGTHS]) | {"limit_us": gpu.FIRST_CALL_US}

    def work_gpu(self, name, shape):
        """A process of its own for a part: says that it is ready, and measures when it is told to."""
        prepared = self.prepare_gpu(name)
        print("ready", flush=True)
        sys.stdin.readline()
        for result in self.measure_gpu(name, shape, *prepared):
            print(json.dumps(result), flush=True)
        # It ends when nothing is measured any more: that takes the GPU's time.
        print("done", flush=True)
        sys.stdin.readline()

    def gpu(self, parts, jobs):
        """Prepares parts in parallel, so many at a time, then measures them one after the other."""
        parts = list(dict.fromkeys(parts))
        for first in range(0, len(parts), jobs):
            workers = [subprocess.Popen([sys.executable, __file__, *sys.argv[1:], "--worker", *part], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True) for part in parts[first:first + jobs]]
            ready = [worker for worker in workers if "ready\n" in worker.stdout]
            print(f"{len(ready)} of {len(workers)} parts are ready", file=sys.stderr, flush=True)
            while self.after and not self.after.exists():
                time.sleep(0.1)
            for worker in ready:
                worker.stdin.write("go\n")
                worker.stdin.flush()
                for line in worker.stdout:
                    if line.startswith("{"):
                        yield json.loads(line)
                    elif line == "done\n":
                        break
            for worker in workers:
                worker.stdin.close()
            for worker in workers:
                worker.wait()

    def rounds(self, least=3):
        start, count = time.perf_counter(), 0
        while count < least or time.perf_counter() - start < self.budget:
            yield count
            count += 1

    def model(self, case):
        import export
        import torch

        name, depth, dims, shapes, vocabulary = MODELS[case]
        path = self.archive(name, "real", depth)
        if not pathlib.Path(f"{path}.fp8").exists():
            self.compile(path)
        torch.manual_seed(0)
        model = export.catalogue()[name]("real", depth)[0]
        args = [torch.randint(0, vocabulary, shape) if vocabulary else torch.randn(shape).bfloat16() for shape in shapes]
        peer_name = f"eager PyTorch {torch.__version__}"
        if not any("float8" in str(t.dtype) for t in model.state_dict().values()):
            model, args = model.float(), [t.float() if t.is_floating_point() else t for t in args]
            peer_name += " in f32"
        ours, peer = [], []
        with torch.no_grad():
            model(*args)
            for _ in self.rounds():
                ours.append(1e3 * self.run(path, dims)["median_ms"])
                seconds = []
                while len(seconds) < 3 or (sum(seconds) < 1 and len(seconds) < 1000):
                    start = time.perf_counter()
                    model(*args)
                    seconds.append(time.perf_counter() - start)
                peer.append(1e6 * statistics.median(seconds))
        yield row(case, f"real, depth {depth}, " + " ".join(dims), ours, peer_name, peer)

    def compile_blocks(self, case):
        tiny, few, real = (self.archive(BLOCKS, size, depth) for size, depth in (("tiny", 32), ("tiny", 4), ("real", 32)))
        for name, path, peer_name, peer_path in (("tiny", tiny, "4 blocks", few), ("real", real, "tiny weights", tiny)):
            ours, peer = [], []
            for _ in self.rounds():
                ours.append(self.compile(path))
                peer.append(self.compile(peer_path))
            for suffix, i in (("", 0), ("/processor", 1)):
                yield row(f"{case}/{name}{suffix}", "32 blocks, dynamic length", [o[i] for o in ours], peer_name, [p[i] for p in peer])

    def load_blocks(self, case):
        path = self.archive(BLOCKS, "real", 32)
        if not pathlib.Path(f"{path}.fp8").exists():
            self.compile(path)
        runs = [self.run(path, ["x.0=0"]) for _ in self.rounds()]
        yield row(case, "32 blocks, real", [1e3 * r["load_ms"] for r in runs])
        with zipfile.ZipFile(f"{path}.pt2") as archive:
            weights = sum(e.file_size for e in archive.infolist() if "/data/weights/weight_" in e.filename)
        with zipfile.ZipFile(f"{path}.fp8") as package:
            stored = sum(e.file_size for e in package.infolist())
        yield {"case": case.replace("load/", "memory/"), "shape": "32 blocks, real, 1 x 16 tokens", "weight_bytes": weights,
               "package_bytes": stored, "resident_bytes": self.run(path, ["x.0=1", "x.1=16", "context.1=8"])["resident"]}


CASES = {**dict.fromkeys(MODELS, Bench.model), f"compile/{BLOCKS}": Bench.compile_blocks, f"load/{BLOCKS}": Bench.load_blocks}


def machine(device):
    if device == "cuda":
        import torch

        return (f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, CUDA {torch.version.cuda}, "
                f"cuDNN {torch.backends.cudnn.version()}")
    with open("/proc/cpuinfo") as file:
        names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    return f"{names[0] if names else platform.processor()}, {len(os.sched_getaffinity(0))} cores"


def results(bench, options):
    """Rows of the chosen cases."""
    def is_chosen(case):
        return any(fnmatch.fnmatch(case, pattern) for pattern in options.case)

    cases = CASES
    if options.device == "cuda":
        import gpu

        yield from bench.gpu([part for case in gpu.names() if is_chosen(case) for part in gpu.parts(case)], options.jobs)
        cases = {f"compile/{BLOCKS}": Bench.compile_blocks}
    for case, measure in cases.items():
        if is_chosen(case):
            yield from measure(bench, case)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", nargs="*", default=["*"], help="patterns of cases to measure")
    parser.add_argument("--budget", type=float, default=60, help="seconds a case, at least three rounds")
    parser.add_argument("--bin", type=pathlib.Path, default=SOURCE / "build" / "bin")
    parser.add_argument("--work", type=pathlib.Path, default=SOURCE / "build" / "benchmarks")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--target", default="sm_90a", help="the GPU's")
    parser.add_argument("--modes", nargs="*", default=["default", "max-autotune-no-cudagraphs"], help="of torch.compile")
    parser.add_argument("--patience", type=float, default=600, help="seconds a mode of torch.compile may take to be ready")
    parser.add_argument("--after", type=pathlib.Path, help="a file: what is prepared is measured once it exists")
    parser.add_argument("--jobs", type=int, default=1, help="cases of a GPU that are prepared at a time")
    parser.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.device == "cuda":
        sys.path.insert(0, str(SOURCE / "benchmarks"))
    if not options.out:
        name = "cpu" if options.device == "cpu" else machine("cuda").split(",")[0].split()[-1].lower()
        options.out = SOURCE / "benchmarks" / "results" / f"{name}.json"
    bench = Bench(options)
    if options.worker:
        return bench.work_gpu(*options.worker)
    report = json.loads(options.out.read_text()) if options.out.exists() else {}
    rows = {(r["case"], r["shape"]): r for r in report.get("results", [])}
    for result in results(bench, options):
        result |= {"date": datetime.date.today().isoformat(), "load_average": os.getloadavg()[0]}
        rows[result["case"], result["shape"]] = result
        print(json.dumps(result), flush=True)
        report = {"machine": machine(options.device), "results": [rows[key] for key in sorted(rows)]}
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
