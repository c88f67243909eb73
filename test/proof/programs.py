"""The two programs of each proof.

NAME.cpp beside this script is both: with the defect, and with -DFIXED without it.
What differs stands between `#ifndef FIXED` (or `#ifdef FIXED`), `#else` and `#endif`,
each alone on its line.

programs.py FOLDER writes NAME_bad.cpp and NAME_fixed.cpp of all proofs into FOLDER,
without these lines.
"""

import glob
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def source(name, kind):
    """The text of the program NAME: `kind` is "bad" or "fixed"."""
    lines, kept = [], None
    with open(os.path.join(HERE, name + ".cpp")) as file:
        for line in file:
            word = line.strip()
            if word in ("#ifdef FIXED", "#ifndef FIXED"):
                kept = (word == "#ifdef FIXED") == (kind == "fixed")
            elif kept is not None and word == "#else":
                kept = not kept
            elif kept is not None and word == "#endif":
                kept = None
            elif kept is not False:
                lines.append(line)
    return "".join(lines)


def write(name, kind, folder):
    """Writes the program into FOLDER and returns its path."""
    path = os.path.join(folder, "%s_%s.cpp" % (name, kind))
    with open(path, "w") as file:
        file.write(source(name, kind))
    return path


if __name__ == "__main__":
    for proof in sorted(glob.glob(os.path.join(HERE, "*.test"))):
        name = os.path.splitext(os.path.basename(proof))[0]
        if os.path.exists(os.path.join(HERE, name + ".cpp")):
            for kind in ("bad", "fixed"):
                write(name, kind, sys.argv[1])
