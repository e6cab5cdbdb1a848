#!/usr/bin/env bash
# Sets up what is missing, builds, runs all tests. The last line counts them: "N passed, M failed, K skipped".
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
setup_build
say "Tests"
exec .venv/bin/python tools/dev/check.py --build-dir build
