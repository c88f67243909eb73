"""check_html.py PAGE TEXT [--any]: PAGE (--html) tells the findings of TEXT (the text of
the same run; not asked with --any), its links lead somewhere, and it asks for nothing from outside."""

import re
import sys
from html.parser import HTMLParser

VOID = {"meta", "input"}


class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.ids, self.links, self.scripts = [], set(), set(), 0
        self.articles, self.texts, self.fetched = [], [], []
        self.heading = None

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if tag not in VOID:
            self.open.append(tag)
        if "id" in values:
            assert values["id"] not in self.ids, values["id"]
            self.ids.add(values["id"])
        for name in ("src", "href", "action", "data", "poster", "srcset"):
            if name in values:
                if values[name].startswith("#"):
                    self.links.add(values[name])
                else:
                    self.fetched.append(values[name])
        self.scripts += tag == "script"
        if tag == "article":
            self.articles.append((values["data-check"], ""))
        if tag == "h3" and "article" in self.open:
            self.heading = ""

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open)
        self.open.pop()
        if tag == "h3" and self.heading is not None:
            self.articles[-1] = (self.articles[-1][0], self.heading)
            self.heading = None

    def handle_data(self, data):
        if self.heading is not None:
            self.heading += data


with open(sys.argv[1], encoding="utf-8") as file:
    text = file.read()
page = Page()
page.feed(text)
page.close()
assert not page.open, page.open
assert not page.fetched, page.fetched
assert "@import" not in text and "url(" not in text
missing = {link[1:] for link in page.links} - page.ids
assert not missing, missing

pattern = re.compile(r"/.*?:\d+:\d+: warning: (.*) \[(libtorch-[a-z-]+)\]$", re.M)
if "--any" in sys.argv:
    sys.exit()
with open(sys.argv[2], encoding="utf-8") as file:
    printed = [(check, message) for message, check in pattern.findall(file.read())]
levels = ("certain ", "likely ", "advisory ")
shown = []
for check, heading in page.articles:
    level = next(level for level in levels if heading.startswith(level))
    shown.append((check, heading[len(level) :]))
assert sorted(shown) == sorted(printed), f"\npage: {shown}\ntext: {printed}"
assert page.scripts == (1 if shown else 0), page.scripts
if shown:
    # What the fix of train.cpp takes away and puts there.
    assert "<del>- Total = Total + Loss;</del>" in text
    assert "<ins>+ Total = Total + Loss.detach();</ins>" in text
    assert '<span class="k">for</span> (<span class="k">const</span> ' in text
    assert '<mark class="end">' in text
