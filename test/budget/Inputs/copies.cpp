// What one operation copies or compares grows with each round.

#include <torch/torch.h>

using torch::Tensor, torch::nn::Linear, torch::nn::Module;

struct MapImpl : Module {
  MapImpl() {
    std::map<std::string, int> all;
    int sum = 0;
    for (int i = 0; i < 40000; ++i) {
      all["k" + std::to_string(i)] = i;
      sum += all["k" + std::to_string(i)];
    }
    register_module("a", Linear(3, sum));
  }
};
TORCH_MODULE(Map);

struct SmallMapImpl : Module {
  SmallMapImpl() {
    std::map<std::string, int> all;
    for (int i = 0; i < 1000; ++i)
      all["k" + std::to_string(i)] = 1;
    register_module("a", Linear(3, all["k999"]));
  }
};
TORCH_MODULE(SmallMap);

struct NamesImpl : Module {
  NamesImpl() {
    std::string name;
    for (int i = 0; i < 30000; ++i) {
      name += "abcdefgh";
      register_module(std::to_string(i), Linear(1, 1));
    }
  }
};
TORCH_MODULE(Names);

struct AllBeforeImpl : Module {
  Tensor forward(Tensor x) {
    std::vector<Tensor> all;
    for (int i = 0; i < 3000; ++i) {
      all.push_back(x);
      x = torch::cat(all).mean(0, true);
    }
    return x;
  }
};
TORCH_MODULE(AllBefore);

struct DimensionsImpl : Module {
  Tensor forward(Tensor x) {
    for (int i = 0; i < 30000; ++i)
      x = x.unsqueeze(0);
    return x;
  }
};
TORCH_MODULE(Dimensions);
