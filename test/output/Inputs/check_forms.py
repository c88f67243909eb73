"""check_forms.py FORM FILE TEXT [--apply]

FILE, what --format=FORM printed, tells the same findings as TEXT, what was
printed as text by the same run, and is what the consumer of the form reads.
Paths in FILE are relative to the working directory. --apply applies the
suggestions of rdjsonl, as reviewdog's users do.
"""

import json
import os
import re
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter

form, file, text = sys.argv[1:4]
with open(file, encoding="utf-8", newline="") as stream:
    content = stream.read()


def line_of(path, number):
    with open(path, "rb") as source:
        return source.read().splitlines()[number - 1]


printed = []  # path, line, byte column, message, check
pattern = re.compile(r"(/.*?):(\d+):(\d+): warning: (.*) \[(libtorch-[a-z-]+)\]$")
with open(text, encoding="utf-8") as stream:
    for row in stream:
        if match := pattern.match(row):
            path, line, column, message, check = match.groups()
            path = os.path.relpath(os.path.realpath(path))
            printed.append((path, int(line), int(column), message, check))
assert len(printed) >= 3, printed
found = []
severities = Counter()

if form == "gitlab":
    issues = json.loads(content)
    for issue in issues:
        location = issue["location"]
        lines = location["lines"]
        assert lines["begin"] <= lines["end"], issue
        assert issue["severity"] in ("info", "minor", "major", "critical", "blocker")
        severities[issue["severity"]] += 1
        found.append(
            (location["path"], lines["begin"], issue["description"], issue["check_name"])
        )
    assert len({issue["fingerprint"] for issue in issues}) == len(issues)
    printed = [(p, line, message, check) for p, line, _, message, check in printed]

elif form == "github":
    # The runner of Actions: `::name key=value,key=value::message`.
    def plain(value, in_property):
        for code, char in (("%0D", "\r"), ("%0A", "\n")):
            value = value.replace(code, char)
        if in_property:
            value = value.replace("%3A", ":").replace("%2C", ",")
        return value.replace("%25", "%")

    for row in content.splitlines():
        name, properties, message = re.fullmatch(
            r"::(error|warning|notice) ([^:]*)::(.*)", row
        ).groups()
        severities[name] += 1
        values = {
            key: plain(value, True)
            for key, value in (p.split("=", 1) for p in properties.split(","))
        }
        line = line_of(values["file"], int(values["line"]))
        column = 0
        if "col" in values:
            assert values["line"] == values["endLine"]
            units = line.decode().encode("utf-16-le")
            assert int(values["endColumn"]) <= len(units) // 2
            before = units[: 2 * (int(values["col"]) - 1)].decode("utf-16-le")
            column = len(before.encode()) + 1
        message = plain(message, False).split("\n")[0]
        found.append(
            (values["file"], int(values["line"]), column, message, values["title"])
        )
    multiline = {f[:2] for f in found if not f[2]}
    printed = [p[:2] + (0,) + p[3:] if p[:2] in multiline else p for p in printed]
    assert "%0A1. " in content, "no steps"

elif form == "rdjsonl":
    edits = []
    for row in content.splitlines():
        diagnostic = json.loads(row)
        path = diagnostic["location"]["path"]
        start = diagnostic["location"]["range"]["start"]
        severities[diagnostic["severity"]] += 1
        found.append(
            (
                path,
                start["line"],
                start["column"],
                diagnostic["message"].split("\n")[0],
                diagnostic["code"]["value"],
            )
        )
        for suggestion in diagnostic.get("suggestions", []):
            edits.append((path, suggestion["range"], suggestion["text"].encode()))
    assert edits
    if "--apply" in sys.argv:
        # From the end, so that earlier positions stay true.
        def key(edit):
            return edit[0], edit[1]["start"]["line"], edit[1]["start"]["column"]

        for path, region, new in sorted(edits, key=key, reverse=True):
            with open(path, "rb") as source:
                lines = source.read().splitlines(keepends=True)

            def offset(position):
                before = sum(map(len, lines[: position["line"] - 1]))
                return before + position["column"] - 1

            old = b"".join(lines)
            start, end = offset(region["start"]), offset(region["end"])
            with open(path, "wb") as source:
                source.write(old[:start] + new + old[end:])

elif form == "junit":
    root = ElementTree.fromstring(content)
    assert root.tag == "testsuites"
    totals = Counter()
    for suite in root:
        cases = list(suite)
        failures = [case.find("failure") for case in cases]
        failures = [failure for failure in failures if failure is not None]
        assert int(suite.get("tests")) == len(cases) > 0, suite.attrib
        assert int(suite.get("failures")) == len(failures)
        totals.update(tests=len(cases), failures=len(failures))
        for case in cases:
            if (failure := case.find("failure")) is None:
                assert case.get("name") == "analysis"
                continue
            severities[failure.get("type")] += 1
            check, line, column = re.fullmatch(
                r"(.*) at (\d+):(\d+)", case.get("name")
            ).groups()
            assert failure.text.startswith(f"{suite.get('name')}:{line}: ")
            found.append(
                (suite.get("name"), int(line), int(column), failure.get("message"), check)
            )
    assert int(root.get("tests")) == totals["tests"]
    assert int(root.get("failures")) == totals["failures"]
    assert "clean.cpp" in [suite.get("name") for suite in root]

assert sorted(found) == sorted(printed), f"\n{form}: {found}\ntext: {printed}"
assert len(severities) >= 2, f"levels do not show: {severities}"
