"""check_catalog.py FILE PREFIX: the output of --list-checks --json, in which
the checks that start with PREFIX are enabled."""

import json
import sys

with open(sys.argv[1]) as file:
    checks = json.load(file)
names = [check["name"] for check in checks]
assert names == sorted(names) and len(set(names)) == len(names) >= 5, names
for check in checks:
    assert check["level"] in (0, 1, 2), check
    assert isinstance(check["fixes"], bool), check
    assert check["summary"] and check["why"].endswith("."), check
    assert all(isinstance(tag, str) for tag in check["tags"]), check
    assert check["enabled"] == check["name"].startswith(sys.argv[2]), check
