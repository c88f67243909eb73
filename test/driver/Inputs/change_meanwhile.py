"""Runs a command with --progress and adds a line to a file when it has told of a
unit for the second time; prints what the command says and exits as it does."""

import subprocess
import sys

path, *command = sys.argv[1:]
process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
told = 0
for line in process.stderr:
    print(line, end="")
    if line.startswith("[1/1]"):
        told += 1
        if told == 2:
            with open(path, "a") as file:
                file.write("// changed\n")
sys.exit(process.wait())
