// Models, and what they are given, as programs write them.
#include <torch/torch.h>

struct Config {
  int64_t in = 4;
};

struct NetImpl : torch::nn::Module {
  explicit NetImpl(const Config &c) : fc(c.in, 2) { register_module("fc", fc); }
  torch::Tensor forward(torch::Tensor x) { return fc(x); }
  torch::nn::Linear fc;
};
TORCH_MODULE(Net);

struct WordsImpl : torch::nn::Module {
  WordsImpl() : table(10, 2) { register_module("table", table); }
  torch::Tensor forward(torch::Tensor x) { return table(x); }
  torch::nn::Embedding table;
};
TORCH_MODULE(Words);

struct MadeImpl : torch::nn::Module {
  explicit MadeImpl(int64_t in) : fc(in, 2) { register_module("fc", fc); }
  torch::Tensor forward(torch::Tensor x) { return fc(x); }
  torch::nn::Linear fc;
};
TORCH_MODULE(Made);
Made makeOne(int64_t in) { return Made(in); }

template <class Model> void train(Model &net, int64_t batch, int64_t width) {
  auto x = torch::rand({batch, width});
  for (int i = 0; i < 3; ++i)
    net(x).sum().backward();
}

struct Images : torch::data::datasets::Dataset<Images> {
  torch::data::Example<> get(size_t) override {
    return {torch::rand({3, 8, 8}), torch::zeros({})};
  }
  torch::optional<size_t> size() const override { return 100; }
};

struct LoadedImpl : torch::nn::Module {
  LoadedImpl() : conv(3, 4, 3) { register_module("conv", conv); }
  torch::Tensor forward(torch::Tensor x) { return conv(x); }
  torch::nn::Conv2d conv;
};
TORCH_MODULE(Loaded);

int main(int argc, char **argv) {
  const int64_t batch = argc > 1 ? std::atoi(argv[1]) : 8;
  Config c;
  c.in = 16;
  Net net(c);
  train(net, batch, c.in);
  Words words;
  auto text = torch::randint(0, 10, {batch, 4}, torch::kLong);
  words->forward(text);
  auto made = makeOne(4);
  auto x = torch::rand({batch, 4});
  x = x * 2;
  made->forward(x);
  Loaded loaded;
  auto loader = torch::data::make_data_loader(
      Images().map(torch::data::transforms::Stack<>()), 4);
  for (auto &one : *loader)
    loaded->forward(one.data);
}
