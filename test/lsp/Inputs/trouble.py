"""trouble.py FOLDER -- SERVER...: units that crash, that never end, and that are not
analysed at all. FOLDER has fine.cpp, crash.cpp, endless.cpp, and files without a
compile command, with a broken configuration, without checks, and without LibTorch."""

import os
import signal
import sys
import time

from lsp_client import ABILITIES, PATIENCE, Client, everywhere

folder = sys.argv[1]
command = sys.argv[3:]


def children(process):
    """The processes that a process has started and that still run."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/" + pid + "/stat") as file:
                state, parent = file.read().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if int(parent) == process and state != "Z":
            found.append(int(pid))
    return found


def worker(client):
    """The process of the only document that is analysed, when its unit has begun."""
    for _ in range(PATIENCE * 10):
        for child in children(client.process.pid):
            if children(child):
                return child
        time.sleep(0.1)
    sys.exit("no process of a unit came")


def path(name):
    return os.path.join(folder, name)


client = Client(command + ["--timeout=1"])
client.start([folder])
print("-- a crash, and what never ends, are theirs alone")
crash, endless, fine = [client.open(path(n + ".cpp")) for n in ["crash", "endless", "fine"]]
client.show(crash)
client.show(endless)
client.show(fine)
print("-- the crash is gone")
client.rewrite(crash, client.texts[fine])
client.show(crash)
print("-- a new file, which the database does not list")
client.show(client.open(path("unlisted.cpp")))
print(client.logged("compiled like").rpartition("/")[2])
print("-- files that are not analysed")
client.show(client.open(path("broken/a.cpp")))
for name, part in [("unchecked/a.cpp", "enables no check"), ("unrelated.cpp", "no header")]:
    client.show(client.open(path(name)))
    print(client.logged(part))
client.stop()

able = dict(ABILITIES, window={"workDoneProgress": True})
client = Client(command)
client.start([folder], able)


def begun():
    """The progress of the endless document; another one can be slow, too."""
    return client.notification(
        "$/progress", lambda p: p["value"].get("title") == "Analysing endless.cpp"
    )


def ended(begun):
    return client.notification(
        "$/progress", lambda p: p["token"] == begun["token"] and p["value"]["kind"] == "end"
    )


print("-- progress")
endless = client.open(path("endless.cpp"))
value = begun()
print(value["value"]["title"], value["value"]["cancellable"])
print("-- another document does not wait")
fine = client.open(path("fine.cpp"))
client.show(fine)
print("-- a request is cancelled, another one is too late")
cancelled = client.actions(endless, everywhere())
late = client.actions(endless, everywhere())
client.notify("$/cancelRequest", {"id": cancelled})
client.notify("$/cancelRequest", {"id": 12345})
print(client.response(cancelled)["error"])
client.rewrite(endless, client.texts[endless] + "\n")
print(client.response(late)["error"])
print(ended(value)["value"])
print("-- the analysis is cancelled")
value = begun()
client.notify("window/workDoneProgress/cancel", {"token": value["token"]})
print(client.logged("cancelled"))
print(ended(value)["value"])
print(client.response(client.actions(endless, everywhere()))["result"])
# From here on there is one process, as those that tried the other's fixes are gone.
print(len(client.response(client.actions(fine, everywhere()))["result"]))
print("-- its process is killed")
client.rewrite(endless, client.texts[endless] + "\n")
os.kill(worker(client), signal.SIGKILL)
client.show(endless)
print("-- a change ends it")
client.rewrite(endless, client.texts[endless] + "\n")
worker(client)
client.rewrite(endless, "int x;\n")
client.show(endless)
print("-- shut down in the middle")
client.rewrite(endless, client.texts[endless] + open(path("endless.cpp")).read())
session = worker(client)
unit = children(session)[0]
client.stop()
for pid in [session, unit]:
    for _ in range(PATIENCE * 10):
        if not os.path.exists("/proc/%d" % pid):
            print("its process is gone")
            break
        time.sleep(0.1)

print("-- a client that does not show progress after all")
client = Client(command + ["--timeout=1"])
client.agrees = False
client.start([folder], able)
client.show(client.open(path("endless.cpp")))
client.stop()
print("progress:", [m for m in client.kept if m.get("method") == "$/progress"])
