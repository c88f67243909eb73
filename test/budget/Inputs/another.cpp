#include <torch/torch.h>

struct Net : torch::nn::Module {
  explicit Net(int64_t width) : one(register_module("one", torch::nn::Linear(width, 2))) {}
  torch::nn::Linear one;
};
struct Once : torch::nn::Module {
  explicit Once(int64_t width) : one(register_module("one", torch::nn::Linear(width, 3))) {}
  torch::nn::Linear one;
};

int main(int argc, char **) {
  Net small(4);
  Net other(argc);
  Net third(argc + 1);
  Net same(4);
  Once once(5);
  Once again(5);
}
