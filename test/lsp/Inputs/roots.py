"""roots.py FOLDER -- SERVER...: a workspace of several folders, settings, and files that
change on the disk. FOLDER has one/ and two/, each with train.cpp."""

import os
import sys

from lsp_client import Client, uri

folder = sys.argv[1]
one, two = os.path.join(folder, "one"), os.path.join(folder, "two")
client = Client(sys.argv[3:])
client.start([one, two], initializationOptions={"level": 2})
print("-- each with its configuration and its compile database")
first, second = [client.open(os.path.join(root, "train.cpp")) for root in [one, two]]
client.show(first)
client.show(second)


def configure(settings):
    client.notify("workspace/didChangeConfiguration", {"settings": settings})


print("-- settings for both")
configure({"libtorch-tidy": {"level": 1, "extraArgs": ["-DMORE"]}})
client.show(first)
client.show(second)
print("-- settings that are wrong")
configure({"libtorch-tidy": {"level": 3, "checks": 1, "extraArgs": "-DX", "colour": "red"}})
for _ in range(4):
    print(client.notification("window/showMessage")["message"])
client.show(first)
client.show(second)
print("-- one takes the configuration of the other")
os.replace(os.path.join(two, ".clang-tidy"), os.path.join(one, ".clang-tidy"))
client.notify(
    "workspace/didChangeWatchedFiles", {"changes": [{"uri": uri(one + "/.clang-tidy"), "type": 2}]}
)
client.show(first)
client.show(second)
print("-- a folder leaves the workspace")
client.notify(
    "workspace/didChangeWorkspaceFolders",
    {"event": {"added": [], "removed": [{"uri": uri(two), "name": "two"}]}},
)
client.show(first)
client.show(second)
client.stop()
