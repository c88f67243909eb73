"""lifecycle.py -- SERVER...: from `initialize` to `exit`, in and out of order."""

import json
import sys

from lsp_client import Client

command = sys.argv[sys.argv.index("--") + 1 :]


def code(answer):
    return answer["error"]["code"], answer["error"]["message"]


client = Client(command)
print("before initialize:", *code(client.response(client.request("textDocument/hover"))))
client.notify("textDocument/didOpen")
result = client.start(abilities={})
print(json.dumps(result["capabilities"], sort_keys=True))
print(result["serverInfo"]["name"])
print("again:", *code(client.response(client.request("initialize"))))
print("unknown:", *code(client.response(client.request("textDocument/rename"))))
client.notify("workspace/didWhatever")
client.notify("$/setTrace", {"value": "off"})
client.send({"id": "a string", "method": "textDocument/hover", "params": {}})
print("an id that is a string:", client.response("a string"))
print("hover without a document:", client.ask("textDocument/hover"))
print("actions without a document:", client.ask("textDocument/codeAction"))
print("shutdown:", client.ask("shutdown"))
print("after shutdown:", *code(client.response(client.request("textDocument/hover"))))
client.notify("exit")
client.ended()

print("-- what a modern client can do")
client = Client(command)
modern = {
    "general": {"positionEncodings": ["utf-32", "utf-8", "utf-16"]},
    "textDocument": {"codeAction": {"codeActionLiteralSupport": {}}},
    "workspace": {"didChangeWatchedFiles": {"dynamicRegistration": True}},
}
capabilities = client.start(abilities=modern)["capabilities"]
print(capabilities["positionEncoding"], capabilities["codeActionProvider"])
asked = client.wait(lambda m: m.get("method") == "client/registerCapability", "registration")
for watcher in asked["params"]["registrations"][0]["registerOptions"]["watchers"]:
    print("watches", watcher["globPattern"])
client.stop()

print("-- exit without shutdown")
client = Client(command)
client.start()
client.notify("exit")
client.ended()

print("-- exit without initialize")
client = Client(command)
client.notify("exit")
client.ended()

print("-- the editor is gone")
client = Client(command)
client.start()
client.process.stdin.close()
client.ended()
