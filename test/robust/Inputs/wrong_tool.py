"""A program that goes wrong on a word: wrong_tool.py HOW ARGUMENTS-OF-THE-DRIVER...

It takes the place of the driver for scripts/fuzz, which must see it and make the
file small. HOW is crash, worker (one that crashes, and is reported), hang,
exit-code, sarif (a file that ends too soon) or clean.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

how, arguments = sys.argv[1], sys.argv[2:]
files = [a for a in arguments[: arguments.index("--")] if not a.startswith("-")]
(sarif,) = [a.split("=", 1)[1] for a in arguments if a.startswith("--sarif=")]

hit = [f for f in files if b"backward" in Path(f).read_bytes()]
code = 0
if hit and how == "crash":
    os.kill(os.getpid(), signal.SIGABRT)
if hit and how == "hang":
    while True:
        time.process_time()
if hit and how == "exit-code":
    code = 5
if hit and how == "worker":
    code = 3
    for file in hit:
        print(f"error: '{file}' could not be analysed in full because the analysis crashed")
log = {
    "version": "2.1.0",
    "runs": [
        {
            "tool": {"driver": {"rules": []}},
            "invocations": [{"exitCode": code}],
            "results": [],
        }
    ],
}
text = json.dumps(log)
Path(sarif).write_text(text[:-3] if hit and how == "sarif" else text)
sys.exit(code)
