// Saves TorchScript archives, loads them, and prints what is there: "FILE|bytes
// of parameters|of buffers|of those that require gradients|of all tensors".
// With an argument, models are converted to it.

#include "../../proof/Memory.h"
#include "measure.h"
#include <torch/script.h>

namespace jit = torch::jit;
namespace nn = torch::nn;

static jit::Module scripted() {
  jit::Module sub("__torch__.nets.Sub"), net("__torch__.nets.Net");
  const auto weight = torch::randn({4, 8}), large = torch::zeros({10, 10});
  sub.register_parameter("weight", weight, false);
  sub.register_buffer("count", torch::zeros({}, torch::kLong));
  sub.register_buffer("mean", torch::zeros({4}, torch::kDouble));
  sub.register_attribute("cache", c10::TensorType::get(), torch::zeros({100}));
  sub.define(
      "def forward(self, x):\n"
      "  return torch.linear(x, self.weight) + torch.ones_like(x)[:, 0:4]\n");
  net.register_module("a", sub);
  net.register_module("b", sub);
  net.register_parameter("part", large[3], false);
  net.register_parameter("tied", weight, false);
  net.register_attribute("k", c10::IntType::get(), 3);
  net.register_attribute("words", c10::ListType::ofStrings(),
                         c10::List<std::string>({"a", "b"}));
  net.register_attribute(
      "list", c10::ListType::ofTensors(),
      c10::List<torch::Tensor>({torch::ones(7), torch::ones(3, torch::kHalf)}));
  net.define(
      "def forward(self, x):\n  return self.a.forward(x) * self.part[0]\n");
  return net;
}

static void measureFile(const std::string &file, const char *type) {
  const int64_t before = proof::counters().Live;
  jit::Module net = jit::load(file);
  if (type)
    net.to(torch::kBFloat16);
  seen.clear();
  long long parameters = 0, buffers = 0, gradients = 0;
  for (const auto &parameter : net.parameters()) {
    const long long bytes = bytesOf(parameter);
    parameters += bytes;
    gradients += parameter.requires_grad() ? bytes : 0;
  }
  for (const auto &buffer : net.buffers())
    buffers += bytesOf(buffer);
  std::printf("%s|%lld|%lld|%lld|%lld\n", file.c_str(), parameters, buffers,
              gradients,
              static_cast<long long>(proof::counters().Live - before));
}

int main(int argc, char **argv) {
  proof::begin();
  jit::Module net = scripted();
  net.save("scripted.pt");
  net.eval();
  jit::freeze(net).save("frozen.pt");
  nn::Sequential layers(nn::Conv2d(3, 8, 3), nn::BatchNorm2d(8), nn::ReLU(),
                        nn::LSTM(8, 16));
  layers->to(torch::kBFloat16);
  layers->parameters()[0].set_requires_grad(false);
  torch::save(layers, "saved.pt");
  nn::TransformerEncoder encoder(
      nn::TransformerEncoderLayer(nn::TransformerEncoderLayerOptions(16, 2)),
      2);
  torch::save(encoder, "encoder.pt");
  const char *type = argc > 1 ? argv[1] : nullptr;
  measureFile("scripted.pt", type);
  measureFile("frozen.pt", type);
  measureFile("saved.pt", type);
  measureFile("encoder.pt", type);
}
