#include <torch/torch.h>
extern int64_t given;
struct Net : torch::nn::Module {
  explicit Net(int64_t width) : one(register_module("one", torch::nn::Linear(width, 2))) {}
  torch::nn::Linear one;
};
struct Once : torch::nn::Module {
  explicit Once(int64_t width) : one(register_module("one", torch::nn::Linear(width, 3))) {}
  torch::nn::Linear one;
};

int main() {
  Net small(4);
  Net other(given);
  Net third(given + 1);
  Net same(4);
  Once once(5);
  Once again(5);
}
