# Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ends processes that wait for the next round, as a system without memory does.

    kill_parked.py MOST COMMAND...

Runs the command and kills MOST of its processes that are parked. Prints what it says, also
on the standard error, and how many were killed; exits as it does.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path


def parent_of(process):
    fields = (process / "stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[1])


def is_parked(process):
    """It has been adopted by the command, and writes to nobody."""
    return (
        parent_of(process) == command.pid
        and os.readlink(process / "fd" / "2") == "/dev/null"
    )


most = int(sys.argv[1])
# With a standard error of its own: one that is about to begin has that of the command.
command = subprocess.Popen(sys.argv[2:], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
killed = set()
while command.poll() is None and len(killed) < most:
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if process.name not in killed and len(killed) < most and is_parked(process):
                os.kill(int(process.name), signal.SIGKILL)
                killed.add(process.name)
        except OSError:
            pass  # It has ended meanwhile.
    time.sleep(0.01)
said, complained = command.communicate()
sys.stdout.write(said.decode())
sys.stderr.write(complained.decode())
print(f"killed: {len(killed)}")
sys.exit(command.returncode)
