// What it does is an argument, or stands in a file.
// budget: --optimizer=adam
#include <fstream>
#include <iostream>
#include <string>
#include <torch/torch.h>

struct RegressorImpl : torch::nn::Module {
  RegressorImpl(int64_t in, int64_t width) : first(in, width), last(width, 1) {
    register_module("first", first);
    register_module("last", last);
  }
  torch::Tensor forward(torch::Tensor x) { return last(torch::relu(first(x))); }
  torch::nn::Linear first, last;
};
TORCH_MODULE(Regressor);

void evaluate(Regressor &net) {
  torch::NoGradGuard guard;
  std::cout << net->forward(torch::rand({16, 8})).mean() << "\n";
}

void train(Regressor &net) {
  torch::optim::Adam optimizer(net->parameters(), 1e-3);
  for (int i = 0; i < 3; ++i) {
    optimizer.zero_grad();
    auto loss = net->forward(torch::rand({64, 8})).pow(2).mean();
    loss.backward();
    optimizer.step();
  }
}

static std::string modeOf(const char *file) {
  std::ifstream stream(file);
  std::string mode = "train";
  stream >> mode;
  return mode;
}

int main() {
  Regressor net(8, 128);
  const std::string mode = modeOf("mode.txt");
  if (mode == "evaluate") {
    evaluate(net);
    return 0;
  } else if (mode == "train") {
    train(net);
  } else {
    std::cerr << "unknown mode " << mode << "\n";
    return 1;
  }
  evaluate(net);
  return 0;
}
