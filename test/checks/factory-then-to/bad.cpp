// Factories that are moved, with the edits that are safe.
// RUN: %check_libtorch_tidy %s libtorch-factory-then-to %t

#include <torch/torch.h>

using torch::Tensor;

struct Config {
  torch::Device device = torch::kCPU;
};

void fixed(torch::Device device, Tensor x, const Config &config, int64_t n) {
  auto a = torch::zeros({2, 3}).to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: wasted copy: 'zeros' makes this tensor on the CPU, and it is then moved to a device; pass the device in the factory's options to make it there [libtorch-factory-then-to]
  // CHECK-FIXES: auto a = torch::zeros({2, 3}, device);
  auto b = torch::ones(n).to(torch::kCUDA).detach();
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: wasted copy: 'ones' makes this tensor on the CPU
  // CHECK-FIXES: auto b = torch::ones(n, torch::kCUDA).detach();
  auto c = torch::empty({n, 4}).to(x.device());
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: wasted copy: 'empty' makes
  // CHECK-FIXES: auto c = torch::empty({n, 4}, x.device());
  auto d = torch::full({2}, 0.5).to(config.device);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: wasted copy: 'full' makes
  // CHECK-FIXES: auto d = torch::full({2}, 0.5, config.device);
  auto e = torch::arange(n).cuda();
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: wasted copy: 'arange' makes
  // CHECK-FIXES: auto e = torch::arange(n, torch::kCUDA);
  auto f = torch::arange(0, n, 2).to(at::kCUDA);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: wasted copy: 'arange' makes
  // CHECK-FIXES: auto f = torch::arange(0, n, 2, at::kCUDA);
  auto g = (torch::eye(3)).to(torch::Device(torch::kCUDA, 1));
  // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: wasted copy: 'eye' makes
  // CHECK-FIXES: auto g = (torch::eye(3, torch::Device(torch::kCUDA, 1)));
  auto h = torch::eye(3, 4).to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: wasted copy: 'eye' makes
  // CHECK-FIXES: auto h = torch::eye(3, 4, device);
  auto i = at::zeros({2}).cuda();
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: wasted copy: 'zeros' makes
  // CHECK-FIXES: auto i = at::zeros({2}, at::kCUDA);
  auto j = torch::zeros(x.sizes()).to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: wasted copy: 'zeros' makes
  // CHECK-FIXES: auto j = torch::zeros(x.sizes(), device);
  auto k = torch::full({2, 3}, 7)
               .to(device);
  // CHECK-MESSAGES: :[[@LINE-2]]:12: warning: wasted copy: 'full' makes
  // CHECK-FIXES: auto k = torch::full({2, 3}, 7, device);
}

void random_numbers(torch::Device device, Tensor x) {
  auto a = torch::randn({2, 3}).to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: wasted copy: 'randn' makes this tensor on the CPU, and it is then moved to a device; pass the device in the factory's options to make it there (the random numbers will differ) [libtorch-factory-then-to]
  auto b = torch::rand({8}).cuda();
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: wasted copy: 'rand' makes
  auto c = torch::randint(10, {8}).to(x.device());
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: wasted copy: 'randint' makes
  auto d = torch::randperm(8).to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: wasted copy: 'randperm' makes
  auto e = torch::normal(0.0, 1.0, {8}).to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: wasted copy: 'normal' makes
  auto f = torch::randn({6}).view({2, 3}).unsqueeze(0).to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: wasted copy: 'randn' makes
  auto g = (2 * torch::rand({6}) - 1).to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: wasted copy: 'rand' makes
}

// Values, options or arguments that an edit would change: no fix.
void not_fixed(torch::Device device, Tensor x, int64_t n, float step) {
  auto a = torch::linspace(0, 1, n).to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: wasted copy: 'linspace' makes
  auto b = torch::arange(0, 1, step).to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: wasted copy: 'arange' makes
  auto c = torch::zeros({2}, torch::kLong).to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: wasted copy: 'zeros' makes
  auto d = torch::zeros({2}, torch::dtype(torch::kLong)).to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: wasted copy: 'zeros' makes
  auto e = torch::zeros({2}).to(device, torch::kHalf);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: wasted copy: 'zeros' makes
  auto f = torch::zeros({2}).to(device, /*non_blocking=*/true);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: wasted copy: 'zeros' makes
  auto g = torch::zeros({2}).to(x.options());
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: wasted copy: 'zeros' makes
  auto options = x.options();
  auto h = torch::linspace(0, 1, n).repeat({2, 1}).view({-1}).to(options);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: wasted copy: 'linspace' makes
  auto i = torch::zeros({2}).to(torch::dtype(torch::kInt).device(device));
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: wasted copy: 'zeros' makes
  auto j = torch::ones(1).to(torch::kFloat).to(device).options();
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: wasted copy: 'ones' makes
  auto k = torch::ones({1, 1}).fill_(3).toType(torch::kLong).to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: wasted copy: 'ones' makes
  const auto whole = torch::dtype(torch::kLong);
  auto m = torch::ones({2}, whole).to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: wasted copy: 'ones' makes
  auto o = torch::ones({2}) // kept
               .to(device);
  // CHECK-MESSAGES: :[[@LINE-2]]:12: warning: wasted copy: 'ones' makes
  torch::Device devices[] = {device, device};
  auto l = torch::zeros({2}).to(devices[n++]);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: wasted copy: 'zeros' makes
}

Tensor variables(torch::Device device, std::vector<torch::jit::IValue> &inputs, bool cuda) {
  auto a = torch::rand({2, 3});
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: wasted copy: 'rand' makes 'a' on the CPU, and it is then moved to a device; pass the device in the factory's options to make it there (the random numbers will differ) [libtorch-factory-then-to]
  // CHECK-MESSAGES: :[[@LINE+1]]:9: note: 'a' is moved here
  a = a.to(device);
  auto b = torch::zeros({2, 3});
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: wasted copy: 'zeros' makes 'b' on the CPU, and it is then moved to a device; pass the device in the factory's options to make it there [libtorch-factory-then-to]
  // CHECK-MESSAGES: :[[@LINE+1]]:22: note: 'b' is moved here
  inputs.push_back(b.to(device));
  Tensor c = torch::ones({2, 3}).view({3, 2});
  // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: wasted copy: 'ones' makes 'c' on the CPU
  // CHECK-MESSAGES: :[[@LINE+2]]:11: note: 'c' is moved here
  if (cuda)
    c = c.cuda();
  for (int i = 0; i < 3; ++i) {
    auto d = torch::randn({2, 3});
    // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: wasted copy: 'randn' makes 'd' on the CPU
    // CHECK-MESSAGES: :[[@LINE+1]]:11: note: 'd' is moved here
    d = d.to(device, torch::kHalf);
    c += d;
  }
  return a + c;
}

void options_in_variables(torch::Device device) {
  auto options = torch::TensorOptions().dtype(torch::kFloat).requires_grad(false);
  auto a = torch::ones({2}, options).to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: wasted copy: 'ones' makes this tensor on the CPU
  auto b = torch::zeros({2}, torch::requires_grad(false)).to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: wasted copy: 'zeros' makes this tensor on the CPU
}

void like_another(Tensor x) {
  auto a = torch::zeros({2}).to(x);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: wasted copy: 'zeros' makes this tensor on the CPU, and it is then moved to the device of another tensor; pass the options of that tensor to the factory to make it there [libtorch-factory-then-to]
}
