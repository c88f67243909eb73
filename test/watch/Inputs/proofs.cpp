// All programs of test/proof that grow, and those with the fixes, as
// test/proof/programs.py writes them: the argument says which one runs.
#include "Memory.h"

#include <map>

// What `int main() {` becomes. Each file has its own namespace.
#define main()                                                                 \
  declared();                                                                  \
  void run()

namespace accumulated_history_bad {
#include "accumulated-history_bad.cpp"
}
namespace accumulated_history_fixed {
#include "accumulated-history_fixed.cpp"
}
namespace autograd_context_cycle_bad {
#include "autograd-context-cycle_bad.cpp"
}
namespace autograd_context_cycle_fixed {
#include "autograd-context-cycle_fixed.cpp"
}
namespace create_graph_cycle_bad {
#include "create-graph-cycle_bad.cpp"
}
namespace create_graph_cycle_fixed {
#include "create-graph-cycle_fixed.cpp"
}
namespace discarded_result_bad {
#include "discarded-result_bad.cpp"
}
namespace discarded_result_fixed {
#include "discarded-result_fixed.cpp"
}
namespace hook_capture_cycle_bad {
#include "hook-capture-cycle_bad.cpp"
}
namespace hook_capture_cycle_fixed {
#include "hook-capture-cycle_fixed.cpp"
}
namespace module_ownership_cycle_bad {
#include "module-ownership-cycle_bad.cpp"
}
namespace module_ownership_cycle_fixed {
#include "module-ownership-cycle_fixed.cpp"
}
namespace stale_optimizer_state_bad {
#include "stale-optimizer-state_bad.cpp"
}
namespace stale_optimizer_state_fixed {
#include "stale-optimizer-state_fixed.cpp"
}
namespace undetached_hidden_state_bad {
#include "undetached-hidden-state_bad.cpp"
}
namespace undetached_hidden_state_fixed {
#include "undetached-hidden-state_fixed.cpp"
}
#undef main

int main(int, char **Arguments) {
  libtorch_tidy::Watch Watch;
  std::map<std::string, void (*)()> Programs = {
      {"accumulated-history_bad", accumulated_history_bad::run},
      {"accumulated-history_fixed", accumulated_history_fixed::run},
      {"autograd-context-cycle_bad", autograd_context_cycle_bad::run},
      {"autograd-context-cycle_fixed", autograd_context_cycle_fixed::run},
      {"create-graph-cycle_bad", create_graph_cycle_bad::run},
      {"create-graph-cycle_fixed", create_graph_cycle_fixed::run},
      {"discarded-result_bad", discarded_result_bad::run},
      {"discarded-result_fixed", discarded_result_fixed::run},
      {"hook-capture-cycle_bad", hook_capture_cycle_bad::run},
      {"hook-capture-cycle_fixed", hook_capture_cycle_fixed::run},
      {"module-ownership-cycle_bad", module_ownership_cycle_bad::run},
      {"module-ownership-cycle_fixed", module_ownership_cycle_fixed::run},
      {"stale-optimizer-state_bad", stale_optimizer_state_bad::run},
      {"stale-optimizer-state_fixed", stale_optimizer_state_fixed::run},
      {"undetached-hidden-state_bad", undetached_hidden_state_bad::run},
      {"undetached-hidden-state_fixed", undetached_hidden_state_fixed::run}};
  Programs.at(Arguments[1])();
}
