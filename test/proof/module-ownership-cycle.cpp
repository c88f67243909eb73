// A layer that refers to the model that it belongs to.
#include "Memory.h"
#include <torch/torch.h>

struct ModelImpl;

struct LayerImpl : torch::nn::Module {
  LayerImpl() { register_module("fc", fc); }
  torch::Tensor forward(torch::Tensor x);
#ifndef FIXED
  std::shared_ptr<ModelImpl> owner;
#else
  std::weak_ptr<ModelImpl> owner;
#endif
  torch::nn::Linear fc{256, 256};
};
TORCH_MODULE(Layer);

struct ModelImpl : torch::nn::Module {
  ModelImpl() { register_module("layer", layer); }
  void connect() {
    layer->owner = std::static_pointer_cast<ModelImpl>(shared_from_this());
  }
  Layer layer;
  double scale = 0.5;
};
TORCH_MODULE(Model);

torch::Tensor LayerImpl::forward(torch::Tensor x) {
#ifndef FIXED
  return fc(x) * owner->scale;
#else
  return fc(x) * owner.lock()->scale;
#endif
}

int main() {
  proof::begin();
  torch::Tensor data = torch::rand({4, 256});
  std::vector<float> results;
  results.reserve(1024);
  proof::Growth growth;
  for (int i = 0; i <= proof::Growth::Last; ++i) {
    Model model;
    model->connect();
    results.push_back(model->layer(data).sum().item<float>());
    growth.endOf(i);
  }
  growth.print("models");
  proof::printBits("results", results);
}
