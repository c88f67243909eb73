// RUN: %torch-facts %s -- %torch_flags | %FileCheck %s '--implicit-check-not={{^[0-9]+:}}'
// What builds, uses and drops history.
#include <torch/torch.h>

void backward(torch::Tensor loss, torch::Tensor other, torch::Tensor x,
              bool flag, std::vector<torch::Tensor> losses,
              torch::Tensor *pointer) {
  loss.backward(); // CHECK: [[@LINE]]: backward of [loss] retain false create false
  loss.backward({}); // CHECK: [[@LINE]]: backward of [loss] retain false create false
  loss.backward({}, /*retain_graph=*/true); // CHECK: [[@LINE]]: backward of [loss] retain true create false
  loss.backward({}, c10::nullopt, true); // CHECK: [[@LINE]]: backward of [loss] retain unknown create true
  loss.backward({}, false, true); // CHECK: [[@LINE]]: backward of [loss] retain false create true
  loss.backward(other, flag); // CHECK: [[@LINE]]: backward of [loss] retain unknown create false
  loss.backward({}, true, false, {{x}}); // CHECK: [[@LINE]]: backward of [loss] inputs [x] retain true create false
  (loss + other).backward(); // CHECK: [[@LINE]]: backward of [loss + other] retain false create false
  pointer->backward(); // CHECK: [[@LINE]]: backward of [pointer] retain false create false
  torch::autograd::backward({loss, other}); // CHECK: [[@LINE]]: backward of [loss | other] retain false create false
  torch::autograd::backward({loss}, {}, true); // CHECK: [[@LINE]]: backward of [loss] retain true create false
  torch::autograd::backward(losses); // CHECK: [[@LINE]]: backward of [losses] retain false create false
  auto g = torch::autograd::grad({loss}, {x}); // CHECK: [[@LINE]]: grad of [loss] inputs [x] retain false create false
  auto h = torch::autograd::grad({loss}, {x}, {}, true, true); // CHECK: [[@LINE]]: grad of [loss] inputs [x] retain true create true
  auto i = torch::autograd::grad({loss}, {x}, {}, c10::nullopt, /*create_graph=*/true); // CHECK: [[@LINE]]: grad of [loss] inputs [x] retain unknown create true
  torch::Tensor j = x.grad(); // CHECK: [[@LINE]]: grad of x
  x.mutable_grad() = torch::Tensor(); // CHECK: [[@LINE]]: grad of x
}

void optimise(torch::nn::Linear net, torch::optim::Optimizer &base) {
  torch::optim::Adam adam(net->parameters(), 1e-3); // CHECK: [[@LINE]]: module parameters
  auto owned = std::make_unique<torch::optim::SGD>(net->parameters(), 0.1); // CHECK: [[@LINE]]: module parameters
  adam.step(); // CHECK: [[@LINE]]: optimizer step
  owned->step([]() { return torch::Tensor(); }); // CHECK: [[@LINE]]: optimizer step
  base.step(); // CHECK: [[@LINE]]: optimizer step
  adam.zero_grad(); // CHECK: [[@LINE]]: zero grad
  net->zero_grad(); // CHECK: [[@LINE]]: zero grad
  torch::optim::StepLR schedule(adam, 1);
  schedule.step();
  for (auto &p : net->named_parameters()) // CHECK: [[@LINE]]: module parameters
    p.value().set_requires_grad(false); // CHECK: [[@LINE]]: sets requires_grad false
  for (auto &b : net->buffers()) // CHECK: [[@LINE]]: module buffers
    (void)b;
}

void leaves(torch::Tensor x, bool flag, torch::TensorOptions given) {
  x.requires_grad_(); // CHECK: [[@LINE]]: sets requires_grad true
  x.requires_grad_(false); // CHECK: [[@LINE]]: sets requires_grad false
  x.set_requires_grad(true); // CHECK: [[@LINE]]: sets requires_grad true
  x.set_requires_grad(flag); // CHECK: [[@LINE]]: sets requires_grad unknown
  auto a = torch::zeros({2}); // CHECK: [[@LINE]]: factory zeros, requires_grad false
  auto b = torch::zeros({2}, torch::requires_grad()); // CHECK: [[@LINE]]: factory zeros, requires_grad true
  auto c = torch::zeros({2}, torch::requires_grad(false)); // CHECK: [[@LINE]]: factory zeros, requires_grad false
  auto d = torch::randn({2}, torch::dtype(torch::kFloat).requires_grad(true)); // CHECK: [[@LINE]]: factory randn, requires_grad true
  auto e = torch::ones({2}, torch::TensorOptions().requires_grad(true).device(torch::kCPU)); // CHECK: [[@LINE]]: factory ones, requires_grad true
  auto f = torch::ones({2}, torch::kFloat); // CHECK: [[@LINE]]: factory ones, requires_grad false
  auto options = torch::TensorOptions().requires_grad(true);
  auto g = torch::ones({2}, options); // CHECK: [[@LINE]]: factory ones, requires_grad true
  auto h = torch::ones({2}, options.dtype(torch::kDouble)); // CHECK: [[@LINE]]: factory ones, requires_grad true
  auto i = torch::ones({2}, given); // CHECK: [[@LINE]]: factory ones, requires_grad unknown
  auto j = torch::ones({2}, torch::requires_grad(flag)); // CHECK: [[@LINE]]: factory ones, requires_grad unknown
  auto k = torch::ones({2}, x.options()); // CHECK: [[@LINE]]: factory ones, requires_grad false
  auto l = torch::ones({2}, x.options().requires_grad(true)); // CHECK: [[@LINE]]: factory ones, requires_grad true
  auto m = torch::zeros_like(x); // CHECK: [[@LINE]]: factory zeros_like, requires_grad false
  auto n = torch::tensor({1.f, 2.f}, torch::requires_grad()); // CHECK: [[@LINE]]: factory tensor, requires_grad true
  auto o = x.new_zeros({3}); // CHECK: [[@LINE]]: factory new_zeros, requires_grad false
}

// CHECK: [[@LINE+1]]: parameters of class Net: some
struct Net : torch::nn::Module {
  Net() {
    w = register_parameter("w", torch::randn({2})); // CHECK: [[@LINE]]: factory randn, requires_grad false
    // CHECK: [[@LINE-1]]: registers parameter torch::randn({2})
    // CHECK: [[@LINE-2]]: registers parameter, requires_grad true
    f = register_parameter("f", torch::Tensor(), false); // CHECK: [[@LINE]]: registers parameter nothing
    // CHECK: [[@LINE-1]]: registers parameter, requires_grad false
    b = register_buffer("b", w); // CHECK: [[@LINE]]: registers buffer w
    l = register_module("l", torch::nn::Linear(2, 2)); // CHECK: [[@LINE]]: registers module
  }
  torch::Tensor w, f, b;
  torch::nn::Linear l{nullptr};
};

void drops(torch::Tensor x, torch::Tensor y, bool flag,
           torch::ScalarType given) {
  auto a = x.detach(); // CHECK: [[@LINE]]: drops history
  x.detach_(); // CHECK: [[@LINE]]: drops history
  auto b = torch::detach(x); // CHECK: [[@LINE]]: drops history
  auto c = x.data(); // CHECK: [[@LINE]]: drops history
  auto d = x.tensor_data(); // CHECK: [[@LINE]]: drops history
  auto e = x.variable_data(); // CHECK: [[@LINE]]: drops history
  auto f = x.item(); // CHECK: [[@LINE]]: drops history
  auto g = x.item<float>(); // CHECK: [[@LINE]]: drops history
  std::vector<int> numbers;
  int *first = numbers.data();
  auto h = x.clone();
  auto i = x.to(torch::kLong); // CHECK: [[@LINE]]: integral cast
  auto j = x.to(torch::kFloat);
  auto k = x.to(torch::kInt64); // CHECK: [[@LINE]]: integral cast
  auto l = x.toType(torch::kInt); // CHECK: [[@LINE]]: integral cast
  auto m = x.to(torch::kCPU, torch::kByte); // CHECK: [[@LINE]]: integral cast
  auto n = x.to(torch::TensorOptions(torch::kBool)); // CHECK: [[@LINE]]: integral cast
  auto o = x.to(torch::dtype(torch::kInt16)); // CHECK: [[@LINE]]: integral cast
  auto p = x.to(torch::TensorOptions().device(torch::kCPU).dtype(torch::kInt8)); // CHECK: [[@LINE]]: integral cast
  auto q = x.to(torch::kCPU);
  auto r = x.to(y.dtype());
  auto s = x.to(y);
  auto t = x.to(given);
  auto u = x.to(torch::kHalf).to(torch::kUInt8); // CHECK: [[@LINE]]: integral cast
  constexpr auto Index = torch::kLong;
  auto v = x.to(Index); // CHECK: [[@LINE]]: integral cast
  auto w = x.to(torch::ScalarType::Long); // CHECK: [[@LINE]]: integral cast
  auto z = x.to(torch::kDouble, true, true);
}
