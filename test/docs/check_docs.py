"""Checks that the documentation agrees with the program and with itself.

check_docs.py links README DOCS           relative links and their anchors lead
                                          somewhere, and the index to all pages
check_docs.py catalog README DOCS FILE    the pages name all checks of the
                                          catalog (--list-checks --json), and no
                                          others
check_docs.py figures DOCS PROOFS         every proof that measures has its
                                          figures tracked
"""

import glob
import json
import os
import re
import sys

wrong = []


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def without_code(text):
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`", "", text)


def pages(readme, docs):
    found = glob.glob(os.path.join(docs, "**", "*.md"), recursive=True)
    return [readme] + sorted(found)


def anchors(text):
    """The anchors of headings, as GitHub and GitLab make them."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    found = set()
    for heading in re.findall(r"^#+ +(.*)$", text, re.M):
        heading = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
        found.add(re.sub(r"[^\w\- ]", "", heading).replace(" ", "-"))
    return found


def links(readme, docs):
    count = 0
    for page in pages(readme, docs):
        for target in re.findall(r"\]\(([^)\s]+)\)", without_code(read(page))):
            if re.match(r"[a-z]+:", target):
                continue
            count += 1
            path, _, anchor = target.partition("#")
            path = os.path.join(os.path.dirname(page), path) if path else page
            if not os.path.exists(path):
                wrong.append("%s links to %s, which does not exist" % (page, target))
            elif anchor and path.endswith(".md") and anchor not in anchors(read(path)):
                wrong.append("%s links to %s: no such heading" % (page, target))
    if not count:
        wrong.append("no link was found")
    index = read(os.path.join(docs, "README.md"))
    for path in glob.glob(os.path.join(docs, "*.md")):
        name = os.path.basename(path)
        if name != "README.md" and "](%s)" % name not in index:
            wrong.append("docs/README.md does not lead to docs/" + name)


def catalog(readme, docs, listed):
    with open(listed) as file:
        checks = {check["name"]: check for check in json.load(file)}
    have = {os.path.basename(path)[:-len(".md")]
            for path in glob.glob(os.path.join(docs, "checks", "*.md"))}
    # What --audit-nolint reports is no check of code.
    audit = {"libtorch-nolint"}
    for name in sorted(have ^ set(checks) ^ audit):
        wrong.append("%s: %s" % (name, "no such check" if name in have else "no page"))

    index = read(os.path.join(docs, "README.md"))
    for name in checks:
        if "](checks/%s.md)" % name not in index:
            wrong.append("docs/README.md does not lead to %s" % name)
        row = re.search(r"^\| `%s` \|.*\| ([0-2, ]+) \|$" % name, read(readme), re.M)
        if not row:
            wrong.append("the table of README.md lacks %s" % name)
        elif row.group(1)[0] != str(checks[name]["level"]):
            wrong.append("README.md gives %s level %s, the catalog %s"
                         % (name, row.group(1), checks[name]["level"]))
    rows = re.findall(r"^\| `(libtorch-[a-z-]+)` \|", read(readme), re.M)
    if rows != sorted(set(rows)):
        wrong.append("the table of README.md is not in order: " + " ".join(rows))
    # What else begins like a check.
    others = {"libtorch-tidy", "libtorch-dev", "libtorch-root"} | audit
    for page in pages(readme, docs):
        for name in sorted(set(re.findall(r"\blibtorch-[a-z]+(?:-[a-z]+)*\b", read(page)))):
            if name not in checks and name not in others and not name.startswith(
                    "libtorch-tidy-"):
                wrong.append("%s names %s, which is no check" % (page, name))


def figures(docs, proofs):
    proven = {"libtorch-" + os.path.basename(path)[:-len(".test")]
              for path in glob.glob(os.path.join(proofs, "*.test"))
              if re.search("%(proof|sanitize) ", read(path))}
    for folder, target in (("figures", "figures"), ("figures/2.6", "figures-2.6"),
                           ("figures/2.14", "figures-2.14")):
        tracked = {os.path.basename(path)[:-len(".json")]
                   for path in glob.glob(os.path.join(docs, folder, "*.json"))}
        for name in sorted(proven - tracked):
            wrong.append("docs/%s lacks %s.json: ninja %s makes it" % (folder, name, target))
        for name in sorted(tracked - proven):
            wrong.append("docs/%s/%s.json: there is no proof" % (folder, name))


{"links": links, "catalog": catalog, "figures": figures}[sys.argv[1]](*sys.argv[2:])
if wrong:
    sys.exit("\n".join(wrong))
