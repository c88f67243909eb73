"""malformed.py FOLDER -- SERVER...: what is no message, and that nothing is lost by it.
FOLDER has fine.cpp."""

import json
import os
import sys

from lsp_client import Client

client = Client(sys.argv[3:])


def framed(body):
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def refused(data, what):
    """Sends it with a request right after, which must be answered."""
    client.last += 1
    request = {"jsonrpc": "2.0", "id": client.last, "method": "textDocument/hover", "params": {}}
    client.raw(data + framed(json.dumps(request).encode()))
    error = client.response(None)["error"]
    print("{}: {} {}".format(what, error["code"], error["message"]))
    if client.response(client.last)["result"] is not None:
        sys.exit("the request after it has another answer")


client.start()
refused(framed(b"{"), "no JSON")
refused(framed(b'{"a": "\xff"}'), "not UTF-8")
refused(framed(b""), "empty")
refused(framed(b"[" * 100000), "nested")
refused(framed(b'[{"jsonrpc": "2.0", "id": 1, "method": "shutdown"}]'), "a batch")
refused(framed(b'{"jsonrpc": "2.0", "id": 1.5, "method": "x"}'), "an id that is none")
refused(framed(b'{"jsonrpc": "2.0", "method": 5}'), "a method that is none")
refused(framed(b"1"), "a number")
refused(b"Content-Length: -5\r\n\r\n", "a negative length")
refused(b"Content-Length: 99999999999999999999999\r\n\r\n", "an endless length")
refused(b"Content-Type: text/plain\r\n\r\n", "no length")
refused(b"Content-Length: 5\r\n" + b"x" * 5000 + b"\r\n\r\n", "an endless header")
refused(b"Content-Length: 2\n\n{}", "lines that end without CR")
refused(framed(b'"' + b"x" * (65 << 20) + b'"'), "a large message")

print("-- other fields, other capitals, in small pieces")
body = json.dumps({"jsonrpc": "2.0", "id": "slow", "method": "textDocument/hover"}).encode()
header = b"content-type: application/vscode-jsonrpc; charset=utf-8\r\ncontent-length: %d\r\n\r\n"
for byte in header % len(body) + body:
    client.raw(bytes([byte]))
print(client.response("slow")["result"])

print("-- parameters of the wrong kind")
for method in ["didOpen", "didChange", "didSave", "didClose"]:
    for params in [[], {"textDocument": 5}, {"textDocument": {"uri": {}, "version": "x"}}]:
        client.notify("textDocument/" + method, params)
for method in ["didChangeConfiguration", "didChangeWorkspaceFolders", "didChangeWatchedFiles"]:
    for params in [[], {"settings": 5, "event": 5, "changes": 5}, {"event": {"added": [5, {}]}}]:
        client.notify("workspace/" + method, params)
client.notify("$/cancelRequest", {"id": {}})
client.notify("window/workDoneProgress/cancel", {"token": []})
for number in [2**63, -(2**63), 0.5, "x", None]:
    position = {"line": number, "character": number}
    client.notify(
        "textDocument/didChange",
        {
            "textDocument": {"uri": "file:///none.cpp", "version": number},
            "contentChanges": [{"range": {"start": position, "end": position}, "text": ""}],
        },
    )

print("-- source with many brackets in a string is no nesting")
document = client.open(os.path.join(sys.argv[1], "fine.cpp"))
client.show(document)
client.rewrite(document, client.texts[document] + "// " + "{[" * 1000)
client.show(document)
for number in [2**40, -1]:
    position = {"line": number, "character": number}
    client.change(document, [{"range": {"start": position, "end": position}, "text": "\n"}])
client.show(document)
print("-- two addresses of one document")
other = "FILE:" + document[len("file:") :]
item = {"uri": other, "languageId": "cpp", "version": 1, "text": "int x;\n"}
client.versions[other] = 1
client.notify("textDocument/didOpen", {"textDocument": item})
client.show(other)
client.close(other)
client.rewrite(document, client.texts[document])
client.show(document)
client.stop()
