#!/usr/bin/env python3
#
# Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that folders include only what lies below them.

  check_layers.py ROOT

ORDER lists the folders of ROOT from the bottom up. A file may include headers
of its own folder and of those before it; fixits/ knows nothing of checks/, and
checks/ nothing of driver/. And a header of SHARED is for more than one check:
an analysis that one check alone uses lives beside that check.

Exit status: 0 all do, 1 some do not.
"""

import collections
import os
import re
import sys

ORDER = """
checks/llvm checks/torch checks/code checks/flow checks/model fixits checks
driver/llvm driver/cache driver/project driver/findings driver/output driver/pch
driver/engine driver/options driver/lsp driver
""".split()
SHARED = ["checks/flow", "checks/model"]
# What a folder may not know although it lies below.
APART = {"fixits": "checks"}
INCLUDE = re.compile(r'^#include "((?:checks|fixits|driver)/[^"]+\.h)"', re.M)
# The base of all checks is no check.
CHECK = re.compile(r"checks/(?!Libtorch)\w+\.cpp")


def sources(root):
    for top in ("checks", "fixits", "driver"):
        for folder, _, names in sorted(os.walk(os.path.join(root, top))):
            for name in sorted(names):
                if name.endswith((".cpp", ".h")):
                    yield os.path.relpath(os.path.join(folder, name), root)


def main():
    root = sys.argv[1]
    users = collections.defaultdict(set)
    complaints = []
    for path in sources(root):
        here = os.path.dirname(path)
        if here not in ORDER:
            complaints.append(f"{here} has no place in ORDER of check_layers.py")
            continue
        with open(os.path.join(root, path), encoding="utf-8") as file:
            text = file.read()
        for header in INCLUDE.findall(text):
            there = os.path.dirname(header)
            if os.path.splitext(path)[0] != os.path.splitext(header)[0]:
                users[header].add(path)
            if there in ORDER[ORDER.index(here) + 1 :] or (
                here in APART and there.startswith(APART[here])
            ):
                complaints.append(f"{path} includes {header}, which lies above it")
    for header, who in sorted(users.items()):
        only = next(iter(who))
        if (
            os.path.dirname(header) in SHARED
            and len(who) == 1
            and CHECK.fullmatch(only)
        ):
            complaints.append(f"{header} is there for {only} alone: move it there")
    print("\n".join(complaints) or "all layers know only what lies below them")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
