"""odd_paths.py make FOLDER SOURCE -- COMMAND...: copies SOURCE to files with odd
names below FOLDER, and once with bytes that are not UTF-8, and writes FOLDER/db.
odd_paths.py check FOLDER OUTPUTS: every output in OUTPUTS names all of them.
odd_paths.py fixed FOLDER TEXT: all of them have got TEXT, and nothing else is changed."""

import html
import json
import os
import sys
import urllib.parse
import xml.etree.ElementTree as ElementTree

NAMES = [
    "a b.cpp",
    "it's.cpp",
    'say "x".cpp',
    "50%20 %s.cpp",
    "#1 & <2>.cpp",
    "Größe 🔥.cpp",
    "[x]{y}(z)*?.cpp",
    "a,b:c;d=e.cpp",
    "latin1.cpp",
]

mode, folder = sys.argv[1:3]
files = {os.path.join("sub dir", name) for name in NAMES}
if mode == "make":
    command = sys.argv[sys.argv.index("--") + 1 :]
    os.makedirs(os.path.join(folder, "sub dir"))
    os.makedirs(os.path.join(folder, "db"))
    with open(sys.argv[3], "rb") as file:
        content = file.read()
    entries = []
    for name in sorted(files):
        path = os.path.join(folder, name)
        with open(path, "wb") as file:
            file.write(b"// \xe4\xff\xc0\n" * ("latin1" in name))
            file.write(content.replace(b"/*", b"/* \xe4" if "latin1" in name else b"/*"))
        entries.append(
            {"directory": folder, "file": path, "arguments": [*command, "-c", path]}
        )
    with open(os.path.join(folder, "db", "compile_commands.json"), "w") as file:
        # Clang reads escapes of two UTF-16 units as two letters.
        json.dump(entries, file, ensure_ascii=False)
    os.mkdir(os.path.join(folder, ".git"))
    sys.exit()

if mode == "fixed":
    added = sys.argv[3].encode()
    texts = []
    for name in sorted(files):
        with open(os.path.join(folder, name), "rb") as file:
            text = file.read()
        assert text.count(added) == 1, (name, text)
        assert ("latin1" in name) == text.startswith(b"// \xe4\xff\xc0\n"), name
        texts.append(text[text.index(b"#include") :])
    assert len(set(texts)) == 1, texts
    assert sorted(os.listdir(os.path.join(folder, "sub dir"))) == sorted(NAMES)
    sys.exit()

outputs = sys.argv[3]


def read(name):
    with open(os.path.join(outputs, name), encoding="utf-8") as file:
        return file.read()


(run,) = json.loads(read("sarif"))["runs"]
found = {
    "sarif": {
        urllib.parse.unquote(
            r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        )
        for r in run["results"]
    },
    "gitlab": {issue["location"]["path"] for issue in json.loads(read("gitlab"))},
    "rdjsonl": {json.loads(row)["location"]["path"] for row in read("rdjsonl").splitlines()},
    "junit": {suite.get("name") for suite in ElementTree.fromstring(read("junit"))},
}
github = set()
for row in read("github").splitlines():
    path = row.split("file=", 1)[1].split(",line=", 1)[0]
    for code, char in (("%3A", ":"), ("%2C", ","), ("%25", "%")):
        path = path.replace(code, char)
    github.add(path)
found["github"] = github
for form, names in found.items():
    assert names == files, (form, names ^ files)
page = read("html")
for name in files:
    assert f"<code>{html.escape(name, quote=False).replace(chr(34), '&quot;')}</code>" in page, name
