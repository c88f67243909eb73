"""diagnostics.py FOLDER -- SERVER...: what is published when a document is opened,
changed, saved and closed. FOLDER has train.cpp."""

import os
import sys

from lsp_client import Client, uri

folder = sys.argv[1]
client = Client(sys.argv[3:])
client.start([folder])
path = os.path.join(folder, "train.cpp")

train = client.open(path)
text = client.texts[train]
found = client.show(train)
for key in ["source", "data"]:
    print(key, found[0].get(key))

print("-- the guard gets a name")
line = text.split("\n").index("  torch::NoGradGuard();")
start = {"line": line, "character": len("  torch::NoGradGuard")}
end = {"line": line, "character": len("  torch::NoGradGuard()")}
client.change(train, [{"range": {"start": start, "end": end}, "text": " guard"}])
client.show(train)

print("-- two changes of one message: the name goes, and a line comes before")
end = {"line": line, "character": start["character"] + len(" guard")}
top = {"line": 0, "character": 0}
client.change(
    train,
    [
        {"range": {"start": start, "end": end}, "text": "()"},
        {"range": {"start": top, "end": top}, "text": "// Größe 🔥\n"},
    ],
)
client.show(train)

print("-- a malformed change")
client.change(train, [{"range": {"start": {"line": -1}}, "text": "x"}])
print(client.logged("malformed"))
client.show(train)

print("-- the file on the disk is as it was")
with open(path) as file:
    print(file.read() == text)

print("-- the whole text, which does not compile")
client.rewrite(train, text.replace("return", "retrun"))
client.show(train)

print("-- saved as it was")
client.rewrite(train, text)
client.show(train)
client.save(train)
client.show(train)

print("-- closed")
client.close(train)
client.show(train, version=None)

print("-- a file that is not on the disk")
new = client.open(os.path.join(folder, "new.cpp"), text)
client.show(new)

print("-- other documents")
client.notify(
    "textDocument/didOpen",
    {"textDocument": {"uri": uri("x.py"), "languageId": "python", "version": 1, "text": ""}},
)
print(client.logged("x.py"))
client.notify(
    "textDocument/didOpen",
    {"textDocument": {"uri": "untitled:1", "languageId": "cpp", "version": 1, "text": ""}},
)
print(client.logged("untitled:1"))
client.stop()
