"""actions.py FOLDER -- SERVER...: what is offered to do about findings. FOLDER has
discarded.cpp."""

import copy
import os
import sys

from lsp_client import ABILITIES, Client, everywhere

folder = sys.argv[1]
client = Client(sys.argv[3:])
client.start([folder])
path = os.path.join(folder, "discarded.cpp")
document = client.open(path)
found = client.show(document)

print("-- on the first finding")
here = {"start": found[0]["range"]["start"], "end": found[0]["range"]["start"]}
actions = client.show_actions(document, here)
print(actions[0]["diagnostics"] == [found[0]], actions[0]["isPreferred"])

print("-- elsewhere")
client.show_actions(document, {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 9}})

print("-- only other kinds")
client.show_actions(document, everywhere(), ["refactor"])
print("-- only quick fixes")
print([a["kind"] for a in client.response(client.actions(document, everywhere(), ["quickfix"]))["result"]])
print("-- all of the source")
all = client.show_actions(document, everywhere(), ["source"])

print("-- the first fix applied: that finding is gone")
client.apply(actions[0])
found = client.show(document)
print("-- the comment for the other")
comment = client.show_actions(document, found[0]["range"])[-1]
client.apply(comment)
client.show(document)

print("-- all fixes applied to the text as it was")
with open(path, encoding="utf-8", newline="") as file:
    client.rewrite(document, file.read())
client.show(document)
client.apply(client.response(client.actions(document, everywhere(), ["source.fixAll"]))["result"][0])
client.show(document)

print("-- lines that end as those of Windows do")
with open(path, encoding="utf-8", newline="") as file:
    client.rewrite(document, file.read().replace("\n", "\r\n"))
client.show_actions(document, client.show(document)[0]["range"])
client.stop()

print("-- where a comment is there already")
client = Client(sys.argv[3:])
client.start([folder])
document = client.open(path)
client.rewrite(document, """#include <torch/torch.h>
void carry(torch::Tensor &State) {
  State.detach(); // NOLINT(libtorch-linear): for now
}
""")
for one in client.show(document):
    client.show_actions(document, one["range"])
client.stop()

print("-- a client without versions of documents, in UTF-8")
old = dict(ABILITIES, general={"positionEncodings": ["utf-8"]}, workspace={})
client = Client(sys.argv[3:])
client.start([folder], old)
document = client.open(path)
found = client.show(document)
client.show_actions(document, found[-1]["range"])
client.stop()

print("-- a client that asks for the edit when the user takes an action")
able = copy.deepcopy(ABILITIES)
able["textDocument"]["codeAction"].update(dataSupport=True, resolveSupport={"properties": ["edit"]})
client = Client(sys.argv[3:])
print(client.start([folder], able)["capabilities"]["codeActionProvider"]["resolveProvider"])
document = client.open(path)
found = client.show(document)
# It comes without, as its trial takes longer than the question.
client.rewrite(document, client.texts[document] + "\n")
action = client.response(client.actions(document, found[0]["range"]))["result"][0]
print(action["title"], sorted(action["data"]))
resolved = client.ask("codeAction/resolve", action)
print(resolved["title"], resolved["edit"]["documentChanges"][0]["edits"][0]["newText"])
print("-- which is too late")
client.rewrite(document, client.texts[document] + "\n")
print(client.ask("codeAction/resolve", {k: v for k, v in action.items() if k != "edit"}))
print("-- or is of a finding that is not there")
action["data"]["version"] = client.versions[document]
action["data"]["of"]["message"] = "other"
print(client.ask("codeAction/resolve", action)["message"])
client.stop()

print("-- a client that knows commands only")
client = Client(sys.argv[3:])
client.start([folder], {})
document = client.open(path)
client.show(document)
client.show_actions(document, everywhere())
client.stop()
