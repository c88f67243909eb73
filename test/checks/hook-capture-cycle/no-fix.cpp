// Cycles whose way out depends on what the hook is for.
// RUN: %check_libtorch_tidy %s libtorch-hook-capture-cycle %t

#include <torch/csrc/autograd/utils/lambda_post_hook.h>
#include <torch/torch.h>

using torch::Tensor;
using torch::autograd::variable_list;

// The tensor itself.
void uses_gradient() {
  Tensor w = torch::randn({4}, torch::requires_grad());
  w.register_hook([w](Tensor grad) {
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: memory leak: this hook captures its own tensor 'w' by value: the tensor keeps the hook and the hook keeps the tensor, so neither is ever freed; capture its detach() [libtorch-hook-capture-cycle]
    if (w.grad().defined())
      w.mutable_grad().zero_();
  });
}

void in_function_objects(Tensor w) {
  w.register_hook(std::bind([](Tensor t, Tensor g) { return t * g; }, w,
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: memory leak: this hook captures its own tensor 'w' by value: the tensor keeps the hook and the hook keeps the tensor, so neither is ever freed; capture its detach() [libtorch-hook-capture-cycle]
                            std::placeholders::_1));
  std::function<Tensor(Tensor)> hook = [w](Tensor g) { return g; };
  w.register_hook(hook);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: memory leak: this hook captures its own tensor 'w' by value: the tensor keeps the hook and the hook keeps the tensor, so neither is ever freed; capture its detach() [libtorch-hook-capture-cycle]
  auto held = std::make_shared<Tensor>(w);
  held->register_hook([held](Tensor g) { return g * *held; });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: memory leak: this hook captures its own tensor 'held' by value: the tensor keeps the hook and the hook keeps the tensor, so neither is ever freed; capture its detach() [libtorch-hook-capture-cycle]
  std::vector<Tensor> both{w, w};
  w.register_hook([both](Tensor g) { return g * both[0]; });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: memory leak: this hook captures its own tensor 'w' by value: the tensor keeps the hook and the hook keeps the tensor, so neither is ever freed; capture its detach() [libtorch-hook-capture-cycle]
}

struct Clip {
  Tensor tensor;
  double limit;
  Tensor operator()(Tensor g) const { return g.clamp(-limit, limit); }
};
struct Scale {
  explicit Scale(Tensor t) : tensor(std::move(t)) {}
  Tensor operator()(Tensor g) const { return g * tensor; }
  Tensor tensor;
};
void functors(Tensor w) {
  w.register_hook(Clip{w, 1.0});
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: memory leak: this hook captures its own tensor 'w' by value: the tensor keeps the hook and the hook keeps the tensor, so neither is ever freed; capture its detach() [libtorch-hook-capture-cycle]
  w.register_hook(Scale(w));
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: memory leak: this hook captures its own tensor 'w' by value: the tensor keeps the hook and the hook keeps the tensor, so neither is ever freed; capture its detach() [libtorch-hook-capture-cycle]
}

void node(Tensor w) {
  Tensor y = w * 2;
  y.grad_fn()->add_post_hook(
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: memory leak: this hook captures its own tensor 'y' by value: the tensor keeps the hook and the hook keeps the tensor, so neither is ever freed; capture its detach() [libtorch-hook-capture-cycle]
      std::make_unique<torch::autograd::utils::LambdaPostHook>(
          [y](const variable_list &outputs, const variable_list &) {
            return outputs;
          }));
}

// The module that owns it.
void module(torch::nn::Linear fc) {
  fc->weight.register_hook([fc](Tensor g) { return g * fc->weight.norm(); });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: memory leak: this hook captures 'fc' by value, which owns the hooked tensor: the tensor keeps the hook and the hook keeps its owner, so none of them is ever freed; capture a weak or plain pointer [libtorch-hook-capture-cycle]
  for (auto &p : fc->parameters())
    p.register_hook([=](Tensor g) { return g / fc->weight.norm(); });
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: memory leak: this hook captures 'fc' by value, which owns the hooked tensor: the tensor keeps the hook and the hook keeps its owner, so none of them is ever freed; capture a weak or plain pointer [libtorch-hook-capture-cycle]
}

struct NetImpl : torch::nn::Module {
  NetImpl() {
    register_module("fc", fc);
    scale = register_parameter("scale", torch::ones({1}));
  }
  void watch() {
    auto self = shared_from_this();
    fc->weight.register_hook([self](Tensor g) { return g; });
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: memory leak: this hook captures 'self' by value, which owns the hooked tensor: the tensor keeps the hook and the hook keeps its owner, so none of them is ever freed; capture a weak or plain pointer [libtorch-hook-capture-cycle]
    scale.register_hook(
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: memory leak: this hook captures a shared pointer to this object by value, which owns the hooked tensor: the tensor keeps the hook and the hook keeps its owner, so none of them is ever freed; capture a weak or plain pointer [libtorch-hook-capture-cycle]
        [me = std::dynamic_pointer_cast<NetImpl>(shared_from_this())](
            Tensor g) { return g * me->factor; });
    last.register_hook([self = shared_from_this()](Tensor g) { return g; });
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: memory leak: this hook captures a shared pointer to this object by value, which owns the hooked tensor: the tensor keeps the hook and the hook keeps its owner, so none of them is ever freed; capture a weak or plain pointer [libtorch-hook-capture-cycle]
  }
  torch::nn::Linear fc{4, 4};
  Tensor scale, last;
  double factor = 1;
};
TORCH_MODULE(Net);

void nested(Net net) {
  net->fc->weight.register_hook([net](Tensor g) { return g; });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: memory leak: this hook captures 'net' by value, which owns the hooked tensor: the tensor keeps the hook and the hook keeps its owner, so none of them is ever freed; capture a weak or plain pointer [libtorch-hook-capture-cycle]
  auto ptr = net.ptr();
  ptr->fc->bias.register_hook([ptr](Tensor g) { return g; });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: memory leak: this hook captures 'ptr' by value, which owns the hooked tensor: the tensor keeps the hook and the hook keeps its owner, so none of them is ever freed; capture a weak or plain pointer [libtorch-hook-capture-cycle]
  for (auto &item : net->named_parameters())
    item.value().register_hook([net](Tensor g) { return g; });
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: memory leak: this hook captures 'net' by value, which owns the hooked tensor: the tensor keeps the hook and the hook keeps its owner, so none of them is ever freed; capture a weak or plain pointer [libtorch-hook-capture-cycle]
}

// What is computed from it.
void downstream(Tensor w, torch::nn::Linear fc) {
  Tensor h = w * 2;
  Tensor loss = h.exp().sum();
  w.register_hook([loss](Tensor g) { return g * loss.item<double>(); });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: memory leak: this hook captures 'loss' by value, which is computed from the hooked tensor 'w': its graph keeps that tensor and its hook, so none of them is ever freed; capture its detach() [libtorch-hook-capture-cycle]
  h.register_hook([loss](Tensor g) { return g * loss.item<double>(); });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: memory leak: this hook captures 'loss' by value, which is computed from the hooked tensor 'h': its graph keeps that tensor and its hook, so none of them is ever freed; capture its detach() [libtorch-hook-capture-cycle]
  Tensor copy = w.clone();
  w.register_hook([copy](Tensor g) { return g * copy; });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: memory leak: this hook captures 'copy' by value, which is computed from the hooked tensor 'w': its graph keeps that tensor and its hook, so none of them is ever freed; capture its detach() [libtorch-hook-capture-cycle]
  Tensor y = fc(w);
  fc->weight.register_hook([y](Tensor g) { return g * y.mean(); });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: memory leak: this hook captures 'y' by value, which is computed from the hooked tensor 'fc->weight': its graph keeps that tensor and its hook, so none of them is ever freed; capture its detach() [libtorch-hook-capture-cycle]
  w.register_hook([y](Tensor g) { return g * y.mean(); });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: memory leak: this hook captures 'y' by value, which is computed from the hooked tensor 'w': its graph keeps that tensor and its hook, so none of them is ever freed; capture its detach() [libtorch-hook-capture-cycle]
  w.register_hook([row = w[0]](Tensor g) { return g * row; });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: memory leak: this hook captures a tensor by value, which is computed from the hooked tensor 'w': its graph keeps that tensor and its hook, so none of them is ever freed; capture its detach() [libtorch-hook-capture-cycle]
}

template <typename T> void generic(T w) {
  w.register_hook([w](T g) { return g.t(); });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: memory leak: this hook captures its own tensor 'w' by value: the tensor keeps the hook and the hook keeps the tensor, so neither is ever freed; capture its detach() [libtorch-hook-capture-cycle]
}
void use(Tensor w) { generic(w); }

#define WATCH(t) t.register_hook([t](Tensor g) { return g * t; })
void macro(Tensor w) { WATCH(w); }
  // CHECK-MESSAGES: :[[@LINE-1]]:30: warning: memory leak: this hook captures its own tensor 'w' by value: the tensor keeps the hook and the hook keeps the tensor, so neither is ever freed; capture its detach() [libtorch-hook-capture-cycle]

// Gradients of gradients go through the values that a hook uses.
void second_order(Tensor w) {
  auto grads = torch::autograd::grad({(w * w).sum()}, {w}, {}, true, true);
  w.register_hook([w](Tensor g) { return g * w; });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: memory leak: this hook captures its own tensor 'w' by value: the tensor keeps the hook and the hook keeps the tensor, so neither is ever freed; capture its detach() [libtorch-hook-capture-cycle]
}

// A copied container has the same tensors.
void in_container(std::vector<Tensor> weights, size_t i) {
  weights[i].register_hook([weights, i](Tensor g) { return g * weights[i]; });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: memory leak: this hook captures 'weights' by value, which owns the hooked tensor: the tensor keeps the hook and the hook keeps its owner, so none of them is ever freed; capture a weak or plain pointer [libtorch-hook-capture-cycle]
}

// What a detached copy does not show: the history of the tensor, and the memory
// that it gets later.
void history_and_data(torch::nn::Linear fc, torch::Device device) {
  Tensor w = torch::randn({4}, torch::requires_grad());
  w.register_hook([w](Tensor grad) { return w.is_leaf() ? grad * 2 : grad; });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: memory leak: this hook captures its own tensor 'w' by value: the tensor keeps the hook and the hook keeps the tensor, so neither is ever freed; capture its detach() [libtorch-hook-capture-cycle]
  auto bias = fc->bias;
  bias.register_hook([bias](Tensor grad) { return grad * bias; });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: memory leak: this hook captures its own tensor 'bias' by value: the tensor keeps the hook and the hook keeps the tensor, so neither is ever freed; capture its detach() [libtorch-hook-capture-cycle]
  fc->to(device);
}

void other_data(Tensor w) {
  w.register_hook([w](Tensor grad) { return grad * w; });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: memory leak: this hook captures its own tensor 'w' by value: the tensor keeps the hook and the hook keeps the tensor, so neither is ever freed; capture its detach() [libtorch-hook-capture-cycle]
  w.set_data(torch::ones({4}));
}
