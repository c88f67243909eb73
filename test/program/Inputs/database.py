"""database.py FOLDER FILE... -- FLAGS: the compile database of a folder."""

import json
import sys
from pathlib import Path

folder = Path(sys.argv[1])
end = sys.argv.index("--")
commands = [
    {
        "directory": str(folder),
        "file": name,
        "arguments": ["c++", *sys.argv[end + 1 :], "-c", name],
    }
    for name in sys.argv[2:end]
]
(folder / "compile_commands.json").write_text(json.dumps(commands, indent=1))
