"""Compares the peaks that trained.cpp measured with what --budget says.

  compare_trained.py TOOL MEASURED FOLDER [-- FLAG...]

Of the models of a program, the one counts whose steps take most, with the optimizer that
a comment "budget: OPTION..." in it names. A peak is as measured within one percent."""

import json
import re
import subprocess
import sys


def main():
    tool, measured, folder, *flags = sys.argv[1:]
    failed = False
    for line in open(measured, encoding="utf-8"):
        name, separator, real = line.strip().partition("|")
        if not separator:
            continue
        source = "%s/%s.cpp" % (folder, name)
        options = re.search("budget: (.*)", open(source, encoding="utf-8").read()).group(1).split()
        run = subprocess.run([tool, "budget", "--no-background", "--format=json", *options, source,
                              *flags], stdout=subprocess.PIPE, encoding="utf-8", check=False)
        models = json.loads(run.stdout)["models"]
        steps = [m["step"] for m in models if "step" in m]
        said = max(s["laterSteps"]["bytes"] for s in steps) if steps else 0
        figures = {s.get("training", s["figures"]) for s in steps}
        error = abs(said - int(real)) / int(real)
        failed |= error > 0.01
        print("%s: %d of %d models have a step, %s, %s" % (
            name, len(steps), len(models), " and ".join(sorted(figures)),
            "as measured" if error <= 0.01 else "%d, BUT MEASURED %s" % (said, real)))
    return failed


if __name__ == "__main__":
    sys.exit(main())
