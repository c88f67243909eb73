#ifndef FIXED
// A TorchScript model that is loaded for each image.
#else
// A TorchScript model that is loaded once.
#endif
#include "Memory.h"
#include <sstream>
#include <string>
#include <torch/script.h>
#include <torch/torch.h>
#include <unistd.h>

/// A file with one layer of 1 MB.
void makeFile(const std::string &file) {
  torch::jit::Module module("net");
  module.register_parameter("w", torch::randn({512, 512}), false);
  module.define("def forward(self, x):\n  return torch.mm(x, self.w)\n");
  module.save(file);
}

void predict(const std::string &file) {
  torch::NoGradGuard no_grad;
  std::vector<float> sums;
  torch::Tensor images = torch::randn({20, 1, 512});
  proof::Span span;
#ifdef FIXED
  auto module = torch::jit::load(file);
  module.eval();
#endif
  for (int i = 0; i < images.size(0); ++i) {
#ifndef FIXED
    auto module = torch::jit::load(file);
    module.eval();
#endif
    sums.push_back(module.forward({images[i]}).toTensor().sum().item<float>());
  }
  span.printAllocated("20 images");
  proof::printBits("sums", sums);
}

int main() {
  proof::begin();
  char file[] = "/tmp/load-in-loop-XXXXXX";
  ::close(::mkstemp(file));
  makeFile(file);
  predict(file);
  std::remove(file);
}
