"""Runs a command, presses Ctrl-C after a moment, and looks that it and all it
started are gone soon."""

import os
import signal
import subprocess
import sys
import time

process = subprocess.Popen(
    sys.argv[1:],
    stdout=subprocess.PIPE,
    stderr=subprocess.STDOUT,
    start_new_session=True,
    # lit has its tests ignore it.
    preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
)
time.sleep(1)
if process.poll() is not None:
    sys.exit(f"it ended by itself: {process.stdout.read().decode()}")
os.killpg(process.pid, signal.SIGINT)
try:
    # The pipe ends when the last of them is gone.
    process.communicate(timeout=20)
except subprocess.TimeoutExpired:
    os.killpg(process.pid, signal.SIGKILL)
    sys.exit("it goes on after Ctrl-C")
if process.returncode in (0, 1):
    sys.exit(f"exit code {process.returncode} after Ctrl-C")
