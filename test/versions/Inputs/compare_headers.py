#!/usr/bin/env python3
#
# Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Analyses the inputs of the check tests with the headers of two LibTorchs, or
with two programs.

    compare_headers.py --tools tools.json --temp FOLDER --sources test/checks
               [--except NAME...] [--other-driver PROGRAM] [-- FLAGS]

All checks of all levels look at every input twice: with the LibTorch of the
suite, whose findings the check tests assert, and with FLAGS, or by PROGRAM. What
they find must be the same, with its notes, but for notes in LibTorch's headers. The
files named by --except do not compile with either on purpose.

Exit status: 0 the same, 1 differences, which are printed.
"""

import argparse
import difflib
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

# A run that takes longer hangs. Seconds.
TIME_LIMIT = 1200
LINE = re.compile(r"^(/.*?):\d+:\d+: (warning|error|fatal error|note): ")


def run(command):
    return subprocess.run(command, capture_output=True, text=True,
                          timeout=TIME_LIMIT)


def extra_flags(source):
    """The compiler flags of the first RUN line of a test."""
    found = re.search(r"RUN: %check_libtorch_tidy .* -- -- (.*)$",
                      source.read_text(), re.MULTILINE)
    return shlex.split(found[1].replace("%S", str(source.parent))) if found else []


def findings(args, driver, name, flags, pch, sources):
    """Lines `path:line:column: severity: message`, and whether the run went
    well."""
    folder = args.temp / name
    folder.mkdir(parents=True, exist_ok=True)
    if pch is None:
        pch = str(folder / "torch.pch")
        header = next(Path(f, "torch/torch.h") for f in flags
                      if Path(f, "torch/torch.h").exists())
        done = run([driver, "--emit-library-pch=" + pch, str(header),
                    "--", *flags])
        if done.returncode:
            sys.exit("compare_headers: cannot precompile %s:\n%s" % (header, done.stderr))
    commands = [{"directory": str(folder), "file": str(source),
                 "arguments": ["clang++", *flags, "-include-pch", pch,
                               *extra_flags(source), "-c", str(source)]}
                for source in sources]
    (folder / "compile_commands.json").write_text(json.dumps(commands))
    done = run([driver, "-p", str(folder), "--level=2", "--no-cache", "--no-verify-fixes",
                "--quiet", "-checks=-*,libtorch-*", *map(str, sources)])
    lines = [line for line in done.stdout.splitlines() if LINE.match(line)]
    texts = {str(s) for s in sources}
    # Notes in headers of LibTorch stand at other places.
    lines = [line for line in lines
             if LINE.match(line)[2] != "note" or LINE.match(line)[1] in texts]
    # 0 and 1: all was analysed. 3: something was not.
    if done.returncode > 1:
        sys.exit("compare_headers: exit code %d\n%s" % (done.returncode, done.stderr))
    return lines


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", required=True, help="tools.json of the build")
    parser.add_argument("--temp", required=True, type=Path, help="scratch folder")
    parser.add_argument("--sources", required=True, type=Path)
    parser.add_argument("--except", nargs="*", default=[], dest="excepted",
                        help="FOLDER/FILE")
    parser.add_argument("--other-driver", help="for the second time")
    own, flags = sys.argv[1:], []
    if "--" in own:
        flags = own[own.index("--") + 1:]
        own = own[:own.index("--")]
    args = parser.parse_args(own)
    tools = json.loads(Path(args.tools).read_text())
    sources = sorted(args.sources.resolve().glob("*/*.cpp"))
    for name in args.excepted:
        sources.remove(args.sources.resolve() / name)

    ours = findings(args, tools["driver"], "suite", tools["torch_flags"],
                    tools["torch_pch"], sources)
    theirs = findings(args, args.other_driver or tools["driver"], "other",
                      flags or tools["torch_flags"], None, sources)
    if len(sources) < 100 or len(ours) < 1000:
        sys.exit("compare_headers: only %d lines of %d files" % (len(ours), len(sources)))
    for line in difflib.unified_diff(ours, theirs, "suite", "other", n=0,
                                     lineterm=""):
        print(line)
    return int(ours != theirs)


if __name__ == "__main__":
    sys.exit(main())
