"""Ends a program in each way that Inputs/ends.cpp has, and prints what is left.

run_ends.py PROGRAM FOLDER
"""

import glob
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

program, folder = sys.argv[1:]
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
# UCX, which some builds of LibTorch load, handles crashes itself.
environment = dict(os.environ, LIBTORCH_TIDY_WATCH="watch.json", LIBTORCH_TIDY_WATCH_STACKS="none",
                   UCX_HANDLE_ERRORS="none")


def start(name):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    return subprocess.Popen([program, name], cwd=folder, env=environment, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            # A shell's job in the background ignores it.
                            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))


def reports(child):
    """The parent's report, then those of its forks."""
    for path in sorted(glob.glob(os.path.join(folder, "*")), key=len):
        with open(path) as file:
            report = json.load(file)
        of_fork = os.path.basename(path) != "watch.json"
        if of_fork:
            assert os.path.basename(path) == "watch-%d.json" % report["pid"], path
            assert report["parent"] == child, report["parent"]
        else:
            assert report["pid"] == child and "parent" not in report
        yield report, of_fork


for name in ("abort", "check", "crash", "overflow", "crash-in-threads", "terminate", "interrupt",
             "quick-exit", "ignored", "own-handler", "locked", "fork", "fork-without-steps",
             "fork-and-crash", "fork-while-steps"):
    child = start(name)
    out = child.communicate()[0]
    end = signal.Signals(-child.returncode).name if child.returncode < 0 else child.returncode
    print("PROGRAM %s: %s" % (name, end))
    for line in out.splitlines():
        if line.startswith(("libtorch-tidy watch:", "child ")) or line.endswith("whole"):
            print("  " + re.sub(r"process \d+, a fork of \d+", "process N, a fork of N", line))
    if name == "fork-while-steps":  # Some end before their first report.
        continue
    for report, of_fork in reports(child.pid):
        print("  report of %s: %s, %s, %g bytes a step"
              % ("the fork" if of_fork else "the program", report["end"],
                 ", ".join("%d steps" % one["steps"] for one in report["series"]),
                 report["verdicts"][0]["perStep"]))

# Wherever the signal comes, the program ends by it, and leaves a report.
random.seed(1)
ends = []
for _ in range(30):
    child = start("at-any-time")
    assert child.stdout.readline() == "begins\n"
    time.sleep(random.random() / 10)
    child.terminate()
    child.communicate()
    ends.append((child.returncode, [report["end"] for report, _ in reports(child.pid)]))
print("AT ANY TIME: %d of %d ended by the signal" %
      (sum(code == -signal.SIGTERM for code, _ in ends), len(ends)))
left = sum(found == ["SIGTERM"] for _, found in ends)
print("AT ANY TIME: " + ("reports are left" if left >= 29 else "%d reports" % left))
