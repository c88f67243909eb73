// A trainer whose config is read from a file, by names.
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <torch/torch.h>

struct Config {
  int64_t hidden = 64;
  int64_t layers = 2;
  int64_t batch_size = 16;
  int epochs = 2;
  double lr = 1e-3;
  std::string activation = "relu";

  static Config load(const std::string &path) {
    Config c;
    std::ifstream in(path);
    std::string line;
    std::map<std::string, std::string> values;
    while (std::getline(in, line)) {
      auto eq = line.find('=');
      if (line.empty() || line[0] == '#' || eq == std::string::npos)
        continue;
      values[line.substr(0, eq)] = line.substr(eq + 1);
    }
    if (values.count("hidden"))
      c.hidden = std::stoll(values["hidden"]);
    if (values.count("layers"))
      c.layers = std::stoll(values["layers"]);
    if (values.count("batch_size"))
      c.batch_size = std::stoll(values["batch_size"]);
    if (values.count("epochs"))
      c.epochs = std::stoi(values["epochs"]);
    if (values.count("lr"))
      c.lr = std::stod(values["lr"]);
    if (values.count("activation"))
      c.activation = values["activation"];
    return c;
  }
};

struct MLPImpl : torch::nn::Module {
  explicit MLPImpl(const Config &config) {
    int64_t in = 32;
    for (int64_t i = 0; i < config.layers; ++i) {
      net->push_back(torch::nn::Linear(in, config.hidden));
      if (config.activation == "relu")
        net->push_back(torch::nn::ReLU());
      else if (config.activation == "tanh")
        net->push_back(torch::nn::Tanh());
      else
        throw std::invalid_argument("unknown activation " + config.activation);
      in = config.hidden;
    }
    net->push_back(torch::nn::Linear(in, 10));
    register_module("net", net);
  }
  torch::Tensor forward(torch::Tensor x) {
    return torch::log_softmax(net->forward(x), 1);
  }
  torch::nn::Sequential net;
};
TORCH_MODULE(MLP);

template <typename Model> class Trainer {
public:
  Trainer(Model model, const Config &config)
      : model_(model), config_(config),
        optimizer_(std::make_unique<torch::optim::AdamW>(
            model->parameters(), torch::optim::AdamWOptions(config.lr))) {}
  void fit(const torch::Tensor &x, const torch::Tensor &y) {
    for (int e = 0; e < config_.epochs; ++e) {
      const double loss = run_epoch(x, y);
      std::cout << "epoch " << e << " loss " << loss << " accuracy "
                << evaluate(x, y) << std::endl;
    }
  }
  double evaluate(const torch::Tensor &x, const torch::Tensor &y) {
    torch::NoGradGuard guard;
    model_->eval();
    auto predicted = model_->forward(x).argmax(1);
    model_->train();
    return predicted.eq(y).to(torch::kFloat).mean().template item<double>();
  }

private:
  double run_epoch(const torch::Tensor &x, const torch::Tensor &y) {
    double total = 0;
    const int64_t n = x.size(0);
    auto order = torch::randperm(n);
    for (int64_t start = 0; start < n; start += config_.batch_size) {
      auto index =
          order.slice(0, start, std::min(n, start + config_.batch_size));
      total += train_step(x.index_select(0, index), y.index_select(0, index));
    }
    return total / n;
  }
  double train_step(torch::Tensor x, torch::Tensor y) {
    optimizer_->zero_grad();
    auto loss = torch::nll_loss(model_->forward(x), y);
    loss.backward();
    torch::nn::utils::clip_grad_norm_(model_->parameters(), 1.0);
    optimizer_->step();
    return loss.template item<double>() * x.size(0);
  }
  Model model_;
  Config config_;
  std::unique_ptr<torch::optim::Optimizer> optimizer_;
};

int main(int argc, char **argv) {
  try {
    const Config config = Config::load(argc > 1 ? argv[1] : "train.conf");
    MLP model(config);
    auto x = torch::randn({160, 32});
    auto y = torch::randint(10, {160});
    Trainer<MLP> trainer(model, config);
    trainer.fit(x, y);
  } catch (const c10::Error &e) {
    std::cerr << e.what() << "\n";
    return 1;
  }
}
