"""Tests of test/proof/figures.py, which is in the folder given."""

import copy
import os
import sys
import tempfile

sys.path.insert(0, sys.argv[1])
import figures  # noqa: E402

folder = tempfile.mkdtemp()


def leave(kind, text, series=""):
    with open(os.path.join(folder, kind + ".txt"), "w") as file:
        file.write(text)
    with open(os.path.join(folder, kind + ".series"), "w") as file:
        file.write(series)


GROWTH = "loop: 0 bytes of tensors, %d bytes of heap in %d objects per iteration\n"
BITS = "values: 2 values, bits 0123456789abcdef\n"
LOG = "W20261120 15:38:34.910290 29181 engine.cpp:1059] Warning: a cycle\n"
leave("bad", LOG + "[W1120 15:38:34.9 engine.cpp:1] Warning: a cycle\nwarm: 1\nwarm: 2\nsame\nfrees: three\n" + GROWTH % (4880, 29) + BITS,
      "loop\titeration\t1\t0 10 20\nflat\titeration\t1\t5 5\n")
leave("fixed", "warm: 2\nsame\nfrees: no\n" + GROWTH % (0, 0) + BITS,
      "loop\titeration\t1\t0 0 0\nflat\titeration\t1\t5 5\n")
data = figures.collect("some-check", folder, False, "1.13")
assert data["check"] == "libtorch-some-check" and data["fixed_by"] == "check"
assert [(f["what"], f["bad"], f["fixed"]) for f in data["figures"]] == [
    ("warm", "2", "2"),                  # the last one counts
    ("frees", "three", "no"),            # a line that is alike in both says nothing
    ("loop", (GROWTH % (4880, 29))[6:-1], (GROWTH % (0, 0))[6:-1])], data["figures"]
assert [s["what"] for s in data["series"]] == ["loop"]

path = os.path.join(folder, "docs", "figures", "some.json")
assert figures.update_or_compare(data, path, write=False) == []  # not tracked yet
assert not os.path.exists(path)
assert figures.update_or_compare(data, path, write=True) == []


def compare(change):
    other = copy.deepcopy(data)
    change(other)
    return figures.update_or_compare(other, path, write=False)


def set_figure(index, value):
    return lambda d: d["figures"][index].__setitem__("bad", value)


def set_series(values):
    return lambda d: d["series"][0]["bad"].__setitem__("values", values)


assert compare(lambda d: None) == []
assert compare(set_figure(2, (GROWTH % (5100, 30))[6:-1])) == []    # within 10 %
assert compare(set_figure(2, (GROWTH % (5600, 29))[6:-1]))
assert compare(set_figure(2, "1 bytes of tensors, 4880 bytes of heap in 29 objects "
                             "per iteration"))                      # exact
assert compare(set_figure(0, "3"))
leave("fixed", "warm: 2\nsame\nfrees: no\n" + GROWTH % (4, 0),
      "loop\titeration\t1\t0 0 2\n")
little = figures.collect("some-check", folder, False, "1.13")
found = figures.update_or_compare(little, path, write=False)
assert found == [], found
assert compare(lambda d: d["figures"].pop())
assert compare(set_series([0, 10, 21])) == []
assert compare(set_series([0, 10, 25]))
assert compare(lambda d: d.__setitem__("fixed_by", "hand"))
# Another LibTorch is no reason to fail.
assert compare(lambda d: (d.__setitem__("libtorch", "2.6"), d["figures"].pop())) == []

# A file that agrees stays as it is.
before = open(path).read()
set_figure(2, (GROWTH % (4900, 29))[6:-1])(data)
figures.update_or_compare(data, path, write=True)
assert open(path).read() == before
set_figure(0, "7")(data)
figures.update_or_compare(data, path, write=True)
assert open(path).read() != before and figures.dump(data) == open(path).read()

# Proofs by AddressSanitizer: names of errors, no addresses.
data = figures.of_cases("some-check", {"returned": "heap-use-after-free"}, False, "1.13")
assert data["figures"] == [{"what": "returned", "fixed": "nothing reported",
                            "bad": "AddressSanitizer: heap-use-after-free"}]
assert figures.differences(data, data) == []
