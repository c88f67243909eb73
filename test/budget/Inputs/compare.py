"""Compares what a program measured with what --budget says of it.

  compare.py MEASURED BUDGET.json OPTIMIZER...

MEASURED has lines "model|parameters|buffers|gradients" and "optimizer name|bytes";
each OPTIMIZER is NAME=JSON, a report with that optimizer, whose first model is the one
that was measured."""

import json
import sys


def main():
    with open(sys.argv[2], encoding="utf-8") as file:
        models = {model["model"]: model for model in json.load(file)["models"]}
    reports = dict(argument.split("=", 1) for argument in sys.argv[3:])
    failed = 0
    with open(sys.argv[1], encoding="utf-8") as file:
        for line in file:
            name, *numbers = line.rstrip("\n").split("|")
            measured = [int(number) for number in numbers]
            if name.startswith("optimizer "):
                with open(reports[name.split()[1]], encoding="utf-8") as report:
                    said = [json.load(report)["models"][0]["optimizer"]["bytes"]]
                exact = True
            else:
                model = models[name]
                said = [model[what]["bytes"] for what in
                        ("parameters", "buffers", "gradients")]
                exact = model["exact"]
            equal = exact and said == measured
            failed += not equal
            print("%s: %s %s" % (name, " ".join(map(str, said)),
                                 "as measured" if equal else
                                 "BUT MEASURED %s, exact: %s" % (measured, exact)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
