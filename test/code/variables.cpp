// RUN: %code-facts %s -- %torch_flags | %FileCheck %s -implicit-check-not={{.}}

// What a variable is given, where a value comes from, what surrounds it.

#include <functional>
#include <map>
#include <torch/torch.h>

void ask(torch::Tensor);
void take(torch::Tensor &);

void chased(torch::Tensor x) {
  torch::Tensor y = x.relu();
  torch::Tensor &alias = y;
  auto moved = std::move(alias);
  ask(moved);
}

void assigned(torch::Tensor x, bool which) {
  torch::Tensor y;
  if (which)
    y = x + 1;
  else
    y = x - 1;
  ask(y);
  y.reset();
}

void escapes(torch::Tensor x) {
  torch::Tensor y = x;
  take(y);
  y = x.exp();
  int count = 0;
  count += 1;
}

void loops(std::vector<torch::Tensor> xs) {
  for (int i = 0; i < 3; ++i)
    for (auto &x : xs) {
      torch::Tensor first = x;
      if (i == 0)
        ask(first);
    }
  int n = 9;
  while (n > 0)
    n = n / 2;
}

// CHECK: {{^}}12: function chased
