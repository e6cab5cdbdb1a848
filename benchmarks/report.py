#!/usr/bin/env python3
"""Makes docs/performance.md from benchmarks/results/*.json: report.py"""

import json
import pathlib

SOURCE = pathlib.Path(__file__).resolve().parents[1]

INTRODUCTION = """# Performance

What was measured, by `benchmarks/run.py`; `benchmarks/report.py` makes this page from `benchmarks/results`. A row is the
median of its rounds with (minimum - maximum); rounds of fp8c and of the peer alternate, and a ratio is that of the ratios
within a round: below 1 fp8c is faster. `load` is the machine's load average: with more than its cores, times of both sides
are longer than on an idle machine, and the ratio is what counts.
"""

#: What profiles said; not from the result files.
PROFILES = """## Where the time goes

On the machine of `cpu` (AMD EPYC, AVX2, 2 cores that other builds shared), November 2026:

- A call of `llama` (real widths, depth 2, 1 x 64 tokens, bf16 weights): products 98 % of the time (`fp8-run --profile`).
  It takes 2.0 s of processor time, both threads together. PyTorch's 15 products of those sizes in f32 (MKL, one thread)
  take 2.6 s. Not measured in turns: by processor time, an hour apart, under other load on both sides.
- A tile of 64 x 256 x 256 with decoding from bf16 runs at 31 to 52 GFLOP/s of one core's processor time, MKL's f32 product
  at 26 to 32; 15 to 25 % of the tile's time is decoding.
- The same call on one and on two threads gives the same bytes.
- Compiling `six_linears_static` with tiny weights from `.pt2` to package on an idle machine, three times each: 32 blocks 1.04, 1.31
  and 1.70 s, 4 blocks 0.35, 0.50 and 0.50 s. Before the nodes of a graph were parsed one by one it was 2.14 to 2.45 s, of which
  reading JSON was 44 % of the instructions (callgrind, main thread), canonical form 11 %, importing 10 %, plan 8 %, forming
  kernels 6 %. Code generation does not grow with the blocks: equal kernels are compiled once, both levels of the processor at
  the same time. It is more than the 1.3 times of 4 blocks that is aimed at.
- What real weights add, 2.7 GB from archive to package: 8 s of processor time, of it 31 % in minizip's copy, 15 % in CRC-32,
  the most of the rest in the kernel's page cache.
"""


def span(values, scale=1.0, digits=1):
    low, mid, high = (f"{values[key] * scale:.{digits}f}" for key in ("min", "median", "max"))
    return f"{mid} ({low} - {high})"


def time_rows(results):
    yield "| case | shape | rounds | fp8c ms | peer | peer ms | ratio | load |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for r in results:
        peer = (r["peer"], span(r["peer_us"], 1e-3), span(r["ratio"], digits=2)) if "peer" in r else ("", "", "")
        yield (f"| {r['case']} | {r['shape']} | {r['rounds']} | {span(r['ours_us'], 1e-3)} | {peer[0]} | {peer[1]} | {peer[2]} "
               f"| {r['load_average']:.1f} |")


def gpu_rows(results):
    yield "| case | shape | rounds | fp8c us | peer | peer us | ratio | limit us | share | host us | |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    for r in results:
        peer = (r["peer"], span(r["peer_us"]), span(r["ratio"], digits=3)) if "peer" in r else ("", "", "")
        limit = f"{r['limit_us']:.1f}" if "limit_us" in r else ""
        share = span(r["share"], digits=3) if "share" in r else ""
        host = span(r["host_us"]) if "host_us" in r else ""
        yield (f"| {r['case']} | {r['shape']} | {r['rounds']} | {span(r['ours_us'])} | {peer[0]} | {peer[1]} | {peer[2]} | {limit} "
               f"| {share} | {host} | {r.get('note', '')} |")


def memory_rows(results):
    yield "| case | shape | weights MB | package MB | resident MB |"
    yield "| --- | --- | --- | --- | --- |"
    for r in results:
        yield (f"| {r['case']} | {r['shape']} | {r['weight_bytes'] / 1e6:.1f} | {r['package_bytes'] / 1e6:.1f} "
               f"| {r['resident_bytes'] / 1e6:.1f} |")


def main():
    lines = [INTRODUCTION]
    for path in sorted((SOURCE / "benchmarks" / "results").glob("*.json")):
        report = json.loads(path.read_text())
        lines.append(f"## {path.stem}\n")
        timed = [r for r in report["results"] if "ours_us" in r]
        if path.stem == "cpu":
            lines.append(f"{report['machine']}, all of them for both sides.\n")
            rows = time_rows
        else:
            lines += [f"{report['machine']}. Time of the device, of both sides by CUDA graphs; of blocks and models without `/graph` that "
                      "of a call until its results are there, without graphs. `host`: what it needs to put a call into a stream; "
                      "`share`: the limit's time over fp8c's. benchmarks/gpu.py says what each case is.", ""]
            rows = gpu_rows
        memory = [r for r in report["results"] if "weight_bytes" in r]
        if timed:
            lines += [*rows(timed), ""]
        if memory:
            lines += ["The archive's weights, the package, and the process after its calls (mapped weights, code, buffers):", "",
                      *memory_rows(memory), ""]
    lines.append(PROFILES)
    (SOURCE / "docs" / "performance.md").write_text("\n".join(lines).rstrip() + "\n")


if __name__ == "__main__":
    main()
