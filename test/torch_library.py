"""For the lit.local.cfg of tests that run programs: they need LibTorch itself, not its
headers only."""

import functools
import os
import subprocess

# GNU's linker takes ten times as long.
LIBRARIES = ["-fuse-ld=lld", "-ltorch", "-ltorch_cpu", "-lc10"]


@functools.lru_cache(maxsize=None)
def links(compiler):
    done = subprocess.run(
        [compiler, "-x", "c++", "-", "-o", os.devnull] + LIBRARIES,
        input="int main() {}", text=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return done.returncode == 0


def set_up(config, tools):
    """Adds the feature `libtorch`, where it is there, and the command
    `%build_code SOURCE... -o PROGRAM`."""
    if links(tools["clangxx"]):
        config.available_features.add("libtorch")
    command = [tools["clangxx"], *tools["torch_flags"], "-include-pch",
               tools["torch_code_pch"], "-Wall", "-Wextra", "-Werror", *LIBRARIES]
    config.substitutions.append((r"%build_code\b", " ".join(command)))
