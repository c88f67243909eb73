// Looking for a guard that a function might return ends soon, however many
// functions it returns the results of.
// RUN: %check_libtorch_tidy %s libtorch-inference-without-no-grad %t

#include "../Inputs/net.h"

struct Value {
  Value(int n) : n(n) {}
  int n;
};
Value f0(int n) { return Value(n); }
#define LINK(N, P)                                                             \
  Value f##N(int n) {                                                          \
    if (n == 0)                                                                \
      return f##P(1);                                                          \
    if (n == 1)                                                                \
      return f##P(2);                                                          \
    if (n == 2)                                                                \
      return f##P(3);                                                          \
    if (n == 3)                                                                \
      return f##P(4);                                                          \
    if (n == 4)                                                                \
      return f##P(5);                                                          \
    return f##P(6);                                                            \
  }
LINK(1, 0)
LINK(2, 1)
LINK(3, 2)
LINK(4, 3)
LINK(5, 4)
LINK(6, 5)
LINK(7, 6)
LINK(8, 7)
LINK(9, 8)
LINK(10, 9)
LINK(11, 10)
LINK(12, 11)
LINK(13, 12)
LINK(14, 13)

void train(Net net, const torch::Tensor &x) {
  Value value = f14(0);
  auto other = f14(1);
  net(x * value.n * other.n).sum().backward();
}
