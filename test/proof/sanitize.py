"""Proves that a fix ends the use of memory that is gone.

sanitize.py TOOLS COMPILER NAME FOLDER [by-hand] CASE=ERROR...: compares the two
programs of NAME.cpp beside this script (see fixes.py). Builds both with
COMPILER's AddressSanitizer and runs each case, the program's argument: the bad one
has to stop with ERROR (where one is given), the fixed one to end without a word of
the sanitizer. Leaves what the cases print in bad.txt and fixed.txt in FOLDER, and
figures.json (see figures.py).
"""

import json
import os
import shutil
import subprocess
import sys

import figures
import fixes
import programs

tools_file, compiler, name, folder = sys.argv[1:5]
by_hand = sys.argv[5:6] == ["by-hand"]
cases = [case.split("=") for case in sys.argv[5 + by_hand:]]
with open(tools_file) as file:
    tools = json.load(file)
environment = dict(os.environ,
                   ASAN_OPTIONS="detect_leaks=0:detect_stack_use_after_return=1")


def run(command, may_fail=False):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", env=environment)
    if done.returncode != 0 and not may_fail:
        sys.exit("failed (%d): %s\n%s" % (done.returncode, " ".join(command), done.stdout))
    return done.returncode, done.stdout


shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)

fixes.compare(tools, name, folder, by_hand, level=1)

for kind in ("bad", "fixed"):
    program = os.path.join(folder, kind)
    # A precompiled header would have to be made with the sanitizer as well.
    run([compiler, programs.write(name, kind, folder), "-o", program, "-I", programs.HERE,
         "-O1", "-fsanitize=address"]
        + tools["torch_flags"] + tools["torch_libraries"])
    with open(program + ".txt", "w") as file:
        for case, error in cases:
            code, output = run([program, case], may_fail=True)
            file.write(output)
            if kind == "bad" and error and (code == 0 or error not in output):
                sys.exit("%s: no %s:\n%s" % (case, error, output))
            if (kind == "fixed" or not error) and (code != 0 or "Sanitizer" in output):
                sys.exit("%s, %s: code %d\n%s" % (case, kind, code, output))

errors = {case: error for case, error in cases if error}
figures.check(figures.of_cases(name, errors, by_hand, figures.libtorch_version(tools)), folder, tools)
