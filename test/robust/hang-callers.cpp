// The ways up to the callers double where one calls twice; each is asked once.
// RUN: %ends
#include <torch/torch.h>

#define LEVEL(N, M)                                                            \
  static torch::Tensor f##N(torch::nn::Linear net, torch::Tensor x) {          \
    torch::Tensor y = f##M(net, x);                                            \
    return f##M(net, y);                                                       \
  }

static torch::Tensor f0(torch::nn::Linear net, torch::Tensor x) {
  std::cout << net(x).sum();
  return x;
}
LEVEL(1, 0)
LEVEL(2, 1)
LEVEL(3, 2)
LEVEL(4, 3)
LEVEL(5, 4)
LEVEL(6, 5)
LEVEL(7, 6)
LEVEL(8, 7)
LEVEL(9, 8)
LEVEL(10, 9)
LEVEL(11, 10)
LEVEL(12, 11)
LEVEL(13, 12)
LEVEL(14, 13)
LEVEL(15, 14)
LEVEL(16, 15)
LEVEL(17, 16)
LEVEL(18, 17)
LEVEL(19, 18)
LEVEL(20, 19)
LEVEL(21, 20)
LEVEL(22, 21)
LEVEL(23, 22)
LEVEL(24, 23)
LEVEL(25, 24)
LEVEL(26, 25)
LEVEL(27, 26)
LEVEL(28, 27)
LEVEL(29, 28)
LEVEL(30, 29)
LEVEL(31, 30)
LEVEL(32, 31)
LEVEL(33, 32)
LEVEL(34, 33)
LEVEL(35, 34)
LEVEL(36, 35)
LEVEL(37, 36)
LEVEL(38, 37)
LEVEL(39, 38)
LEVEL(40, 39)

torch::Tensor top(torch::nn::Linear net, torch::Tensor x) {
  torch::NoGradGuard guard;
  return f40(net, x);
}
