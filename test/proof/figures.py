"""The figures that the programs of a proof print, as docs/figures keeps them.

A figure is a line "what: value" of the program with the defect and the line of
the same beginning of the one without it. A series is memory over the run (see
Memory.h). docs/figures/libtorch-NAME.json holds both; scripts/render-figures
draws them and puts them into the page of the check. docs/figures/VERSION has the
figures with a later LibTorch.
"""

import json
import os
import re
import subprocess
import sys

# Sizes of blocks on the heap depend on the C++ library. Everything else is the
# same in every run.
HEAP = re.compile(r"(\d+)(?= (bytes of heap|objects))")
HEAP_TOLERANCE = 0.1
# What a cache that grows now and then comes to, per iteration.
HEAP_SLACK = {"bytes of heap": 32, "objects": 1}
# LibTorch's own log, which has the time in it, in brackets where it is without glog.
LOG = re.compile(r"^WARNING: Logging before InitGoogleLogging|^\[?[IWEF]\d{4,8} ")
# Of the highest value of both lines: series count the heap as well.
SERIES_TOLERANCE = 0.1


def parse(output):
    """What a program printed, as {what: value}; the last one counts, as the
    first may be there to fill caches. Lines without a colon are numbered."""
    values, unnamed = {}, 0
    for line in output.splitlines():
        if not line.strip() or LOG.match(line) or re.search(r", bits [0-9a-f]{16}$", line):
            continue
        what, colon, value = line.partition(": ")
        values[what if colon else unnamed] = value if colon else line
        unnamed += not colon
    return values


def read_series(path):
    found = {}
    if os.path.exists(path):
        with open(path) as file:
            for line in file:
                what, step, per_sample, values = line.rstrip("\n").split("\t")
                found[what] = {"step": step, "per_sample": int(per_sample),
                               "values": [int(value) for value in values.split()]}
    return found


def collect(name, folder, by_hand, version):
    """The content of the JSON file, from what prove.py left in `folder`."""
    kinds = ("bad", "fixed")
    printed, series = {}, {}
    for kind in kinds:
        with open(os.path.join(folder, kind + ".txt")) as file:
            printed[kind] = parse(file.read())
        series[kind] = read_series(os.path.join(folder, kind + ".series"))
    figures = []
    for what, bad in printed["bad"].items():
        fixed = printed["fixed"].get(what)
        if isinstance(what, int):
            if fixed not in (bad, None):
                sys.exit("a figure without a name: '%s' and '%s'" % (bad, fixed))
            continue
        figures.append({"what": what, "bad": bad, "fixed": fixed})
    lines = []
    for what, bad in series["bad"].items():
        fixed = series["fixed"].get(what)
        if fixed and fixed["values"] != bad["values"]:
            lines.append({"what": what, "step": bad["step"],
                          **{kind: {"per_sample": series[kind][what]["per_sample"],
                                    "values": series[kind][what]["values"]}
                             for kind in kinds}})
    return {"check": "libtorch-" + name, "libtorch": version,
            "fixed_by": "hand" if by_hand else "check",
            "figures": figures, "series": lines}


def of_cases(name, errors, by_hand, version):
    """The same for a proof by AddressSanitizer: what it calls the defect of each
    case, {case: error}. It is silent on the program without the defects."""
    return {"check": "libtorch-" + name, "libtorch": version,
            "fixed_by": "hand" if by_hand else "check",
            "figures": [{"what": case, "bad": "AddressSanitizer: " + error,
                         "fixed": "nothing reported"}
                        for case, error in errors.items()],
            "series": []}


def libtorch_version(tools):
    """Major and minor number of the headers that the suite compiles with."""
    done = subprocess.run(
        [tools["clangxx"], *tools["torch_flags"], "-E", "-P", "-x", "c++", "-"],
        input="#include <torch/version.h>\nTORCH_VERSION_MAJOR TORCH_VERSION_MINOR\n",
        text=True, stdout=subprocess.PIPE, check=True)
    return ".".join(done.stdout.split()[-2:])


def same_text(told, measured):
    if told is None or measured is None:
        return told == measured
    if HEAP.sub("#", told) != HEAP.sub("#", measured):
        return False
    return all(abs(int(a) - int(b)) <= max(HEAP_TOLERANCE * max(int(a), int(b)),
                                           HEAP_SLACK[unit])
               for (a, unit), (b, _) in zip(HEAP.findall(told), HEAP.findall(measured)))


def at_steps(sampled, count=50):
    """`count` values, evenly over the run."""
    values = sampled["values"] or [0]
    return [values[i * (len(values) - 1) // (count - 1)] for i in range(count)]


def same_series(told, measured, top):
    return all(abs(a - b) <= SERIES_TOLERANCE * top
               for a, b in zip(at_steps(told), at_steps(measured)))


def differences(told, measured):
    """How the figures of the tracked file differ from those measured now."""
    found = []
    if told["fixed_by"] != measured["fixed_by"]:
        found.append("fixed_by")
    for key in ("figures", "series"):
        names = [[entry["what"] for entry in data[key]] for data in (told, measured)]
        if names[0] != names[1]:
            found.append("%s: %s, but measured were %s" % (key, *names))
            return found
    for a, b in zip(told["figures"], measured["figures"]):
        for kind in ("bad", "fixed"):
            if not same_text(a[kind], b[kind]):
                found.append("%s, %s: '%s', but measured was '%s'"
                             % (a["what"], kind, a[kind], b[kind]))
    for a, b in zip(told["series"], measured["series"]):
        top = max(a["bad"]["values"] + a["fixed"]["values"] + [0])
        for kind in ("bad", "fixed"):
            if not same_series(a[kind], b[kind], top):
                found.append("series of %s, %s" % (a["what"], kind))
    return found


def dump(data):
    """JSON with a series on a line of its own."""
    text = json.dumps(data, indent=2, ensure_ascii=False)
    return re.sub(r"\[\s+(-?\d[\d\s,-]*?)\s+\]",
                  lambda m: "[" + re.sub(r"\s+", " ", m.group(1)) + "]", text) + "\n"


def check(data, folder, tools):
    """Ends the proof when the tracked figures are not those measured, which stay
    in `folder`; makes them anew where that is asked for."""
    with open(os.path.join(folder, "figures.json"), "w") as file:
        file.write(dump(data))
    place = os.path.join(tools["docs_dir"], "figures")
    if "libtorch" in tools:
        # A later LibTorch has a folder of its own, and is not drawn.
        place = os.path.join(place, data["libtorch"])
        data = {**data, "series": []}
    wrong = update_or_compare(
        data, os.path.join(place, data["check"] + ".json"),
        write="LIBTORCH_TIDY_WRITE_FIGURES" in os.environ)
    if wrong:
        sys.exit("docs/figures tells other figures (ninja figures makes them anew):\n"
                 + "\n".join(wrong))


def update_or_compare(data, path, write):
    """Compares with the tracked file; with `write`, makes it anew unless the
    two agree. Returns what is wrong with it. A missing file is the matter of
    test/docs, so that a proof can be run before its figures are tracked."""
    told = None
    if os.path.exists(path):
        with open(path) as file:
            told = json.load(file)
        # Another LibTorch may need other amounts of memory.
        if told["libtorch"] != data["libtorch"] and not write:
            return []
    wrong = differences(told, data) if told else ["missing"]
    if wrong and write:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(dump(data))
        return []
    return wrong if told else []
