#!/usr/bin/env python3
#
# Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""make_manual.py PROGRAM FOLDER: writes the manual page and the completions of
bash, zsh and fish into FOLDER, from what PROGRAM --help, COMMAND --help and
--list-checks say. A form of help that is not understood is an error, not a gap
in the manual.
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
    choices: list = field(default_factory=list)


@dataclass
class Command:
    name: str  # of one word or two; empty: the program without a command
    usage: str  # what comes after the name
    text: str
    options: list


def ask(*arguments):
    # Not from here: a .clang-tidy file above must not matter. One line for each.
    return subprocess.run(
        arguments,
        check=True,
        capture_output=True,
        text=True,
        cwd="/",
        env={**os.environ, "COLUMNS": "1000"},
    ).stdout


def read_rows(text):
    """What stands in the rows of help: a label and a text, the latter in a line
    of its own when the label is long."""
    rows = []
    for line in text.splitlines():
        if match := re.fullmatch(r"  (\S.*?)(?:  +(\S.*))?", line):
            rows.append([match[1], match[2] or ""])
        elif line.startswith("    ") and rows:
            rows[-1][1] += line.strip()
    return rows


def read_options(text):
    options = []
    for label, description in read_rows(text):
        match = re.fullmatch(r"(--?[\w-]+)(\[=(.+)\]|=(.+)| (.+))?", label)
        if not match or not description:
            sys.exit(f"make_manual.py: --help has a row of unknown form: {label!r}")
        name, _, optional, joined, apart = match.groups()
        option = Option(
            name,
            optional or joined or apart or "",
            bool(joined or apart),
            not apart,
            description,
        )
        if re.fullmatch(r"\w+(\|\w+)+", option.value):
            option.choices = option.value.split("|")
        options.append(option)
    return options


def read_commands(program):
    all_options = ask(program, "--help=all")
    plain = Command("", "", "", read_options(all_options))
    if len(plain.options) < 30:
        sys.exit("make_manual.py: --help=all lists too few options")
    commands = [plain]
    rows = ask(program, "--help").split("\nCommands")[1].split("\n\n")[0]
    for name, text in read_rows(rows):
        help_text = ask(program, *name.split(), "--help")
        usage = re.match(rf"Usage: libtorch-tidy {name} (.*)", help_text)[1]
        _, _, options = help_text.partition("\nOptions:\n")
        commands.append(Command(name, usage, text, read_options(options)))
    return commands


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.M)


def describe(options):
    out = []
    for option in options:
        value = f"\\fI{roff(option.value)}\\fR"
        if not option.value:
            value = ""
        elif not option.needs_value:
            value = f"[={value}]"
        else:
            value = ("=" if option.joined else " ") + value
        out += [".TP", f"\\fB{roff(option.name)}\\fR{value}", roff(option.text) + "."]
    return out


def manual(commands, checks, version):
    out = [
        f'.TH LIBTORCH\\-TIDY 1 "" "libtorch\\-tidy {version}" "User Commands"',
        ".SH NAME",
        "libtorch\\-tidy \\- find memory antipatterns in LibTorch code",
        ".SH SYNOPSIS",
        ".B libtorch\\-tidy",
        "[\\fIoptions\\fR] \\fIfile\\fR... [\\fB\\-\\-\\fR \\fIcompiler flags\\fR]",
        ".br",
        ".B libtorch\\-tidy",
        "\\fIcommand\\fR [\\fIoptions\\fR] ...",
        ".SH DESCRIPTION",
        "Finds code that keeps more memory than it needs, in C++ programs that use",
        "LibTorch (PyTorch), and shows the path to each finding. A file is compiled as",
        "its compile database says, which is looked for in the folders above it.",
        "Options take one dash or two.",
        ".SH COMMANDS",
    ]
    for command in commands[1:]:
        out += [
            f".SS {roff(command.name)} {roff(command.usage)}",
            roff(command.text) + ".",
            *describe(command.options),
        ]
    out += [".SH OPTIONS", *describe(commands[0].options)]
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
        return option.choices
    return [check["name"] for check in checks] if option.name == "--checks" else []


def first_words(commands):
    return list(dict.fromkeys(c.name.split()[0] for c in commands[1:]))


def all_options(commands):
    """Those of the program and of its commands, each once, with the choices of
    all."""
    result = {}
    for command in commands:
        for option in command.options:
            known = result.setdefault(option.name, option)
            for choice in option.choices:
                if known.value and choice not in known.choices:
                    known.choices.append(choice)
    return list(result.values())


def bash(commands, checks):
    options = all_options(commands)
    cases = []
    for option in options:
        if option.value and (known := words(option, checks)):
            cases.append(
                f"    {option.name}) COMPREPLY=($(compgen -W "
                f"'{' '.join(known)}' -- \"$cur\")); return ;;"
            )
        elif option.value == "DIR":
            cases.append(
                f"    {option.name}) COMPREPLY=($(compgen -d -- \"$cur\")); return ;;"
            )
    names = " ".join(o.name + ("=" if o.value and o.joined else "") for o in options)
    pages = " ".join(check["name"] for check in checks)
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
    explain) COMPREPLY=($(compgen -W '{pages}' -- "$cur")); return ;;
    watch) COMPREPLY=($(compgen -W 'report join' -- "$cur")) ;;
{chr(10).join(cases)}
  esac
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W '{names}' -- "$cur"))
    [[ ${{COMPREPLY-}} == *= ]] && compopt -o nospace
  elif ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -f -W '{" ".join(first_words(commands))}' -- "$cur"))
  fi
}}
complete -o default -F _libtorch_tidy libtorch-tidy
"""


def zsh(commands, checks):
    lines = []
    for option in all_options(commands):
        text = option.text.replace("'", "'\\''")
        text = re.sub(r"([\[\]:\\])", r"\\\1", text)
        action = ""
        if option.value:
            known = words(option, checks)
            what = (
                f"({' '.join(known)})"
                if known
                else "_files -/"
                if option.value == "DIR"
                else "_files"
                if option.value == "FILE"
                else ""
            )
            label = re.sub(r"\W", " ", option.value)
            action = f"{'' if option.needs_value else ':'}:{label}:{what}"
        equals = "=" if option.value and option.joined else ""
        if equals and not option.needs_value:
            equals = "=-"
        lines.append(f"  '{option.name}{equals}[{text}]{action}' \\")
    first = " ".join(first_words(commands))
    return (
        "#compdef libtorch-tidy\n\n_arguments -s \\\n"
        + "\n".join(lines)
        + f"\n  '1:command or file:_alternative \"commands\\:command\\:({first})\" \"files\\:file\\:_files\"' \\"
        + "\n  '*:file:_files'\n"
    )


def fish(commands, checks):
    lines = ["# fish completion of libtorch-tidy"]
    for command in commands[1:]:
        first, _, second = command.name.partition(" ")
        when = f"__fish_seen_subcommand_from {first}" if second else "__fish_use_subcommand"
        lines.append(
            f"complete -c libtorch-tidy -n '{when}' -a {second or first} -d '{command.text}'"
        )
    lines.append("complete -c libtorch-tidy -n __fish_use_subcommand -a watch")
    pages = " ".join(check["name"] for check in checks)
    lines.append(
        "complete -c libtorch-tidy -n '__fish_seen_subcommand_from explain' "
        f"-f -a '{pages}'"
    )
    for option in all_options(commands):
        flag = f"-l {option.name[2:]}"
        if not option.name.startswith("--"):
            flag = f"-s {option.name[1:]}"
        known = words(option, checks)
        takes = ""
        if option.value:
            takes = f" -x -a '{' '.join(known)}'" if known else " -r"
            if option.value == "DIR":
                takes = " -x -a '(__fish_complete_directories)'"
        text = option.text.replace("\\", "\\\\").replace("'", "\\'")
        lines.append(f"complete -c libtorch-tidy {flag}{takes} -d '{text}'")
    return "\n".join(lines) + "\n"


def main():
    program, folder = sys.argv[1:]
    commands = read_commands(program)
    checks = json.loads(ask(program, "--config={}", "--list-checks", "--json"))
    version = ask(program, "--version").split()[2]
    for name, text in {
        "libtorch-tidy.1": manual(commands, checks, version),
        "libtorch-tidy.bash": bash(commands, checks),
        "_libtorch-tidy": zsh(commands, checks),
        "libtorch-tidy.fish": fish(commands, checks),
    }.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main()
