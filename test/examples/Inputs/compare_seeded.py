"""Compares the findings in a project with the comments that seed them.

    // seeded: libtorch-NAME [(level N)]

says that the next line of code has a finding of that check, and the level at
which it is told (1, the default set, unless it says so).
"""

import argparse
import re
import sys
from pathlib import Path

SEEDED = re.compile(r"^\s*// seeded: (libtorch-[a-z-]+)(?: \(level (\d)\))?$")
FINDING = re.compile(
    r"^(.+?):(\d+):\d+: (?:warning|error): .*\[([\w.,-]+)\]$", re.MULTILINE
)


def seeded_in(folder, level):
    result = set()
    for path in sorted(folder.rglob("*")):
        if path.suffix not in (".cpp", ".h"):
            continue
        pending = []
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = SEEDED.match(line)
            if found:
                if int(found[2] or 1) <= level:
                    pending.append(found[1])
            elif "seeded:" in line:
                sys.exit(f"{path}:{number}: not understood: {line.strip()}")
            elif not line.lstrip().startswith("//"):
                result.update((path.name, number, name) for name in pending)
                pending = []
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("findings", type=Path, help="the driver's text output")
    parser.add_argument("--level", type=int, required=True)
    args = parser.parse_args()

    seeded = seeded_in(args.folder, args.level)
    found = {
        (Path(path).name, int(line), check.split(",")[0])
        for path, line, check in FINDING.findall(args.findings.read_text())
    }
    for title, rest in [
        ("seeded, not found", seeded - found),
        ("found, not seeded", found - seeded),
    ]:
        for name, line, check in sorted(rest):
            print(f"{title}: {name}:{line}: {check}")
    print(f"{len(found & seeded)} of {len(seeded)} seeded findings found")
    return seeded != found or not seeded


if __name__ == "__main__":
    sys.exit(main())
