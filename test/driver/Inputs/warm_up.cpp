#include <torch/torch.h>
#include <torch/script.h>
#include <string>

class Server {
public:
  explicit Server(const std::string &path) : model(torch::jit::load(path)) {
    model.eval();
    model.forward({torch::zeros({1, 3})});
  }
  double handle(const torch::Tensor &x) {
    return model.forward({x}).toTensor().sum().item<double>();
  }
  double retry(const torch::Tensor &x) {
    try {
      return model.forward({x}).toTensor().sum().item<double>();
    } catch (const c10::Error &) {
      return model.forward({x.slice(0, 0, 1)}).toTensor().sum().item<double>();
    }
  }

private:
  torch::jit::Module model;
};
