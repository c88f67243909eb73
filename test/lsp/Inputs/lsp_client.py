"""A client of the Language Server Protocol, for tests: it starts the server, sends
what a test says, waits for what it must get, and prints that, short and in the order
in which the test asks for it."""

import json
import os
import queue
import subprocess
import sys
import threading

#: Seconds until a test gives up; a server that answers is never that slow.
PATIENCE = 300

SEVERITIES = {1: "error", 2: "warning", 3: "information", 4: "hint"}

#: What editors of today can do.
ABILITIES = {
    "general": {"positionEncodings": ["utf-16"]},
    "textDocument": {
        "publishDiagnostics": {"relatedInformation": True, "codeDescriptionSupport": True},
        "hover": {"contentFormat": ["markdown", "plaintext"]},
        "codeAction": {
            "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix", "source"]}}
        },
    },
    "workspace": {"workspaceEdit": {"documentChanges": True}},
}


def uri(path):
    return "file://" + os.path.abspath(path)


def name(address):
    return os.path.basename(address)


def spell(range):
    return "{}:{}-{}:{}".format(
        range["start"]["line"],
        range["start"]["character"],
        range["end"]["line"],
        range["end"]["character"],
    )


def offset(text, position, encoding="utf-16"):
    """Of a position in a text, in characters."""
    lines = text.split("\n")
    line = lines[position["line"]]
    unit = {"utf-16": "utf-16-le", "utf-8": "utf-8"}[encoding]
    width = 2 if encoding == "utf-16" else 1
    column = len(line.encode(unit)[: position["character"] * width].decode(unit))
    return sum(len(before) + 1 for before in lines[: position["line"]]) + column


def edited(text, edits, encoding="utf-16"):
    """A text after the text edits of the protocol."""
    for edit in sorted(edits, key=lambda e: offset(text, e["range"]["start"], encoding))[::-1]:
        begin = offset(text, edit["range"]["start"], encoding)
        end = offset(text, edit["range"]["end"], encoding)
        text = text[:begin] + edit["newText"] + text[end:]
    return text


class Client:
    def __init__(self, command):
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=sys.stderr
        )
        self.came = queue.Queue()
        self.kept = []  # Messages that nobody has waited for yet.
        self.last = 0
        self.versions = {}
        self.texts = {}
        #: Answers to what the server asks, by method.
        self.agrees = True
        threading.Thread(target=self.read, daemon=True).start()

    # Messages.

    def read(self):
        stream = self.process.stdout
        while True:
            header = b""
            while not header.endswith(b"\r\n\r\n"):
                byte = stream.read(1)
                if not byte:
                    self.came.put(None)
                    return
                header += byte
            length = int(header.split(b"Content-Length: ")[1].split(b"\r\n")[0])
            self.came.put(json.loads(stream.read(length)))

    def raw(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message):
        body = json.dumps(dict({"jsonrpc": "2.0"}, **message)).encode()
        self.raw(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def notify(self, method, params=None):
        self.send({"method": method, "params": params or {}})

    def request(self, method, params=None):
        self.last += 1
        self.send({"id": self.last, "method": method, "params": params or {}})
        return self.last

    def wait(self, wanted, what):
        """The first message, of those that nobody has waited for, that is wanted."""
        for index, message in enumerate(self.kept):
            if wanted(message):
                return self.kept.pop(index)
        while True:
            try:
                message = self.came.get(timeout=PATIENCE)
            except queue.Empty:
                sys.exit("no " + what + " came; what came: " + json.dumps(self.kept, indent=1))
            if message is None:
                sys.exit("the server ended before " + what + " came")
            if "id" in message and "method" in message:
                self.send({"id": message["id"], "result": None} if self.agrees else
                          {"id": message["id"], "error": {"code": 1, "message": "no"}})
            if wanted(message):
                return message
            self.kept.append(message)

    def response(self, id):
        return self.wait(
            lambda m: "method" not in m and m.get("id", 0) == id, "answer to %s" % id
        )

    def ask(self, method, params=None):
        """The result of a request."""
        response = self.response(self.request(method, params))
        if "error" in response:
            return response["error"]
        return response["result"]

    def notification(self, method, such=lambda params: True):
        return self.wait(
            lambda m: m.get("method") == method and such(m["params"]), method
        )["params"]

    def logged(self, part):
        """The message in the log that has this in it."""
        return self.notification("window/logMessage", lambda p: part in p["message"])["message"]

    # The life of the server.

    def start(self, folders=(), abilities=ABILITIES, **more):
        params = {"processId": os.getpid(), "rootUri": None, "capabilities": abilities}
        if folders:
            params["workspaceFolders"] = [
                {"uri": uri(folder), "name": name(folder)} for folder in folders
            ]
        result = self.ask("initialize", dict(params, **more))
        self.notify("initialized")
        return result

    def stop(self):
        """Shuts it down, and prints the exit code."""
        if self.ask("shutdown") is not None:
            sys.exit("the answer to shutdown is null")
        self.notify("exit")
        self.ended()

    def ended(self):
        print("exit code", self.process.wait(timeout=PATIENCE))

    # Documents.

    def open(self, path, text=None, language="cpp"):
        if text is None:
            with open(path, encoding="utf-8", newline="") as file:
                text = file.read()
        address = uri(path)
        self.versions[address] = 1
        self.texts[address] = text
        self.notify(
            "textDocument/didOpen",
            {"textDocument": {"uri": address, "languageId": language, "version": 1, "text": text}},
        )
        return address

    def change(self, address, changes):
        self.versions[address] += 1
        self.notify(
            "textDocument/didChange",
            {
                "textDocument": {"uri": address, "version": self.versions[address]},
                "contentChanges": changes,
            },
        )

    def rewrite(self, address, text):
        """The whole text, which is not saved."""
        self.texts[address] = text
        self.change(address, [{"text": text}])

    def save(self, address):
        self.notify("textDocument/didSave", {"textDocument": {"uri": address}})

    def close(self, address):
        self.notify("textDocument/didClose", {"textDocument": {"uri": address}})

    def diagnostics(self, address, version="current"):
        """What is published of the version that is open, or of any (None)."""
        if version == "current":
            version = self.versions[address]
        return self.notification(
            "textDocument/publishDiagnostics",
            lambda p: p["uri"] == address and (version is None or p.get("version") == version),
        )["diagnostics"]

    def show(self, address, version="current", related=True):
        """Prints them."""
        found = self.diagnostics(address, version)
        print("{}: {} found".format(name(address), len(found)))
        for one in found:
            print(
                "  {} {} [{}] {}".format(
                    spell(one["range"]),
                    SEVERITIES[one["severity"]],
                    one.get("code", ""),
                    one["message"],
                )
            )
            for step in one.get("relatedInformation", []) if related else []:
                print(
                    "    {} {} {}".format(
                        name(step["location"]["uri"]),
                        spell(step["location"]["range"]),
                        step["message"],
                    )
                )
        return found

    def pull(self, address, before=None):
        """Asks for them, as a client that need not wait for what comes."""
        params = {"textDocument": {"uri": address}}
        if before:
            params["previousResultId"] = before
        return self.request("textDocument/diagnostic", params)

    # Actions.

    def actions(self, address, range, only=None):
        context = {"diagnostics": []}
        if only:
            context["only"] = only
        return self.request(
            "textDocument/codeAction",
            {"textDocument": {"uri": address}, "range": range, "context": context},
        )

    def show_actions(self, address, range, only=None):
        """Prints them, and returns them."""
        result = self.response(self.actions(address, range, only))["result"]
        print(len(result), "actions")
        for action in result:
            print("  {} {}".format(action["kind"], action["title"]))
            edit = action["edit"]
            changes = edit.get("documentChanges") or [
                {"textDocument": {"uri": u, "version": "any"}, "edits": e}
                for u, e in edit["changes"].items()
            ]
            for change in changes:
                document = change["textDocument"]
                for one in change["edits"]:
                    print(
                        "    {} version {} {} {}".format(
                            name(document["uri"]),
                            document["version"],
                            spell(one["range"]),
                            json.dumps(one["newText"]),
                        )
                    )
        return result

    def apply(self, action, encoding="utf-16"):
        """As an editor does: the texts change, and are not saved."""
        for change in action["edit"]["documentChanges"]:
            address = change["textDocument"]["uri"]
            self.rewrite(address, edited(self.texts[address], change["edits"], encoding))


def everywhere():
    """A range that is the whole document."""
    return {"start": {"line": 0, "character": 0}, "end": {"line": 1000000, "character": 0}}
