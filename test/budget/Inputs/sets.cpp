// What data sets and samplers hold counts around a step.
#include "peak.h"

using namespace torch;

struct Points : data::datasets::Dataset<Points> {
  explicit Points(int64_t count)
      : at(torch::rand({count, 12})), of(torch::rand({count, 1})) {}
  data::Example<> get(size_t i) override { return {at[i], of[i]}; }
  optional<size_t> size() const override { return at.size(0); }
  Tensor at, of;
};

struct NetImpl : nn::Module {
  NetImpl() { register_module("layers", layers); }
  Tensor forward(Tensor x) { return layers->forward(x); }
  nn::Sequential layers{nn::Linear(12, 40), nn::ReLU(), nn::Linear(40, 1)};
};
TORCH_MODULE(Net);

int main() {
  Net net;
  optim::SGD sgd(net->parameters(), 0.1);
  auto loader = data::make_data_loader(
      Points(3000).map(data::transforms::Stack<>()), 100);
  auto others = data::make_data_loader<data::samplers::SequentialSampler>(
      Points(500).map(data::transforms::Stack<>()),
      data::DataLoaderOptions().batch_size(50));
  for (auto &batch : *loader) {
    sgd.zero_grad();
    Tensor loss = mse_loss(net(batch.data), batch.target);
    loss.backward();
    sgd.step();
  }
}
