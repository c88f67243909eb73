"""Runs a command with a terminal as its standard error, and prints what it
wrote there."""

import os
import subprocess
import sys

ours, theirs = os.openpty()
process = subprocess.Popen(
    sys.argv[1:], stdout=subprocess.DEVNULL, stderr=theirs, env={**os.environ}
)
os.close(theirs)
seen = b""
while True:
    try:
        part = os.read(ours, 4096)
    except OSError:  # The other end is closed.
        break
    if not part:
        break
    seen += part
sys.stdout.buffer.write(seen)
sys.exit(process.wait())
