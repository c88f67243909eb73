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
namespace at { struct Tensor { Tensor detach() const; Tensor operator+(const Tensor &) const; }; }
namespace torch { using at::Tensor; }
"""
BOTH = "#include <torch/torch.h>\ntorch::Tensor other(torch::Tensor x);\n"


def run(*options):
    """What is left of it, and the processor time that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [*command, "-j1", *options], cwd=folder, capture_output=True, text=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done, took


def write_slow(functions):
    """Loops whose values take many rounds: the checks take longer than the compiler,
    which reads a file once, however often it is analysed."""
    names = [f"v{n}" for n in range(12)]
    tensors = "  torch::Tensor " + ", ".join(f"{name} = x" for name in names) + ";\n"
    steps = "".join(
        f"    if (i == {n}) {name} = other({names[n - 1]} + {name});\n"
        for n, name in enumerate(names)
    )
    loop = f"  for (int i = 0; i < 100; ++i) {{\n{steps}  }}\n"
    (folder / "slow.cpp").write_text(
        BOTH
        + "".join(
            f"torch::Tensor f{n}(torch::Tensor x) {{\n{tensors}{loop}  return v0;\n}}\n"
            for n in range(functions)
        )
    )


def limit_for_one():
    """Writes slow.cpp, and returns a number of seconds in which it is analysed once."""
    functions = 100
    while functions < 20000:
        write_slow(functions)
        done, took = run("slow.cpp")
        for seconds in (2, 3, 4, 6):
            if took * 1.2 < seconds < took * 1.6:
                return seconds
        functions += functions // 4
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
