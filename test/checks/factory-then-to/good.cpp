// Made on the device, made of host data, kept on the CPU, or somebody else's.
// RUN: %check_libtorch_tidy %s libtorch-factory-then-to %t

#include <torch/torch.h>

using torch::Tensor;

namespace mine {
Tensor zeros(at::IntArrayRef sizes);
struct Box {
  Box to(torch::Device);
};
Box ones(int64_t n);
} // namespace mine

void made_there(torch::Device device, Tensor x, torch::TensorOptions given) {
  torch::zeros({2}, device);
  torch::zeros({2}, device).to(device);
  torch::zeros({2}, torch::kCUDA).to(device);
  torch::zeros({2}, torch::device(device).dtype(torch::kFloat)).to(device);
  torch::zeros({2}, torch::TensorOptions(device)).to(torch::kBool);
  torch::zeros({2}, x.options()).to(device);
  torch::zeros({2}, given).to(device);
  auto options = torch::dtype(torch::kFloat);
  if (x.is_cuda())
    options = options.device(torch::kCUDA);
  torch::zeros({2}, options).to(device);
  torch::zeros_like(x).to(device);
  torch::full_like(x, 2).to(device);
  x.new_zeros({2}).to(device);
}

void host_data(torch::Device device, std::vector<int64_t> ids, float *data) {
  torch::tensor(ids).to(device);
  torch::tensor({1, 2, 3}).to(device);
  torch::tensor(1.0f).cuda();
  torch::from_blob(data, {4}).to(device);
  torch::scalar_tensor(3).to(device);
  auto filled = torch::zeros({4});
  for (int64_t i = 0; i < 4; ++i)
    filled[i] = data[i];
  filled = filled.to(device);
}

void stays(Tensor x, torch::ScalarType type, torch::TensorOptions given) {
  torch::zeros({2}).to(torch::kLong);
  torch::arange(2).to(type);
  torch::zeros({2}).to(torch::dtype(torch::kLong));
  torch::zeros({2}).to(torch::kCPU);
  torch::zeros({2}).to("cpu");
  torch::zeros({2}).to(torch::Device(torch::kCPU));
  torch::zeros({2}).cpu();
  auto y = torch::ones({2});
  torch::zeros({2}).to(y);
  // Only a dtype, perhaps.
  torch::zeros({2}).to(given);
}

void gradients(torch::Device device) {
  torch::zeros({2}, torch::requires_grad()).to(device);
  torch::zeros({2}, torch::dtype(torch::kFloat).requires_grad(true)).to(device);
  torch::zeros({2}).requires_grad_().to(device);
}

void others(torch::Device device, Tensor x, torch::Generator generator) {
  mine::zeros({2}).to(device);
  mine::ones(2).to(device);
  // The numbers come from a generator of the CPU.
  torch::randn({2}, generator).to(device);
  // Another tensor takes part.
  (torch::zeros({2}) + x).to(device);
  torch::zeros({2}).copy_(x).to(device);
  at::normal(x, 1.0).to(device);
  torch::zeros({2}).pin_memory().to(device, true);
  torch::randn({8}).multinomial(2).to(device);
}

Tensor used_before(torch::Device device, bool copy) {
  auto a = torch::rand({2});
  auto sum = a.sum();
  a = a.to(device);
  auto b = torch::rand({2});
  auto onDevice = b.to(device);
  sum += b.sum();
  auto c = torch::zeros({2});
  auto fill = [&] { c.fill_(1); };
  fill();
  c = c.to(device);
  auto d = torch::zeros({2});
  if (copy)
    d = torch::ones({2});
  d = d.to(device);
  auto &e = b;
  e = e.to(device);
  return sum + onDevice + c + d;
}

void another_story(torch::Device device, std::vector<Tensor> &all) {
  static auto once = torch::rand({2});
  once = once.to(device);
  // Copied in each round.
  auto noise = torch::rand({2});
  for (auto &x : all)
    x = x + noise.to(device);
  Tensor later;
  later = torch::rand({2});
  later = later.to(device);
  // The lambda has its own copy of it.
  auto kept = torch::rand({2});
  all.push_back([kept, device] { return kept.to(device); }());
}

void options(torch::Device device, bool cuda) {
  auto given = torch::TensorOptions();
  if (cuda)
    given = given.device(device);
  torch::ones({2}, given).to(device);
  auto learned = torch::TensorOptions().requires_grad(true);
  torch::ones({2}, learned).to(device);
}
