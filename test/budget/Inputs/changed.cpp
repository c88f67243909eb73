#include <torch/torch.h>

torch::ScalarType readType();

struct KeptImpl : torch::nn::Module {
  KeptImpl(std::vector<int64_t> sizes) {
    fc = register_module("fc", torch::nn::Linear(sizes.front(), sizes.back()));
  }
  torch::nn::Linear fc{nullptr};
};
TORCH_MODULE(Kept);
struct GrownImpl : torch::nn::Module {
  GrownImpl(std::vector<int64_t> sizes) {
    fc = register_module("fc", torch::nn::Linear(sizes.front(), sizes.back()));
  }
  torch::nn::Linear fc{nullptr};
};
TORCH_MODULE(Grown);
struct TypedImpl : torch::nn::Module {
  TypedImpl() {
    auto like = torch::zeros({2});
    register_buffer("a", torch::zeros({2}, torch::TensorOptions().dtype(readType())));
    register_buffer("b", torch::zeros({2}, torch::dtype(readType())));
    register_buffer("c", torch::zeros({2}, readType()));
    register_buffer("d", like.to(readType()));
    register_buffer("e", torch::zeros_like(like, torch::dtype(readType())));
    register_buffer("f", like.to(torch::zeros({1}, torch::kInt64)));
    register_buffer("g", like.to(torch::Device(torch::kCPU)));
  }
};
TORCH_MODULE(Typed);

void makes() {
  std::vector<int64_t> kept = {2, 3};
  Kept a(kept);
  std::vector<int64_t> grown = {4, 5};
  grown.push_back(6);
  Grown b(grown);
  Typed c;
}
