// An output that is declared before the loop that makes it, and one that is
// kept in a member.
#include "Memory.h"
#include <torch/torch.h>

/// Each activation has 4 MB for 4096 rows.
struct NetImpl : torch::nn::Module {
  NetImpl() {
    register_module("first", first);
    register_module("second", second);
    register_module("third", third);
  }
  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(first(x));
    x = torch::relu(second(x));
    return third(x);
  }
  torch::nn::Linear first{256, 256}, second{256, 256}, third{256, 256};
};
TORCH_MODULE(Net);

float average(Net &net, const torch::Tensor &rows) {
  float sum = 0;
  proof::Span span;
#ifndef FIXED
  torch::Tensor scores;
#endif
  for (int i = 0; i < 5; ++i) {
#ifndef FIXED
    scores = net->forward(rows);
#else
    torch::Tensor scores = net->forward(rows);
#endif
    sum += scores.mean().item<float>();
  }
  span.print("declared before the loop");
  return sum;
}

class Monitor {
public:
  explicit Monitor(Net net) : net(net) {}
  float look(const torch::Tensor &rows) {
#ifndef FIXED
    last = net->forward(rows);
#else
    last = net->forward(rows).detach();
#endif
    return last.max().item<float>();
  }
  int64_t width() const { return last.size(1); }

private:
  Net net;
  torch::Tensor last;
};

int main() {
  proof::begin();
  Net net;
  torch::Tensor rows = torch::randn({4096, 256});
  float sum = average(net, rows);

  Monitor monitor(net);
  proof::Span span;
  float top = monitor.look(rows);
  span.print("kept in a member");
  proof::printBits("sum, maximum and width",
                   {sum, top, static_cast<float>(monitor.width())});
}
