"""every_option.py FATES FOLDER TOOL...: analyses units with every option of Clang that
can stand in a compile command, as reported by flag-fates in the file FATES. Each names a
file that is not there, and again a program that leaves a mark. Fails when a file of the
project is written, changed or run."""

import json
import os
import pathlib
import subprocess
import sys

fates, folder, *tool = sys.argv[1:]
project = pathlib.Path(folder).resolve()
project.mkdir()
mark = project / "mark"
program = project / "program.sh"
program.write_text("#!/bin/sh\necho run >> '%s'\necho sm_70\n" % mark)
program.chmod(0o755)
# What Clang's driver looks for in the folders of -B and beside the compiler.
for name in ["nvptx-arch", "amdgpu-arch", "offload-arch", "clang++"]:
    (project / name).write_text(program.read_text())
    (project / name).chmod(0o755)
(project / "unit.cpp").write_text("#include <torch/torch.h>\nint f() { return 1; }\n")
(project / ".clang-tidy").write_text("{}\n")
(project / "torch").mkdir()
(project / "torch" / "torch.h").write_text("namespace at { class Tensor {}; }\n")


def words(option, value):
    """The option with a value, as the command line has it."""
    name, kind, _, _ = option
    if kind == "flag":
        return [name]
    if kind in ("joined", "commas", "joined-or-separate"):
        return [name + value]
    if kind == "joined-and-separate":
        return [name + "x", value]
    if kind == "several":
        return [name, value, value, value]
    return [name, value]


options = [line.split() for line in open(fates)]
options = [o for o in options if o[1] not in ("rest", "other")]
# Alone they hold what comes next.
options = [o for o in options if o[0] not in ("-Xclang", "-Xpreprocessor", "-Wp,", "/clang:")]
offload = ["-fopenmp", "-fopenmp-targets=nvptx64"]
commands = []


def command(compiler, flags):
    commands.append([compiler, *flags, "-I.", "-std=c++17", "-c", "unit.cpp"])


def try_all(compiler, chosen, wrap):
    number = 0
    batches = {"out": [], "program": []}
    for option in chosen:
        number += 1
        values = {
            "out": str(project / ("out-%s-%d" % (len(commands), number))),
            "program": str(program),
        }
        for which, value in values.items():
            flags = wrap(words(option, value))
            if option[3] == "kept" and option[1] != "flag":
                # It can be an error, which ends the work of this unit.
                command(compiler, flags)
            elif option[3] != "kept":
                batches[which] += flags
    for flags in batches.values():
        for begin in range(0, len(flags), 200):
            command(compiler, offload + flags[begin : begin + 200])


for_driver = [o for o in options if "driver" in o[2]]
for_cc1 = [o for o in options if "cc1" in o[2]]
for_cl = [o for o in options if "cl" in o[2].split(",")]
try_all("clang++", for_driver, lambda flags: flags)
try_all("clang++", for_cc1, lambda flags: [w for f in flags for w in ("-Xclang", f)])
dropped = [o for o in options if o[3] != "kept"]
try_all(
    "clang++",
    [o for o in dropped if "driver" in o[2]],
    lambda flags: ["-Wp," + ",".join(flags)],
)
# Flags have no value that could be wrong.
for option in for_driver:
    if option[1] == "flag" and option[3] == "kept" and option[0].startswith("-f"):
        command("clang++", [option[0]])
for compiler in ["./clang++", str(project / "clang++")]:
    command(compiler, offload)
    for values in ["native", "sm_70,native", "sm_70,", ""]:
        command(compiler, ["-x", "cuda", "-nocudainc", "-nocudalib", "--offload-arch=" + values])
        command(compiler, ["-fopenmp", "--offload-arch=" + values])
    command(compiler, ["-x", "cuda", "-nocudainc", "-nocudalib"])
    command(compiler, ["-x", "hip", "-nogpuinc", "-nogpulib"])
commands += [
    ["clang-cl", "--driver-mode=cl"] + [w for o in for_cl if o[3] != "kept" for w in words(o, str(project / "cl-out"))] + ["-I.", "unit.cpp"]
]

database = [
    {"directory": str(project), "file": "unit.cpp", "arguments": arguments}
    for arguments in commands
]
(project / "compile_commands.json").write_text(json.dumps(database))


def state():
    return {
        str(p): p.read_bytes() for p in sorted(project.rglob("*")) if p.is_file()
    }


before = state()
folders = sorted(str(p) for p in project.rglob("*") if p.is_dir())
home = pathlib.Path(str(project) + "-home")
home.mkdir()
environment = dict(os.environ, HOME=str(home), TMPDIR=str(home))
environment.pop("XDG_CACHE_HOME", None)
done = subprocess.run(
    tool + ["--no-cache", "--skip-unrelated=false", "-p", str(project), str(project / "unit.cpp")],
    cwd=project,
    env=environment,
    capture_output=True,
    text=True,
)
after = state()
wrong = ["written or changed: " + p for p in after if after[p] != before.get(p)]
wrong += ["gone: " + p for p in before if p not in after]
wrong += ["made: " + p for p in map(str, project.rglob("*")) if os.path.isdir(p) and p not in folders]
wrong += ["made: " + str(p) for p in home.rglob("*")]
print(len(commands), "commands, exit code", done.returncode)
# Clang's driver itself crashes on a few values: that is the end of a unit only.
if done.returncode not in (0, 3):
    wrong.append("exit code %d" % done.returncode)
print("\n".join(wrong))
sys.exit(bool(wrong))
