#!/usr/bin/env python3
#
# Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One test of one check (or several, comma-separated), told in the file itself.

    // RUN: %check_libtorch_tidy %s libtorch-NAME %t [options]
    //          [-- clang-tidy options [-- compiler flags]]

    total += loss;
    // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'total' keeps ... [libtorch-NAME]
    // CHECK-FIXES: total += loss.detach();

What is asserted:

 * Every warning and error matches a CHECK-MESSAGES, and there is no other. A
   file that uses CHECK-NOTES states its notes too, all of them, and then all
   its diagnostics are CHECK-NOTES. A file with neither gives no diagnostic.
 * The fixed file has the CHECK-FIXES lines, in order. A pattern is a whole
   line; only indentation is free, and `{{^  }}` at its start fixes that too.
   Every line that the fix wrote must be one of them.
 * The fixed file compiles without a warning that the original did not give,
   and analysed again it has no finding that offers a fix, and no new finding.
 * Stock clang-tidy with the plugin and our driver (when it is built) print the
   same diagnostics and write the same fixed file: in tests that give options, and
   in all when the environment variable LIBTORCH_TIDY_LONG_TESTS is set. In others
   the driver runs alone, ten times as fast, and versions/plugin.test compares them.

A suffix tells the runs of one file apart: `--check-suffix=L0` reads
CHECK-MESSAGES-L0 and so on instead. All levels are on unless --level says
otherwise.
"""

import argparse
import difflib
import json
import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

# A run that takes longer hangs. Seconds.
TIME_LIMIT = 300

KINDS = ("MESSAGES", "NOTES", "FIXES")
# A comment that looks like an expectation: a misspelt one must not be ignored.
EXPECTATION = re.compile(
    r"//\s*(CHECK[\w-]*|[A-Z]+[-_][\w-]*(?:MESSAGE|FIX|NOTE)[\w-]*)( ?):"
)
DIRECTIVE = re.compile(r"(NEXT|SAME|NOT|DAG|EMPTY|LABEL|COUNT-\d+)$")
DIAGNOSTIC = re.compile(
    r"^(?P<path>[^\s:][^:]*):(?P<line>\d+):(?P<column>\d+): "
    r"(?P<severity>fatal error|error|warning|note|remark): (?P<message>.*)$"
)
APPLIED = "FIX-IT applied suggested code changes"
# What our driver says of edits on other lines.
IN_WORDS = re.compile(r"the fix (inserts|removes|replaces) '.* here\Z")
FIX_NOTES = (APPLIED, "FIX-IT unable to apply suggested code changes")


class TestError(Exception):
    """The test failed, or cannot say whether it passed."""


@dataclass
class Diagnostic:
    """A line `path:line:column: severity: message` of an analysis."""

    path: str
    line: int
    column: int
    severity: str
    message: str
    fixed: bool = False
    notes: list = field(default_factory=list)

    def __str__(self):
        return (
            f"{self.path}:{self.line}:{self.column}: {self.severity}: {self.message}"
        )


def lines_of(diagnostics):
    """The diagnostics and their notes as text, one per line."""
    return "".join(f"{d}\n" + lines_of(d.notes) for d in diagnostics)


def run(command):
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=TIME_LIMIT
        )
    except subprocess.TimeoutExpired:
        raise TestError(f"no end after {TIME_LIMIT} s: {shlex.join(command)}")
    if done.returncode < 0 or done.returncode > 125:
        raise TestError(
            f"crashed (exit code {done.returncode}): {shlex.join(command)}\n"
            + done.stdout
            + done.stderr
        )
    return done


class Expectations:
    """The CHECK comments of a file, for one suffix."""

    def __init__(self, text, suffix):
        self.suffix = suffix
        self.lines = text.splitlines()
        suffixes = {suffix, ""}
        for group in re.findall(r"--check-suffix(?:es)?[= ]([\w-]+)", text):
            suffixes.add(group)
        known = {
            f"CHECK-{kind}" + (f"-{name}" if name else "")
            for kind in KINDS
            for name in suffixes
        }
        self.used = Counter()
        for number, line in enumerate(self.lines, 1):
            for found, space in EXPECTATION.findall(line):
                prefix = found
                if prefix not in known:
                    prefix = DIRECTIVE.sub("", found).rstrip("-")
                if prefix not in known or space:
                    raise TestError(
                        f"line {number}: unknown '{found}{space}:' (known here: "
                        + ", ".join(f"{name}:" for name in sorted(known))
                        + ")"
                    )
                self.used[prefix] += 1
        self.has_messages = self.used[self.prefix("MESSAGES")] > 0
        self.has_notes = self.used[self.prefix("NOTES")] > 0
        self.has_fixes = self.used[self.prefix("FIXES")] > 0
        if self.has_messages and self.has_notes:
            raise TestError(
                "CHECK-MESSAGES and CHECK-NOTES in one run: with CHECK-NOTES every "
                "diagnostic is a CHECK-NOTES"
            )
        if suffix and not (self.has_messages or self.has_notes or self.has_fixes):
            raise TestError(
                f"no CHECK line has suffix '{suffix}' (--expect-none says that "
                "nothing is found)"
            )

    def prefix(self, kind):
        return f"CHECK-{kind}" + (f"-{self.suffix}" if self.suffix else "")

    def fix_patterns(self):
        """The CHECK-FIXES lines as patterns of whole lines with any indentation,
        at the line numbers they have in the test."""
        prefix = re.escape(self.prefix("FIXES"))
        pattern = re.compile(rf"//\s*({prefix}(?:-([A-Z]+|COUNT-\d+))?):(.*)$")
        result = []
        for line in self.lines:
            found = pattern.search(line)
            if not found:
                result.append("")
            elif found[2] == "EMPTY":
                result.append(f"{found[1]}:")
            elif found[2] == "NOT":
                result.append(f"{found[1]}:{{{{.*}}}}{found[3].strip()}{{{{.*}}}}")
            else:
                result.append(f"{found[1]}:{{{{[ \\t]*}}}}{found[3].strip()}")
        return "\n".join(result) + "\n"


class FrontEnd:
    """One way to run the checks: stock clang-tidy with the plugin, or our
    driver. What LLVM precompiled (PCH) only the same LLVM reads."""

    def __init__(self, name, command, pch, args):
        self.name = name
        self.command = command
        self.args = args
        self.flags = args.flags
        if pch and not args.no_pch:
            self.flags = ["-include-pch", pch] + self.flags

    def complain_about_unknown_checks(self):
        wanted = self.args.checks.split(",")
        done = run(
            self.command + ["-checks=-*," + self.args.checks, "-list-checks"]
        )
        listed = set(re.findall(r"^ {4}(\S+)$", done.stdout, re.MULTILINE))
        unknown = [w for w in wanted if "*" not in w and w not in listed]
        if unknown or not listed:
            raise TestError(
                f"{self.name} knows no check {', '.join(unknown) or wanted}\n"
                + done.stdout
                + done.stderr
            )

    def analyse(self, path, fix):
        """Analyses the file, and fixes it in place when asked to."""
        options = {"Level": self.args.level}
        options.update(option.split("=", 1) for option in self.args.option)
        command = self.command + [str(path), "-checks=-*," + self.args.checks]
        if not any(re.match(r"--?config(-file)?\b", o) for o in self.args.tidy):
            command.append("-config=" + json.dumps({"CheckOptions": options}))
        if fix:
            command.append("-fix")
        command += self.args.tidy + ["--"] + self.flags
        done = run(command)
        print(f"{self.name}: {shlex.join(command)}")

        diagnostics = []
        for line in done.stdout.splitlines():
            found = DIAGNOSTIC.match(line)
            if not found:
                continue
            where = found["path"]
            # Front ends analyse copies of different names.
            if os.path.realpath(where) == os.path.realpath(path):
                where = Path(self.args.source).name
            diagnostic = Diagnostic(
                where,
                int(found["line"]),
                int(found["column"]),
                found["severity"],
                found["message"],
            )
            if diagnostic.severity != "note":
                diagnostics.append(diagnostic)
            elif not diagnostics:
                raise TestError(f"a note without a warning: {diagnostic}")
            elif diagnostic.message in FIX_NOTES or IN_WORDS.match(diagnostic.message):
                diagnostics[-1].fixed |= diagnostic.message == APPLIED
            else:
                diagnostics[-1].notes.append(diagnostic)
        if done.returncode > 1 or (done.returncode and not diagnostics):
            raise TestError(
                f"{self.name}: exit code {done.returncode}\n"
                + done.stdout
                + done.stderr
            )
        return diagnostics


def file_check(args, extra):
    done = run([args.filecheck, *extra])
    if done.returncode:
        raise TestError("FileCheck: " + done.stdout + done.stderr)
    return done


def check_messages(args, expected, diagnostics, stem):
    text = lines_of(diagnostics)
    if args.expect_none or not (expected.has_messages or expected.has_notes):
        if diagnostics:
            raise TestError("no diagnostic was expected:\n" + text)
        return
    output = Path(f"{stem}.messages.txt")
    output.write_text(text)
    kind, implicit = "MESSAGES", "{{warning|error}}:"
    if expected.has_notes:
        kind, implicit = "NOTES", "{{note|warning|error}}:"
    file_check(
        args,
        [
            f"-check-prefix={expected.prefix(kind)}",
            f"-implicit-check-not={implicit}",
            f"-input-file={output}",
            "-allow-empty",
            args.source,
        ],
    )


def check_fixes(args, expected, original, fixed, stem):
    """The fixed text has what CHECK-FIXES says and nothing else was written."""
    written = set()
    new_lines = fixed.splitlines()
    matcher = difflib.SequenceMatcher(
        None, original.splitlines(), new_lines, autojunk=False
    )
    for tag, _, _, begin, end in matcher.get_opcodes():
        if tag != "equal":
            written.update(range(begin + 1, end + 1))

    if args.expect_none or not expected.has_fixes:
        if original != fixed:
            raise TestError(
                "the file was changed, and no CHECK-FIXES expects it:\n"
                + "".join(
                    difflib.unified_diff(
                        original.splitlines(True), fixed.splitlines(True), n=1
                    )
                )
            )
        return

    output = Path(f"{stem}.fixed.txt")
    output.write_text(fixed)
    patterns = Path(f"{stem}.patterns.txt")
    patterns.write_text(expected.fix_patterns())
    options = [
        f"-check-prefix={expected.prefix('FIXES')}",
        f"-input-file={output}",
        "-strict-whitespace",
        "-match-full-lines",
        str(patterns),
    ]
    file_check(args, options)
    if original == fixed:
        raise TestError("CHECK-FIXES match, but nothing was fixed")

    seen = set()
    for found in re.finditer(
        rf"^{re.escape(str(output))}:(\d+):\d+: note: found here$",
        file_check(args, ["-v", "-dump-input=never", *options]).stderr,
        re.MULTILINE,
    ):
        seen.add(int(found[1]))
    for number in sorted(written - seen):
        # A blank line tells nothing that a neighbour does not.
        if new_lines[number - 1].strip():
            raise TestError(
                "the fix wrote a line that no CHECK-FIXES expects:\n"
                f"{output}:{number}: {new_lines[number - 1]}"
            )


def warnings_of_compiler(args, path):
    flags = args.flags if args.no_pch else ["-include-pch", args.pch] + args.flags
    done = run(
        [args.clangxx, "-fsyntax-only", "-Wall", "-Wextra", *flags, str(path)]
    )
    found = [m for m in map(DIAGNOSTIC.match, done.stderr.splitlines()) if m]
    errors = [m[0] for m in found if "error" in m["severity"]]
    if errors or done.returncode:
        raise TestError(f"{path} does not compile:\n{done.stderr}")
    return Counter(m["message"] for m in found if m["severity"] == "warning")


def check_fixed_file(args, front_end, before, original, fixed):
    """The fixed file compiles, and what was found in it is gone."""
    warnings = warnings_of_compiler(args, fixed)
    if warnings:
        new = warnings - warnings_of_compiler(args, original)
        if new:
            raise TestError(f"the fixed file gives new warnings: {list(new)}")

    after = front_end.analyse(fixed, fix=False)
    if args.expect_clean and after:
        raise TestError("the fixed file still has findings:\n" + lines_of(after))
    left = Counter(d.message for d in after)
    allowed = Counter(d.message for d in before if not d.fixed)
    if left - allowed:
        raise TestError(
            f"{front_end.name}: findings in the fixed file {fixed} that were fixed or "
            "were not there before:\n"
            + "".join(f"{d}\n" for d in after if d.message in left - allowed)
        )


def parse(argv):
    tidy, flags = [], []
    if "--" in argv:
        at = argv.index("--")
        argv, tidy = argv[:at], argv[at + 1 :]
    if "--" in tidy:
        at = tidy.index("--")
        tidy, flags = tidy[:at], tidy[at + 1 :]

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("source", help="the test, a C++ file")
    parser.add_argument("checks", help="check(s) to run, comma-separated")
    parser.add_argument("temp", help="stem of the names of temporary files (%%t)")
    parser.add_argument("--tools", required=True, help="tools.json of the build")
    parser.add_argument(
        "--front-end",
        choices=["driver", "plugin", "both"],
        help="what runs; both: the driver, too, when this build has one",
    )
    parser.add_argument("--driver", help="another driver than the build's")
    parser.add_argument(
        "--llvm",
        metavar="N",
        help="clang-tidy N with the plugin for it, in place of the build's",
    )
    parser.add_argument("--level", type=int, default=2, help="0, 1 or 2 (default)")
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a CheckOption, for instance libtorch-NAME.Option=3",
    )
    parser.add_argument("--check-suffix", default="", metavar="SUFFIX")
    parser.add_argument(
        "--expect-none",
        action="store_true",
        help="this run finds nothing, whatever the CHECK lines say",
    )
    parser.add_argument(
        "--expect-clean",
        action="store_true",
        help="the fixed file has no finding at all, not even one without a fix",
    )
    parser.add_argument(
        "--no-pch",
        action="store_true",
        help="do not include torch/torch.h precompiled",
    )
    parser.add_argument(
        "--torch-flags",
        help="for another LibTorch than the suite's: its compiler flags",
    )
    args = parser.parse_args(argv)

    tools = json.loads(Path(args.tools).read_text())
    args.clangxx, args.filecheck = tools["clangxx"], tools["filecheck"]
    args.tidy = tidy
    # The test runs as a copy elsewhere: what it includes is still beside it.
    args.flags = ["-iquote", str(Path(args.source).resolve().parent)]
    args.flags += shlex.split(args.torch_flags or "") or tools["torch_flags"]
    # What was precompiled has the headers of the build's own version.
    args.no_pch = args.no_pch or bool(args.torch_flags)
    args.flags += flags
    args.pch = tools["torch_pch"]
    if any(re.match(r"--?config(-file)?\b", option) for option in tidy):
        if args.option or args.level != 2:
            parser.error("--level and --option go into -config: give one of both")
    if any("=" not in option for option in args.option):
        parser.error("--option takes KEY=VALUE")

    driver = args.driver or tools["driver"]
    given = args.option or tidy or args.driver or os.environ.get("LIBTORCH_TIDY_LONG_TESTS")
    args.front_end = args.front_end or ("driver" if driver and not given else "both")
    args.front_ends = []
    if args.llvm:
        host = tools["plugins"].get(args.llvm)
        if not host:
            parser.error(f"this build has no plugin for clang-tidy {args.llvm}")
        command = [host["clang_tidy"], "-load", host["plugin"]]
        name = f"plugin-{args.llvm}"
        args.front_ends.append(FrontEnd(name, command, None, args))
    elif args.front_end != "driver":
        command = [tools["clang_tidy"], "-load", tools["plugin"]]
        args.front_ends.append(FrontEnd("plugin", command, args.pch, args))
    if args.front_end != "plugin" and driver:
        args.front_ends.append(FrontEnd("driver", [driver], args.pch, args))
    if not args.front_ends:
        parser.error("this build has no driver (REQUIRES: driver)")
    return args


def test(args):
    source = Path(args.source)
    text = source.read_text()
    expected = Expectations(text, args.check_suffix)
    # Expectations must not match themselves; lines keep their numbers, and
    # code before a comment its columns.
    original = re.sub(r"//[ \t]*CHECK-[\w-]+:[^\r\n]*", "//", text)
    if "// RUN:" not in text:
        raise TestError("the file has no RUN line")
    args.front_ends[0].complain_about_unknown_checks()

    results = {}
    for front_end in args.front_ends:
        stem = f"{args.temp}.{front_end.name}"
        fixed = Path(stem + source.suffix)
        fixed.parent.mkdir(parents=True, exist_ok=True)
        fixed.write_text(original)
        results[front_end.name] = (
            front_end.analyse(fixed, fix=True),
            fixed.read_text(),
        )

    (first, *others) = args.front_ends
    diagnostics, fixed_text = results[first.name]
    stem = f"{args.temp}.{first.name}"
    check_messages(args, expected, diagnostics, stem)
    check_fixes(args, expected, original, fixed_text, stem)

    for other in others:
        for what, ours, theirs in [
            ("diagnostics", lines_of(diagnostics), lines_of(results[other.name][0])),
            ("fixed file", fixed_text, results[other.name][1]),
        ]:
            if ours != theirs:
                difference = difflib.unified_diff(
                    ours.splitlines(True),
                    theirs.splitlines(True),
                    first.name,
                    other.name,
                    n=1,
                )
                raise TestError(
                    f"{first.name} and {other.name} differ in the {what}:\n"
                    + "".join(difference)
                )

    if original != fixed_text:
        before = Path(f"{args.temp}.original{source.suffix}")
        before.write_text(original)
        fixed = Path(stem + source.suffix)
        # The last front end is the driver where there is one: the faster.
        check_fixed_file(args, args.front_ends[-1], diagnostics, before, fixed)
    elif args.expect_clean and diagnostics:
        raise TestError("--expect-clean, but nothing was fixed")


def main():
    args = parse(sys.argv[1:])
    try:
        test(args)
    except TestError as error:
        print(f"check_libtorch_tidy: {args.source}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
