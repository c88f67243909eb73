"""For tests that run programs: they need LibTorch itself, not its headers only."""

import functools
import json
import os
import shlex
import subprocess
import sys


@functools.lru_cache(maxsize=None)
def links(*command):
    done = subprocess.run(
        [*command[:1], "-x", "c++", "-", "-o", os.devnull, *command[1:]],
        input="int main() {}", text=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return done.returncode == 0


def tools_with(version, tools, folder):
    """Writes a tools.json into `folder` that is `tools` with another LibTorch, that of
    scripts/libtorch-root, and precompiles its header there unless that was done."""
    script = os.path.join(tools["scripts_dir"], "libtorch-root")
    done = subprocess.run([tools["python"], script, version, "--flags"],
                          stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit("no LibTorch %s to run programs with" % version)
    flags, libraries = map(shlex.split, done.stdout.splitlines())
    tools = {**tools, "libtorch": version, "torch_flags": flags,
             "torch_libraries": libraries + tools["torch_libraries"],
             "torch_code_pch": os.path.join(folder, "torch-code.pch"),
             "torch_pch": os.path.join(folder, "torch.pch")}
    os.makedirs(folder, exist_ok=True)
    header = os.path.join(flags[flags.index("-isystem") + 1], "torch", "torch.h")
    for key, maker, command in [
        ("torch_code_pch", tools["clangxx"],
         [tools["clangxx"], *flags, "-x", "c++-header", "-fpch-instantiate-templates", header,
          "-o", tools["torch_code_pch"]]),
        ("torch_pch", tools["driver"],
         [tools["driver"], "--emit-library-pch=" + tools["torch_pch"], header, "--", *flags])]:
        made = tools[key]
        if not os.path.exists(made) or os.path.getmtime(made) < os.path.getmtime(maker):
            subprocess.run(command, check=True)
    path = os.path.join(folder, "tools.json")
    with open(path, "w") as file:
        json.dump(tools, file, indent=2)
    return path


def set_up(config, tools):
    """Adds the feature `libtorch`, where it is there, and the command
    `%build_code SOURCE... -o PROGRAM`."""
    if links(tools["clangxx"], *tools["torch_libraries"]):
        config.available_features.add("libtorch")
    command = [tools["clangxx"], *tools["torch_flags"], "-include-pch",
               tools["torch_code_pch"], "-Wall", "-Wextra", "-Werror", *tools["torch_libraries"]]
    config.substitutions.append((r"%build_code\b", " ".join(command)))
