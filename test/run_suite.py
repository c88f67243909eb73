#!/usr/bin/env python3
#
# Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the lit suite and closes with one line that says how it went:

    N passed, N failed[, N skipped]

Before it stands which tests were skipped, and for want of what. The numbers are lit's
own results. Exits 0 only when a test passed and none failed: a suite that ran nothing is
no success.
"""

import argparse
import json
import os
import subprocess
import sys
from collections import Counter

# lit's result codes. What is in neither set (FAIL, XPASS, UNRESOLVED, TIMEOUT,
# and any code to come) counts as failed.
PASSED = {"PASS", "FLAKYPASS", "XFAIL"}
SKIPPED = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}


def skipped(tests):
    """A line for each set of features that tests lack."""
    names = {}
    for test in tests:
        if test["code"] in SKIPPED:
            lacked = test.get("output", "").partition("unavailable features: ")[2].strip()
            names.setdefault(lacked, []).append(test["name"].rpartition(":: ")[2])
    for lacked, which in sorted(names.items()):
        why = "for want of " + lacked if lacked else "here"
        yield f"skipped {why}: {', '.join(sorted(which))}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lit", required=True, help="path of lit.py")
    parser.add_argument(
        "--results",
        required=True,
        help="file for lit's results; the closing line goes beside it, as .txt",
    )
    parser.add_argument("--param", action="append", default=[], help="passed to lit")
    parser.add_argument("suite", nargs="+", help="folders of the configured suite")
    args = parser.parse_args()

    # Results of an earlier run must not stand in for this one's.
    summary = os.path.splitext(args.results)[0] + ".txt"
    for stale in (args.results, summary):
        if os.path.exists(stale):
            os.remove(stale)
    command = [sys.executable, args.lit, "-v", "--output", args.results]
    command += ["--param=" + param for param in args.param] + args.suite
    code = subprocess.run(command).returncode

    try:
        with open(args.results) as file:
            tests = json.load(file)["tests"]
    except (OSError, ValueError, KeyError) as error:
        print(f"run_suite: lit left no results (exit code {code}): {error}")
        print("0 passed, 0 failed", flush=True)
        return 2

    counts = Counter()
    for test in tests:
        if test["code"] in PASSED:
            counts["passed"] += 1
        elif test["code"] in SKIPPED:
            counts["skipped"] += 1
        else:
            counts["failed"] += 1
            print(f"{test['code']}: {test['name']}")

    for line in skipped(tests):
        print(line)
    line = f"{counts['passed']} passed, {counts['failed']} failed"
    if counts["skipped"]:
        line += f", {counts['skipped']} skipped"
    print(line, flush=True)
    with open(summary, "w") as file:
        print(line, file=file)
    if not counts["passed"] and not counts["failed"]:
        print("run_suite: no test ran", file=sys.stderr)
        return 2
    if counts["failed"]:
        return 1
    return code


if __name__ == "__main__":
    sys.exit(main())
