"""Sources whose names would be commands to a terminal, to the log of GitHub Actions,
or no text to XML.

hostile_names.py make FOLDER SOURCE          copies SOURCE under each name
hostile_names.py lines FILE...               no line is a command, nothing is raw
hostile_names.py xml FILE                    XML, and each name is in it
"""

import os
import shutil
import sys
import xml.etree.ElementTree

NAMES = [
    "a\n::warning::injected.cpp",
    "b\r##[error]injected.cpp",
    "c\x1b[31mred\x07.cpp",
    "d\x9b31mred.cpp",
    "e\ufffe\uffff.cpp",
]
# What only XML cannot have is shown.
SHOWN = [
    r"a\n::warning::injected.cpp",
    r"b\r##[error]injected.cpp",
    r"c\x1b[31mred\x07.cpp",
    r"d\xc2\x9b31mred.cpp",
    "e\ufffe\uffff.cpp",
]

how, *rest = sys.argv[1:]
if how == "make":
    for name in NAMES:
        shutil.copy(rest[1], os.path.join(rest[0], name))
elif how == "lines":
    for name in rest:
        with open(name, "rb") as file:
            text = file.read().decode()
        for line in text.split("\n"):
            assert not line.lstrip().startswith(("::", "##[")), line
            assert not [c for c in line if c != "\t" and (ord(c) < 0x20 or 0x7F <= ord(c) < 0xA0)], repr(line)
        missing = [shown for shown in SHOWN if shown not in text]
        assert not missing or name.endswith(".some"), missing
elif how == "xml":
    suites = xml.etree.ElementTree.parse(rest[0]).getroot()
    assert len(suites) == len(NAMES), len(suites)
    for suite in suites:
        assert suite.get("name").startswith(tuple("abcde")), suite.get("name")
