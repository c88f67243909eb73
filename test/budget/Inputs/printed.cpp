// A model is made with options that have a constructor and setters.
#include <torch/torch.h>

struct NetOptions {
  NetOptions(int64_t in) : in_(in) {}
  TORCH_ARG(int64_t, in);
  TORCH_ARG(int64_t, width) = 32;
  TORCH_ARG(std::string, name) = "net";
};

struct NetImpl : torch::nn::Module {
  explicit NetImpl(const NetOptions &options)
      : fc(options.in(), options.width()) {
    register_module(options.name(), fc);
  }
  torch::Tensor forward(torch::Tensor x) { return fc(x); }
  torch::nn::Linear fc;
};
TORCH_MODULE(Net);

int main() { Net net(NetOptions(8).width(64)); }
