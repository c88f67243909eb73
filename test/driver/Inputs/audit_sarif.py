"""audit_sarif.py SARIF TEXT: the findings of the audit are in both, and SARIF has their
rule."""

import json
import re
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    (run,) = json.load(file)["runs"]
with open(sys.argv[2], encoding="utf-8") as file:
    told = re.findall(r":(\d+):\d+: warning: (.*) \[libtorch-nolint\]$", file.read(), re.M)
rules = run["tool"]["driver"]["rules"]
assert rules[-1]["id"] == "libtorch-nolint", rules[-1]["id"]
assert "--audit-nolint" in rules[-1]["help"]["text"]
assert rules[-1]["defaultConfiguration"]["level"] == "note"
found = []
for result in run["results"]:
    assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    if result["ruleId"] == "libtorch-nolint":
        assert result["level"] == "note", result["level"]
        region = result["locations"][0]["physicalLocation"]["region"]
        found.append((str(region["startLine"]), result["message"]["text"].rstrip(".")))
assert told and sorted(found) == sorted(told), (found, told)
