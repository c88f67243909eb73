"""in_the_middle.py ended|changed|edited|emptied FOLDER TOOL...: runs the tool and, while it is
at work, ends it while git runs, changes a header that was read already, puts a line in front
of the source, or leaves one line of it. Prints what is left, or what the runs say."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

how, folder, *tool = sys.argv[1:]
folder = Path(folder)


def wait_for(happens):
    for _ in range(600):
        if happens():
            return
        time.sleep(0.05)
    sys.exit("it did not happen within 30 seconds")


def ended():
    """A git that takes its time; it says when it has begun."""
    programs, temporary, began = folder / "bin", folder / "tmp", folder / "began"
    programs.mkdir()
    temporary.mkdir()
    (programs / "git").write_text(f"#!/bin/sh\ntouch {began}\nexec sleep 10\n")
    (programs / "git").chmod(0o755)
    environment = {**os.environ, "TMPDIR": str(temporary)}
    environment["PATH"] = f"{programs}:{environment['PATH']}"
    run = subprocess.Popen([*tool, "--diff", "a.cpp"], cwd=folder, env=environment)
    wait_for(began.exists)
    made = len(list(temporary.iterdir()))
    run.send_signal(signal.SIGTERM)
    print("ended by", -run.wait(60))
    print("files while git ran:", "some" if made else "none")
    print("files after that:", [f.name for f in temporary.iterdir()])


def changed():
    """The header is read at once; what comes after it takes long."""
    header = folder / "h.h"
    run = subprocess.Popen([*tool, "a.cpp", "--", *flags()], cwd=folder, stdout=subprocess.DEVNULL)
    time.sleep(seconds())
    header.write_text(header.read_text().replace("FIND 0", "FIND 1"))
    run.wait(100)  # On a busy machine it may not have read it yet.
    print("second run:", subprocess.call([*tool, "a.cpp", "--", *flags()], cwd=folder, stdout=subprocess.DEVNULL))


def children(process):
    try:
        return Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:
        return []


def seconds_of(process):
    """Of processor time."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def with_source(text):
    """What a run says that applies fixes to a source that becomes `text` meanwhile."""
    source = folder / "a.cpp"
    before = source.read_text()
    words = [*tool, "--fix", "--quiet", "a.cpp", "--", *flags()]
    run = subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           text=True)
    # By then it has read the source, and is at what takes long.
    wait_for(lambda: any(seconds_of(child) > 0.3 for child in children(run.pid)))
    with open(source, "r+", encoding="utf-8") as file:  # As editors do: it is the same file.
        file.truncate()
        file.write(text(before))
    said = run.communicate(timeout=100)[0].strip()
    print("first run:", run.returncode, said.replace(f"{folder}/", ""))
    print("the source is as it was left:", source.read_text() == text(before))
    source.write_text(before)
    code = subprocess.call([*tool, "a.cpp", "--", *flags()], cwd=folder, stdout=subprocess.DEVNULL)
    print("as it was before:", code)


def edited():
    with_source(lambda before: "// A line that is about as long as a fix.\n" + before)


def emptied():
    with_source(lambda before: "int Ok;\n")


def flags():
    return ["-std=c++17", "-isystem", str(folder / "include"), "-fconstexpr-steps=4000000000"]


def seconds():
    """Half of what an analysis takes that is not kept."""
    begin = time.monotonic()
    subprocess.call([*tool, "--no-cache", "a.cpp", "--", *flags()], cwd=folder, stdout=subprocess.DEVNULL)
    return (time.monotonic() - begin) / 2


{"ended": ended, "changed": changed, "edited": edited, "emptied": emptied}[how]()
