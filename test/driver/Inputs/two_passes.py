# Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gives a unit more time than one analysis takes, and less than two.

    two_passes.py FOLDER COMMAND...

A whole program analyses slow.cpp twice, as it calls what other.cpp defines.
"""

import json
import resource
import subprocess
import sys
from pathlib import Path

folder = Path(sys.argv[1])
command = sys.argv[2:]
TORCH = """
namespace at { struct Tensor { Tensor detach() const; }; }
namespace torch { using at::Tensor; }
"""
BOTH = "#include <torch/torch.h>\ntorch::Tensor other(torch::Tensor x);\n"


def run(*options):
    """The exit code, and processor time that one process took at most."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [*command, "-j1", *options], cwd=folder, capture_output=True, text=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done, took


def write_slow(depth):
    """The compiler takes twice as long for each more."""
    lines = ["struct A0 {};"]
    for n in range(1, depth + 1):
        lines.append(
            f"struct L{n} : virtual A{n - 1} {{}}; struct R{n} : virtual A{n - 1} {{}}; "
            f"struct A{n} : L{n}, R{n} {{}};"
        )
    call = f"torch::Tensor f(torch::Tensor x) {{ A{depth} all; return other(x); }}"
    (folder / "slow.cpp").write_text("\n".join([BOTH, *lines, call, ""]))


def limit_for_one():
    """Writes slow.cpp, and returns a number of seconds in which it is analysed once."""
    for depth in range(8, 40):
        write_slow(depth)
        done, took = run("slow.cpp")
        for seconds in (2, 3, 4, 6):
            if took * 1.2 < seconds < took * 1.8:
                return seconds
    return 0


def main():
    (folder / "torch").mkdir(parents=True)
    (folder / "torch" / "torch.h").write_text(TORCH)
    (folder / "other.cpp").write_text(
        BOTH + "torch::Tensor other(torch::Tensor x) { return x.detach(); }\n"
    )
    files = ["slow.cpp", "other.cpp"]
    commands = [
        {"directory": str(folder), "file": f, "arguments": ["c++", f"-isystem{folder}", "-c", f]}
        for f in files
    ]
    (folder / "compile_commands.json").write_text(json.dumps(commands))
    # On a busy machine the same work takes other times: then once more.
    for attempt in range(5):
        limit = limit_for_one()
        said, codes = [], []
        for what, options in (("alone", []), ("whole program", ["--whole-program"])):
            done, took = run(f"--timeout={limit}", *options, *files)
            said.append(f"{done.stdout}{done.stderr}{what}: exit code {done.returncode}")
            codes.append(done.returncode)
        if codes == [0, 3]:
            break
    print("\n".join(said))
    return 0


if __name__ == "__main__":
    sys.exit(main())
