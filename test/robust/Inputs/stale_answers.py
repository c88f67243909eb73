"""stale_answers.py FOLDER CLANG++ -- TOOL...: each case changes something that a unit is
made of, so that it has a defect that it did not have. Asked again, with a cache that holds
the first answer, the tool must find it."""

import json
import os
import shutil
import subprocess
import sys

FOLDER, CLANG = sys.argv[1], sys.argv[2]
TOOL = sys.argv[sys.argv.index("--") + 1 :]
DEFECT = "int f() { torch::NoGradGuard(); return 1; }\n"
TORCH = "#include <torch/torch.h>\n"
INCLUDES = TORCH + "#include <cfg.h>\n#if Q\n" + DEFECT + "#endif\n"
ASKS = TORCH + '#if __has_include("cfg.h")\n#include "cfg.h"\n#endif\n#if Q\n' + DEFECT + "#endif\n"
PLAIN = TORCH + "#if Q\n" + DEFECT + "#endif\n"
NO, YES = "#define Q 0\n", "#define Q 1\n"
problems = []
count = 0


def at(path):
    return os.path.join(FOLDER, "case", path)


def write(path, text):
    os.makedirs(os.path.dirname(at(path)), exist_ok=True)
    with open(at(path), "w") as file:
        file.write(text)


def link(path, target):
    if os.path.islink(at(path)):
        os.unlink(at(path))
    os.symlink(target, at(path))


def same_time(path, text, ahead=0):
    before = os.stat(at(path))
    write(path, text)
    os.utime(at(path), ns=(before.st_atime_ns, before.st_mtime_ns + ahead))


class Dated(dict):
    """Files of a time that has not come yet."""

    def items(self):
        for path, text in super().items():
            yield path, text
            os.utime(at(path), (4e9, 4e9))


def date_cache():
    for folder, _, names in os.walk(at("cache")):
        for name in names:
            os.utime(os.path.join(folder, name), (4e9, 4e9))


def run(where, options, flags, environment, database, files=("unit.cpp",)):
    command = TOOL + ["--cache-dir=" + at("cache"), "--progress"] + options
    command += [at(name) for name in files]
    if database is None:
        command += ["--", "-std=c++17", "-isystem", at("include")] + flags
    else:
        write("compile_commands.json", json.dumps(database()))
        command += ["-p", at(".")]
    done = subprocess.run(
        command, cwd=at(where), env={**os.environ, **environment}, capture_output=True, text=True
    )
    return done.returncode, "from the cache" in done.stderr, done.stdout + done.stderr


def case(
    name,
    files,
    change=lambda: None,
    text=INCLUDES,
    flags=(),
    then_flags=None,
    options=("--config={}",),
    then_options=None,
    where="here",
    then_where=None,
    environment={},
    then_environment=None,
    database=None,
    now=1,
):
    """Analysed with FILES, where FLAGS and so on may differ the second time. NOW: the exit
    code then; None when it only must not come from the cache."""
    global count
    count += 1
    shutil.rmtree(at("."), ignore_errors=True)
    os.makedirs(at("here"))
    shutil.copytree(os.path.join(FOLDER, "include"), at("include"))
    write("unit.cpp", text)
    for path, content in files.items():
        write(path, content)
    first = (where, list(options), list(flags), environment, database)
    codes = [run(*first), run(*first)]
    if codes[0][:2] != (0, False) or codes[1][:2] != (0, True):
        problems.append("%s: at first %s\n%s" % (name, [c[:2] for c in codes], codes[1][2]))
        return
    change()
    code, cached, said = run(
        then_where or where,
        list(options if then_options is None else then_options),
        list(flags if then_flags is None else then_flags),
        environment if then_environment is None else then_environment,
        database,
    )
    if cached or (now is not None and code != now):
        problems.append("%s: then %s, cached: %s\n%s" % (name, code, cached, said))


# Headers of the user.
case("header", {"a/cfg.h": NO}, lambda: write("a/cfg.h", YES), flags=["-I../a"])
case(
    "header of the same size and time",
    {"a/cfg.h": NO},
    lambda: same_time("a/cfg.h", YES),
    flags=["-I../a"],
)
case(
    "header with the clock turned back",
    {"a/cfg.h": NO},
    lambda: same_time("a/cfg.h", "//\n" + YES, -(10**12)),
    flags=["-I../a"],
)
case("header of a time to come", Dated({"a/cfg.h": NO}), lambda: write("a/cfg.h", YES), flags=["-I../a"])
case(
    "header that has a time to come then",
    {"a/cfg.h": NO},
    lambda: same_time("a/cfg.h", YES, 10**18),
    flags=["-I../a"],
)
case(
    "cache of a time to come",
    {"a/cfg.h": NO},
    lambda: (date_cache(), same_time("a/cfg.h", YES, -(10**12))),
    flags=["-I../a"],
)
case(
    "the file itself, of the same size and time",
    {},
    lambda: same_time("unit.cpp", TORCH + "#define Q 1\n" + PLAIN),
    text=TORCH + "#define Q 0\n" + PLAIN,
)
case(
    "header of a header",
    {"a/cfg.h": "#include <deep.h>\n", "a/deep.h": NO},
    lambda: write("a/deep.h", YES),
    flags=["-I../a"],
)
case("the file itself", {"a/cfg.h": YES}, lambda: write("unit.cpp", TORCH + DEFECT), text=PLAIN)
case(
    "header that turns up in an earlier folder",
    {"a/x.h": "", "b/cfg.h": NO},
    lambda: write("a/cfg.h", YES),
    flags=["-I../a", "-I../b"],
)
case(
    "header in an earlier folder that turns up",
    {"b/cfg.h": NO},
    lambda: write("a/x/cfg.h", YES),
    flags=["-I../a/x", "-I../b"],
)
case(
    "folder in an earlier folder",
    {"a/x.h": "", "b/sub/cfg.h": NO},
    lambda: write("a/sub/cfg.h", YES),
    text=INCLUDES.replace("cfg.h", "sub/cfg.h"),
    flags=["-I../a", "-I../b"],
)
case(
    "header that goes away",
    {"a/cfg.h": NO, "b/cfg.h": YES},
    lambda: os.unlink(at("a/cfg.h")),
    flags=["-I../a", "-I../b"],
)
case(
    "header beside the includer",
    {"a/cfg.h": NO},
    lambda: write("cfg.h", YES),
    text=INCLUDES.replace("<cfg.h>", '"cfg.h"'),
    flags=["-I../a"],
)
case(
    "header for quotes only",
    {"a/cfg.h": NO, "q/x.h": ""},
    lambda: write("q/cfg.h", YES),
    text=INCLUDES.replace("<cfg.h>", '"cfg.h"'),
    flags=["-iquote", "../q", "-I../a"],
)
case(
    "header that was asked for",
    {"a/x.h": ""},
    lambda: write("a/cfg.h", YES),
    text=ASKS,
    flags=["-I../a"],
)
case(
    "header that was asked for in a folder that turns up",
    {},
    lambda: write("gen/deep/cfg.h", YES),
    text=ASKS,
    flags=["-I../gen/deep"],
)
case(
    "header that was only asked for, and goes away",
    {"a/there.h": ""},
    lambda: os.unlink(at("a/there.h")),
    text=TORCH + "#if !__has_include(<there.h>)\n" + DEFECT + "#endif\n",
    flags=["-I../a"],
)
case(
    "next header that was asked for",
    {"a/cfg.h": "#if __has_include_next(<cfg.h>)\n#include_next <cfg.h>\n#endif\n", "b/x.h": ""},
    lambda: write("b/cfg.h", YES),
    flags=["-I../a", "-I../b"],
)
case(
    "next header",
    {"a/cfg.h": "#include_next <cfg.h>\n", "b/cfg.h": NO},
    lambda: write("b/cfg.h", YES),
    flags=["-I../a", "-I../b"],
)
case(
    "header by a macro",
    {"a/cfg.h": NO},
    lambda: write("a/cfg.h", YES),
    text=INCLUDES.replace("<cfg.h>", "WHAT").replace(TORCH, TORCH + "#define WHAT <cfg.h>\n"),
    flags=["-I../a"],
)
case(
    "forced header",
    {"cfg.h": NO},
    lambda: write("cfg.h", YES),
    text=PLAIN,
    flags=["-include", "../cfg.h"],
)
case(
    "forced macros",
    {"cfg.h": NO},
    lambda: write("cfg.h", YES),
    text=PLAIN,
    flags=["-imacros", "../cfg.h"],
)
case(
    "header of another library",
    {"other/cfg.h": NO},
    lambda: write("other/cfg.h", "//\n" + YES),
    flags=["-isystem", "../other"],
)
case(
    "header of the library",
    {"include/torch/torch.h": "#pragma once\n#define Q 0\nnamespace torch { struct NoGradGuard { NoGradGuard(); ~NoGradGuard(); }; }\n"},
    lambda: write("include/torch/torch.h", open(at("include/torch/torch.h")).read().replace("Q 0", "Q 01")),
    text=PLAIN,
)
LIBRARY = {"include/torch/torch.h": "#pragma once\n#define Q 0\nnamespace torch { struct NoGradGuard { NoGradGuard(); ~NoGradGuard(); }; }\n"}
for ahead in (-(10**12), 10**18):
    case(
        "header of the library, of another time",
        LIBRARY,
        lambda: same_time("include/torch/torch.h", LIBRARY["include/torch/torch.h"].replace("Q 0", "Q 1"), ahead),
        text=PLAIN,
    )
# In front of what only the library includes.
WITH_CFG = "#pragma once\n#include <cfg.h>\n#include \"../version.h\"\nnamespace torch { struct NoGradGuard { NoGradGuard(); ~NoGradGuard(); }; }\n"
case(
    "header in front of one of the library",
    {"include/torch/torch.h": WITH_CFG, "include/cfg.h": NO, "a/x.h": ""},
    lambda: write("a/cfg.h", YES),
    text=PLAIN,
    flags=["-I../a"],
)
case(
    "folder in front of one of the library",
    {
        "include/torch/torch.h": WITH_CFG.replace("<cfg.h>", "<c10/cfg.h>"),
        "include/c10/cfg.h": NO,
        "a/x.h": "",
    },
    lambda: write("a/c10/cfg.h", YES),
    text=PLAIN,
    flags=["-I../a"],
)

# Links.
class Linked(dict):
    """Files, of which the last is a link."""

    def __init__(self, path, target, *rest, **more):
        super().__init__(*rest, **more)
        self.path, self.target = path, target

    def items(self):
        yield from super().items()
        os.makedirs(os.path.dirname(at(self.path)), exist_ok=True)
        link(self.path, self.target)


case(
    "link to a header",
    Linked("a/cfg.h", "no.h", {"a/no.h": NO, "a/yes.h": YES}),
    lambda: link("a/cfg.h", "yes.h"),
    flags=["-I../a"],
)
case(
    "link to a folder",
    Linked("a", "no", {"no/cfg.h": NO, "yes/cfg.h": YES}),
    lambda: link("a", "yes"),
    flags=["-I../a"],
)
case(
    "link to the same text elsewhere",
    Linked("a", "no", {"no/cfg.h": NO, "yes/cfg.h": NO}),
    lambda: link("a", "yes"),
    flags=["-I../a"],
    now=None,
)

# Resources.
EMBEDS = TORCH + "const unsigned char Bytes[] = {\n#embed <d.bin>\n};\n"
case(
    "embedded file",
    {"a/d.bin": "one"},
    lambda: write("a/d.bin", "two"),
    text=EMBEDS,
    flags=["--embed-dir=../a"],
    now=None,
)
case(
    "embedded file that was asked for",
    {"a/x.h": ""},
    lambda: write("a/d.bin", "one"),
    text=TORCH + "#if __has_embed(<d.bin>)\n" + DEFECT + "#endif\n",
    flags=["--embed-dir=../a"],
)

# Flags, and where they come from.
case("flag", {}, text=PLAIN, flags=["-DQ=0"], then_flags=["-DQ=1"])
case(
    "extra flag",
    {},
    text=PLAIN,
    then_options=["--config={}", "--extra-arg=-DQ=1"],
)
case(
    "configuration file of the compiler",
    {"flags.cfg": "-DQ=0\n"},
    lambda: write("flags.cfg", "-DQ=1\n"),
    text=PLAIN,
    flags=["--config=../flags.cfg"],
)
case(
    "file that the configuration file includes",
    {"flags.cfg": "@more.cfg\n", "more.cfg": "-DQ=0\n"},
    lambda: write("more.cfg", "-DQ=1\n"),
    text=PLAIN,
    flags=["--config=" + os.path.join(FOLDER, "case/flags.cfg")],
)


def build(compiler="clang++", *more):
    def database():
        flags = ["-std=c++17", "-isystem", "include"] + [m() if callable(m) else m for m in more]
        return [
            {"directory": at("."), "file": "unit.cpp", "arguments": [compiler, *flags, "unit.cpp"]}
        ]

    return database


case(
    "configuration file beside the compiler",
    {"bin/clang++": ""},
    lambda: write("bin/clang++.cfg", "-DQ=1\n"),
    text=PLAIN,
    database=build("bin/clang++"),
)
case(
    "response file",
    {"flags.rsp": "-DQ=0\n"},
    lambda: write("flags.rsp", "-DQ=1\n"),
    text=PLAIN,
    database=build("clang++", "@flags.rsp"),
)
value = ["0"]
case(
    "compile command",
    {},
    lambda: value.__setitem__(0, "1"),
    text=PLAIN,
    database=build("clang++", lambda: "-DQ=" + value[0]),
)
case(
    "working directory",
    {"a/cfg.h": NO, "b/cfg.h": YES},
    flags=["-I."],
    where="a",
    then_where="b",
)


# Overlays.
def overlay(target):
    names = (at("over"), at(target))
    return (
        '{version: 0, roots: [{name: "%s", type: directory, contents: [{name: "cfg.h", '
        'type: file, external-contents: "%s"}]}]}' % names
    )


OVERLAY = {"over/cfg.h": NO, "no.txt": NO, "yes.txt": YES, "overlay.yaml": overlay("no.txt")}
for what, change in (
    ("names another file", lambda: write("overlay.yaml", overlay("yes.txt"))),
    ("has another text", lambda: write("no.txt", YES)),
):
    case(
        "overlay " + what,
        OVERLAY,
        change,
        flags=["-I../over"],
        options=["--config={}", "--vfsoverlay=" + at("overlay.yaml")],
    )
case(
    "overlay that is new",
    OVERLAY | {"overlay.yaml": overlay("yes.txt")},
    flags=["-I../over"],
    then_options=["--config={}", "--vfsoverlay=" + at("overlay.yaml")],
)

# A precompiled header of the user's.
def precompile(q):
    write("p.h", "#pragma once\n" + q)
    subprocess.check_call(
        [CLANG, "-std=c++17", "-x", "c++-header", at("p.h"), "-o", at("p.pch")], cwd=at("here")
    )


class Precompiled(dict):
    def items(self):
        precompile(NO)
        return ()


case(
    "precompiled header",
    Precompiled(),
    lambda: precompile(YES),
    text=PLAIN,
    flags=["-include-pch", "../p.pch"],
)

# The environment.
for name in ("CPATH", "CPLUS_INCLUDE_PATH"):
    case(
        name,
        {"a/cfg.h": NO, "b/cfg.h": YES},
        environment={name: os.path.join(FOLDER, "case/a")},
        then_environment={name: os.path.join(FOLDER, "case/b")},
    )
    case(
        "header in " + name,
        {"a/cfg.h": NO},
        lambda: write("a/cfg.h", "//\n" + YES),
        environment={name: os.path.join(FOLDER, "case/a")},
    )
case(
    "SOURCE_DATE_EPOCH",
    {},
    text=PLAIN,
    environment={"SOURCE_DATE_EPOCH": "1"},
    then_environment={"SOURCE_DATE_EPOCH": "100000000"},
    now=None,
)

# The configuration of the checks.
ON = "Checks: 'libtorch-*'\n"
OFF = "Checks: 'libtorch-*,-libtorch-ineffective-grad-guard'\n"
case(
    "configuration",
    {".clang-tidy": OFF},
    lambda: write(".clang-tidy", ON),
    text=TORCH + DEFECT,
    options=(),
)
case(
    "configuration that goes away",
    {".clang-tidy": OFF, "../.clang-tidy": ON},
    lambda: os.unlink(at(".clang-tidy")),
    text=TORCH + DEFECT,
    options=(),
)
case(
    "inherited configuration",
    {".clang-tidy": "InheritParentConfig: true\n", "../.clang-tidy": OFF},
    lambda: write("../.clang-tidy", ON),
    text=TORCH + DEFECT,
    options=(),
)
os.unlink(at("../.clang-tidy"))
case(
    "file of configuration",
    {"tidy.yaml": OFF},
    lambda: write("tidy.yaml", ON),
    text=TORCH + DEFECT,
    options=["--config-file=../tidy.yaml"],
)
case(
    "checks",
    {},
    text=TORCH + DEFECT,
    options=["--checks=libtorch-*,-libtorch-ineffective*"],
    then_options=["--checks=libtorch-*"],
)
case(
    "line filter",
    {},
    text=TORCH + DEFECT,
    options=["--config={}", '--line-filter=[{"name":"unit.cpp","lines":[[1,1]]}]'],
    then_options=["--config={}"],
)
case(
    "NOLINT in a header",
    {"a/cfg.h": NO + DEFECT.replace("f()", "g()").replace("\n", " // NOLINT\n")},
    lambda: write("a/cfg.h", NO + DEFECT.replace("f()", "g()")),
    flags=["-I../a"],
    options=["--config={}", "--header-filter=.*"],
)


# What was not asked does not matter.
def unchanged(name, files, change, **more):
    """Also with the library precompiled."""
    case(name, files, now=None, then_options=["--config={}", "--level=2"], **more)
    flags = more.get("flags", ())
    arguments = ("here", ["--config={}"], list(flags), {}, None)
    run(*arguments)
    change()
    if not run(*arguments)[1]:
        problems.append(name + ": analysed again")


unchanged(
    "file elsewhere",
    {"a/cfg.h": NO},
    lambda: (write("a/x.h", ""), write("elsewhere/cfg.h", YES), write("a/cfg.hpp", "")),
    flags=["-I../a"],
)

# With the library precompiled, for two units that share it.
shutil.rmtree(at("."), ignore_errors=True)
os.makedirs(at("here"))
shutil.copytree(os.path.join(FOLDER, "include"), at("include"))
write("include/torch/torch.h", WITH_CFG.replace("<cfg.h>", "<c10/cfg.h>"))
write("include/c10/cfg.h", NO)
write("a/x.h", "")
both = ("unit.cpp", "other.cpp")
write("unit.cpp", PLAIN)
write("other.cpp", PLAIN + "//\n")
shared = ("here", ["--config={}"], ["-I../a"], {}, None, both)
said = run(*shared)
if "precompiling" not in said[2]:
    problems.append("not precompiled: " + said[2])
write("a/y.h", "")
if run(*shared)[:2] != (0, True):
    problems.append("precompiled, a file elsewhere: analysed again")
write("a/c10/cfg.h", YES)
if run(*shared)[:2] != (1, False):
    problems.append("precompiled, a folder in front of one of the library: stale")
shutil.rmtree(at("a/c10"))
if run(*shared)[0] != 0:
    problems.append("precompiled, the folder is gone: stale")

# An entry is only believed under its own name.
results = at("cache/results")
shutil.rmtree(results)
run(*shared)
write("other.cpp", TORCH + DEFECT)
run("here", ["--config={}"], ["-I../a"], {}, None, ("other.cpp",))
entries = sorted(os.listdir(results))
contents = [open(os.path.join(results, name), "rb").read() for name in entries]
for name, content in zip(entries, contents[1:] + contents[:1]):
    with open(os.path.join(results, name), "wb") as file:
        file.write(content)
if run(*shared)[:2] != (1, False):
    problems.append("an entry under the name of another is believed")

# Nor is a folder that everybody can write to.
os.chmod(at("cache"), 0o777)
if run(*shared)[1]:
    problems.append("a cache folder that is everybody's is believed")

print("%d cases" % count)
print("\n".join(problems))
sys.exit(bool(problems))
