"""write_database.py FOLDER FILE -- COMMAND...: writes the compile database of
one file, as CMake would."""

import json
import os
import sys

folder, file = sys.argv[1:3]
command = sys.argv[sys.argv.index("--") + 1 :]
entry = {"directory": folder, "file": file, "arguments": command + ["-c", file]}
with open(os.path.join(folder, "compile_commands.json"), "w") as out:
    json.dump([entry], out)
