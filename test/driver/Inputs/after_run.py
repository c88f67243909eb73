# Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Looks at the process that libtorch-tidy leaves to precompile library headers.

    after_run.py CASE CACHE COMMAND...

Runs COMMAND, which ends with --cache-dir=CACHE among its options, waits until nothing
can write to its outputs any more, and prints them. CASE says what is to be then:

    made     a process is at work, apart from its caller, and makes something
    killed   the same, but it is ended as soon as it has begun
    starved  the same, but it is stopped then, and left so: it has tried for an hour
    ahead    the same, but it will begin in an hour: the clock was turned back
    thrice   the same, but COMMAND, on one file that has changed, runs twice more, and it is told
             what each run says of the headers
    held     as thrice, but who works for the cache is another process, which makes nothing
    late     the same as made, and COMMAND, on one file that has changed, waits for it when it
             seems nearly done
    none     no process is left
    any      whatever is left is waited for
    alone    COMMAND while another process is at work for the cache: nothing is made

Exits as the command does, or with 9 and a word when it is not so.
"""

import fcntl
import glob
import os
import signal
import struct
import subprocess
import sys
import time

LONGEST = 120


def left(cache):
    """The processes of libtorch-tidy that work for the cache."""
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/cmdline", encoding="utf-8", errors="replace") as file:
                    words = file.read().split("\0")
            except OSError:
                continue
            if words[0].endswith("libtorch-tidy") and "--cache-dir=" + cache in words:
                yield int(entry)


def wait_until(holds):
    end = time.monotonic() + LONGEST
    while not holds():
        if time.monotonic() > end:
            sys.exit("after_run.py: it never ends")
        time.sleep(0.05)


def fail(why):
    print("after_run.py: " + why, file=sys.stderr)
    sys.exit(9)


def held_by(process):
    """What it has of its caller, or None."""
    if os.getsid(process) == os.getsid(0):
        return "it is in the session of its caller"
    if os.getpriority(os.PRIO_PROCESS, process) < 10:
        return "its priority is not low"
    if os.readlink(f"/proc/{process}/cwd") != "/":
        return "it holds the folder of its caller"
    for number in (0, 1, 2):
        target = os.readlink(f"/proc/{process}/fd/{number}")
        if target != "/dev/null" and not target.startswith("pipe:"):
            return f"it holds {target}"
    return None


def check_apart(process):
    """It holds nothing of its caller's, and gives way to it. It closes the outputs first:
    when they end here, it may not have come to the rest."""
    end = time.monotonic() + LONGEST
    while why := held_by(process):
        if time.monotonic() > end:
            fail(why)
        time.sleep(0.01)


case, cache, command = sys.argv[1], sys.argv[2], sys.argv[3:]
made = lambda: glob.glob(cache + "/pch/*.pch")
before = made()
lock = None
if case in ("alone", "held"):
    os.makedirs(cache, mode=0o700, exist_ok=True)
    lock = open(cache + "/background.lock", "w")
    fcntl.lockf(lock, fcntl.LOCK_EX)
# One that the program knows nothing of, as those of make's job server.
extra, inherited = os.pipe()
run = subprocess.Popen(
    command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, pass_fds=[inherited]
)
os.close(inherited)
out, err = run.communicate()
os.read(extra, 1)  # Its end.
at_end = made()
sys.stdout.buffer.write(out)
sys.stderr.buffer.write(err)
sys.stdout.flush()
sys.stderr.flush()

def seconds(process):
    """Of processor time; none of one that is over."""
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return 0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def mark():
    """Where a process notes first what it tries."""
    return "".join(glob.glob(cache + "/pch/*.tried"))


def expected():
    """The processor time that the note of what is tried ends with."""
    with open(mark(), "rb") as note:
        return struct.unpack("<d", note.read()[-8:])[0]


def change():
    with open(command[command.index("--") - 1], "a", encoding="utf-8") as source:
        source.write("//\n")


def run_again():
    """Twice, and tells what all three have said."""
    said = [err.decode()]
    for _ in range(2):
        time.sleep(0.6)
        change()
        again = subprocess.run(command, capture_output=True, text=True)
        if again.stdout.encode() != out:
            fail("it finds " + again.stdout)
        said.append(again.stderr)
    for words in said:
        print("headers:", "precompiled after the run" if "after this run" in words else
              "precompiled" if "] precompiling" in words else
              "there" if words.count("precompil") == 0 and made() else words)


def run_while_nearly_done():
    """The same command, on another text, while the work is held: it has got much of what it
    needs in a moment, as far as its note tells. The work takes nearly the time that its note
    expects, so it cannot be over where less than half of that is."""
    wait_until(mark)
    enough = 0.4 * expected()
    busiest = lambda: max(left(cache), key=seconds, default=0)
    wait_until(lambda: not busiest() or seconds(busiest()) > enough)
    worker = busiest()
    if not worker:
        fail(f"it is over before {enough} s")
    os.kill(worker, signal.SIGSTOP)
    began = time.time() - 0.6
    os.utime(mark(), (began, began))
    change()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as again:
        said = again.stderr.readline()
        if b"] precompiling the library headers" not in said or again.poll() is not None:
            fail("it does not wait: " + repr(said))
        os.kill(worker, signal.SIGCONT)
        again.communicate()
    if len(made()) != 1:
        fail("it was made again")


STOPPED = ("starved", "ahead", "thrice")
if case in ("made", "killed", "late", *STOPPED):
    if at_end != before:
        fail("it was made before the answer")
    at_work = list(left(cache))
    if not at_work:
        fail("no process is at work")
    for process in at_work:
        try:
            check_apart(process)
            if case in ("killed", *STOPPED):
                wait_until(mark)
                os.kill(process, signal.SIGKILL if case == "killed" else signal.SIGSTOP)
        except (ProcessLookupError, FileNotFoundError):
            pass  # It has ended meanwhile; a worker does so with the one that started it.
if case in STOPPED:
    # The one that makes it may not have been there yet.
    for process in left(cache):
        os.kill(process, signal.SIGSTOP)
    if made() != before:
        fail("it was made before it was stopped")
if case == "none" and list(left(cache)):
    fail("a process is left")
if case == "late":
    run_while_nearly_done()
if case in ("starved", "ahead"):
    os.utime(mark(), (time.time() + (3600 if case == "ahead" else -3600),) * 2)
    sys.exit(run.returncode)
if case in ("thrice", "held"):
    run_again()
    sys.exit(run.returncode)
wait_until(lambda: not list(left(cache)))
if case != "any" and (made() != before) != (case in ("made", "late")):
    fail("the precompiled headers are " + str(made()))
sys.exit(run.returncode)
