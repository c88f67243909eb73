// The peaks of the programs of trained/, each in a namespace of its own:
//
//   teacher|4792616
#include "peak.h"
#include <ATen/autocast_mode.h>
#include <deque>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace teacher {
#include "trained/teacher.cpp"
}
namespace iterated {
#include "trained/iterated.cpp"
}
namespace agent {
#include "trained/agent.cpp"
}
namespace rollouts {
#include "trained/rollouts.cpp"
}
namespace translated {
#include "trained/translated.cpp"
}
namespace episodes {
#include "trained/episodes.cpp"
}
namespace flipped {
#include "trained/flipped.cpp"
}
namespace best {
#include "trained/best.cpp"
}
namespace mixed {
#include "trained/mixed.cpp"
}
namespace sums {
#include "trained/sums.cpp"
}
namespace chosen {
#include "trained/chosen.cpp"
}
namespace collected {
#include "trained/collected.cpp"
}

static void measure(const char *name, int (*program)()) {
  const int64_t before = proof::counters().Live;
  proof::counters().Peak = before;
  program();
  std::printf("%s|%lld\n", name,
              static_cast<long long>(proof::counters().Peak - before));
}

#define MEASURE(NAME) measure(#NAME, NAME::main)

int main() {
  std::cout.setstate(std::ios::failbit); // What they print.
  MEASURE(teacher);
  MEASURE(iterated);
  MEASURE(agent);
  MEASURE(rollouts);
  MEASURE(translated);
  MEASURE(episodes);
  MEASURE(flipped);
  MEASURE(best);
  MEASURE(mixed);
  MEASURE(sums);
  MEASURE(chosen);
  MEASURE(collected);
}
