#!/usr/bin/env python3
#
# Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Looks that the driver and the plugin for a version of clang-tidy find and fix the same.

    compare_versions.py --work DIR --least N --ours COMMAND --theirs COMMAND
        [--but FILE]... FILE... -- FLAG...

COMMAND is the driver, or clang-tidy with -load=PLUGIN. A folder stands for the tests
in it, without those in TOGETHER_NOT. --but takes the end of the name of a file that is
not compared.

Stock clang-tidy goes through all of LibTorch for each unit, which takes seconds:
files are analysed in groups, each file included into a namespace of its own. A
file that does not compile there is left out. Compared are the warnings with their
notes, at level 2, and the edits that are offered; not the snippets of source, which
each version draws in its own way.

Exit status: 0 the same, in at least N files with findings; 1 not, or in fewer.
"""

import argparse
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

GROUP = 100
# Tests that do not compile in a namespace, or next to others.
TOGETHER_NOT = (
    "/broken-code.cpp", "/accumulated-history/levels.cpp", "/autocast-cache/bad.cpp",
    "/empty-cache-in-loop/silent.cpp", "/hook-capture-cycle/fixes.cpp",
    "/hook-capture-cycle/silent.cpp", "/long-lived-intermediate/levels.cpp",
    "/module-ownership-cycle/silent.cpp", "/oom-catch-type/bad.cpp",
    "/oom-catch-type/silent.cpp", "/oom-recovery-in-catch/silent.cpp",
    "/pad-packed-total-length/data-parallel.cpp",
)
DIAGNOSTIC = re.compile(r"^(/[^:]*):\d+:\d+: (warning|note|error|fatal error): .*$", re.MULTILINE)
# What our driver says of edits on other lines.
IN_WORDS = re.compile(r": note: the fix (inserts|removes|replaces) '.* here$")
INCLUDE = re.compile(r"^#include .*$", re.MULTILINE)
EDIT = re.compile(
    r"- FilePath: +(?P<file>.*)\n +Offset: +(?P<at>\d+)\n +Length: +(?P<length>\d+)\n"
    r" +ReplacementText: (?P<text>(?:.*\n(?: *\n| {14,}.*\n)*))")


def run(command, unit, work, flags):
    """What a command says of the unit, and the edits: (diagnostics, edits)."""
    fixes = work / "fixes.yaml"
    fixes.unlink(missing_ok=True)
    done = subprocess.run(
        [*command, "-checks=-*,libtorch-*", "-header-filter=.*", "-quiet",
         "-config={CheckOptions: {Level: 2}}", f"-export-fixes={fixes}", str(unit), "--",
         *flags],
        capture_output=True, text=True, timeout=600)
    if done.returncode not in (0, 1) or "libtorch-tidy: error" in done.stderr:
        sys.exit(f"{command[0]}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    # Each warning with its notes. A header of a test is that of others, too.
    found = []
    for line in DIAGNOSTIC.finditer(done.stdout):
        if IN_WORDS.search(line[0]):
            continue
        if line[2] == "note" and found:
            found[-1] += "\n" + line[0]
        else:
            found.append(line[0])
    edits = []
    if fixes.exists():
        edits = [(m["file"].strip("'"), int(m["at"]), int(m["length"]),
                  re.sub(r"\s+", " ", m["text"]).strip())
                 for m in EDIT.finditer(fixes.read_text())]
    return sorted(set(found)), sorted(set(edits))


def write_unit(work, files):
    """Includes what the files include, then each file in a namespace."""
    headers = []
    for file in files:
        for line in INCLUDE.findall(file.read_text()):
            if line not in headers:
                headers.append(line)
    text = "\n".join(headers) + "\n"
    for number, file in enumerate(files):
        text += f'namespace of_{number} {{\n#include "{file}"\n}}\n'
    unit = work / "unit.cpp"
    unit.write_text(text)
    return unit


def compare(work, files, args):
    """(number of warnings, files with some, files left out, differences)"""
    work.mkdir(parents=True)
    flags = list(args.flags)
    for folder in sorted({str(file.parent) for file in files}):
        flags += ["-iquote", folder]
    left_out = []
    while files:
        unit = write_unit(work, files)
        ours, our_edits = run(args.ours, unit, work, flags)
        errors = [d for d in ours if re.match(r"[^:]*:\d+:\d+: (fatal )?error:", d)]
        if not errors:
            break
        # An error in a template of LibTorch says in a note who uses it.
        wrong = [f for f in files if any(str(f) + ":" in error for error in errors)]
        if not wrong:
            sys.exit("errors outside of the files:\n" + "\n".join(ours))
        left_out += wrong
        files = [f for f in files if f not in wrong]
    else:
        return 0, set(), left_out, []
    theirs, their_edits = run(args.theirs, unit, work, flags)
    differences = []
    us, them = args.ours[0], args.theirs[0]
    for name, some, others in [(us, ours, theirs), (them, theirs, ours)]:
        differences += [f"only {name} finds:\n{d}" for d in some if d not in others]
    for name, some, others in [(us, our_edits, their_edits), (them, their_edits, our_edits)]:
        differences += [f"only {name} has the edit {e}" for e in some if e not in others]
    return len(ours), {d.split(":")[0] for d in ours}, left_out, differences


def main():
    argv = sys.argv[1:]
    at = argv.index("--")
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--least", type=int, required=True)
    parser.add_argument("--ours", type=shlex.split, required=True)
    parser.add_argument("--theirs", type=shlex.split, required=True)
    parser.add_argument("--but", action="append", default=[])
    parser.add_argument("files", nargs="+", type=Path)
    args = parser.parse_args(argv[:at])
    args.flags = argv[at + 1:]
    shutil.rmtree(args.work, ignore_errors=True)
    files = []
    for file in args.files:
        found = [file] if file.is_file() else sorted(
            f for f in file.rglob("*.cpp")
            if "Inputs" not in f.parts and not str(f).endswith(TOGETHER_NOT))
        files += [f.resolve() for f in found if not str(f).endswith(tuple(args.but))]
    groups = [files[i:i + GROUP] for i in range(0, len(files), GROUP)]
    results = [compare(args.work / str(number), group, args)
               for number, group in enumerate(groups)]
    findings = sum(r[0] for r in results)
    where = set().union(*(r[1] for r in results))
    left_out = [f for r in results for f in r[2]]
    differences = [d for r in results for d in r[3]]
    for file in left_out:
        print(f"left out: {file}")
    for difference in differences:
        print(difference)
    print(f"{findings} findings in {len(where)} of {len(files)} files, "
          f"{len(left_out)} left out, {len(differences)} differences")
    if len(where) < args.least:
        print(f"fewer than {args.least} files with findings")
        return 1
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
