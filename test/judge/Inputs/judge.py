#
# Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""judge.py TOOLS QUESTION [--count N] [--seed S] [--out DIR] [--tool FILE] [--show N] [--why]

The library is the judge: draws N functions, runs each with the real library for all
values of its conditions, lets the tool read them, and compares what both say. Prints
figures and the disagreements, each made as small as it goes.

A question is a module beside this file:

  CHECKS                  the checks whose findings count
  HEAD_STATIC, HEAD_RUN   what stands before the functions, for the tool and to run;
                          TAIL_STATIC and TAIL_RUN, if there are, behind them
  RUN_FLAGS, TOOL_FLAGS   more flags of the compiler and of the tool, if there are
  draw(rng, number)       a Drawn
  judge(drawn, truth, findings)
                          "told" (a defect, and a finding), "agree" (neither), "dead"
                          (nothing to compare), "false: WORDS", "silent: WORDS", or
                          "chosen: WORDS" (silent, and the program asks for it)
  verdicts(judge, functions)
                          in place of judge(), where a function runs more than once

`truth` has what the function printed, by key, as text: lines "NUMBER KEY VALUE".
"crash" is the key of a function that ended the program: its value is the line of the
error output that says why, if one does. A finding is (check without libtorch-, level,
line in the function, message); the first line of a function is 1.
"""

import argparse
import collections
import importlib
import json
import os
import random
import re
import subprocess
import sys
from dataclasses import dataclass

FIRST = 70000  # Numbers that no drawn function has for another reason.
TORCH = "#include <torch/torch.h>\n"
# For HEAD_RUN: a layer that counts its passes by the gradient mode that they run in.
COUNTING_NET = """struct Net : torch::nn::Linear {
  using torch::nn::Linear::Linear;
  torch::Tensor operator()(torch::Tensor x) {
    torch::Tensor y = (*this)->forward(x);
    (y.requires_grad() ? On : Off)++;
    return y;
  }
};
"""


@dataclass
class Drawn:
    """A function for the tool, the same one to run, and what main() does to run it for
    all values of its conditions. Line N of `static` is line N of `run`, or the function
    cannot be made smaller."""

    static: str
    run: str
    call: str

    def numbered(self, old, new):
        texts = [re.sub(r"(?<!\d)%d(?!\d)" % old, str(new), text)
                 for text in (self.static, self.run, self.call)]
        return Drawn(*texts)


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def run(command, codes=(0,)):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors="replace")
    if codes and done.returncode not in codes:
        sys.exit("failed (%d): %s\n%s%s" % (done.returncode, " ".join(command), done.stdout,
                                            done.stderr[-4000:]))
    return done


class Places:
    """A file of functions, and which of them a line of it belongs to."""

    def __init__(self, path, head, parts, tail):
        self.path = path
        self.starts = []
        line = head.count("\n") + 1
        for number, text in parts:
            self.starts.append((line, number))
            line += text.count("\n")
        self.starts.append((line, None))
        write(path, head + "".join(text for _, text in parts) + tail)

    def at(self, line):
        """The number of the function, and the line in it."""
        for (start, number), (end, _) in zip(self.starts, self.starts[1:]):
            if start <= line < end:
                return number, line - start + 1
        return None, line

    def errors(self, text):
        """The functions with errors of the compiler, and the first of each. An error in a
        header is of the function that a note after it names."""
        found, elsewhere = {}, None
        for path, line, kind, words in re.findall(
                r"^([^\s:][^:]*):(\d+):\d+: (?:fatal )?(error|note): (.*)", text, re.MULTILINE):
            here = os.path.basename(path) == os.path.basename(self.path)
            if kind == "error":
                elsewhere = None if here else words
            elif elsewhere is None or not here:
                continue
            if here:
                found.setdefault(self.at(int(line))[0], elsewhere or words)
                elsewhere = None
        return found


def ended(text):
    return text if text.endswith("\n") else text + "\n"


class Judge:
    def __init__(self, tools, question, out, tool):
        sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
        self.question = importlib.import_module(question)
        with open(tools, encoding="utf-8") as file:
            self.tools = json.load(file)
        self.tool = tool or self.tools["driver"]
        self.out = out
        os.makedirs(out, exist_ok=True)
        self.broken = {}
        self.reasons = {}  # The rows named in each silent function, with --why.
        self.pch = self.tools["torch_code_pch"]
        if self.given("RUN_FLAGS", []):
            self.precompile()

    def given(self, name, default):
        return getattr(self.question, name, default)

    def precompile(self):
        """The library's header with the flags of the question."""
        header = os.path.join(self.out, "head.h")
        write(header, TORCH)
        self.pch = os.path.join(self.out, "head.pch")
        if not os.path.exists(self.pch):
            run([self.tools["clangxx"], *self.tools["torch_flags"], *self.given("RUN_FLAGS", []),
                 "-w", "-x", "c++-header", "-fpch-instantiate-templates", header, "-o", self.pch])

    def truths(self, functions):
        """What the library says of each function that compiles, by number and key."""
        functions = dict(functions)
        main = "int main(int argc, char **argv) {\n  std::setvbuf(stdout, nullptr, _IOLBF, 0);\n"
        main += "  for (int f = std::atoi(argv[1]); f <= std::atoi(argv[2]); ++f) {\n"
        main += "    std::printf(\"%d begins\\n\", f);\n    judged(f);\n  }\n}\n"
        while functions:
            tail = "static void judged(int f) {\n  switch (f) {\n"
            calls = [(n, "  case %d: {\n%s  } break;\n" % (n, ended(d.call)))
                     for n, d in functions.items()]
            head = "#include <cstdio>\n#include <cstdlib>\n" + self.question.HEAD_RUN
            parts = [(n, ended(d.run)) for n, d in functions.items()]
            parts += [(None, self.given("TAIL_RUN", "") + tail)] + calls
            places = Places(os.path.join(self.out, "run.cpp"), ended(head), parts,
                            "  }\n}\n" + main)
            program = os.path.join(self.out, "run")
            done = run([self.tools["clangxx"], places.path, "-o", program, "-O0", "-w",
                        *self.tools["torch_flags"], *self.given("RUN_FLAGS", []), "-include-pch",
                        self.pch, "-ferror-limit=0", *self.tools["torch_libraries"]], codes=())
            if not done.returncode:
                return self.ran(program, list(functions))
            self.drop(functions, places.errors(done.stderr), done.stderr)
        return {}

    def drop(self, functions, errors, text):
        """Leaves out functions that do not compile. Errors elsewhere may be theirs."""
        errors.pop(None, None)
        if not errors:
            sys.exit("does not compile:\n" + text[:4000])
        self.broken.update(errors)
        for number in errors:
            functions.pop(number, None)

    def ran(self, program, numbers):
        truth = {n: {} for n in numbers}
        at, last = min(numbers), max(numbers)
        while at <= last:
            done = run([program, str(at), str(last)], codes=())
            for line in done.stdout.splitlines():
                number, key, *value = line.split(" ", 2)
                if key == "begins":
                    at = int(number)
                else:
                    truth[at][key] = value[0] if value else ""
            if done.returncode and at in truth:
                said = re.search(r"ERROR: .*|terminate called.*", done.stderr)
                truth[at]["crash"] = said[0] if said else str(done.returncode)
            at = at + 1 if done.returncode else last + 1
        return truth

    def findings(self, functions):
        """The tool's findings in each function, by number."""
        functions = dict(functions)
        sarif = os.path.join(self.out, "findings.sarif")
        while functions:
            places = Places(os.path.join(self.out, "static.cpp"),
                            ended(self.question.HEAD_STATIC),
                            [(n, ended(d.static)) for n, d in functions.items()],
                            self.given("TAIL_STATIC", ""))
            if os.path.exists(sarif):
                os.remove(sarif)
            done = run([self.tool, "--level=2", "--no-verify-fixes", "--quiet",
                        "--sarif=" + sarif, *self.options(places)], codes=(0, 1, 3))
            if done.returncode != 3:
                return self.read(sarif, places, functions)
            said = done.stdout + done.stderr
            self.drop(functions, places.errors(said), said)
        return {}

    def options(self, places):
        return ["--no-cache", "--no-background",
                "--checks=-*," + ",".join(self.question.CHECKS),
                *self.given("TOOL_FLAGS", []), places.path, "--", *self.tools["torch_flags"],
                "-include-pch", self.tools["torch_pch"], "-ferror-limit=0"]

    def explain(self, functions, verdicts):
        """Notes the reason rows that the tool names in each silent function."""
        silent = {n: d for n, d in functions.items()
                  if verdicts.get(n, "").startswith("silent")}
        places = Places(os.path.join(self.out, "static.cpp"), ended(self.question.HEAD_STATIC),
                        [(n, ended(d.static)) for n, d in silent.items()],
                        self.given("TAIL_STATIC", ""))
        self.reasons.update((n, set()) for n in silent)
        said = run([self.tool, "why", *self.options(places)], codes=(0, 1)).stdout
        for line, words in re.findall(r"(?m)^(\d+): libtorch-\S+: not a finding: ([\w-]+)", said):
            number, _ = places.at(int(line))
            if number is not None:
                self.reasons[number].add(words)

    def read(self, sarif, places, functions):
        with open(sarif, encoding="utf-8") as file:
            results = json.load(file)["runs"][0]["results"]
        found = {n: [] for n in functions}
        for result in results:
            region = result["locations"][0]["physicalLocation"]["region"]
            number, line = places.at(region["startLine"])
            if number is not None:
                level = {"error": 0, "warning": 1, "note": 2}[result["level"]]
                found[number].append((result["ruleId"].replace("libtorch-", "", 1), level, line,
                                      result["message"]["text"]))
        return found

    def fixed(self, functions):
        """The functions that --fix changes, as it leaves them."""
        path = os.path.join(self.out, "fixed.cpp")
        mark = "// FUNCTION %d\n"
        write(path, ended(self.question.HEAD_STATIC)
              + "".join(mark % n + ended(d.static) for n, d in functions.items()))
        run([self.tool, "--fix", "--level=2", "--no-cache", "--no-background", "--quiet",
             "--checks=-*," + ",".join(self.question.CHECKS), path, "--",
             *self.tools["torch_flags"], "-include-pch", self.tools["torch_pch"]], codes=(0, 1))
        with open(path, encoding="utf-8") as file:
            parts = re.split(r"(?m)^// FUNCTION (\d+)\n", file.read())[1:]
        return {int(n): text for n, text in zip(parts[::2], parts[1::2])
                if text != ended(functions[int(n)].static)}

    def verdicts(self, functions):
        if self.given("verdicts", None):
            return self.question.verdicts(self, functions)
        truth = self.truths(functions)
        said = self.findings({n: functions[n] for n in truth})
        return {n: self.question.judge(functions[n], truth[n], said[n]) for n in said}

    def smaller(self, drawn, verdict):
        """The function without all lines that the verdict does not need."""
        if drawn.static.count("\n") != drawn.run.count("\n"):
            return drawn
        size = max(1, drawn.static.count("\n") // 2)
        while True:
            tries = dict(enumerate(without(drawn, size), FIRST))
            numbered = {n: text.numbered(FIRST, n) for n, text in tries.items()}
            said = self.verdicts(numbered) if tries else {}
            same = [n for n, words in said.items() if words == verdict]
            if same:
                drawn = min((tries[n] for n in same), key=lambda d: len(d.static))
            elif size == 1:
                return drawn
            else:
                size = max(1, size // 2)


def balanced(text):
    depth = 0
    for char in re.sub(r'"(\\.|[^"])*"|//.*', "", text):
        depth += {"{": 1, "}": -1, "(": 1, ")": -1}.get(char, 0)
        if depth < 0:
            return False
    return not depth


def without(drawn, size):
    """The function without one run of at most `size` lines, as long as it goes, or without
    a block's first and last line, in each way that leaves its brackets balanced."""
    static, ran = drawn.static.split("\n"), drawn.run.split("\n")
    for begin in range(len(static)):
        for end in range(min(begin + size, len(static)), begin + size // 2, -1):
            if balanced("\n".join(static[begin:end])) and any(static[begin:end]):
                yield Drawn("\n".join(static[:begin] + static[end:]),
                            "\n".join(ran[:begin] + ran[end:]), drawn.call)
                break
    if size > 1:
        return
    for begin in range(1, len(static)):
        for end in range(begin + 1, len(static)):
            if balanced("\n".join(static[begin:end])):
                if end > begin + 1 and not balanced(static[begin]):
                    keep = static[begin + 1:end - 1]
                    yield Drawn("\n".join(static[:begin] + keep + static[end:]),
                                "\n".join(ran[:begin] + ran[begin + 1:end - 1] + ran[end:]),
                                drawn.call)
                break


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tools", help="tools.json of the build")
    parser.add_argument("question")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--chunk", type=int, default=500, help="functions in a file")
    parser.add_argument("--out", required=True, help="folder of all that is written")
    parser.add_argument("--tool", help="the tool, instead of that of the build")
    parser.add_argument("--show", type=int, default=0,
                        help="disagreements to print, of each kind")
    parser.add_argument("--why", action="store_true",
                        help="count the reason rows that are named for the silent ones")
    parser.add_argument("--raw", action="store_true", help="do not make them smaller")
    return parser.parse_args()


def main():
    args = arguments()
    judge = Judge(args.tools, args.question, args.out, args.tool)
    verdicts, drawn = {}, {}
    for first in range(FIRST, FIRST + args.count, args.chunk):
        # A function is the same whatever the count is.
        chunk = {n: judge.question.draw(random.Random("%s %d %d" % (args.question, args.seed, n)), n)
                 for n in range(first, min(first + args.chunk, FIRST + args.count))}
        verdicts.update(judge.verdicts(chunk))
        drawn.update(chunk)
        if args.why:
            judge.explain(chunk, verdicts)
    broken = dict(judge.broken)
    kinds = collections.Counter(verdicts.values())
    heads = collections.Counter(words.split(":")[0] for words in verdicts.values())
    print("%s: %d drawn, %d do not compile, %d with nothing to compare, %d agree, %d false, "
          "%d silent" % (args.question, args.count, len(broken), heads["dead"],
                         heads["agree"] + heads["told"] + heads["chosen"], heads["false"],
                         heads["silent"]))
    print("%6d of %d defects told" % (heads["told"], heads["told"] + heads["silent"]))
    for words, number in sorted(kinds.items()):
        if ":" in words:
            print("%6d %s" % (number, words))
    if args.why:
        named = [rows for rows in judge.reasons.values() if rows]
        print("%6d of %d silent ones with a reason" % (len(named), len(judge.reasons)))
        for row, number in sorted(collections.Counter(r for rows in named for r in rows).items()):
            print("%6d %s" % (number, row))
    for number, words in list(broken.items())[:args.show]:
        print("\n%d does not compile: %s" % (number - FIRST, words))
        print(drawn[number].static.rstrip())
    for words in sorted(words for words in kinds if ":" in words):
        for number in [n for n in verdicts if verdicts[n] == words][:args.show]:
            text = drawn[number].numbered(number, FIRST)
            text = text if args.raw else judge.smaller(text, words)
            print("\n%d %s\n%s" % (number - FIRST, words, text.static.rstrip()), flush=True)


if __name__ == "__main__":
    main()
