"""closed_pipe.py STREAM COMMAND...: runs COMMAND with STREAM (stdout, stderr or
both) a pipe that nobody reads, and exits as it does; 128 and the number of the
signal if that was its end. The other stream is left alone."""

import os
import subprocess
import sys

stream = sys.argv[1]
reader, writer = os.pipe()
os.close(reader)
code = subprocess.run(
    sys.argv[2:],
    stdout=writer if stream in ("stdout", "both") else None,
    stderr=writer if stream in ("stderr", "both") else None,
).returncode
sys.exit(code if code >= 0 else 128 - code)
