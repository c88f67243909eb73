# Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the compile database of extensions that Python builds.

  python -m libtorch_tidy.build_ext                    of setup.py in this folder
  python -m libtorch_tidy.build_ext setup.py [ARGUMENT...]
  python -m libtorch_tidy.build_ext script.py [ARGUMENT...]
  python -m libtorch_tidy.build_ext --ninja FOLDER...

setup.py is run as `setup.py build_ext`; it compiles nothing. Another script is
run as it is: what it builds with torch.utils.cpp_extension is built. A FOLDER has
a build.ninja, as torch.utils.cpp_extension leaves them in build/temp.* and in
~/.cache/torch_extensions.

  --output FILE  the database; default: build/compile_commands.json. Commands of
                 other files that are in it stay.
"""

import argparse
import contextlib
import json
import os
import runpy
import subprocess
import sys

SOURCES = (".c", ".cc", ".cpp", ".cxx", ".c++", ".cu", ".C")


class Commands:
    """The commands of a database, by the file that each compiles."""

    def __init__(self):
        self.of_file = {}

    def add(self, entry):
        key = os.path.normpath(os.path.join(entry["directory"], entry["file"]))
        self.of_file[key] = entry

    def add_arguments(self, arguments):
        """Adds a command of a compiler, when it compiles a file."""
        arguments = [os.fspath(word) for word in arguments]
        files = [w for w in arguments[1:] if w.endswith(SOURCES) and not w.startswith("-")]
        if "-c" in arguments and len(files) == 1:
            self.add({"directory": os.getcwd(), "file": files[0], "arguments": arguments})

    def add_ninja(self, folder):
        """Adds what build.ninja in `folder` compiles. Ninja prints it, and builds
        nothing."""
        said = subprocess.run(
            ["ninja", "-t", "compdb"], cwd=folder, check=True, capture_output=True, text=True
        )
        for entry in json.loads(said.stdout):
            if entry["file"].endswith(SOURCES):
                self.add(entry)

    def write(self, path):
        old = Commands()
        with contextlib.suppress(FileNotFoundError), open(path, encoding="utf-8") as file:
            for entry in json.load(file):
                old.add(entry)
        merged = {**old.of_file, **self.of_file}
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            json.dump([merged[key] for key in sorted(merged)], file, indent=2)
            file.write("\n")


def record_spawns(commands):
    """From now on, the compilers of setuptools run nothing: their commands are
    noted."""
    import setuptools  # noqa: F401  It puts its own distutils in place.
    from distutils.ccompiler import CCompiler

    def spawn(self, cmd, *others, **named):
        commands.add_arguments(cmd)

    classes = [CCompiler]
    while classes:
        compiler = classes.pop()
        if compiler is CCompiler or "spawn" in vars(compiler):
            compiler.spawn = spawn
        classes.extend(compiler.__subclasses__())


def record_ninja(commands, build):
    """From now on, what torch.utils.cpp_extension gives to Ninja is noted, and
    built when `build` is true."""
    try:
        from torch.utils import cpp_extension
    except ImportError:
        return
    run = cpp_extension._run_ninja_build

    def noted(build_directory, *others, **named):
        commands.add_ninja(build_directory)
        if build:
            run(build_directory, *others, **named)

    cpp_extension._run_ninja_build = noted


def run_setup(path, arguments, commands):
    from distutils.command.build_ext import build_ext  # noqa: F401

    record_spawns(commands)
    record_ninja(commands, build=False)
    import setuptools.command.build_ext as ours

    # There is nothing to copy, for nothing was linked.
    ours.build_ext.copy_extensions_to_source = lambda self: None
    sys.argv = [path] + (arguments or ["build_ext", "--force"])
    runpy.run_path(path, run_name="__main__")


def run_script(path, arguments, commands):
    record_ninja(commands, build=True)
    sys.argv = [path] + arguments
    runpy.run_path(path, run_name="__main__")


def main():
    parser = argparse.ArgumentParser(
        prog="python -m libtorch_tidy.build_ext",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage=argparse.SUPPRESS,
    )
    parser.add_argument("--output", default=os.path.join("build", "compile_commands.json"))
    parser.add_argument("--ninja", action="store_true")
    parser.add_argument("words", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    commands = Commands()
    output = os.path.abspath(options.output)
    if options.ninja:
        for folder in options.words:
            commands.add_ninja(folder)
    else:
        path, *arguments = options.words or ["setup.py"]
        # As `python script.py` has it.
        sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
        is_setup = os.path.basename(path) == "setup.py"
        (run_setup if is_setup else run_script)(path, arguments, commands)
    if not commands.of_file:
        sys.exit("libtorch_tidy.build_ext: nothing was compiled, so there is no database")
    commands.write(output)
    print(f"libtorch_tidy.build_ext: {len(commands.of_file)} commands in {output}", file=sys.stderr)


if __name__ == "__main__":
    main()
