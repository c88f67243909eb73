// Told, but there is nothing to assign to, or in place may be meant.
// RUN: %check_libtorch_tidy %s libtorch-discarded-result %t

#include <torch/torch.h>

using torch::Tensor;

Tensor constant(const Tensor &x) {
  x.detach();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: the result of 'detach' is discarded; 'x' stays as it is
  return x;
}

struct Holder {
  Tensor h;
  void truncate() const {
    h.detach();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: no effect: the result of 'detach'
  }
};

// The copy is all that an assignment would change.
void never_read_again(Tensor h) {
  h.detach();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: the result of 'detach'
}

void elements(std::vector<Tensor> &states, torch::nn::Linear fc) {
  for (auto h : states)
    h.detach();
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: no effect: the result of 'detach'
  for (const auto &h : states)
    h.to(torch::kCPU);
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: no effect: the result of 'to'
  for (auto &p : fc->parameters())
    p.to(torch::kHalf);
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: no effect: the result of 'to'
  size_t next = 0;
  states[next++].detach();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: the result of 'detach' is discarded; the tensor stays as it is
}

Tensor fills(Tensor x, Tensor mask, Tensor index) {
  x.masked_fill(mask, 0);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: the result of 'masked_fill'
  x.index_put({index}, mask);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: the result of 'index_put'
  x.add(1);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: the result of 'add'
  return x;
}

// What it meets later may still be on the CPU.
Tensor stranded(Tensor x, const Tensor &weight, torch::Device device) {
  x.to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: the result of 'to' is discarded; 'x' stays as it is
  x.cuda();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: the result of 'cuda' is discarded; 'x' stays as it is
  x.to(weight);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: the result of 'to' is discarded; 'x' stays as it is
  return x.mm(weight);
}

#define DEVICE torch::kCPU
#define DETACH(X) X.detach()

Tensor macros(Tensor x) {
  x.to(DEVICE);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: the result of 'to'
  // CHECK-FIXES: x = x.to(DEVICE);
  DETACH(x);
  return x;
}

int captured(Tensor x) {
  auto by_copy = [x, n = 1] {
    x.detach();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: no effect: the result of 'detach'
    return n;
  };
  return by_copy();
}

void train_on(Tensor loss) { loss.backward(); }

// What is back-propagated has its history from there alone: without it,
// backward() throws.
void back_propagated(torch::nn::Linear fc, Tensor in) {
  Tensor loss = fc(in).sum();
  loss.detach();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: the result of 'detach'
  loss.backward();

  Tensor out = fc(in);
  out.detach();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: the result of 'detach'
  Tensor twice = out * 2;
  train_on(twice.sum());
}

// An element of a dictionary stays as it is, too.
void dictionary(torch::nn::Linear net) {
  auto parameters = net->named_parameters();
  auto first = parameters[0];
  first.value().to(torch::kFloat64);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: the result of 'to' is discarded; the tensor stays as it is
  first.value().requires_grad_(false);
}

// Elements and gradients that an accessor of a module, list or structure hands out.
struct Batch {
  Tensor x;
  Tensor &input() { return x; }
};
void accessors(torch::nn::Module &net, torch::optim::Adam &adam, Batch b,
               c10::List<Tensor> list, torch::nn::Linear fc) {
  for (size_t i = 0; i < net.parameters().size(); ++i)
    torch::clamp(net.parameters()[i], -1., 1.);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: no effect: the result of 'clamp' is discarded; the tensor stays as it is
  for (auto &p : net.parameters())
    p.grad().clamp(-1, 1);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: no effect: the result of 'clamp'
  for (auto &item : net.named_parameters())
    item.value().data().clamp(-1, 1);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: no effect: the result of 'clamp'
  for (auto &group : adam.param_groups())
    for (auto &p : group.params())
      p.grad().clamp(-1, 1);
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: no effect: the result of 'clamp'
  net.parameters().front().detach();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: the result of 'detach'
  torch::clamp(net.named_buffers()["mean"], 0, 1);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: the result of 'clamp'
  fc->named_parameters()["weight"].clamp(0, 1);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: the result of 'clamp'
  b.input().clamp(0, 1);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: the result of 'clamp'
  list.get(0).clamp(0, 1);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: the result of 'clamp'
  b.x[0].clamp(0, 1);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: the result of 'clamp'
}
