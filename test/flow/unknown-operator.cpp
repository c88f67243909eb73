// An operator that no table knows is as unknown as a function of another file.
// RUN: %flow-facts %s -- %torch_flags -isystem %S/Inputs/later | %FileCheck %s -implicit-check-not={{.}}

#include <ATen/later.h>
#include <torch/torch.h>

torch::Tensor elsewhere(const torch::Tensor &, const torch::Tensor &);

void ofLibrary(torch::nn::Linear net, torch::Tensor x) {
  torch::Tensor total = torch::zeros({1});
  for (int i = 0; i < 100; ++i)
    total = at::blend_later(total, net(x));
}

void ofAnotherFile(torch::nn::Linear net, torch::Tensor x) {
  torch::Tensor total = torch::zeros({1});
  for (int i = 0; i < 100; ++i)
    total = elsewhere(total, net(x));
}

void known(torch::nn::Linear net, torch::Tensor x) {
  torch::Tensor total = torch::zeros({1});
  for (int i = 0; i < 100; ++i)
    total = at::add(total, net(x));
}

// CHECK: 9: function ofLibrary
// CHECK-NEXT: 9: entry of x -> computed
// CHECK-NEXT: 12: accumulates into total, rebinds, mode on, unknown, entry of x, forward of line 12
// CHECK-NEXT: 12: carried in total -> computed
// CHECK-NEXT: 12: forward -> computed
// CHECK-NEXT: 15: function ofAnotherFile
// CHECK-NEXT: 15: entry of x -> computed
// CHECK-NEXT: 18: accumulates into total, rebinds, mode on, unknown, entry of x, forward of line 18
// CHECK-NEXT: 18: carried in total -> computed
// CHECK-NEXT: 18: forward -> computed
// CHECK-NEXT: 21: function known
// CHECK-NEXT: 24: accumulates into total, rebinds, mode on, entry of x, forward of line 24
// CHECK-NEXT: 24: carried in total -> nobody
// CHECK-NEXT: 24: forward -> nobody
