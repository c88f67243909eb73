// The notes.
// RUN: %check_libtorch_tidy %s libtorch-cat-in-loop %t -- -- -I%S/../Inputs
#include "net.h"

torch::Tensor decode(Net &net, torch::Tensor tokens, int n) {
  for (int i = 0; i < n; ++i) {
    torch::Tensor next = net->forward(tokens.slice(1, -8)).argmax(-1, true);
    if (i % 2)
      tokens = torch::cat({tokens, next}, 1);
      // CHECK-NOTES: :[[@LINE-1]]:16: warning: quadratic copying: every iteration copies all of 'tokens' into a longer tensor; allocate it once, write each part into its slice and read what is filled through narrow() [libtorch-cat-in-loop]
      // CHECK-NOTES: :[[@LINE-5]]:3: note: 'tokens' grows over the iterations of this loop
      // CHECK-NOTES: :[[@LINE+3]]:16: note: and it grows here
      // CHECK-NOTES: :[[@LINE-6]]:39: note: what has grown so far is read in the loop here
    else
      tokens = torch::cat({tokens, next + 1}, 1);
  }
  return tokens;
}
