// A residual network, and a class that trains any model.

#include <torch/torch.h>

struct BlockImpl : torch::nn::Module {
  BlockImpl(int64_t in, int64_t out, int64_t stride)
      : conv1(torch::nn::Conv2dOptions(in, out, 3).stride(stride).padding(1).bias(false)),
        bn1(out),
        conv2(torch::nn::Conv2dOptions(out, out, 3).padding(1).bias(false)),
        bn2(out) {
    register_module("conv1", conv1);
    register_module("bn1", bn1);
    register_module("conv2", conv2);
    register_module("bn2", bn2);
    if (stride != 1 || in != out)
      shortcut = register_module(
          "shortcut",
          torch::nn::Sequential(
              torch::nn::Conv2d(torch::nn::Conv2dOptions(in, out, 1).stride(stride).bias(false)),
              torch::nn::BatchNorm2d(out)));
  }
  torch::Tensor forward(torch::Tensor x) {
    auto y = torch::relu(bn1(conv1(x)));
    y = bn2(conv2(y));
    y += shortcut.is_empty() ? x : shortcut->forward(x);
    return torch::relu(y);
  }
  torch::nn::Conv2d conv1;
  torch::nn::BatchNorm2d bn1;
  torch::nn::Conv2d conv2;
  torch::nn::BatchNorm2d bn2;
  torch::nn::Sequential shortcut{nullptr};
};
TORCH_MODULE(Block);

struct ResNetImpl : torch::nn::Module {
  ResNetImpl(std::vector<int64_t> blocks, int64_t classes) : fc(64, classes) {
    layers = torch::nn::Sequential();
    layers->push_back(torch::nn::Conv2d(torch::nn::Conv2dOptions(3, 16, 3).padding(1)));
    int64_t in = 16, out = 16;
    for (const auto count : blocks) {
      for (int64_t i = 0; i < count; ++i) {
        layers->push_back(Block(in, out, i == 0 && out != 16 ? 2 : 1));
        in = out;
      }
      out *= 2;
    }
    register_module("layers", layers);
    register_module("fc", fc);
  }
  torch::Tensor forward(torch::Tensor x) {
    x = layers->forward(x);
    return fc(torch::adaptive_avg_pool2d(x, {1, 1}).flatten(1));
  }
  torch::nn::Sequential layers{nullptr};
  torch::nn::Linear fc;
};
TORCH_MODULE(ResNet);

struct TrainConfig {
  int64_t batch_size = 16;
  int64_t image = 32;
  int64_t epochs = 1;
  double rate = 0.1;
};

template <typename Model> class Trainer {
public:
  Trainer(Model model, TrainConfig config)
      : model(std::move(model)), config(config),
        optimizer(this->model->parameters(),
                  torch::optim::SGDOptions(config.rate).momentum(0.9)) {}

  void fit(int64_t steps) {
    model->train();
    for (int64_t step = 0; step < steps; ++step)
      std::printf("%f\n", trainStep(nextBatch()));
  }

private:
  std::pair<torch::Tensor, torch::Tensor> nextBatch() {
    return {torch::rand({config.batch_size, 3, config.image, config.image}),
            torch::randint(0, 10, {config.batch_size}, torch::kLong)};
  }
  double trainStep(const std::pair<torch::Tensor, torch::Tensor> &batch) {
    optimizer.zero_grad();
    auto logits = model(batch.first);
    auto loss = criterion(logits, batch.second);
    loss.backward();
    optimizer.step();
    return loss.template item<double>();
  }
  Model model;
  TrainConfig config;
  torch::optim::SGD optimizer;
  torch::nn::CrossEntropyLoss criterion;
};

int main() {
  ResNet net(std::vector<int64_t>{2, 2, 2}, 10);
  TrainConfig config;
  config.batch_size = 8;
  Trainer<ResNet> trainer(net, config);
  trainer.fit(3);
}
