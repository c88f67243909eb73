"""vscode.py settings FILE SOURCE BUILD: runs what the settings of Microsoft's C/C++
extension say, in the form in which the extension runs clang-tidy.
vscode.py tasks FILE SOURCE: runs the task as Visual Studio Code does, and prints
what its problem matcher makes of the output."""

import json
import os
import re
import subprocess
import sys

kind, file, source, *build = sys.argv[1:]
with open(file) as settings:
    settings = json.load(settings)
if kind == "settings":
    tidy = "C_Cpp.codeAnalysis.clangTidy."
    assert settings[tidy + "enabled"] and settings[tidy + "useBuildPath"]
    # The installed program; here, the one in the search path.
    program = os.path.basename(settings[tidy + "path"])
    command = [program, "--header-filter=", *settings[tidy + "args"]]
    command += ["--export-fixes=fixes.yaml", "--quiet", source, "-p=" + build[0]]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    print(run.stdout, end="")
    print("exit code", run.returncode)
    with open("fixes.yaml") as fixes:
        print(len(re.findall("ReplacementText", fixes.read())), "fixes")
else:
    (task,) = settings["tasks"]
    assert task["type"] == "process"
    matcher = task["problemMatcher"]
    assert matcher["fileLocation"] == "absolute"
    pattern = matcher["pattern"]
    parts = ["file", "line", "column", "severity", "code", "message"]
    args = [arg.replace("${file}", source) for arg in task["args"]]
    run = subprocess.run([task["command"], *args], stdout=subprocess.PIPE, text=True)
    for line in run.stdout.splitlines():
        if match := re.search(pattern["regexp"], line):
            print(*(match[pattern[part]] for part in parts), sep="|")
