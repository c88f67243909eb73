#!/usr/bin/env python3
#
# Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Looks that no run waits for ever for git, and that nothing of git outlives the run.

    hanging_git.py WORK TIDY OPTION... -- FLAG...

In repositories of several forms git reads a pipe that nobody writes to. TIDY, whose OPTIONs
limit a call to five seconds, is asked for changed lines and for SARIF; and it is ended itself
while git waits. Prints what each run says.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

WORK, TIDY = Path(sys.argv[1]), sys.argv[2]
OPTIONS, FLAGS = sys.argv[3 : sys.argv.index("--")], sys.argv[sys.argv.index("--") :]
ASKED = [["--diff"], ["--staged"], ["--pre-commit"], [f"--sarif={WORK / 'FORM.sarif'}"]]
LONGEST = 60


def git(*args, at):
    subprocess.run(["git", "-c", "protocol.file.allow=always", "-c", "core.hooksPath=/dev/null",
                    *args], cwd=at, check=True, stdout=subprocess.DEVNULL)


def commit(at):
    at.mkdir(parents=True)
    git("init", "-q", "-b", "main", ".", at=at)
    (at / "a.cpp").write_text("int A;\n")
    git("add", ".", at=at)
    git("commit", "-qm", "one", at=at)
    git("remote", "add", "origin", "https://example.com/a.git", at=at)


def pipe(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def answers(at):
    """Nothing hangs here."""
    commit(at)


def configuration(at):
    commit(at)
    pipe(at / "more")
    git("config", "include.path", "../more", at=at)


def attributes(at):
    commit(at)
    os.utime(at / "a.cpp", (1e9, 1e9))  # git has to read it.
    pipe(at / ".git/info/attributes")


def submodule(at):
    """git starts another git, which waits."""
    commit(at.parent / "other")
    commit(at)
    git("submodule", "--quiet", "add", str(at.parent / "other"), "sub", at=at)
    git("commit", "-qm", "two", at=at)
    pipe(at / ".git/modules/sub/info/exclude")


def left():
    """The processes that work in a repository."""
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and os.readlink(f"/proc/{entry}/cwd").startswith(f"{WORK}/"):
                with open(f"/proc/{entry}/cmdline", "rb") as file:
                    yield int(entry), file.read().replace(b"\0", b" ").decode()
        except OSError:
            continue


def nothing_is_left():
    end = time.monotonic() + LONGEST
    while found := list(left()):
        if time.monotonic() > end:
            for process, _ in found:
                os.kill(process, signal.SIGKILL)
            return f"left: {[words for _, words in found]}"
        time.sleep(0.05)
    return "nothing is left"


def start(at, options):
    return subprocess.Popen([TIDY, *OPTIONS, *options, "a.cpp", *FLAGS], cwd=at, text=True,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT)


def origin(sarif):
    """What the report says of where the sources come from."""
    said = json.loads(sarif.read_text())["runs"][0].get("versionControlProvenance", [{}])[0]
    return " ".join(key for key in ("repositoryUri", "revisionId") if key in said) or "nothing"


shutil.rmtree(WORK, ignore_errors=True)
runs = []
for form in (answers, configuration, attributes, submodule):
    at = WORK / form.__name__ / "repository"
    form(at)
    for asked in ASKED:
        options = [option.replace("FORM", form.__name__) for option in asked]
        runs.append((form.__name__, options[0].split("=")[0], start(at, options)))
for form, asked, run in runs:
    try:
        said = f" {run.communicate(timeout=LONGEST)[0].strip()}".rstrip()
    except subprocess.TimeoutExpired:
        run.kill()
        said = " it never ends"
    if asked == "--sarif" and run.returncode == 0:
        said += ", origin: " + origin(WORK / f"{form}.sarif")
    print(f"{form}: {asked} {run.returncode}{said}")
print(nothing_is_left())

for how in (signal.SIGTERM, signal.SIGKILL):
    run = start(WORK / "submodule/repository", ["--diff"])
    end = time.monotonic() + LONGEST
    while not any("status" in words for _, words in left()) and time.monotonic() < end:
        time.sleep(0.01)
    began = time.monotonic()
    run.send_signal(how)
    run.wait()
    print(f"ended by {how.name}: {nothing_is_left()}, {'at once' if time.monotonic() - began < 4 else 'late'}")
