// Writes into parts of tensors.
#include <torch/torch.h>

using namespace torch;

struct Assigned : nn::Module {
  Tensor forward(Tensor x) {
    Tensor all = torch::zeros({x.size(0), 3});
    for (int64_t i = 0; i < x.size(0); ++i)
      all[i] = fc(x[i]);
    return all;
  }
  nn::Linear fc{register_module("fc", nn::Linear(6, 3))};
};

// Which part it is depends on values; how large it is does not.
struct Added : nn::Module {
  Tensor forward(const Tensor &x) {
    Tensor sums = torch::zeros({5, 3});
    const Tensor y = fc(x);
    const int64_t at = x.argmax().item<int64_t>() % 5;
    if (sums[at].size(0) != 3)
      return sums;
    sums[at] += y[0];
    return sums + y.sum();
  }
  nn::Linear fc{register_module("fc", nn::Linear(6, 3))};
};

// What needs no gradient, and a tensor as a whole.
struct Whole : nn::Module {
  Tensor forward(Tensor x) {
    x[0] = torch::ones({6});
    x.slice(1, 0, 2) *= 2;
    Tensor y = fc(x);
    y += 1;
    return y;
  }
  nn::Linear fc{register_module("fc", nn::Linear(6, 3))};
};

int main() {
  Assigned assigned;
  Added added;
  Whole whole;
}
