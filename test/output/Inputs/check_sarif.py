"""Checks a SARIF file of libtorch-tidy beyond what FileCheck can see.

check_sarif.py SCHEMA FILE ROOT [--text=FILE] [--results=N] [--failed=URI]

The file is valid by the schema; every region holds the text its snippet says,
counted in UTF-16; indexes and ids point to what they should; fixes apply; with
--text, results and the lines of the text output are the same.
"""

import argparse
import hashlib
import json
import os
import re
import urllib.parse

import jsonschema

parser = argparse.ArgumentParser()
parser.add_argument("schema")
parser.add_argument("file")
parser.add_argument("root")
parser.add_argument("--text")
parser.add_argument("--results", type=int)
parser.add_argument("--failed")
args = parser.parse_args()

with open(args.schema) as file:
    schema = json.load(file)
with open(args.file, encoding="utf-8") as file:
    log = json.load(file)
validator = jsonschema.validators.validator_for(schema)(
    schema, format_checker=jsonschema.FormatChecker()
)
problems = [f"{list(e.absolute_path)}: {e.message}" for e in validator.iter_errors(log)]
assert not problems, "\n".join(problems)

(run,) = log["runs"]
rules = run["tool"]["driver"]["rules"]
assert run["columnKind"] == "utf16CodeUnits"
assert run["automationDetails"]["id"].endswith("/")


def path_of(location):
    uri = location["uri"]
    if "index" in location:
        artifact = run["artifacts"][location["index"]]["location"]
        assert artifact["uri"] == uri, location
    if location.get("uriBaseId"):
        assert location["uriBaseId"] == "%SRCROOT%"
        assert not uri.startswith("/") and ":" not in uri, uri
        return os.path.join(args.root, urllib.parse.unquote(uri))
    assert uri.startswith("file:///"), uri
    return urllib.parse.unquote(uri[len("file://") :])


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()


def text_of(path, region):
    """The text of a region, by lines and UTF-16 columns (end exclusive)."""
    lines = read(path).splitlines(keepends=True) + [""]

    def offset(line, column):
        units = lines[line - 1].encode("utf-16-le")
        assert 1 <= column <= len(units) // 2 + 1, region
        before = units[: 2 * (column - 1)].decode("utf-16-le")
        return sum(map(len, lines[: line - 1])) + len(before)

    start = offset(region["startLine"], region["startColumn"])
    end = offset(region["endLine"], region["endColumn"])
    assert start <= end, region
    return "".join(lines)[start:end]


def check_location(location):
    physical = location["physicalLocation"]
    path = path_of(physical["artifactLocation"])
    region = physical["region"]
    if "snippet" in region:
        assert text_of(path, region) == region["snippet"]["text"], region
    if "contextRegion" in physical:
        context = physical["contextRegion"]
        assert context["startLine"] <= region["startLine"], physical
        assert context["endLine"] >= region["endLine"], physical
        lines = read(path).splitlines(keepends=True)
        expected = "".join(lines[context["startLine"] - 1 : context["endLine"]])
        assert context["snippet"]["text"] == expected, physical
    return path, region


for rule in rules:
    assert re.fullmatch(r"[A-Z][A-Za-z0-9]+", rule["name"]), rule["name"]
    for text in ("shortDescription", "fullDescription"):
        assert 0 < len(rule[text]["text"]) <= 1024, rule["id"]
        assert rule[text]["text"].endswith("."), rule["id"]
    assert rule["help"]["text"] and rule["help"]["markdown"], rule["id"]
    assert len(rule["properties"]["tags"]) <= 10, rule["id"]
    assert rule["properties"]["precision"] in ("very-high", "high", "medium", "low")
    severity = rule["properties"]["problem.severity"]
    assert severity in ("error", "warning", "recommendation"), rule["id"]
    assert "security-severity" not in rule["properties"], rule["id"]

for artifact in run["artifacts"]:
    with open(path_of(artifact["location"]), "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    assert artifact["hashes"]["sha-256"].lower() == digest, artifact

seen = set()
names = []
flows = 0
for result in run["results"]:
    if result.get("baselineState") == "absent":
        path_of(result["locations"][0]["physicalLocation"]["artifactLocation"])
        continue
    assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    level = result["properties"]["level"]
    assert result["level"] in (("error", "warning", "note")[level], "error"), result
    assert result["message"]["text"].endswith((".", "?")), result
    (location,) = result["locations"]
    path, region = check_location(location)
    assert re.fullmatch(
        r"[0-9a-f]+:\d+", result["partialFingerprints"]["primaryLocationLineHash"]
    )
    names.append(result["partialFingerprints"]["libtorchTidy/v1"])
    line = read(path).splitlines()[region["startLine"] - 1]
    before = line.encode("utf-16-le")[: 2 * (region["startColumn"] - 1)]
    column = len(before.decode("utf-16-le").encode()) + 1
    message = result["message"]["text"][:-1]
    seen.add((os.path.basename(path), region["startLine"], column, message))

    related = result.get("relatedLocations", [])
    assert [r["id"] for r in related] == list(range(1, len(related) + 1))
    for step in related:
        check_location(step)
    if related:
        flows += 1
        ((thread,),) = [f["threadFlows"] for f in result["codeFlows"]]
        steps = [s["location"] for s in thread["locations"]]
        for step in steps:
            check_location(step)
        assert len(steps) == len(related) + 1, result
        last = steps[-1]["physicalLocation"]["region"]
        assert last == region, "the path ends at the finding"

    for fix in result.get("fixes", []):
        assert fix["description"]["text"].endswith("."), fix
        for change in fix["artifactChanges"]:
            where = path_of(change["artifactLocation"])
            for replacement in change["replacements"]:
                text_of(where, replacement["deletedRegion"])

assert len(set(names)) == len(names), names
if args.results is not None:
    assert len(run["results"]) == args.results, run["results"]
if args.text:
    assert flows, "no result has a path"
    assert any("fixes" in result for result in run["results"])
    pattern = re.compile(r"(.*):(\d+):(\d+): warning: (.*) \[libtorch-[a-z-]+\]$")
    printed = set()
    for line in read(args.text).splitlines():
        if match := pattern.match(line):
            path, row, column, message = match.groups()
            printed.add((os.path.basename(path), int(row), int(column), message))
    assert printed == seen, f"\ntext:  {printed}\nSARIF: {seen}"

(invocation,) = run["invocations"]
assert invocation["executionSuccessful"] == (args.failed is None)
if args.failed:
    notes = invocation["toolExecutionNotifications"]
    uris = [
        n["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for n in notes
    ]
    assert args.failed in uris, uris
