"""compare_variants.py TOOLS FOLDER KIND SEED COUNT: draws COUNT programs of a kind (see
variants.py), lets the driver apply its fixes, and runs them before and after. Each has
to print what it printed, and must not throw where it did not. Where the programs are
undefined before, those that were changed have to print what is meant.

Prints how many variants the fixes changed, and each that came out otherwise.
"""

import json
import os
import re
import shutil
import subprocess
import sys

import variants

# What variants.h prints of a program that went wrong.
ERRORS = ("throws", "caught", "leaves gradient mode off")

tools_file, folder, kind, seed, count = sys.argv[1:6]
with open(tools_file, encoding="utf-8") as file:
    tools = json.load(file)
here = os.path.dirname(os.path.abspath(__file__))


def run(command, codes=(0,), **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors="replace", **options)
    if done.returncode not in codes:
        sys.exit("failed (%d): %s\n%s%s" % (done.returncode, " ".join(command), done.stdout,
                                            done.stderr))
    return done.stdout


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def functions(path):
    """The text of each variant, by its name."""
    with open(path, encoding="utf-8") as file:
        parts = re.split(r"^// (v\d+): .*\n", file.read(), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def lines(path):
    """What a program prints, by variant."""
    program = path[:-len(".cpp")]
    run([tools["clangxx"], path, "-o", program, *tools["torch_flags"], "-I", here,
         "-include-pch", tools["torch_code_pch"], *tools["torch_libraries"]])
    # What an exception says may have lines of its own.
    return dict(line.partition(" ")[::2] for line in run([program]).splitlines()
                if re.match(r"v\d+\b", line))


shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)
before = os.path.join(folder, "before.cpp")
after = os.path.join(folder, "after.cpp")
written, meant = variants.program(kind, int(seed), int(count))
write(before, written)
write(after, written)
log = run([tools["driver"], "--fix", "--level=2", "--no-background",
           "--checks=-*,libtorch-" + variants.KINDS[kind].check, after, "--",
           *tools["torch_flags"], "-I", here], codes=(0, 1))
write(os.path.join(folder, "log.txt"), log)

was, became = functions(before), functions(after)
changed = [name for name in was if was[name] != became[name]]
if meant != written:
    # What is undefined does not run: neither before, nor where no fix changed it.
    write(before, meant)
    with open(after, encoding="utf-8") as file:
        text = file.read()
    after = os.path.join(folder, "defined.cpp")
    write(after, re.sub(r'^  run\("(v\d+)".*\n',
                        lambda line: line[0] if line[1] in changed else "", text, flags=re.M))
old, new = lines(before), lines(after)


def mended(name):
    """Whether the program was what the finding says it is: it threw, or switched gradient
    mode off for good, and does not any more."""
    def errors(line):
        return [word for word in ERRORS if word in line]
    return len(errors(new[name])) < len(errors(old[name]))


wrong = [name for name in new if old[name] != new[name] and not mended(name)]
print("%d variants of %s, %d changed by fixes, %d came out otherwise"
      % (len(was), kind, len(changed), len(wrong)))
for name in wrong:
    print("%s\nbefore: %s\nafter: %s\n%s" % (name, old[name], new[name], became[name]))
sys.exit(1 if wrong or len(was) != int(count) else 0)
