"""new_check.py TOOLS FOLDER: runs scripts/new-check in a copy of what it touches,
compiles what it made with the flags of this build, links a plugin with it and
runs the tests that it made."""

import glob
import json
import os
import re
import shutil
import subprocess
import sys

tools_file, work = (os.path.abspath(path) for path in sys.argv[1:])
build = os.path.dirname(os.path.dirname(tools_file))
root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
root = os.path.normpath(root)
with open(tools_file) as file:
    tools = json.load(file)


def run(*command, **options):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, **options)
    if done.returncode:
        sys.exit("%s\nfails:\n%s" % (" ".join(map(str, command)), done.stdout))
    return done.stdout


shutil.rmtree(work, ignore_errors=True)
for name in ["checks", "docs", "scripts"]:
    shutil.copytree(os.path.join(root, name), os.path.join(work, name))
shutil.copy(os.path.join(root, "README.md"), work)


def files():
    """All files of the copy, with their contents."""
    found = {}
    for folder, _, names in os.walk(work):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, work)] = file.read()
    return found


before = files()
run(sys.executable, os.path.join(work, "scripts", "new-check"), "cost/made-by-a-test")
after = files()
print("\n".join("made " + name for name in sorted(after) if name not in before))
print("\n".join("changed " + name for name in sorted(before) if after[name] != before[name]))
run(sys.executable, os.path.join(work, "scripts", "render-checks"), "--check")

# The facts, as checks/CMakeLists.txt makes them.
checks = sorted(os.path.basename(path)
                for path in glob.glob(os.path.join(work, "checks", "*", "*Check.cpp")))
checks.remove("LibtorchCheck.cpp")
pages = sorted(glob.glob(os.path.join(work, "docs", "checks", "libtorch-*.md")))
run(tools["cmake"], "-DPAGES=" + ";".join(pages), "-DCHECKS=" + ";".join(checks),
    "-DOUTPUT=" + os.path.join(work, "checks", "CheckFacts.inc"),
    "-P", os.path.join(work, "checks", "CheckFacts.cmake"))

plugin = os.path.relpath(tools["plugin"], build)
commands = run("ninja", "-C", build, "-t", "commands", plugin).splitlines()
catalog = os.path.join(root, "checks", "base", "Catalog.cpp")
(compile_it,) = [c for c in commands if " -c %s" % catalog in c]
(link,) = [c for c in commands if " -o %s " % plugin in c]
old = re.search(r" -o (\S+) -c ", compile_it)[1]
objects = []
for name in ["base/Catalog", "cost/MadeByATestCheck"]:
    source = os.path.join(work, "checks", name + ".cpp")
    objects.append(os.path.join(work, os.path.basename(name) + ".o"))
    run("bash", "-c", compile_it.replace(catalog, source).replace(old, objects[-1])
        .replace(" -I", " -I%s -I" % work, 1), cwd=build)
made = os.path.join(work, "plugin.so")
run("bash", "-c", link.replace(old, " ".join(objects)).replace(" -o %s " % plugin, " -o %s " % made),
    cwd=build)

check = "libtorch-made-by-a-test"
listed = run(tools["clang_tidy"], "-load", made, "-checks=-*,libtorch-*", "-list-checks")
print("listed" if check in listed.split() else "not listed")
tools.update(plugin=made, driver="")
with open(os.path.join(work, "tools.json"), "w") as file:
    json.dump(tools, file)
for test in sorted(glob.glob(os.path.join(work, "test", "checks", "*", "*.cpp"))):
    run(sys.executable, os.path.join(root, "test", "check_libtorch_tidy.py"),
        "--tools=" + os.path.join(work, "tools.json"), test, check, test + ".tmp")
    print("passed " + os.path.basename(test))
