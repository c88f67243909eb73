// The ways to a virtual base double with each diamond; each base is asked once.
// Only pointers and references here: Clang itself takes each way to lay out an
// object.
// RUN: %ends
#include <torch/torch.h>

#define DIAMOND(N, M)                                                          \
  struct L##N : virtual A##M {};                                               \
  struct R##N : virtual A##M {};                                               \
  struct A##N : L##N, R##N {};

struct A0 {
  void other();
};
DIAMOND(1, 0)
DIAMOND(2, 1)
DIAMOND(3, 2)
DIAMOND(4, 3)
DIAMOND(5, 4)
DIAMOND(6, 5)
DIAMOND(7, 6)
DIAMOND(8, 7)
DIAMOND(9, 8)
DIAMOND(10, 9)
DIAMOND(11, 10)
DIAMOND(12, 11)
DIAMOND(13, 12)
DIAMOND(14, 13)
DIAMOND(15, 14)
DIAMOND(16, 15)
DIAMOND(17, 16)
DIAMOND(18, 17)
DIAMOND(19, 18)
DIAMOND(20, 19)
DIAMOND(21, 20)
DIAMOND(22, 21)
DIAMOND(23, 22)
DIAMOND(24, 23)
DIAMOND(25, 24)
DIAMOND(26, 25)
DIAMOND(27, 26)
DIAMOND(28, 27)
DIAMOND(29, 28)
DIAMOND(30, 29)
DIAMOND(31, 30)
DIAMOND(32, 31)
DIAMOND(33, 32)
DIAMOND(34, 33)
DIAMOND(35, 34)
DIAMOND(36, 35)
DIAMOND(37, 36)
DIAMOND(38, 37)
DIAMOND(39, 38)
DIAMOND(40, 39)

struct Net : A40 {
  int layers = 1;
  torch::Tensor forward(torch::Tensor x) { return x; }
};
struct Owner : torch::nn::Module {
  Net *net;
  A40 *a;
};
void uses(torch::Tensor x, Net *net, A40 *a, A40 &b) {
  x.register_hook([a](torch::Tensor g) { return g; });
  x.register_hook([net, &b](torch::Tensor g) { return g; });
}
