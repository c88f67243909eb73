#include "bytes.h"

torch::Tensor unknown(torch::Device device, int64_t rows) {
  return torch::zeros({rows, 1000}).to(device);
}

torch::Tensor small(torch::Device device) {
  return torch::zeros({1000, 10}, torch::kFloat64).to(device);
}

torch::Tensor large(torch::Device device) {
  return torch::zeros({1000, 1000}).to(device);
}

void keep(std::vector<torch::Tensor> &rows) {
  torch::Tensor all = torch::randn({1000, 1000});
  rows.push_back(all[3]);
}

Net net(4096);

torch::Tensor join(int n) {
  torch::Tensor all = torch::zeros({0, 10});
  for (int i = 0; i < n; ++i)
    all = torch::cat({all, torch::ones({100, 10})});
  return all;
}

void evaluate(NetImpl &net, torch::Tensor x, int n) {
  torch::NoGradGuard guard;
  torch::Tensor mask = torch::ones({100, 100}).matmul(torch::ones({100, 20}));
  x = x * mask;
  for (int i = 0; i < n; ++i)
    x = net.fc(x);
}
