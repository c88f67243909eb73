"""Compares a report of the watch with what docs/watch.md says of the fields.

check_report.py REPORT REPORT-WITH-LINES PAGE
"""

import html.parser
import json
import sys

with open(sys.argv[1]) as file:
    report = json.load(file)
with open(sys.argv[2]) as file:
    lines = json.load(file)

assert report["format"] == "libtorch-tidy watch" and report["version"] == 1
assert report["end"] == "exit" and report["stacks"] == "auto" and report["pid"] > 0
assert report["heapKnown"] is True and report["graphKnown"] is True
(series,) = report["series"]
assert series["name"] == "batch" and series["steps"] == 20 == len(series["points"])
columns = report["columns"]
assert all(len(point) == len(columns) for point in series["points"])
bytes_at = [point[columns.index("cpu tensorBytes")] for point in series["points"]]
assert [b - a for a, b in zip(bytes_at, bytes_at[1:])] == [2048] * 19, bytes_at
assert series["points"][-1][columns.index("rss")] > 1 << 20
(verdict,) = report["verdicts"]
assert (verdict["kind"], verdict["device"], verdict["perStep"]) == ("tensors", "cpu", 2048)
assert verdict["explained"] == 1 and verdict["sites"][0]["bytesPerStep"] == 2048
sites = {site["site"]: site for site in report["sites"]}
frames = sites[verdict["sites"][0]["site"]]["frames"]
assert report["modules"][frames[0][0]].rpartition("/")[2].startswith("libtorch")
assert report["modules"][frames[1][0]].endswith("/two")
sites = {site["site"]: site for site in lines["sites"]}
calls = sites[verdict["sites"][0]["site"]]["calls"]
assert calls[0] == {"function": "work", "file": "Inputs/second.cpp", "line": 5}, calls


class Page(html.parser.HTMLParser):
    """Counts elements, and that each is closed."""

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], {}

    def handle_starttag(self, tag, attributes):
        self.seen[tag] = self.seen.get(tag, 0) + 1
        if tag not in ("meta",):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag


page = Page()
with open(sys.argv[3]) as file:
    text = file.read()
page.feed(text)
assert page.open == [] and page.seen["polygon"] == 4, page.seen
assert "Inputs/second.cpp:5 in work" in text and "prefers-color-scheme: dark" in text
