"""reshape.py FILE...: rewrites C++ files so that they mean the same and look
different: other lines, white space and comments, other names around."""

import re
import sys

for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    out = ["// A licence, perhaps.", "", ""]
    for line in lines:
        if line.startswith("#"):
            out.append(line)
            continue
        line = re.sub(r"\b(train|unpacked|Optimizer|Batches)\b", r"new\1", line)
        # Comments run to the end of a line.
        code, slashes, comment = line.partition("//")
        code = re.sub(r"(?<!:):(?!:)", " : ", code)
        code = code.replace(" = ", "  // why\n        =\n      ").replace("(", "( ")
        out += [code + slashes + comment, "/* between */" if code.endswith(";") else ""]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(out))
