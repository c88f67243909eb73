// RUN: %flow-facts %s -- %torch_flags | %FileCheck %s -implicit-check-not={{.}}

// Where values live: members, fields, pointees, elements, tuples, bindings.

#include <deque>
#include <map>
#include <torch/torch.h>

struct NetImpl : torch::nn::Module {
  torch::nn::Linear fc{nullptr};
  NetImpl() { fc = register_module("fc", torch::nn::Linear(4, 4)); }
  torch::Tensor forward(torch::Tensor x) { return fc->forward(x); }
};
TORCH_MODULE(Net);

void print(double);

struct Step {
  torch::Tensor logProb, value;
  double reward = 0;
};

void fieldOfStruct(Net net, torch::Tensor x) {
  Step step;
  step.logProb = net->forward(x).sum();
  step.value = net->forward(x).sum();
  step.logProb.backward();
  print(step.value.item<double>());
}

void vectorOfStructs(Net net, torch::Tensor x) {
  std::vector<Step> steps;
  for (int i = 0; i < 100; ++i) {
    Step step{net->forward(x).sum(), net->forward(x).sum().detach(), 0.5};
    steps.push_back(step);
  }
}

void throughPointer(Net net, torch::Tensor x, Step *step) {
  step->value = net->forward(x);
}

void pointeeOfLocal(Net net, torch::Tensor x) {
  torch::Tensor y;
  torch::Tensor *p = &y;
  *p = net->forward(x).sum();
  y.backward();
}

void reference(Net net, torch::Tensor x) {
  std::map<int, torch::Tensor> losses;
  torch::Tensor &slot = losses[0];
  slot = net->forward(x).sum();
  losses.at(0).backward();
}

std::tuple<torch::Tensor, torch::Tensor> both(Net net, torch::Tensor x) {
  torch::Tensor y = net->forward(x);
  return {y, y.detach()};
}

void tied(Net net, torch::Tensor x) {
  torch::Tensor a, b;
  std::tie(a, b) = both(net, x);
  print(a.sum().item<double>());
  b.sum().backward();
}

void bound(Net net, torch::Tensor x) {
  auto [a, b] = both(net, x);
  print(b.sum().item<double>());
  a.sum().backward();
}

void pairs(Net net, torch::Tensor x) {
  std::pair<torch::Tensor, torch::Tensor> p{net->forward(x).sum(), x};
  p.first.backward();
  auto q = std::make_pair(net->forward(x).sum(), x);
  q.second.backward();
}

Step made(Net net, torch::Tensor x) {
  Step step;
  step.value = net->forward(x).sum();
  return step;
}

void structReturned(Net net, torch::Tensor x) {
  Step step = made(net, x);
  step.logProb.backward();
  print(step.value.item<double>());
}

void slotWrite(Net net, torch::Tensor x) {
  torch::Tensor buffer = torch::zeros({100});
  torch::Tensor view = buffer;
  for (int i = 0; i < 100; ++i)
    buffer[i] = net->forward(x).sum();
}

void rebinding(Net net, torch::Tensor x) {
  torch::Tensor last = torch::zeros({1});
  for (int i = 0; i < 100; ++i)
    last = net->forward(x).sum();
}

void elements(Net net, torch::Tensor x) {
  std::vector<torch::Tensor> slots(8);
  for (int i = 0; i < 100; ++i)
    slots[i % 8] = net->forward(x);
}

void window(Net net, torch::Tensor x) {
  std::deque<torch::Tensor> recent;
  for (int i = 0; i < 100; ++i) {
    recent.push_back(net->forward(x));
    if (recent.size() > 4)
      recent.pop_front();
  }
}

class Agent {
public:
  void act(torch::Tensor x) { this->values.push_back(net->forward(x)); }
  void learn() { torch::stack(values).sum().backward(); }
  void look(torch::Tensor x) { seen += net->forward(x).sum(); }

private:
  Net net;
  std::vector<torch::Tensor> values;
  torch::Tensor seen = torch::zeros({1});
};

// CHECK: {{^}}11: function NetImpl::NetImpl
// CHECK-NEXT: {{^}}12: function NetImpl::forward
// CHECK-NEXT: {{^}}12:   entry of x -> returned
// CHECK-NEXT: {{^}}12:   forward -> returned
// CHECK-NEXT: {{^}}23: function fieldOfStruct, trains
// CHECK-NEXT: {{^}}23:   entry of x -> backward
// CHECK-NEXT: {{^}}25:   forward -> backward
// CHECK-NEXT: {{^}}26:   forward -> nobody
// CHECK-NEXT: {{^}}31: function vectorOfStructs
// CHECK-NEXT: {{^}}34:   forward -> nobody
// CHECK-NEXT: {{^}}34:   forward -> nobody
// CHECK-NEXT: {{^}}35:   accumulates into steps, contains, mode on, entry of x, forward of line 34
// CHECK-NEXT: {{^}}35:   carried in steps -> nobody
// CHECK-NEXT: {{^}}39: function throughPointer
// CHECK-NEXT: {{^}}39:   entry of x -> stored
// CHECK-NEXT: {{^}}40:   carried in step->value -> stored
// CHECK-NEXT: {{^}}40:   forward -> stored
// CHECK-NEXT: {{^}}43: function pointeeOfLocal, trains
// CHECK-NEXT: {{^}}43:   entry of x -> backward
// CHECK-NEXT: {{^}}46:   forward -> backward
// CHECK-NEXT: {{^}}50: function reference, trains
// CHECK-NEXT: {{^}}50:   entry of x -> backward
// CHECK-NEXT: {{^}}53:   forward -> backward
// CHECK-NEXT: {{^}}57: function both
// CHECK-NEXT: {{^}}57:   entry of x -> returned
// CHECK-NEXT: {{^}}58:   forward -> returned
// CHECK-NEXT: {{^}}62: function tied, trains
// CHECK-NEXT: {{^}}64:   helper that runs a module -> nobody
// CHECK-NEXT: {{^}}69: function bound, trains
// CHECK-NEXT: {{^}}69:   entry of x -> backward
// CHECK-NEXT: {{^}}70:   helper that runs a module -> backward
// CHECK-NEXT: {{^}}75: function pairs, trains
// CHECK-NEXT: {{^}}75:   entry of x -> backward
// CHECK-NEXT: {{^}}76:   forward -> backward
// CHECK-NEXT: {{^}}78:   forward -> nobody
// CHECK-NEXT: {{^}}82: function made
// CHECK-NEXT: {{^}}82:   entry of x -> returned
// CHECK-NEXT: {{^}}84:   forward -> returned
// CHECK-NEXT: {{^}}88: function structReturned, trains
// CHECK-NEXT: {{^}}89:   helper that runs a module -> nobody
// CHECK-NEXT: {{^}}94: function slotWrite
// CHECK-NEXT: {{^}}98:   accumulates into buffer, in place, mode on, entry of x, forward of line 98
// CHECK-NEXT: {{^}}98:   carried in buffer -> nobody
// CHECK-NEXT: {{^}}98:   forward -> nobody
// CHECK-NEXT: {{^}}101: function rebinding
// CHECK-NEXT: {{^}}104:   carried in last -> nobody
// CHECK-NEXT: {{^}}104:   forward -> nobody
// CHECK-NEXT: {{^}}107: function elements
// CHECK-NEXT: {{^}}110:   carried in slots -> nobody
// CHECK-NEXT: {{^}}110:   forward -> nobody
// CHECK-NEXT: {{^}}113: function window
// CHECK-NEXT: {{^}}116:   accumulates into recent, contains, mode on, bounded, entry of x, forward of line 116
// CHECK-NEXT: {{^}}116:   carried in recent -> nobody
// CHECK-NEXT: {{^}}116:   forward -> nobody
// CHECK-NEXT: {{^}}124: function Agent::act
// CHECK-NEXT: {{^}}124:   accumulates into values, contains, mode on, entry of x, forward of line 124
// CHECK-NEXT: {{^}}124:   carried in values -> stored
// CHECK-NEXT: {{^}}124:   entry of values -> stored
// CHECK-NEXT: {{^}}124:   entry of x -> stored
// CHECK-NEXT: {{^}}124:   forward -> stored
// CHECK-NEXT: {{^}}125: function Agent::learn, trains
// CHECK-NEXT: {{^}}125:   entry of values -> backward
// CHECK-NEXT: {{^}}126: function Agent::look
// CHECK-NEXT: {{^}}126:   accumulates into seen, in place, mode on, entry of x, forward of line 126
// CHECK-NEXT: {{^}}126:   carried in seen -> stored
// CHECK-NEXT: {{^}}126:   entry of seen -> stored
// CHECK-NEXT: {{^}}126:   entry of x -> stored
// CHECK-NEXT: {{^}}126:   forward -> stored
