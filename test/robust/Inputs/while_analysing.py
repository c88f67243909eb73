"""Sends signals to the driver while a unit is being analysed.

while_analysing.py kill|ignored FOLDER COMMAND...

kill:    until then, nothing new lies in FOLDER; after kill -9, neither.
ignored: the caller ignores the signals that nohup and shells ignore; they come, and
         the run ends as if they had not: its exit code is passed on.
"""

import os
import signal
import subprocess
import sys
import time

how, folder, *command = sys.argv[1:]
IGNORED = [signal.SIGHUP, signal.SIGINT, signal.SIGQUIT]


def ignore():
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)


before = sorted(os.listdir(folder))
process = subprocess.Popen(
    command,
    stdout=subprocess.DEVNULL,
    restore_signals=False,
    preexec_fn=ignore if how == "ignored" else None,
)
children = f"/proc/{process.pid}/task/{process.pid}/children"
while process.poll() is None:
    with open(children) as file:
        if file.read().strip():
            break
    time.sleep(0.002)
assert process.poll() is None, "the run ended before a unit was seen"
if how == "kill":
    assert sorted(os.listdir(folder)) == before, os.listdir(folder)
    process.kill()
    process.wait()
    assert sorted(os.listdir(folder)) == before, os.listdir(folder)
else:
    for number in IGNORED:
        process.send_signal(number)
    sys.exit(process.wait())
