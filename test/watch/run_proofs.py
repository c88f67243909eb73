"""Runs the programs of test/proof that grow, watched, and prints the reports.

run_proofs.py STACKS KINDS PROGRAM FOLDER REPORTER...: STACKS is what the variable
LIBTORCH_TIDY_WATCH_STACKS is, KINDS are `bad`, `fixed` or both with a comma between.
PROGRAM is built from Inputs/proofs.cpp. FOLDER has the sources of the proofs, and gets
the reports; REPORTER is the command that reads one.
"""

import os
import subprocess
import sys

stacks, kinds, program, folder = sys.argv[1:5]
reporter = sys.argv[5:]
environment = dict(os.environ, LIBTORCH_TIDY_WATCH_TEXT="0", LIBTORCH_TIDY_WATCH_STACKS=stacks)
os.makedirs(folder, exist_ok=True)
for name in ("accumulated-history", "autograd-context-cycle", "create-graph-cycle",
             "discarded-result", "hook-capture-cycle", "module-ownership-cycle",
             "stale-optimizer-state", "undetached-hidden-state"):
    for kind in kinds.split(","):
        report = os.path.join(folder, "%s_%s.json" % (name, kind))
        # LibTorch warns of some of the programs on the error stream.
        subprocess.run([program, "%s_%s" % (name, kind)], check=True,
                       stderr=subprocess.DEVNULL,
                       env=dict(environment, LIBTORCH_TIDY_WATCH=report))
        print("PROGRAM", name, kind, flush=True)
        subprocess.run(reporter + [report, "--root=" + os.path.realpath(folder)], check=True)
