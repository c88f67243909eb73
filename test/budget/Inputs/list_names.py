"""Prints the modules and the functionals of torch::nn that LibTorch's headers declare.

  list_names.py modules|functionals [FLAG...]

One on each line, sorted. The headers are found by the -I among the FLAGs."""

import pathlib
import re
import sys


def folder(flags):
    for flag in flags:
        found = pathlib.Path(flag.removeprefix("-isystem").removeprefix("-I"), "torch/nn")
        if found.is_dir():
            return found
    sys.exit("no torch/nn in the folders of -I")


def without_details(text):
    """Without what lies in namespace detail, and comments."""
    text = re.sub(r"//.*|/\*.*?\*/", "", text)
    parts = re.split(r"\bnamespace detail \{", text)
    kept = [parts[0]]
    for part in parts[1:]:
        depth, end = 1, 0
        while depth:
            depth += {"{": 1, "}": -1}.get(part[end], 0)
            end += 1
        kept.append(part[end:])
    return "".join(kept)


def main():
    kind, nn = sys.argv[1], folder(sys.argv[2:])
    names = set()
    if kind == "modules":
        for path in sorted(nn.glob("modules/**/*.h")):
            text = path.read_text(encoding="utf-8")
            names.update(re.findall(r"^TORCH_MODULE(?:_IMPL)?\((\w+)", text, re.M))
            # Some write out the holder that the macro makes.
            names.update(re.findall(r"ModuleHolder<(\w+)Impl>", text))
    else:
        for path in sorted(nn.glob("functional/*.h")):
            text = without_details(path.read_text(encoding="utf-8"))
            names.update(name for name in re.findall(
                r"^inline\s[\w:<>, ]*?\b(\w+)\(", text, re.M) if not name.startswith("_"))
    print("\n".join(sorted(names)))


if __name__ == "__main__":
    main()
