"""Stands in for lit: writes the results that the last argument names, as codes
separated by commas, and exits 0 whatever they are. UNSUPPORTED:FEATURE is of a test that
requires a feature."""

import json
import sys

codes = sys.argv[-1].split(",") if sys.argv[-1] else []
if codes != ["none"]:
    tests = []
    for i, code in enumerate(codes):
        code, _, feature = code.partition(":")
        test = {"name": f"t{i}", "code": code, "output": ""}
        if feature:
            test["output"] = "Test requires the following unavailable features: " + feature
        tests.append(test)
    with open(sys.argv[sys.argv.index("--output") + 1], "w") as file:
        json.dump({"tests": tests}, file)
