"""diagnostics.py FOLDER -- SERVER...: what is published when a document is opened,
changed, saved and closed. FOLDER has train.cpp."""

import copy
import os
import sys

from lsp_client import ABILITIES, Client, uri

folder = sys.argv[1]
client = Client(sys.argv[3:])
client.start([folder])
path = os.path.join(folder, "train.cpp")

train = client.open(path)
text = client.texts[train]
found = client.show(train)
for key in ["source", "data"]:
    print(key, found[0].get(key))
print("link", found[0].get("codeDescription", {}).get("href"))

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


def pulled(id):
    """Prints what a client that asks gets, and returns its name."""
    report = client.response(id)
    if "error" in report:
        return print(report["error"])
    report = report["result"]
    print(report["kind"], [one["range"]["start"]["line"] for one in report.get("items", [])])
    return report.get("resultId")


print("-- a client that asks for diagnostics")
abilities = copy.deepcopy(ABILITIES)
abilities["textDocument"]["diagnostic"] = {}
abilities["workspace"]["diagnostics"] = {"refreshSupport": True}
client = Client(sys.argv[3:])
print(client.start([folder], abilities)["capabilities"]["diagnosticProvider"])
train = client.open(path)
first = pulled(client.pull(train))
print(pulled(client.pull(train, first)) == first)
print("-- one that comes too early")
client.rewrite(train, text)
early = client.pull(train, first)
client.rewrite(train, "// More.\n" + text)
pulled(early)
second = pulled(client.pull(train, first))
print("-- what is not analysed, and what is no question")
pulled(client.pull("untitled:1"))
print(client.ask("textDocument/diagnostic")["message"])
print("-- nothing has changed that the client could know of")
configuration = os.path.join(folder, ".clang-tidy")
with open(configuration, "w") as file:
    file.write("Checks: '-*,libtorch-*,-libtorch-ineffective-grad-guard'\n")
client.notify(
    "workspace/didChangeWatchedFiles", {"changes": [{"uri": uri(configuration), "type": 2}]}
)
client.wait(lambda m: m.get("method") == "workspace/diagnostic/refresh", "request")
pulled(client.pull(train, second))
client.stop()
print([m["method"] for m in client.kept if "publish" in m.get("method", "")])
