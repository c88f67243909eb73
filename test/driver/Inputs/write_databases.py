"""write_databases.py FOLDER FILE... -- COMMAND...: writes the compile database of
files that are all compiled in the same way."""

import json
import os
import sys

separator = sys.argv.index("--")
folder, *files = sys.argv[1:separator]
entries = [
    {"directory": folder, "file": file, "arguments": sys.argv[separator + 1 :] + ["-c", file]}
    for file in files
]
with open(os.path.join(folder, "compile_commands.json"), "w") as out:
    json.dump(entries, out)
