#!/usr/bin/env python3
#
# Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Damages reports of --budget-format=json, and compares with them.

  damage.py REPORT DAMAGED COMMAND...

Takes each member of REPORT away, and replaces it by a value of another kind, and
runs COMMAND with --against=DAMAGED. Exit status: 0 when it always ends with a
report or with an error about DAMAGED.
"""

import copy
import json
import os
import subprocess
import sys

ALL = "ALL" in os.environ  # Takes minutes.
OTHERS = (None, True, -1, 2**64 - 1, 1e300, "x\x1b[1m\n", [], {}, [[{}]])


def places(value, path=()):
    """The paths of all members, one of each list."""
    keys = value if isinstance(value, dict) else range(min(1, len(value)))
    for key in keys:
        if key == "timeLines":  # A change has none.
            continue
        yield path + (key,)
        if isinstance(value[key], (dict, list)):
            yield from places(value[key], path + (key,))


def damaged(report, path, others):
    for other in ("gone", *others):
        result = copy.deepcopy(report)
        parent = result
        for key in path[:-1]:
            parent = parent[key]
        if other == "gone":
            del parent[path[-1]]
        else:
            parent[path[-1]] = other
        yield result


def main():
    report_file, damaged_file, *command = sys.argv[1:]
    name = f"report '{damaged_file}'".encode()
    command.insert(1, "--against=" + damaged_file)
    with open(report_file, encoding="utf-8") as file:
        report = json.load(file)
    complaints = runs = 0
    for number, path in enumerate(places(report)):
        others = OTHERS if ALL else [OTHERS[number % len(OTHERS)]]
        for result in damaged(report, path, others):
            with open(damaged_file, "w", encoding="utf-8") as file:
                json.dump(result, file)
            done = subprocess.run(command, capture_output=True, check=False)
            runs += 1
            is_error = done.returncode == 2 and name in done.stderr
            if not (is_error or done.returncode in (0, 3)) or b"\x1b" in done.stdout:
                complaints += 1
                print(path, done.returncode, done.stderr.decode(), json.dumps(result))
    print(runs, "reports")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
