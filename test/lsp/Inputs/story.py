"""story.py FOLDER PAGE SERVER...: steps, levels, pages of checks, and headers. FOLDER has
train.cpp and packed.h, which it includes."""

import os
import sys

from lsp_client import ABILITIES, Client, uri

folder = sys.argv[1]
command = sys.argv[3:]
client = Client(command)
client.start([folder])
train = client.open(os.path.join(folder, "train.cpp"))
found = client.show(train)


def hover(position):
    return client.ask(
        "textDocument/hover", {"textDocument": {"uri": train}, "position": position}
    )


print("-- in the header, which is not open")
header = uri(os.path.join(folder, "packed.h"))
client.show(header, version=None)

print("-- the page of a check")
page = hover(found[1]["range"]["start"])
print(page["range"] == found[1]["range"], page["contents"]["kind"])
print(page["contents"]["value"].split("\n")[0])
print("the whole page:", open(sys.argv[2]).read() == page["contents"]["value"])
print("elsewhere:", hover({"line": 0, "character": 0}))

print("-- the text of the header, not saved, reaches the file that includes it")
client.open(os.path.join(folder, "packed.h"))
client.show(header)
client.show(train)
text = client.texts[header]
client.rewrite(header, text.replace("unpackedInHeader", "unpackedElsewhere"))
client.show(header)
client.show(train, related=False)
client.rewrite(header, text)
client.show(header)
client.show(train, related=False)
client.close(train)
client.show(train, version=None)
client.stop()

print("-- a client that knows neither steps nor Markdown")
client = Client(command)
client.start([folder], {})
train = client.open(os.path.join(folder, "train.cpp"))
found = client.show(train)
print(hover(found[1]["range"]["end"])["contents"]["kind"])
client.stop()
