"""code_blocks.py PAGE LANGUAGE [HEADING]: prints the code blocks of that language
in a page, or under one of its headings, so that a test can run what the page
shows. It is an error when there is none.

code_blocks.py --to FOLDER LANGUAGE PAGE...: writes each block into a file of FOLDER, the
second of page.md into page.2, without the lines that say with "..." that there is more.
"""

import os
import re
import sys


def blocks_of(page, language, heading=None):
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
                if heading == match[2]:
                    depth = len(match[1])
                elif len(match[1]) <= depth:
                    depth = 0
    return blocks


if sys.argv[1] == "--to":
    folder, language, *pages = sys.argv[2:]
    for page in pages:
        name = os.path.splitext(os.path.basename(page))[0]
        for number, text in enumerate(blocks_of(page, language), 1):
            with open(os.path.join(folder, "%s.%d" % (name, number)), "w") as file:
                file.write(re.sub(r"^ *\.\.\..*$", "", text, flags=re.M))
else:
    found = blocks_of(*sys.argv[1:])
    if not found:
        sys.exit("code_blocks.py: %s has no such block" % sys.argv[1])
    sys.stdout.write("\n".join(found))
