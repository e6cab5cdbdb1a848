#!/usr/bin/env bash
# Sets up what is missing, builds, exports a real transformer (examples/dit), compiles it, runs it, compares it with
# PyTorch's own output and prints what was fused.
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
setup_build

out=build/demo
run() { printf '\n$ %s\n' "$*"; "$@"; }

say "A diffusion transformer with explicit FP8 linears, exported by torch.export"
run .venv/bin/python examples/dit/export.py $out

say "One package for every batch and number of tokens"
run build/bin/fp8-compile $out/dit.pt2 -o $out/dit.fp8

say "Fusion report: each scaled cast, what it was fused with, and why not where it was not"
run build/bin/fp8-run $out/dit.fp8 --report

say "Its signature"
run build/bin/fp8-run $out/dit.fp8 --list

say "Every command against PyTorch's value of the same node (bytes; bars in docs/numerics.md)"
run build/bin/fp8-run $out/dit.fp8 --inputs=$out/dit.inputs.safetensors --expect-trace=$out/dit.trace.safetensors

say "The same package at another size"
run build/bin/fp8-run $out/dit.fp8 --random --dim x.0=1 --dim x.1=513 --benchmark

say "End to end against PyTorch's output"
run build/bin/fp8-run $out/dit.fp8 --inputs=$out/dit.inputs.safetensors --expect=$out/dit.outputs.safetensors \
  --max-distance=0.04
