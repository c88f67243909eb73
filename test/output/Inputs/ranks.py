"""ranks.py SARIF: the line, level, rank and bytes of each result."""

import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    (run,) = json.load(file)["runs"]
results = run["results"]
for result in results:
    (location,) = result["locations"]
    place = location["physicalLocation"]
    known = result["properties"]
    print(
        f"{place['artifactLocation']['uri']}:{place['region']['startLine']}",
        f"level {known['level']} rank {result['rank']} bytes {known.get('bytes')}",
    )
# The level counts first, then the bytes.
order = [(-r["properties"]["level"], r["properties"].get("bytes", 0)) for r in results]
ranks = [r["rank"] for r in results]
for a, rank in zip(order, ranks):
    for b, other in zip(order, ranks):
        assert (a > b) == (rank > other), (a, rank, b, other)
