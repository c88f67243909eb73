"""harmful_builds.py FOLDER TOOL...: analyses FOLDER/a.cpp with flags that make a compiler
run a program or write a file, in a compile command and in a .clang-tidy. Fails when a
file appears or the finding does not."""

import json
import os
import subprocess
import sys

folder, *tool = sys.argv[1:]
evil = os.path.join(folder, "evil.sh")
victim = os.path.join(folder, "victim")
openmp = ["-fopenmp", "-fopenmp-targets=nvptx64"]
flags = [
    [],
    # Programs.
    [*openmp, "--nvptx-arch-tool=./evil.sh"],
    [*openmp],
    [*openmp, "-B./"],
    [*openmp, "-B", folder + "/"],
    ["-fopenmp", "-fopenmp-targets=amdgcn-amd-amdhsa", "--amdgpu-arch-tool=" + evil],
    ["--offload-arch=native", "--nvptx-arch-tool=" + evil, "-fopenmp"],
    ["--offload-arch=sm_70,native", "-B./", "-fopenmp"],
    ["--offload-arch=sm_70,", "-nogpulib", "-B./", "-fopenmp"],
    ["--offload-arch-tool=" + evil, "--offload-arch=native", "-fopenmp"],
    ["--offload-targets=nvptx64", "-B./", "-fopenmp"],
    ["-fplugin=" + evil],
    ["-Xclang", "-load", "-Xclang", evil],
    ["-fpass-plugin=" + evil],
    ["-mllvm", "-load=" + evil],
    ["-fuse-ld=" + evil],
    ["-no-integrated-as", "-B./bin"],
    ["-ccc-install-dir", folder + "/bin", *openmp],
    ["-Xarch_host", "--nvptx-arch-tool=./evil.sh", *openmp],
    ["--config=./evil.cfg"],
    # Files.
    ["--serialize-diagnostics", victim],
    ["-serialize-diagnostics", victim],
    ["-Wp,-MD," + victim],
    ["-Wp,-MMD,x.d"],
    ["-Wp,-MD," + victim, "-Wp,-MT,$(touch_pwned)"],
    ["-Xpreprocessor", "-MD", "-Xpreprocessor", "-MF", "-Xpreprocessor", victim],
    ["-MD", "-MF", victim, "-MT", "x"],
    ["-MMD"],
    ["-MJ", victim],
    ["-Xclang", "-dependency-dot", "-Xclang", victim],
    ["-Xclang", "-dependency-file", "-Xclang", victim, "-Xclang", "-MT", "-Xclang", "x"],
    ["-Xclang", "-diagnostic-log-file", "-Xclang", victim],
    ["-Xclang", "-header-include-file", "-Xclang", victim, "-H"],
    ["-Xclang", "-serialize-diagnostic-file", "-Xclang", victim],
    ["-Xclang", "-stats-file=" + victim],
    ["-Xclang", "-module-dependency-dir", "-Xclang", os.path.join(folder, "deps")],
    ["-save-stats=cwd"],
    ["-save-stats"],
    ["-save-temps"],
    ["-gen-cdb-fragment-path", os.path.join(folder, "fragments")],
    ["-ftime-trace=" + victim],
    ["-fproc-stat-report=" + victim],
    ["-fsave-optimization-record", "-foptimization-record-file=" + victim],
    ["-fmodules", "-fcxx-modules", "-fmodules-cache-path=" + os.path.join(folder, "modules")],
    ["-fcrash-diagnostics-dir=" + os.path.join(folder, "crashes")],
    ["-fdump-record-layouts", "-Xclang", "-emit-obj", "-o", victim],
    ["-Xclang", "-emit-pch", "-o", victim],
    ["-c", "-o", victim],
    ["-S"],
    ["-E", "-o", victim],
    ["--analyze", "-o", os.path.join(folder, "reports")],
    ["-Xclang", "-fixit"],
    ["-emit-ast"],
    ["--coverage", "-fprofile-generate=" + folder],
    ["-fprofile-use=none.gcda"],
    ["-gencode", "arch=compute_70,code=sm_70"],
]
with open(os.path.join(folder, "evil.cfg"), "w") as file:
    file.write(" ".join(openmp) + " --nvptx-arch-tool=./evil.sh -MD -MF %s\n" % victim)


def files():
    return sorted(
        os.path.join(top, name) for top, dirs, names in os.walk(folder) for name in names + dirs
    )


def analyse(what, database, configuration=""):
    path = os.path.join(folder, ".clang-tidy")
    with open(os.path.join(folder, "compile_commands.json"), "w") as file:
        json.dump(database, file)
    # Always one: those of the folders above are not looked for.
    with open(path, "w") as file:
        file.write("{%s}\n" % configuration)
    before = files()
    run = subprocess.run(
        tool + ["-p", folder, os.path.join(folder, "a.cpp")],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    found = run.stdout.count("warning: ineffective guard")
    if run.returncode or files() != before or found != 1 or open(victim).read() != "precious\n":
        print(what, run.returncode, found, run.stdout, run.stderr)
        print(sorted(set(files()) ^ set(before)), repr(open(victim).read()))
        sys.exit(1)
    os.remove(path)


def entry(arguments):
    return {"directory": folder, "file": "a.cpp", "arguments": arguments}


plain = ["-I" + folder + "/include", "-std=c++17", "a.cpp"]
for more in flags:
    analyse(more, [entry(["clang++", *more, *plain])])
    analyse(more, [entry(["clang++", *plain])], '"ExtraArgs": %s' % json.dumps(more))
    analyse(more, [entry(["clang++", *plain])], '"ExtraArgsBefore": %s' % json.dumps(more))
for compiler in ["./bin/clang++", folder + "/bin/clang++"]:
    analyse(compiler, [entry([compiler, *openmp, *plain])])
with open(os.path.join(folder, "bin", "clang++.cfg"), "w") as file:
    file.write(" ".join(openmp) + " -MD -MF %s\n" % victim)
analyse("clang++.cfg", [entry([folder + "/bin/clang++", "--driver-mode=g++", *plain])])
os.remove(os.path.join(folder, "bin", "clang++.cfg"))
os.remove(os.path.join(folder, "evil.cfg"))
