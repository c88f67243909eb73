"""Applies the replacements of a --export-fixes file, as
clang-apply-replacements does: offsets are bytes of the unchanged file."""

import collections
import re
import sys

edits = collections.defaultdict(list)
entry = re.compile(
    r"- FilePath: +'?([^'\n]*)'?\n +Offset: +(\d+)\n +Length: +(\d+)\n"
    r" +ReplacementText: +(?:'([^']*)'|\"([^\"]*)\"|(\S+))\n"
)
with open(sys.argv[1]) as file:
    for path, offset, length, *text in entry.findall(file.read()):
        edits[path].append((int(offset), int(length), "".join(text)))
assert edits, "no replacements in " + sys.argv[1]
for path, list_ in edits.items():
    with open(path, "rb") as file:
        content = file.read()
    for offset, length, text in sorted(list_, reverse=True):
        content = content[:offset] + text.encode() + content[offset + length :]
    with open(path, "wb") as file:
        file.write(content)
