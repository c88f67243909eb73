"""Compares what archives_real.cpp has measured with what the budget says.

  compare_archives.py MEASURED BUDGET.json"""

import json
import sys
import zipfile


def debug_bytes(path):
    """What the library keeps for the messages of code: no tensor, and in its allocator."""
    with zipfile.ZipFile(path) as archive:
        return sum(archive.getinfo(name + ".debug_pkl").file_size for name in archive.namelist()
                   if name.endswith(".py") and b"  def " in archive.read(name))


with open(sys.argv[2], encoding="utf-8") as file:
    models = {model["archive"]: model for model in json.load(file)["models"]}
with open(sys.argv[1], encoding="utf-8") as file:
    for line in file:
        name, *numbers = line.rstrip("\n").split("|")
        numbers = list(map(int, numbers))
        numbers[-1] -= debug_bytes(name)
        model = models[name]
        said = [model[what]["bytes"] for what in ("parameters", "buffers", "gradients")]
        said.append(sum(said[:2]) + model["unlisted"]["bytes"])
        equal = model["exact"] and said == numbers
        print(name + ":", *said, "as measured" if equal else "BUT MEASURED %s" % numbers)
