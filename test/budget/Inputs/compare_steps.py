"""Compares what step.h measured with what --budget says of the same steps.

  compare_steps.py [--within PERCENT] [--source FILE] [--together] TOOL MEASURED [ARGUMENT...] [-- FLAG...]

MEASURED has the lines of step.h, with the file that defines the model before them
unless --source names it. TOOL is called for each line with the ARGUMENTs and
FLAGs; with --together once for all, which are then the models that the source has,
with the input of the first line, and those that are as measured are not shown. A figure
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
    parser.add_argument("--together", action="store_true")
    parser.add_argument("tool")
    parser.add_argument("measured")
    given = sys.argv[1:]
    at = given.index("--") if "--" in given else len(given)
    options, arguments = parser.parse_known_args(given[:at])
    arguments += given[at:]
    failed, answers = 0, {}
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
        named = [] if options.together else ["--model=" + model]
        command = [options.tool, "--no-background", "--budget", "--budget-format=json",
                   *named, *("--input=" + i for i in inputs.split()),
                   *optimizer, *mode, source, *arguments]
        if not answers or not options.together:
            run = subprocess.run(command, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, check=False,
                                 encoding="utf-8")
            # Of several models, those that throw may not have been measured.
            if run.returncode not in ((0, 1) if options.together else (0,)):
                print("%s: %s" % (model, run.stderr.strip()))
                failed += 1
                continue
            answers = {m["model"]: m.get("step") for m in json.loads(run.stdout)["models"]}
        step = answers.get(model) if options.together else next(iter(answers.values()))
        if not step:
            print("%s: no such model" % model)
            failed += 1
            continue
        if step["missing"]:
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
        if options.together and not wrong:
            continue
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
