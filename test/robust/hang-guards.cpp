// How a guard is made is followed a bounded number of steps.
// RUN: %ends
#include <torch/torch.h>

// A factory that returns its own result in several places.
std::unique_ptr<torch::NoGradGuard> make(int n) {
  if (n == 0)
    return make(1);
  if (n == 1)
    return make(2);
  if (n == 2)
    return make(3);
  if (n == 3)
    return make(4);
  if (n == 4)
    return make(5);
  if (n == 5)
    return make(6);
  if (n == 6)
    return make(7);
  if (n == 7)
    return make(8);
  if (n == 8)
    return make(9);
  if (n == 9)
    return make(10);
  return std::make_unique<torch::NoGradGuard>();
}
torch::Tensor factory(torch::nn::Linear net, torch::Tensor x) {
  auto guard = make(0);
  return net(x).detach();
}

// A class of classes of classes: 30 to the fourth objects beside the guard.
#define TIMES30(T)                                                             \
  T a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, b0, b1, b2, b3, b4, b5, b6, b7,    \
      b8, b9, c0, c1, c2, c3, c4, c5, c6, c7, c8, c9;
struct E {
  E() {}
  int x;
};
struct D {
  D() {}
  TIMES30(E)
};
struct C {
  C() {}
  TIMES30(D)
};
struct B {
  B() {}
  TIMES30(C)
};
struct A {
  A() {}
  TIMES30(B)
};
struct Session {
  Session() {}
  torch::NoGradGuard guard;
  A state;
};
torch::Tensor members(torch::nn::Linear net, torch::Tensor x) {
  Session session;
  return net(x).detach();
}
