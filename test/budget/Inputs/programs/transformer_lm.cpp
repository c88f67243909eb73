// A language model over random tokens; its sizes come from the command line.

#include <cmath>
#include <torch/torch.h>

struct Config {
  int64_t vocabulary, width, heads, layers, context;
};

struct TransformerLmImpl : torch::nn::Module {
  explicit TransformerLmImpl(const Config &c)
      : config(c), tokens(c.vocabulary, c.width), positions(c.context, c.width),
        encoder(torch::nn::TransformerEncoderLayer(
                    torch::nn::TransformerEncoderLayerOptions(c.width, c.heads)
                        .dim_feedforward(4 * c.width)
                        .dropout(0.1)),
                c.layers),
        head(torch::nn::LinearOptions(c.width, c.vocabulary).bias(false)) {
    register_module("tokens", tokens);
    register_module("positions", positions);
    register_module("encoder", encoder);
    register_module("head", head);
  }
  torch::Tensor forward(const torch::Tensor &x) {
    const auto length = x.size(1);
    auto place = torch::arange(length, torch::kLong);
    auto h = tokens(x) * std::sqrt(double(config.width)) + positions(place);
    auto mask = torch::full({length, length}, -1e9).triu(1);
    h = encoder(h.transpose(0, 1), mask);
    return head(h.transpose(0, 1));
  }
  Config config;
  torch::nn::Embedding tokens, positions;
  torch::nn::TransformerEncoder encoder;
  torch::nn::Linear head;
};
TORCH_MODULE(TransformerLm);

Config parse(int argc, char **argv) {
  Config config;
  config.vocabulary = 1000;
  config.width = argc > 1 ? std::atoi(argv[1]) : 64;
  config.heads = 4;
  config.layers = 2;
  config.context = 32;
  for (int i = 2; i < argc; ++i) {
    const std::string text = argv[i];
    if (text.rfind("--layers=", 0) == 0)
      config.layers = std::stoi(text.substr(9));
    else
      throw std::invalid_argument(text);
  }
  return config;
}

int main(int argc, char **argv) {
  const Config config = parse(argc, argv);
  TransformerLm model(config);
  torch::optim::AdamW adam(model->parameters(), torch::optim::AdamWOptions(3e-4));
  model->train();
  for (int step = 0; step < 100; ++step) {
    auto tokens = torch::randint(config.vocabulary, {16, config.context + 1},
                                 torch::TensorOptions().dtype(torch::kInt64));
    auto x = tokens.slice(1, 0, config.context);
    auto y = tokens.slice(1, 1);
    auto logits = model(x);
    auto loss = torch::nn::functional::cross_entropy(
        logits.view({-1, config.vocabulary}), y.reshape({-1}));
    adam.zero_grad();
    loss.backward();
    adam.step();
  }
}
