#!/usr/bin/env python3
"""Checks attention of the cuda device: sizes, head dims, masks and layouts, each by cuDNN where it takes it and by our kernels.

    check_attention.py [--bin build/bin] [--work DIR] [--target sm_90a] [--sanitize] [--jobs N]

The distance to attention in f64 of the same operands is at most 1.2 times PyTorch's own on that GPU; rows whose keys are all
masked are 0; with intermediate values and outputs filled with 0xFF before the call every byte is as before. --sanitize runs
our kernels under compute-sanitizer's memcheck, racecheck and initcheck too. Needs PyTorch for CUDA, and lib/libfp8rt.so beside
--bin.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

import torch
import torch.nn.functional as F
from safetensors.torch import save_file

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(SOURCE / "benchmarks"))

import runtime  # noqa: E402

#: Batch, query heads, key heads, queries, keys, head dim; a mask, and what else is special.
CASES = {
    "plain": ((2, 4, 4, 300, 300, 128), None, ""),
    "many": ((2, 40, 40, 300, 300, 128), None, ""),
    "one_query": ((2, 4, 4, 1, 65, 64), None, ""),
    "cross": ((2, 4, 4, 300, 77, 128), None, ""),
    "grouped": ((2, 8, 2, 130, 130, 64), None, ""),
    "causal": ((2, 4, 4, 300, 300, 128), None, "causal"),
    "causal_many": ((4, 40, 40, 200, 200, 64), None, "causal"),
    "causal_cross": ((2, 4, 4, 100, 200, 64), None, "causal"),
    "tokens_first": ((2, 4, 4, 257, 257, 80), None, "tokens_first"),
    "head_72": ((2, 4, 4, 130, 130, 72), None, ""),
    "head_16": ((2, 4, 4, 130, 130, 16), None, ""),
    "head_256": ((2, 4, 4, 130, 130, 256), None, ""),
    "head_36": ((2, 4, 4, 130, 130, 36), None, ""),
    "head_100": ((2, 4, 4, 130, 70, 100), None, "causal"),
    "head_7": ((2, 4, 4, 33, 65, 7), None, ""),
    "bool": ((2, 4, 4, 200, 190, 128), "bool", ""),
    "bool_many": ((4, 40, 40, 200, 190, 128), "bool", ""),
    "bool_shared": ((2, 4, 4, 200, 190, 64), "bool_shared", ""),
    "bool_grouped": ((2, 8, 2, 100, 190, 80), "bool", ""),
    "bool_256": ((2, 4, 4, 130, 130, 256), "bool", ""),
    "bool_36": ((2, 4, 4, 130, 131, 36), "bool", ""),
    "numbers": ((2, 4, 4, 200, 190, 128), "numbers", ""),
    "numbers_shared": ((2, 4, 4, 200, 192, 64), "numbers_shared", ""),
    "lowest": ((2, 4, 4, 200, 192, 64), "lowest", ""),
}
MAX_RATIO = 1.2


class Attention(torch.nn.Module):
    def __init__(self, special):
        super().__init__()
        self.is_causal, self.tokens_first = special == "causal", special == "tokens_first"

    def forward(self, q, k, v, mask=None):
        if self.tokens_first:
            q, k, v = (t.transpose(1, 2) for t in (q, k, v))
        return F.scaled_dot_product_attention(q, k, v, mask, is_causal=self.is_causal, enable_gqa=q.shape[1] != k.shape[1])


def make_mask(kind, sizes, dtype):
    """One query without a key where -Inf or False says so; `lowest` has a row of the smallest number."""
    batch, heads, _, queries, keys, _ = sizes
    if kind is None:
        return None
    shape = (1, 1, queries, keys) if kind.endswith("shared") else (batch, heads, queries, keys)
    if kind.startswith("bool"):
        mask = torch.rand(shape, device="cuda") > 0.3
        mask[..., 3, :] = False
        return mask
    mask = torch.randn(shape, device="cuda").to(dtype)
    mask[..., 3, :] = torch.finfo(dtype).min if kind == "lowest" else -torch.inf
    return mask


def exact(q, k, v, mask, is_causal):
    group = q.shape[1] // k.shape[1]
    k, v = (t.double().repeat_interleave(group, 1) for t in (k, v))
    scores = q.double() @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    if is_causal:
        scores = scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(1), -torch.inf)
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf) if mask.dtype == torch.bool else (scores.float() + mask.float()).double()
    return scores.softmax(-1).nan_to_num(0) @ v


def relative(a, b):
    return float((a.double() - b).norm() / b.norm())


class Checks:
    def __init__(self, options):
        self.options, self.missed, self.count = options, 0, 0

    def report(self, case, what, passed, detail):
        self.count += 1
        self.missed += not passed
        print(f"{'ok  ' if passed else 'MISS'} {case} {what}: {detail}", flush=True)

    def run(self, tool, *args, prefix=()):
        return subprocess.run([*prefix, str(self.options.bin / tool), *map(str, args)], capture_output=True, text=True)

    def prepare(self, case, dtype):
        """The archive, its inputs, PyTorch's distance and the exact values."""
        sizes, kind, special = CASES[case]
        batch, heads, kv_heads, queries, keys, dim = sizes
        path = self.options.work / f"{case}.{str(dtype).removeprefix('torch.')}"
        torch.manual_seed(0)
        shapes = [(batch, heads, queries, dim), *[(batch, kv_heads, keys, dim)] * 2]
        args = [torch.randn(shape, device="cuda").to(dtype) for shape in shapes]
        heads_first = args
        if special == "tokens_first":
            args = [t.transpose(1, 2).contiguous() for t in args]
        mask = make_mask(kind, sizes, dtype)
        module, inputs = Attention(special), (*args, *([] if mask is None else [mask]))
        with torch.no_grad():
            program = torch.export.export(module, inputs, strict=False)
            eager = module(*inputs)
        torch.export.save(program, f"{path}.pt2")
        names = program.graph_signature.user_inputs
        save_file({name: tensor.cpu().contiguous() for name, tensor in zip(names, inputs)}, f"{path}.inputs.safetensors")
        right = exact(*heads_first, mask, special == "causal")
        return path, dict(zip(names, inputs)), relative(eager.nan_to_num(0), right), right

    def check(self, case, path, inputs, eager, right):
        kind, label = CASES[case][1], path.name
        result = self.run("fp8-compile", f"{path}.pt2", "-o", f"{path}.fp8", f"--target={self.options.target}")
        if result.returncode:
            return self.report(label, "compile", False, result.stderr.strip())
        call = [f"{path}.fp8", "--device=cuda", f"--inputs={path}.inputs.safetensors"]
        how = re.search(r"Attention .*\((.*)\)", self.run("fp8-run", *call, "--profile").stdout)
        for backends in ("auto", "own"):
            outputs = []
            for poison in (False, True):
                package = runtime.Package(self.options.bin.parent / "lib" / "libfp8rt.so", f"{path}.fp8", "cuda",
                                          backends=backends, poison=poison)
                outputs += package(*[inputs[name] for name in package.inputs])
            torch.cuda.synchronize()
            distance = relative(outputs[0], right)
            empty = kind in (None, "lowest") or not outputs[0][:, :, 3].any()
            detail = f"{distance:.2e}, PyTorch {eager:.2e}{'' if empty else ', a row without keys is not 0'}"
            self.report(label, backends, distance <= MAX_RATIO * eager and empty,
                        detail + (f" ({how[1]})" if backends == "auto" and how else ""))
            self.report(label, f"{backends}, poison", torch.equal(*[t.view(torch.int16) for t in outputs]), "")
        for tool in ("memcheck", "racecheck", "initcheck") if self.options.sanitize else ():
            sanitizer = ("compute-sanitizer", f"--tool={tool}", "--error-exitcode=9")
            result = self.run("fp8-run", *call, "--backends=own", prefix=sanitizer)
            found = re.findall(r"(?:ERROR|RACECHECK) SUMMARY: .*", result.stdout)
            self.report(label, tool, result.returncode == 0, found[-1] if found else (result.stdout + result.stderr)[-300:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=SOURCE / "build" / "bin")
    parser.add_argument("--work", type=pathlib.Path, default=SOURCE / "build" / "check_attention")
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--sanitize", action="store_true")
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 1) - 2))
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    checks = Checks(options)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        tasks = []
        for case in CASES:
            for dtype in (torch.bfloat16, torch.float16):
                if dtype == torch.float16 and case not in ("plain", "causal", "bool", "head_36"):
                    continue
                try:
                    tasks.append(pool.submit(checks.check, case, *checks.prepare(case, dtype)))
                except RuntimeError as error:
                    checks.report(case, "PyTorch", False, str(error)[:200])
        for task in tasks:
            task.result()
    print(f"{checks.count} checks, {checks.missed} missed")
    return 1 if checks.missed else 0


if __name__ == "__main__":
    sys.exit(main())
