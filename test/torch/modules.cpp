// RUN: %torch-facts %s -- %torch_flags -isystem %S/Inputs/parallel | %FileCheck %s '--implicit-check-not={{call|parameters}}'
// Which calls run a module, and which modules have parameters.
#include <data_parallel.h>
#include <torch/script.h>
#include <torch/torch.h>

// CHECK: [[@LINE+1]]: parameters of class NetImpl: some
struct NetImpl : torch::nn::Module {
  NetImpl() { register_module("fc", fc); }
  torch::Tensor forward(torch::Tensor x) {
    return fc(x); // CHECK: [[@LINE]]: module call of fc inputs [x]{{$}}
  }
  std::tuple<torch::Tensor, torch::Tensor> encode(const torch::Tensor &x) {
    auto y = forward(x); // CHECK: [[@LINE]]: module call of this inputs [x] body NetImpl::forward:10
    return {y, y};
  }
  int64_t width(const torch::Tensor &x) { return x.size(1); }
  torch::Tensor table() { return fc->weight; }
  torch::nn::Linear fc{2, 2};
};
TORCH_MODULE(Net); // CHECK-NOT: parameters

// CHECK: [[@LINE+1]]: parameters of class Base: unknown
struct Base : torch::nn::Module {
  virtual torch::Tensor forward(torch::Tensor x) { return x; }
  virtual torch::Tensor act(torch::Tensor x) { return x; }
};
// CHECK: [[@LINE+1]]: parameters of class Leaf: none
struct Leaf : Base {
  torch::Tensor forward(torch::Tensor x) override {
    return torch::relu(x);
  }
};
// CHECK: [[@LINE+1]]: parameters of class Overloaded: none
struct Overloaded : torch::nn::Module {
  torch::Tensor forward(torch::Tensor x) { return x; }
  torch::Tensor forward(torch::Tensor x, torch::Tensor y) { return x + y; }
};
// Runs a module, is none.
struct Policy {
  torch::Tensor forward(torch::Tensor x) {
    return net->forward(x); // CHECK: [[@LINE]]: module call of net inputs [x] body NetImpl::forward:10
  }
  torch::Tensor operator()(torch::Tensor x) {
    return forward(x); // CHECK: [[@LINE]]: module call of this inputs [x] body Policy::forward
  }
  Net net;
};
struct Plain {
  torch::Tensor forward(torch::Tensor x) { return x; }
  int count;
};

void calls(Net net, Policy policy, Plain plain, torch::nn::Sequential seq,
           torch::nn::AnyModule any, torch::nn::ModuleList list,
           std::shared_ptr<NetImpl> shared, NetImpl &reference, Base &base,
           Leaf &leaf, torch::nn::ModuleHolder<Overloaded> overloaded,
           torch::nn::LSTM lstm, torch::nn::Functional function,
           std::vector<Net> nets, torch::Tensor x) {
  net(x); // CHECK: [[@LINE]]: module call of net inputs [x] body NetImpl::forward:10
  net->forward(x); // CHECK: [[@LINE]]: module call of net inputs [x] body NetImpl::forward:10
  (*net).forward(x); // CHECK: [[@LINE]]: module call of net inputs [x] body NetImpl::forward:10
  net.get()->forward(x); // CHECK: [[@LINE]]: module call of net inputs [x] body NetImpl::forward:10
  net.ptr()->encode(x); // CHECK: [[@LINE]]: module call of net inputs [x] body NetImpl::encode
  net->encode(x + 1); // CHECK: [[@LINE]]: module call of net inputs [x + 1] body NetImpl::encode
  net->width(x);
  net->table();
  shared->forward(x); // CHECK: [[@LINE]]: module call of shared inputs [x] body NetImpl::forward:10
  reference.forward(std::move(x)); // CHECK: [[@LINE]]: module call of reference inputs [x] body NetImpl::forward:10
  nets[0]->forward(x); // CHECK: [[@LINE]]: module call of nets[0] inputs [x] body NetImpl::forward:10
  base.forward(x); // CHECK: [[@LINE]]: module call of base inputs [x]{{$}}
  base.act(x); // CHECK: [[@LINE]]: module call of base inputs [x] body Base::act
  leaf.forward(x); // CHECK: [[@LINE]]: module call of leaf inputs [x] body Leaf::forward
  overloaded(x, x); // Of two forwards, a holder's operator() returns void.
  policy.forward(x); // CHECK: [[@LINE]]: module call of policy inputs [x] body Policy::forward
  policy(x); // CHECK: [[@LINE]]: module call of policy inputs [x] body Policy::operator()
  plain.forward(x);
  seq(x); // Of a template, too.
  seq->forward(x); // CHECK: [[@LINE]]: module call of seq inputs [x]{{$}}
  any.forward(x); // CHECK: [[@LINE]]: module call of any inputs [x]{{$}}
  any.forward<torch::Tensor>(x, x); // CHECK: [[@LINE]]: module call of any inputs [x | x]{{$}}
  any.get<NetImpl>().forward(x); // CHECK: [[@LINE]]: module call of any inputs [x] body NetImpl::forward:10
  list[0]->as<NetImpl>()->forward(x); // CHECK: [[@LINE]]: module call of list[0] inputs [x] body NetImpl::forward:10
  list[0]->as<torch::nn::Linear>()->forward(x); // CHECK: [[@LINE]]: module call of list[0] inputs [x]{{$}}
  lstm(x); // CHECK: [[@LINE]]: module call of lstm inputs [x]{{$}}
  lstm->forward(x, std::make_tuple(x, x)); // CHECK: [[@LINE]]: module call of lstm inputs [x | std::make_tuple(x, x)]
  torch::nn::parallel::data_parallel(net, x); // CHECK: [[@LINE]]: module call of net inputs [x] body NetImpl::forward:10
  torch::nn::functional::mse_loss(x, x);
  auto copy = net->clone();
  // CHECK: [[@LINE-1]]: parameters of copy: unknown
  net->to(torch::kCPU);
  net->parameters(); // CHECK: [[@LINE]]: module parameters
  net->eval(); // CHECK: [[@LINE]]: module eval
  net->train(); // CHECK: [[@LINE]]: module train
  net->train(false); // CHECK: [[@LINE]]: module eval
  auto lambda = [&](torch::Tensor t) { return t; };
  lambda(x);
  std::function<torch::Tensor(torch::Tensor)> stored = lambda;
  stored(x);
}

// CHECK: [[@LINE+1]]: parameters of module: some
torch::jit::Module module;

void script(torch::jit::script::Module m, torch::Tensor x,
            std::vector<torch::jit::IValue> inputs) {
  m.forward({x}); // CHECK: [[@LINE]]: script call of m inputs [x]{{$}}
  m.forward({x, x}).toTensor(); // CHECK: [[@LINE]]: script call of m inputs [x | x]
  m.forward(inputs); // CHECK: [[@LINE]]: script call of m inputs [inputs]
  m({x}); // CHECK: [[@LINE]]: script call of m inputs [x]
  m.run_method("encode", x); // CHECK: [[@LINE]]: script call of m inputs [x]
  m.get_method("encode")({x}); // CHECK: [[@LINE]]: script call of m inputs [x]
  auto method = m.get_method("decode");
  method({x}); // CHECK: [[@LINE]]: script call of method inputs [x]
  m.attr("weight");
  m.eval(); // CHECK: [[@LINE]]: module eval
  auto frozen = torch::jit::freeze(m);
  // CHECK: [[@LINE-1]]: freeze
  // CHECK: [[@LINE-2]]: parameters of frozen: some
}

void classes() {
  torch::nn::Conv2d a(1, 1, 1); // CHECK: [[@LINE]]: parameters of a: some
  torch::nn::ReLU b; // CHECK: [[@LINE]]: parameters of b: none
  torch::nn::MSELoss c; // CHECK: [[@LINE]]: parameters of c: none
  torch::nn::MaxPool2d d(2); // CHECK: [[@LINE]]: parameters of d: none
  torch::nn::InstanceNorm2d e(2); // CHECK: [[@LINE]]: parameters of e: unknown
  torch::nn::Sequential f; // CHECK: [[@LINE]]: parameters of f: unknown
  torch::nn::Dropout g; // CHECK: [[@LINE]]: parameters of g: none
  torch::nn::LSTM h(1, 1); // CHECK: [[@LINE]]: parameters of h: some
  torch::nn::BatchNorm1d i(1); // CHECK: [[@LINE]]: parameters of i: some
  torch::nn::AdaptiveLogSoftmaxWithLoss j(2, 2, std::vector<int64_t>{1}); // CHECK: [[@LINE]]: parameters of j: some
  torch::nn::ZeroPad2d k(1); // CHECK: [[@LINE]]: parameters of k: none
  torch::nn::AdaptiveAvgPool2d l(1); // CHECK: [[@LINE]]: parameters of l: none
  std::shared_ptr<torch::nn::Module> m; // CHECK: [[@LINE]]: parameters of m: unknown
  Net n; // CHECK: [[@LINE]]: parameters of n: some
  auto o = std::make_shared<Leaf>(); // CHECK: [[@LINE]]: parameters of o: none
  torch::nn::AnyModule p; // CHECK: [[@LINE]]: parameters of p: unknown
  torch::nn::Identity q; // CHECK: [[@LINE]]: parameters of q: none
  torch::nn::TransformerEncoder r{nullptr}; // CHECK: [[@LINE]]: parameters of r: some
}

// CHECK: [[@LINE+1]]: parameters of class Scale: some
struct Scale : torch::nn::Module {
  Scale() : w(register_parameter("w", torch::ones({1}))) {}
  // CHECK: [[@LINE-1]]: registers parameter,
  torch::Tensor w;
};
// CHECK: [[@LINE+1]]: parameters of class Constant: none
struct Constant : torch::nn::Module {
  Constant() { w = register_buffer("w", torch::ones({1})); }
  torch::Tensor w;
};
// CHECK: [[@LINE+1]]: parameters of class Reset: some
struct Reset : torch::nn::Cloneable<Reset> {
  void reset() override { w = register_parameter("w", torch::ones({1})); }
  // CHECK: [[@LINE-1]]: registers parameter,
  torch::Tensor w;
};
// CHECK: [[@LINE+1]]: parameters of class Hidden: unknown
struct Hidden : torch::nn::Module {
  Hidden();
  torch::Tensor w;
};
// CHECK: [[@LINE+1]]: parameters of class Listed: unknown
struct Listed : torch::nn::Module {
  std::vector<torch::nn::Linear> layers;
};
// CHECK: [[@LINE+1]]: parameters of class Local: some
struct Local : torch::nn::Module {
  Local() { register_module("fc", torch::nn::Linear(1, 1)); }
};
// CHECK: [[@LINE+1]]: parameters of class Frozen: unknown
struct Frozen : torch::nn::Module {
  Frozen() {
    for (auto &p : fc->parameters()) // CHECK: [[@LINE]]: module parameters
      p.set_requires_grad(false);
  }
  torch::nn::Linear fc{1, 1};
};
// CHECK: [[@LINE+1]]: parameters of class Wide: some
struct Wide : torch::nn::LinearImpl {
  using torch::nn::LinearImpl::LinearImpl;
};
// CHECK: [[@LINE+1]]: parameters of class Child: none
struct Child : torch::nn::Module {
  NetImpl *parent;
};
// CHECK: [[@LINE+1]]: parameters of class Recursive: some
struct Recursive : torch::nn::Module {
  std::shared_ptr<Recursive> next;
  torch::nn::Linear fc{1, 1};
};
