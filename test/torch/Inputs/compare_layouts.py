#
# Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""compare_layouts.py MEASURED TABLE: does what layouts.cpp measured agree with what
torch-facts -table prints? Prints what does not, and what the table says without a
measurement."""

import sys

WORDS = {"keeps-order": "keeps", "packs": "packs"}
measured, said = {}, {}
with open(sys.argv[1], encoding="utf-8") as file:
    for line in file:
        name, _, kind = line.strip().rpartition(": ")
        measured[name] = kind
with open(sys.argv[2], encoding="utf-8") as file:
    for line in file:
        name, _, flags = line.strip().partition(": ")
        for flag in flags.split():
            if flag in WORDS:
                said[name] = WORDS[flag]
            elif flag.startswith("columns:"):
                position = flag[len("columns"):]
                key = name + position if name + position in measured else name
                said[key if position != ":0" else name] = "columns"

wrong = 0
for name, kind in sorted(said.items()):
    if measured.get(name) not in (kind, "gone"):
        wrong += 1
        print("%s: the table says %s, the library %s" % (name, kind, measured.get(name)))
for name, kind in sorted(measured.items()):
    if kind != "other" and name not in said and ":" in name and kind == "columns":
        wrong += 1
        print("%s: the table says nothing, the library %s" % (name, kind))
print("%d operators of the table were measured, %d disagree" % (len(said), wrong))
