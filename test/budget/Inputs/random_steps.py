"""Writes a C++ program that measures operators of LibTorch one by one.

  random_steps.py [--bfloat16] SEED[-LAST] [OPERATOR|GROUP...]

The program has a module for each row of the tables in random_elements.py,
random_shapes.py, random_layers.py and random_functionals.py, or for those that are named,
alone or as elements, reductions, shapes, layers, functionals, chains, attention and types. Sizes, dimensions,
options and the kind of each operand are drawn from SEED: a leaf, a computed tensor, one
without a gradient, one whose elements do not lie in order. The program prints the lines of
step.h, for compare_steps.py --together. With --bfloat16 models are converted first, and
those whose operators the library lacks for that type are left out."""

import random
import sys

import random_attention
import random_chains
import random_elements
import random_functionals
import random_layers
import random_shapes
import random_types
from random_draw import Draw

GROUPS = {"elements": random_elements.TABLE, "reductions": random_elements.REDUCTIONS,
          "shapes": random_shapes.TABLE,
          "layers": random_layers.TABLE, "functionals": random_functionals.TABLE,
          "chains": random_chains.TABLE, "attention": random_attention.TABLE,
          "types": random_types.TABLE}

HEAD = """#include "step.h"

namespace nn = torch::nn;
namespace F = torch::nn::functional;
using torch::Tensor;
using torch::indexing::Ellipsis;
using torch::indexing::None;
using torch::indexing::Slice;
using Tensors = std::vector<Tensor>;

struct Measured : nn::Module {
  virtual ~Measured() = default;
  virtual Tensors forward(Tensor) = 0;
};
using Maker = std::shared_ptr<Measured> (*)();

static void measure(const char *name, Maker make, bool converts) try {
  steps::attempt(name, [&] {
    steps::step(name, "1", make,
                std::function([] { return std::make_tuple(torch::rand(1)); }),
                steps::Mode{converts});
  });
} catch (const c10::Error &error) {
  if (!converts)
    throw;
  std::fprintf(stderr, "%s: %s\\n", name, error.what_without_backtrace());
}
"""


def module_of(name, draw, rng):
    d = Draw(rng)
    value = draw(d)
    if value is not None:
        # What comes back is a number that is repeated, or a tensor of its own.
        value = value if d.number(0, 2) else "(%s) * 3" % value
        d.results = "{%s}" % value
    lines = ["struct %s : Measured {" % name, "  %s() {" % name]
    lines += ["    " + line for line in d.made]
    lines += ["  }", "  Tensors forward(Tensor) override {"]
    lines += ["    " + line for line in d.lines]
    lines += ["    return %s;" % d.results, "  }"]
    lines += ["  " + line for line in d.members]
    return "\n".join(lines + ["};"])


CALL = """  measure("%s()", +[]() -> std::shared_ptr<Measured> {
    return std::make_shared<%s>();
  }, %s);"""


def since(table, text):
    if table.since == 1:
        return text
    return "#if TORCH_VERSION_MAJOR >= %d\n%s\n#endif" % (table.since, text)


def main():
    converts = sys.argv[1] == "--bfloat16"
    seeds, *asked = sys.argv[1 + converts:]
    first, several, last = seeds.partition("-")
    print(HEAD)
    calls = []
    for group, table in GROUPS.items():
        for name, draw in table.operators.items():
            if asked and name not in asked and group not in asked:
                continue
            for seed in range(int(first), int(last or first) + 1):
                made = "Of_%s%s" % (name, "_%d" % seed if several else "")
                # Each has its own numbers: others do not change what it draws.
                rng = random.Random("%s %s" % (seed, name))
                print(since(table, module_of(made, draw, rng)))
                calls.append(since(table, CALL % (made, made, str(converts).lower())))
    print("\nint main() {\n  steps::begin();\n%s\n}" % "\n".join(calls))


if __name__ == "__main__":
    main()
