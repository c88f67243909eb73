"""Compares what step.h measured with what --budget says of the same steps.

  compare_steps.py [--within PERCENT] [--source FILE] TOOL MEASURED [ARGUMENT...] [-- FLAG...]

MEASURED has the lines of step.h, with the file that defines the model before them
unless --source names it. TOOL is called for each line with the ARGUMENTs and
FLAGs. A figure
is as measured when it is within PERCENT, or within 64 bytes: counters and single
numbers that the library allocates are not modelled. Exit status: 1 when one is not."""

import argparse
import json
import subprocess
import sys

FIGURES = ("kept", "inference", "unguarded", "firstStep", "laterSteps")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--within", type=float, default=0)
    parser.add_argument("--source")
    parser.add_argument("tool")
    parser.add_argument("measured")
    given = sys.argv[1:]
    at = given.index("--") if "--" in given else len(given)
    options, arguments = parser.parse_known_args(given[:at])
    arguments += given[at:]
    failed = 0
    errors = {figure: [] for figure in FIGURES}
    with open(options.measured, encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("|") for line in file if line.strip()]
    for line in lines:
        source = options.source or line.pop(0)
        optimizer = []
        mode = []
        if line[0].startswith("optimizer "):
            optimizer = ["--optimizer=" + line.pop(0).split()[1]]
        elif line[0].startswith(("dtype ", "autocast ")):
            mode = ["--" + line.pop(0).replace(" ", "=")]
        model, inputs, *numbers = line
        measured = [int(number) for number in numbers]
        figures = FIGURES[-2:] if optimizer else ("",) + FIGURES
        command = [options.tool, "--no-background", "--budget", "--budget-format=json",
                   "--model=" + model, *("--input=" + i for i in inputs.split()),
                   *optimizer, *mode, source, *arguments]
        run = subprocess.run(command, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, check=False,
                             encoding="utf-8")
        if run.returncode:
            print("%s: %s" % (model, run.stderr.strip()))
            failed += 1
            continue
        step = json.loads(run.stdout)["models"][0]["step"]
        if not step["exact"]:
            print("%s: at least: %s" % (model, step["missing"][0]["text"]))
            failed += 1
            continue
        wrong = []
        for figure, real in zip(figures, measured):
            if not figure:
                continue # The result's own bytes.
            said = step[figure]["bytes"]
            error = 100 * (said - real) / real if real else 0
            errors[figure].append(abs(error))
            if abs(error) > options.within and abs(said - real) > 64:
                wrong.append("%s %d, BUT MEASURED %d (%+.2f %%)"
                             % (figure, said, real, error))
        failed += bool(wrong)
        print("%s %s: %s" % (" ".join([model] + optimizer + mode), inputs,
                             "; ".join(wrong) if wrong else "as measured"))
    for figure, all_errors in errors.items():
        if all_errors and options.within:
            all_errors.sort()
            print("%s: %d models, median error %.3f %%, worst %.2f %%"
                  % (figure, len(all_errors), all_errors[len(all_errors) // 2],
                     all_errors[-1]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
