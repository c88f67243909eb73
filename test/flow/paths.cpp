// RUN: %flow-facts %s -- %torch_flags | %FileCheck %s -implicit-check-not={{.}}

// Paths are joined: what may be consumed on one of them is consumed.

#include <torch/torch.h>

struct NetImpl : torch::nn::Module {
  torch::nn::Linear fc{nullptr};
  NetImpl() { fc = register_module("fc", torch::nn::Linear(4, 4)); }
  torch::Tensor forward(torch::Tensor x) { return fc->forward(x); }
};
TORCH_MODULE(Net);

bool ready();
void print(double);

void conditionalBackward(Net net, torch::Tensor x, bool train) {
  torch::Tensor loss = net->forward(x).sum();
  if (train)
    loss.backward();
  print(loss.item<double>());
}

void branchDetaches(Net net, torch::Tensor x, bool train) {
  torch::Tensor total = torch::zeros({1});
  for (int i = 0; i < 100; ++i) {
    torch::Tensor loss = net->forward(x).sum();
    if (train)
      loss.backward();
    else
      loss = loss.detach();
    total += loss;
  }
}

torch::Tensor earlyReturn(Net net, torch::Tensor x) {
  torch::Tensor y = net->forward(x);
  if (ready())
    return y;
  print(y.sum().item<double>());
  return {};
}

void breakOut(Net net, torch::Tensor x) {
  torch::Tensor last;
  while (true) {
    last = net->forward(x).sum();
    if (ready())
      break;
    if (x.size(0) == 0)
      continue;
    print(last.item<double>());
  }
  last.backward();
}

void gotoOut(Net net, torch::Tensor x) {
  torch::Tensor y;
again:
  y = net->forward(x).sum();
  for (;;) {
    if (ready())
      goto done;
    if (x.size(0) == 0)
      goto again;
  }
done:
  y.backward();
}

void gotoNobody(Net net, torch::Tensor x) {
  torch::Tensor y;
again:
  y = net->forward(x).sum();
  print(y.item<double>());
  if (ready())
    goto again;
}

void switched(Net net, torch::Tensor x, int kind) {
  torch::Tensor y = net->forward(x).sum();
  switch (kind) {
  case 0:
    y.backward();
    break;
  case 1:
    y = y.detach();
    [[fallthrough]];
  default:
    print(y.item<double>());
  }
}

void guardOnOnePath(Net net, torch::Tensor x, bool quiet) {
  std::unique_ptr<torch::NoGradGuard> guard;
  if (quiet)
    torch::GradMode::set_enabled(false);
  torch::Tensor y = net->forward(x).sum();
  print(y.item<double>());
}

void doWhile(Net net, torch::Tensor x) {
  torch::Tensor state = torch::zeros({4});
  do {
    state = net->forward(state);
    print(state.sum().item<double>());
  } while (!ready());
}

void thrown(Net net, torch::Tensor x) {
  torch::Tensor y;
  try {
    y = net->forward(x).sum();
    if (ready())
      throw std::runtime_error("not yet");
  } catch (const std::exception &) {
    y.backward();
  }
}

// CHECK: {{^}}9: function NetImpl::NetImpl
// CHECK-NEXT: {{^}}10: function NetImpl::forward
// CHECK-NEXT: {{^}}10:   entry of x -> returned
// CHECK-NEXT: {{^}}10:   forward -> returned
// CHECK-NEXT: {{^}}17: function conditionalBackward, trains
// CHECK-NEXT: {{^}}17:   entry of x -> backward
// CHECK-NEXT: {{^}}18:   forward -> backward
// CHECK-NEXT: {{^}}24: function branchDetaches, trains
// CHECK-NEXT: {{^}}24:   entry of x -> backward
// CHECK-NEXT: {{^}}27:   forward -> backward
// CHECK-NEXT: {{^}}32:   accumulates into total, in place, mode on, entry of x, forward of line 27
// CHECK-NEXT: {{^}}32:   carried in total -> nobody
// CHECK-NEXT: {{^}}36: function earlyReturn
// CHECK-NEXT: {{^}}36:   entry of x -> returned
// CHECK-NEXT: {{^}}37:   forward -> returned
// CHECK-NEXT: {{^}}44: function breakOut, trains
// CHECK-NEXT: {{^}}44:   entry of x -> backward
// CHECK-NEXT: {{^}}47:   carried in last -> backward
// CHECK-NEXT: {{^}}47:   forward -> backward
// CHECK-NEXT: {{^}}57: function gotoOut, trains
// CHECK-NEXT: {{^}}57:   entry of x -> backward
// CHECK-NEXT: {{^}}60:   forward -> backward
// CHECK-NEXT: {{^}}71: function gotoNobody
// CHECK-NEXT: {{^}}74:   forward -> nobody
// CHECK-NEXT: {{^}}80: function switched, trains
// CHECK-NEXT: {{^}}80:   entry of x -> backward
// CHECK-NEXT: {{^}}81:   forward -> backward
// CHECK-NEXT: {{^}}94: function guardOnOnePath, leaves gradients unknown
// CHECK-NEXT: {{^}}102: function doWhile
// CHECK-NEXT: {{^}}105:   accumulates into state, rebinds, mode on, forward of line 105
// CHECK-NEXT: {{^}}105:   carried in state -> nobody
// CHECK-NEXT: {{^}}105:   forward -> nobody
// CHECK-NEXT: {{^}}110: function thrown, trains
// CHECK-NEXT: {{^}}110:   entry of x -> backward
// CHECK-NEXT: {{^}}113:   forward -> backward
