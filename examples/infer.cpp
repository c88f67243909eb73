#include "tasks.h"

#include <sstream>

std::string export_scorer() {
  torch::jit::Module scorer("Scorer");
  scorer.register_parameter("weight", 0.1 * torch::randn({kWindow, kClasses}),
                            /*is_buffer=*/false);
  scorer.register_parameter("bias", torch::zeros({kClasses}),
                            /*is_buffer=*/false);
  scorer.define(R"(
    def forward(self, windows):
        return torch.softmax(torch.matmul(windows, self.weight) + self.bias, -1)
  )");
  std::ostringstream bytes;
  scorer.save(bytes);
  return bytes.str();
}

static torch::jit::Module load(const std::string &bytes) {
  std::istringstream stream(bytes);
  auto module = torch::jit::load(stream);
  module.eval();
  return module;
}

std::vector<double> score(const std::string &bytes,
                          const torch::Tensor &windows) {
  auto scorer = load(bytes);
  std::vector<double> scores;
  for (const auto &batch : windows.split(64)) {
    // seeded: libtorch-inference-without-no-grad
    auto output = scorer.forward({batch}).toTensor();
    scores.push_back(output.max().item<double>());
  }
  return scores;
}

std::vector<double> score_guarded(const std::string &bytes,
                                  const torch::Tensor &windows) {
  c10::InferenceMode guard;
  auto scorer = load(bytes);
  std::vector<double> scores;
  for (const auto &batch : windows.split(64)) {
    // look-alike: the same call in inference mode.
    auto output = scorer.forward({batch}).toTensor();
    scores.push_back(output.max().item<double>());
  }
  return scores;
}

torch::Tensor saliency(WindowNet &net, const torch::Tensor &window) {
  net->eval();
  auto input = window.detach().clone().set_requires_grad(true);
  // look-alike: evaluation, but the gradient of the input is what is asked for.
  auto top = std::get<0>(net(input).max(1)).sum();
  return torch::autograd::grad({top}, {input})[0].abs();
}
