// Fine-tuning: the body is frozen, the head is new, images are read from files.

#include <torch/torch.h>

torch::Tensor readImage(const std::string &path); // In another library.

class Folder : public torch::data::Dataset<Folder> {
public:
  explicit Folder(std::vector<std::string> paths) : paths(std::move(paths)) {}
  torch::data::Example<> get(size_t index) override {
    auto image = readImage(paths[index]).permute({2, 0, 1}).to(torch::kFloat) / 255;
    return {image, torch::full({1}, int64_t(index % 2), torch::kLong)};
  }
  torch::optional<size_t> size() const override { return paths.size(); }

private:
  std::vector<std::string> paths;
};

struct BodyImpl : torch::nn::Module {
  BodyImpl()
      : features(torch::nn::Conv2d(torch::nn::Conv2dOptions(3, 32, 3).stride(2)),
                 torch::nn::ReLU(),
                 torch::nn::Conv2d(torch::nn::Conv2dOptions(32, 64, 3).stride(2)),
                 torch::nn::ReLU(), torch::nn::AdaptiveAvgPool2d(1),
                 torch::nn::Flatten()),
        classifier(64, 1000) {
    register_module("features", features);
    register_module("classifier", classifier);
  }
  torch::Tensor forward(torch::Tensor x) {
    return classifier(features->forward(x));
  }
  torch::nn::Sequential features;
  torch::nn::Linear classifier;
};
TORCH_MODULE(Body);

int main(int argc, char **argv) {
  if (argc < 2) {
    std::cerr << "usage: finetune IMAGE...\n";
    return 1;
  }
  Body model;
  if (argc > 2)
    torch::load(model, "body.pt");
  for (auto &p : model->parameters())
    p.set_requires_grad(false);
  model->classifier = model->replace_module("classifier", torch::nn::Linear(64, 2));
  torch::optim::Adam adam(model->classifier->parameters(), 1e-3);
  auto data = Folder(std::vector<std::string>(argv + 1, argv + argc))
                  .map(torch::data::transforms::Stack<>());
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
      std::move(data), 10);
  for (int epoch = 0; epoch < 5; ++epoch)
    for (auto &batch : *loader) {
      auto output = model->forward(batch.data);
      auto loss = torch::nll_loss(torch::log_softmax(output, 1), batch.target.squeeze());
      adam.zero_grad();
      loss.backward();
      adam.step();
    }
}
