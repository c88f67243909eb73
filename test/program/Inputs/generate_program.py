"""generate_program.py FOLDER N -- FLAGS: a program of N units and its database.

Calls go through chains of five files; in each file one function has a finding that only
shows when the others are known."""

import json
import sys
from pathlib import Path

folder, count = Path(sys.argv[1]), int(sys.argv[2])
flags = sys.argv[sys.argv.index("--") + 1 :]
(folder / "build").mkdir(parents=True)
here = Path(__file__).parent
for name in ["net.h", "net.cpp"]:
    (folder / name).write_text((here / name).read_text())

declarations = ["#pragma once", '#include "net.h"']
for i in range(count):
    declarations += [
        f"torch::Tensor step{i}(Net &net, torch::Tensor x);",
        f"float score{i}(Net &net, torch::Tensor x);",
        f"struct Meter{i} {{",
        "  void add(const torch::Tensor &x);",
        "  torch::Tensor total() const;",
        "  torch::Tensor sum;",
        "};",
    ]
    is_last = i % 5 == 4 or i + 1 == count
    onward = "net->forward(x)" if is_last else f"step{i + 1}(net, x) * 2"
    then = i if is_last else i + 1
    (folder / f"unit{i}.cpp").write_text(
        f"""#include "all.h"

torch::Tensor step{i}(Net &net, torch::Tensor x) {{ return {onward}; }}
void Meter{i}::add(const torch::Tensor &x) {{ sum += x.detach(); }}
torch::Tensor Meter{i}::total() const {{ return sum / 2; }}

float score{i}(Net &net, torch::Tensor x) {{
  Meter{then} meter;
  for (int k = 0; k < 1000; ++k)
    meter.add(x);
  return step{then}(net, x).item<float>() + meter.total().item<float>();
}}
"""
    )
(folder / "all.h").write_text("\n".join(declarations) + "\n")
names = ["net.cpp"] + [f"unit{i}.cpp" for i in range(count)]
(folder / "build" / "compile_commands.json").write_text(
    json.dumps(
        [
            {"directory": str(folder), "file": n, "arguments": ["c++", *flags, "-c", n]}
            for n in names
        ],
        indent=1,
    )
)
