// Inputs that a program passes, and forward()s that take more than tensors.

#include <torch/torch.h>

struct NetImpl : torch::nn::Module {
  explicit NetImpl(int64_t classes) : conv(3, 8, 3), fc(8, classes) {
    register_module("conv", conv);
    register_module("fc", fc);
  }
  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(conv->forward(x));
    return fc->forward(x.mean({2, 3}));
  }
  torch::nn::Conv2d conv;
  torch::nn::Linear fc;
};
TORCH_MODULE(Net);

struct Pair {
  torch::Tensor image;
  std::vector<torch::Tensor> levels;
  int64_t scale = 1;
};

struct FusionImpl : torch::nn::Module {
  FusionImpl() : fc(4, 2) { register_module("fc", fc); }
  torch::Tensor forward(const Pair &pair, bool twice,
                        std::tuple<torch::Tensor, int64_t> state,
                        torch::optional<torch::Tensor> mask = {}) {
    torch::Tensor sum = fc->forward(pair.image) * pair.scale;
    for (const auto &level : pair.levels)
      sum = sum + fc->forward(level);
    if (twice)
      sum = sum + sum;
    for (int64_t i = 0; i < std::get<1>(state); ++i)
      sum = sum * std::get<0>(state);
    return mask ? sum * *mask : sum;
  }
  torch::nn::Linear fc;
};
TORCH_MODULE(Fusion);

// Other ways to pass.
struct CalledImpl : torch::nn::Module {
  CalledImpl() : fc(4, 2) { register_module("fc", fc); }
  torch::Tensor forward(torch::Tensor x, double scale) { return fc(x) * scale; }
  torch::nn::Linear fc;
};
TORCH_MODULE(Called);

struct Shared : torch::nn::Module {
  Shared() : fc(4, 2) { register_module("fc", fc); }
  torch::Tensor forward(const Pair &pair) { return fc(pair.image); }
  torch::nn::Linear fc;
};

// What it is given is not known.
struct UnknownImpl : torch::nn::Module {
  UnknownImpl() : fc(4, 2) { register_module("fc", fc); }
  torch::Tensor forward(torch::Tensor x) { return fc(x); }
  torch::nn::Linear fc;
};
TORCH_MODULE(Unknown);

torch::Tensor readImage();

int main() {
  const int64_t batch = 16;
  Net net(10);
  const auto options = torch::TensorOptions().dtype(torch::kFloat32);
  for (int i = 0; i < 3; ++i) {
    auto images = torch::rand({batch, 3, 32, 32}, options).to(torch::kCPU);
    net->forward(images).sum().backward();
  }
  torch::NoGradGuard guard;
  Called called;
  called(torch::ones({5, 4}), 0.5);
  auto shared = std::make_shared<Shared>();
  Pair pair{torch::zeros({7, 4}), {}, 2};
  shared->forward(pair);
  Unknown unknown;
  unknown->forward(readImage());
  auto changed = torch::zeros({7, 4});
  changed = readImage();
  unknown->forward(changed);
  Fusion fusion;
}
