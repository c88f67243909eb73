"""Stands in for lit: writes the results that the last argument names, as codes
separated by commas, and exits 0 whatever they are."""

import json
import sys

codes = sys.argv[-1].split(",") if sys.argv[-1] else []
if codes != ["none"]:
    with open(sys.argv[sys.argv.index("--output") + 1], "w") as file:
        tests = [{"name": f"t{i}", "code": code} for i, code in enumerate(codes)]
        json.dump({"tests": tests}, file)
