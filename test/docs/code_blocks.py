"""code_blocks.py PAGE LANGUAGE [HEADING]: prints the code blocks of that language
in a page, or under one of its headings, so that a test can run what the page
shows. It is an error when there is none."""

import re
import sys

page, language, *heading = sys.argv[1:]
blocks = []
block = None  # The lines of the block we are in, None outside of blocks.
depth = 0  # Of the heading we are under, 0 outside of it.
with open(page, encoding="utf-8") as file:
    for line in file:
        if block is not None:
            if line.strip() != "```":
                block.append(line)
                continue
            if info == language and (depth or not heading):
                blocks.append("".join(block))
            block = None
        elif line.startswith("```"):
            info = line[3:].strip()
            block = []
        elif match := re.match(r"(#+) +(.*)", line):
            if heading and match[2] == heading[0]:
                depth = len(match[1])
            elif len(match[1]) <= depth:
                depth = 0
if not blocks:
    sys.exit("code_blocks.py: %s has no such block" % page)
sys.stdout.write("\n".join(blocks))
