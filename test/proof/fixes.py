"""What the check of a proof makes of its programs."""

import difflib
import os
import subprocess
import sys

import programs


def compare(tools, name, folder, by_hand, level):
    """Ends the program unless the fixes of libtorch-NAME, and nothing else, make
    the program with -DFIXED of the one without (see programs.py). By hand: unless the check reports the one,
    without a fix, and is silent on the other."""
    def fix(kind):
        copy = os.path.join(folder, "program.cpp")
        with open(copy, "w") as file:
            file.write(programs.source(name, kind))
        done = subprocess.run(
            [tools["clang_tidy"], "-load", tools["plugin"], "-checks=-*,libtorch-" + name,
             "-config={CheckOptions: {Level: %d}}" % level, "-fix", copy, "--"]
            + tools["torch_flags"] + ["-include-pch", tools["torch_pch"], "-I", programs.HERE],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        if done.returncode != 0:
            sys.exit("clang-tidy failed (%d):\n%s" % (done.returncode, done.stdout))
        with open(copy) as file:
            return done.stdout, file.readlines()

    told, ours = fix("bad")
    if by_hand:
        if "[libtorch-" + name not in told:
            sys.exit("nothing found:\n" + told)
        after = fix("fixed")[0]
        if "[libtorch-" + name in after:
            sys.exit("not fixed:\n" + after)
    wanted = programs.source(name, "bad" if by_hand else "fixed").splitlines(keepends=True)
    if ours != wanted:
        sys.exit("the fixes lead elsewhere:\n"
                 + "".join(difflib.unified_diff(wanted, ours, "wanted", "fixed")) + told)
