// Segmentation: an own data set with images of one size, a list of modules, a
// loss of its own.

#include <torch/torch.h>

class Shapes : public torch::data::Dataset<Shapes> {
public:
  explicit Shapes(int64_t count, int64_t size = 64) : count(count), size_(size) {}
  torch::data::Example<> get(size_t index) override {
    auto image = torch::rand({3, size_, size_});
    auto mask = (image.mean(0, true) > 0.5).to(torch::kFloat32);
    return {image, mask};
  }
  torch::optional<size_t> size() const override { return count; }

private:
  int64_t count, size_;
};

torch::nn::Sequential twice(int64_t in, int64_t out) {
  torch::nn::Sequential seq;
  seq->push_back(torch::nn::Conv2d(torch::nn::Conv2dOptions(in, out, 3).padding(1)));
  seq->push_back(torch::nn::BatchNorm2d(out));
  seq->push_back(torch::nn::ReLU(torch::nn::ReLUOptions(true)));
  seq->push_back(torch::nn::Conv2d(torch::nn::Conv2dOptions(out, out, 3).padding(1)));
  seq->push_back(torch::nn::ReLU());
  return seq;
}

struct UNetImpl : torch::nn::Module {
  UNetImpl(std::vector<int64_t> widths) {
    int64_t in = 3;
    for (const auto w : widths) {
      down->push_back(twice(in, w));
      in = w;
    }
    for (size_t i = widths.size() - 1; i > 0; --i) {
      up->push_back(torch::nn::ConvTranspose2d(
          torch::nn::ConvTranspose2dOptions(widths[i], widths[i - 1], 2).stride(2)));
      merge->push_back(twice(2 * widths[i - 1], widths[i - 1]));
    }
    register_module("down", down);
    register_module("up", up);
    register_module("merge", merge);
    last = register_module("last", torch::nn::Conv2d(torch::nn::Conv2dOptions(widths[0], 1, 1)));
  }
  torch::Tensor forward(torch::Tensor x) {
    std::vector<torch::Tensor> skips;
    for (size_t i = 0; i < down->size(); ++i) {
      if (i > 0)
        x = torch::max_pool2d(x, 2);
      x = down[i]->as<torch::nn::Sequential>()->forward(x);
      skips.push_back(x);
    }
    skips.pop_back();
    for (size_t i = 0; i < up->size(); ++i) {
      x = up[i]->as<torch::nn::ConvTranspose2d>()->forward(x);
      x = torch::cat({skips.back(), x}, 1);
      skips.pop_back();
      x = merge[i]->as<torch::nn::Sequential>()->forward(x);
    }
    return last(x);
  }
  torch::nn::ModuleList down, up, merge;
  torch::nn::Conv2d last{nullptr};
};
TORCH_MODULE(UNet);

torch::Tensor diceLoss(const torch::Tensor &logits, const torch::Tensor &target) {
  auto p = torch::sigmoid(logits);
  auto overlap = (p * target).sum({1, 2, 3});
  auto all = p.sum({1, 2, 3}) + target.sum({1, 2, 3});
  return 1 - ((2 * overlap + 1) / (all + 1)).mean();
}

int main() {
  auto set = Shapes(256, 64).map(torch::data::transforms::Stack<>());
  auto loader = torch::data::make_data_loader(
      std::move(set), torch::data::DataLoaderOptions().batch_size(4).workers(1));
  UNet net(std::vector<int64_t>{16, 32, 64});
  torch::optim::RMSprop optimizer(net->parameters(), 1e-4);
  for (int epoch = 0; epoch < 2; ++epoch)
    for (auto &batch : *loader) {
      auto logits = net->forward(batch.data);
      auto loss = torch::binary_cross_entropy_with_logits(logits, batch.target) +
                  diceLoss(logits, batch.target);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
    }
}
