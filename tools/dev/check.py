#!/usr/bin/env python3
"""Runs lit (RUN lines and GoogleTest) and pytest on a build and counts the results.

    check.py --build-dir build

The last line is ``N passed, M failed, K skipped``; the exit status is 1 where something failed or nothing ran.
"""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

# A test that is expected to fail proves nothing, and one that passes at a second try is a failure.
PASSED = {"PASS"}
SKIPPED = {"UNSUPPORTED", "SKIPPED", "EXCLUDED", "XFAIL"}


def run_lit(build, folder):
    """Counts by outcome of the lit suites of a build."""
    report = folder / "lit.json"
    command = [sys.executable, "-c", "from lit.main import main; main()", "-sv", "--order=smart",
               "--time-tests" if "-v" in sys.argv else "--no-progress-bar", f"--output={report}", str(build / "test")]
    status = subprocess.run(command).returncode
    counts = collections.Counter()
    if report.exists():
        for test in json.loads(report.read_text())["tests"]:
            code = test["code"]
            counts["passed" if code in PASSED else "skipped" if code in SKIPPED else "failed"] += 1
    if status and not counts["failed"]:
        counts["failed"] += 1
    return counts


def run_pytest(source, build, folder):
    """Counts by outcome of the Python tests."""
    tests = source / "test" / "Python"
    report = folder / "pytest.xml"
    environment = dict(os.environ, FP8C_BUILD_DIR=str(build))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--numprocesses=auto",
               "--dist=loadgroup", f"--junitxml={report}", str(tests)]
    status = subprocess.run(command, env=environment).returncode
    counts = collections.Counter()
    if report.exists():
        for suite in xml.etree.ElementTree.parse(report).getroot().iter("testsuite"):
            failed = int(suite.get("failures")) + int(suite.get("errors"))
            skipped = int(suite.get("skipped"))
            counts.update(failed=failed, skipped=skipped, passed=int(suite.get("tests")) - failed - skipped)
    if status and not counts["failed"]:
        counts["failed"] += 1
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build-dir", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("-v", action="store_true", help="print lit's times")
    options = parser.parse_args()
    source = pathlib.Path(__file__).resolve().parents[2]
    build = options.build_dir.resolve()
    total = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        total += run_lit(build, folder)
        total += run_pytest(source, build, folder)
    sys.stdout.flush()
    print(f"{total['passed']} passed, {total['failed']} failed, {total['skipped']} skipped", flush=True)
    return 1 if total["failed"] or not total["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
