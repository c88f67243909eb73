// What carries the graphs on, and the loop that it carries them through.
// RUN: %check_libtorch_tidy %s libtorch-retained-graph %t -- -- -I%S/../Inputs
#include "net.h"

void running_sum(Net &net, int n) {
  torch::Tensor total = torch::zeros({});
  for (int i = 0; i < n; ++i) {
    total += net(torch::rand({8, 4})).sum();
    total.backward({}, true);
    // CHECK-NOTES: :[[@LINE-1]]:24: warning: memory growth: retain_graph keeps the graphs of all iterations, since 'total' carries them on: each backward() goes through all of them; detach 'total' between iterations [libtorch-retained-graph]
    // CHECK-NOTES: :[[@LINE-3]]:11: note: 'total' gets the graph of this iteration on top of those before
    // CHECK-NOTES: :[[@LINE-5]]:3: note: and nothing detaches it before the next iteration of this loop
  }
}
