#!/usr/bin/env python3
#
# Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""make_manual.py PROGRAM FOLDER: writes the manual page and the completions of
bash, zsh and fish into FOLDER, from what PROGRAM --help and --list-checks say.
A form of --help that is not understood is an error, not a gap in the manual.
"""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field


@dataclass
class Option:
    name: str  # with its dashes
    value: str  # as in --help, without angle brackets; empty: takes none
    needs_value: bool
    joined: bool  # --name=value, not -n value
    text: str
    choices: list = field(default_factory=list)  # (word, text)


def ask(*arguments):
    # Not from here: a .clang-tidy file above must not matter.
    return subprocess.run(
        arguments, check=True, capture_output=True, text=True, cwd="/"
    ).stdout


def read_options(text):
    options = []
    for line in text.split("libtorch-tidy options:\n")[1].splitlines():
        if not line:
            continue
        if choice := re.fullmatch(r"    =(\S+) +- +(.*)", line):
            options[-1].choices.append(choice.groups())
            continue
        match = re.fullmatch(
            r"  (--?[\w-]+)(\[=<([^>]+)>\]|=<([^>]+)>| <([^>]+)>)? +- (.*)", line
        )
        if not match:
            sys.exit(f"make_manual.py: --help has a line of unknown form: {line!r}")
        name, spec, optional, joined, apart, description = match.groups()
        option = Option(
            name,
            optional or joined or apart or "",
            bool(joined or apart),
            not apart,
            description,
        )
        if re.fullmatch(r"\w+(\|\w+)+", option.value):
            option.choices = [(word, "") for word in option.value.split("|")]
        options.append(option)
    if len(options) < 30:
        sys.exit("make_manual.py: --help lists too few options")
    return options


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.M)


def manual(options, checks, version):
    out = [
        f'.TH LIBTORCH\\-TIDY 1 "" "libtorch\\-tidy {version}" "User Commands"',
        ".SH NAME",
        "libtorch\\-tidy \\- find memory antipatterns in LibTorch code",
        ".SH SYNOPSIS",
        ".B libtorch\\-tidy",
        "[\\fIoptions\\fR] \\fIfile\\fR... [\\fB\\-\\-\\fR \\fIcompiler flags\\fR]",
        ".SH DESCRIPTION",
        "Finds code that keeps more memory than it needs, in C++ programs that use",
        "LibTorch (PyTorch), and shows the path to each finding. A file is compiled as",
        "its compile database says, which is looked for in the folders above it.",
        "Options take one dash or two.",
        ".SH OPTIONS",
    ]
    for option in options:
        value = f"\\fI{roff(option.value)}\\fR"
        if not option.value:
            value = ""
        elif not option.needs_value:
            value = f"[={value}]"
        else:
            value = ("=" if option.joined else " ") + value
        out += [".TP", f"\\fB{roff(option.name)}\\fR{value}", roff(option.text) + "."]
        for word, text in option.choices:
            if text:
                out += [".br", f"\\fB{roff(word)}\\fR: {roff(text)}"]
    out += [".SH CHECKS"]
    for check in checks:
        out += [
            ".TP",
            f"\\fB{roff(check['name'])}\\fR (level {check['level']})",
            roff(check["summary"][0].upper() + check["summary"][1:]) + ".",
        ]
    out += [
        ".SH EXIT STATUS",
        *(".TP\n0\nNothing found at or above \\fB\\-\\-fail\\-on\\fR.").split("\n"),
        *(".TP\n1\nFindings.").split("\n"),
        *(".TP\n2\nWrong usage or configuration.").split("\n"),
        *(".TP\n3\nA translation unit could not be analysed in full.").split("\n"),
        ".SH ENVIRONMENT",
        ".TP",
        "\\fBLIBTORCH_TIDY_BUILD_PATH\\fR",
        "Folder of the compile database, when \\fB\\-p\\fR is not given.",
        ".SH FILES",
        ".TP",
        "\\fI.clang\\-tidy\\fR",
        "Configuration, in the folder of a file or above it.",
        ".SH SEE ALSO",
        "\\fBclang\\-tidy\\fR(1), \\fBclang\\-tidy\\-libtorch\\fR(1)",
    ]
    return "\n".join(out) + "\n"


def words(option, checks):
    if option.choices:
        return [word for word, _ in option.choices]
    if option.value == "check" or option.name == "--checks":
        return [check["name"] for check in checks]
    return []


def bash(options, checks):
    cases = []
    for option in options:
        if option.value and (known := words(option, checks)):
            cases.append(
                f"    {option.name}) COMPREPLY=($(compgen -W "
                f"'{' '.join(known)}' -- \"$cur\")); return ;;"
            )
        elif option.value in ("dir",):
            cases.append(
                f"    {option.name}) COMPREPLY=($(compgen -d -- \"$cur\")); return ;;"
            )
    names = " ".join(o.name + ("=" if o.value and o.joined else "") for o in options)
    return f"""# bash completion of libtorch-tidy

_libtorch_tidy() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}}
  # "=" is a word of its own to bash.
  if [[ $cur == "=" ]]; then
    cur=
  elif [[ $prev == "=" ]]; then
    prev=${{COMP_WORDS[COMP_CWORD-2]}}
  fi
  case $prev in
{chr(10).join(cases)}
  esac
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W '{names}' -- "$cur"))
    [[ ${{COMPREPLY-}} == *= ]] && compopt -o nospace
  fi
}}
complete -o default -F _libtorch_tidy libtorch-tidy
"""


def zsh(options, checks):
    lines = []
    for option in options:
        text = option.text.replace("'", "'\\''")
        text = re.sub(r"([\[\]:\\])", r"\\\1", text)
        action = ""
        if option.value:
            known = words(option, checks)
            what = (
                f"({' '.join(known)})"
                if known
                else "_files -/"
                if option.value == "dir"
                else "_files"
                if option.value == "file"
                else ""
            )
            label = re.sub(r"\W", " ", option.value)
            action = f"{'' if option.needs_value else ':'}:{label}:{what}"
        equals = "=" if option.value and option.joined else ""
        if equals and not option.needs_value:
            equals = "=-"
        lines.append(f"  '{option.name}{equals}[{text}]{action}' \\")
    return (
        "#compdef libtorch-tidy\n\n_arguments -s \\\n"
        + "\n".join(lines)
        + "\n  '*:file:_files'\n"
    )


def fish(options, checks):
    lines = ["# fish completion of libtorch-tidy"]
    for option in options:
        flag = f"-l {option.name[2:]}"
        if not option.name.startswith("--"):
            flag = f"-s {option.name[1:]}"
        known = words(option, checks)
        takes = ""
        if option.value:
            takes = f" -x -a '{' '.join(known)}'" if known else " -r"
            if option.value == "dir":
                takes = " -x -a '(__fish_complete_directories)'"
        text = option.text.replace("\\", "\\\\").replace("'", "\\'")
        lines.append(f"complete -c libtorch-tidy {flag}{takes} -d '{text}'")
    return "\n".join(lines) + "\n"


def main():
    program, folder = sys.argv[1:]
    options = read_options(ask(program, "--help"))
    checks = json.loads(ask(program, "--config={}", "--list-checks", "--json"))
    version = ask(program, "--version").split()[2]
    for name, text in {
        "libtorch-tidy.1": manual(options, checks, version),
        "libtorch-tidy.bash": bash(options, checks),
        "_libtorch-tidy": zsh(options, checks),
        "libtorch-tidy.fish": fish(options, checks),
    }.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main()
