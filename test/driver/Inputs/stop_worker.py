# Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Stops the process that analyses a unit, as if it waited for something.

    stop_worker.py SECONDS COMMAND...

Runs COMMAND, stops the first process below libtorch-tidy, and says whether the
command then went on for SECONDS or more. Exits as the command does.
"""

import os
import signal
import subprocess
import sys
import time


def processes():
    """(process, parent, name) of each."""
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", encoding="utf-8") as file:
                    text = file.read()
            except OSError:
                continue
            name = text[text.index("(") + 1 : text.rindex(")")]
            yield int(entry), int(text[text.rindex(")") + 2 :].split()[1]), name


def worker_below(top):
    """A libtorch-tidy whose parent is one, too, below process top."""
    known = {process: (parent, name) for process, parent, name in processes()}
    for process, (parent, name) in known.items():
        if name == "libtorch-tidy" and known.get(parent, (0, ""))[1] == name:
            while parent and parent != top:
                parent = known.get(parent, (0, ""))[0]
            if parent == top:
                return process
    return None


def main():
    command = subprocess.Popen(sys.argv[2:])
    worker = None
    while worker is None and command.poll() is None:
        worker = worker_below(command.pid)
        time.sleep(0.001)
    if worker is not None:
        os.kill(worker, signal.SIGSTOP)
    begin = time.monotonic()
    code = command.wait()
    if time.monotonic() - begin >= float(sys.argv[1]):
        print(f"stopped for {sys.argv[1]} seconds or more")
    return code


if __name__ == "__main__":
    sys.exit(main())
