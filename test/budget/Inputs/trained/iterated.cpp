// A loader that is iterated by hand.
// budget: --optimizer=sgd-momentum
#include <iostream>
#include <torch/torch.h>

class Spirals : public torch::data::datasets::Dataset<Spirals> {
public:
  explicit Spirals(size_t count)
      : data_(torch::randn({static_cast<int64_t>(count), 3, 24, 24})),
        targets_(torch::randint(0, 5, {static_cast<int64_t>(count)},
                                torch::kLong)) {}
  torch::data::Example<> get(size_t index) override {
    return {data_[index], targets_[index]};
  }
  torch::optional<size_t> size() const override { return data_.size(0); }

private:
  torch::Tensor data_, targets_;
};

struct ConvBlockImpl : torch::nn::Module {
  ConvBlockImpl(int64_t in, int64_t out)
      : conv(torch::nn::Conv2dOptions(in, out, 3).padding(1).bias(false)),
        bn(out) {
    register_module("conv", conv);
    register_module("bn", bn);
  }
  torch::Tensor forward(torch::Tensor x) {
    return torch::max_pool2d(torch::relu(bn(conv(x))), 2);
  }
  torch::nn::Conv2d conv;
  torch::nn::BatchNorm2d bn;
};
TORCH_MODULE(ConvBlock);

struct NetImpl : torch::nn::Module {
  NetImpl() {
    for (int64_t c : {3, 8, 16})
      blocks->push_back(ConvBlock(c, c == 3 ? 8 : 2 * c));
    register_module("blocks", blocks);
    fc = register_module("fc", torch::nn::Linear(32 * 3 * 3, 5));
  }
  torch::Tensor forward(torch::Tensor x) {
    for (const auto &b : *blocks)
      x = b->as<ConvBlock>()->forward(x);
    return fc(x.flatten(1));
  }
  torch::nn::ModuleList blocks;
  torch::nn::Linear fc{nullptr};
};
TORCH_MODULE(Net);

int main() {
  auto train_set = Spirals(100)
                       .map(torch::data::transforms::Normalize<>(0.5, 0.5))
                       .map(torch::data::transforms::Stack<>());
  auto loader =
      torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
          std::move(train_set),
          torch::data::DataLoaderOptions().batch_size(20));
  Net net;
  torch::optim::SGD optimizer(net->parameters(),
                              torch::optim::SGDOptions(0.01).momentum(0.9));
  torch::nn::CrossEntropyLoss criterion;
  for (size_t epoch = 0; epoch < 2; ++epoch) {
    double running = 0;
    size_t n = 0;
    for (auto it = loader->begin(); it != loader->end(); ++it) {
      auto &batch = *it;
      auto data = batch.data;
      auto target = batch.target;
      optimizer.zero_grad();
      auto out = net->forward(data);
      auto loss = criterion(out, target);
      loss.backward();
      optimizer.step();
      running += loss.item<double>();
      ++n;
    }
    std::cout << running / n << "\n";
  }
  return 0;
}
