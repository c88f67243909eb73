#include "step.h"

// pow() of two types: its figures are a bound.
struct Power : torch::nn::Module {
  Power() { weight = register_parameter("weight", torch::rand({40, 50})); }
  torch::Tensor forward(torch::Tensor x) {
    return torch::pow(weight,
                      x.to(torch::kBFloat16) * weight.to(torch::kBFloat16));
  }
  torch::Tensor weight;
};

int main() {
  steps::begin();
  STEP(std::make_shared<Power>(), "40x50", torch::rand({40, 50}));
}
