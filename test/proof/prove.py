"""Proves the fix of one check on the real library.

prove.py TOOLS NAME FOLDER [by-hand]: applies the fixes of libtorch-NAME to the
program NAME.cpp beside this script, compares the result with what -DFIXED makes of
it, builds and runs both programs, and compares what they print as bits. Leaves
bad.txt and fixed.txt in FOLDER for the figures, and figures.json, which has to
agree with docs/figures/libtorch-NAME.json (see figures.py). That file is made
anew where the environment variable LIBTORCH_TIDY_WRITE_FIGURES is set.

With by-hand, the check offers no fix and what -DFIXED makes is what its page
advises: the check has to report the one and be silent on the other. Another
layout of a model has other values, so it may print no bits.
"""

import json
import os
import re
import shutil
import subprocess
import sys

import figures
import fixes
import programs

tools_file, name, folder = sys.argv[1:4]
by_hand = sys.argv[4:] == ["by-hand"]
with open(tools_file) as file:
    tools = json.load(file)
# How much scratch oneDNN takes depends on the processor. With AMX it is 67 KB
# more than with what came before, and the figures are to be the same on both.
os.environ.setdefault("DNNL_MAX_CPU_ISA", "AVX512_CORE_BF16")


def run(command, **environment):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, env={**os.environ, **environment})
    if done.returncode != 0:
        sys.exit("failed (%d): %s\n%s" % (done.returncode, " ".join(command), done.stdout))
    return done.stdout


shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)

# The program with the defect becomes the one without it, by the fixes alone.
fixes.compare(tools, name, folder, by_hand, level=2)

bits = {}
for kind in ("bad", "fixed"):
    program = os.path.join(folder, kind)
    # The suite's other precompiled header holds no function bodies.
    run([tools["clangxx"], programs.write(name, kind, folder), "-o", program, "-I", programs.HERE]
        + tools["torch_flags"]
        + ["-include-pch", tools["torch_code_pch"], *tools["torch_libraries"]])
    output = run([program], LIBTORCH_TIDY_SERIES=program + ".series")
    with open(program + ".txt", "w") as file:
        file.write(output)
    bits[kind] = re.findall(r"^.*, bits .*$", output, re.M)
if (not bits["bad"] and not by_hand) or bits["bad"] != bits["fixed"]:
    sys.exit("results differ: %s" % bits)

figures.check(figures.collect(name, folder, by_hand, figures.libtorch_version(tools)),
              folder, tools)
