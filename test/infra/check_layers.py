#!/usr/bin/env python3
#
# Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that folders include only what lies below them.

  check_layers.py ROOT

ORDER lists the folders of ROOT from the bottom up. A file may include headers
of its own folder, of what lies in it and of those before it; APART says which of
these it may not. analysis/cpp knows nothing of LibTorch, and the checks see
analysis/bytes through one header. And a header of SHARED is for more than one
check: an analysis that one check alone uses lives beside that check.

Exit status: 0 all do, 1 some do not.
"""

import collections
import os
import re
import sys

ORDER = """
analysis/cpp analysis/torch analysis/flow analysis/bytes fixits checks/base
checks/guards checks/history checks/lifetime checks/layout checks/cycles checks/oom checks/cost
driver/llvm driver/workers driver/cache driver/project driver/findings driver/output driver/pch
driver/budget driver/engine driver/options driver/lsp driver
""".split()
SHARED = ["analysis/flow", "analysis/bytes"]
# What the checks see of bytes.
DOOR = "analysis/bytes/Bytes.h"
# What a folder may not know although it lies below.
APART = {"analysis/bytes": "analysis/flow", "fixits": "analysis"}
TOPS = ("analysis", "checks", "fixits", "driver")
INCLUDE = re.compile(r'^#include "((?:%s)/[^"]+\.h)"' % "|".join(TOPS), re.M)
# The base of all checks is no check.
CHECK = re.compile(r"checks/(?!base/)\w+/\w+\.cpp")


def place(path):
    """The folder of ORDER that path lies in; None when there is none."""
    folder = os.path.dirname(path)
    while folder and folder not in ORDER:
        folder = os.path.dirname(folder)
    return folder or None


def sources(root):
    for top in TOPS:
        for folder, _, names in sorted(os.walk(os.path.join(root, top))):
            for name in sorted(names):
                if name.endswith((".cpp", ".h")):
                    yield os.path.relpath(os.path.join(folder, name), root)


def main():
    root = sys.argv[1]
    users = collections.defaultdict(set)
    complaints = []
    for path in sources(root):
        here = place(path)
        if not here:
            complaints.append(f"{path} has no place in ORDER of check_layers.py")
            continue
        with open(os.path.join(root, path), encoding="utf-8") as file:
            text = file.read()
        for header in INCLUDE.findall(text):
            there = place(header)
            if os.path.splitext(path)[0] != os.path.splitext(header)[0]:
                users[header].add(path)
            if there in ORDER[ORDER.index(here) + 1 :] or (
                here in APART and there.startswith(APART[here])
            ):
                complaints.append(f"{path} includes {header}, which lies above it")
            elif path.startswith("checks/") and there == place(DOOR) and header != DOOR:
                complaints.append(f"{path} includes {header}, not {DOOR}")
    for header, who in sorted(users.items()):
        only = next(iter(who))
        if (
            place(header) in SHARED
            and len(who) == 1
            and CHECK.fullmatch(only)
        ):
            complaints.append(f"{header} is there for {only} alone: move it there")
    print("\n".join(complaints) or "all layers know only what lies below them")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
