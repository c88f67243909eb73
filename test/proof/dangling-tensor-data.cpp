// Pointers and references into tensors, tuples and lists that are gone.
#include <cstdio>
#include <cstring>
#include <torch/torch.h>

float data(const torch::Tensor &x) {
#ifndef FIXED
  const float *p = (x * 2).data_ptr<float>();
#else
  auto p_tensor = x * 2;
  const float *p = p_tensor.data_ptr<float>();
#endif
  return p[10];
}

float converted(const torch::Tensor &x) {
#ifndef FIXED
  const float *p = x.to(torch::kDouble).to(torch::kFloat).data_ptr<float>();
#else
  auto p_tensor = x.to(torch::kDouble).to(torch::kFloat);
  const float *p = p_tensor.data_ptr<float>();
#endif
  return p[10];
}

int64_t sizes(const torch::Tensor &x) {
#ifndef FIXED
  torch::IntArrayRef shape = x.t().sizes();
#else
  auto shape_tensor = x.t();
  torch::IntArrayRef shape = shape_tensor.sizes();
#endif
  return shape[0];
}

int64_t braces(int64_t n) {
#ifndef FIXED
  torch::IntArrayRef shape = {n, n + 1, n + 2};
#else
  const int64_t shape_values[] = {n, n + 1, n + 2};
  torch::IntArrayRef shape = shape_values;
#endif
  return shape[1];
}

float scripted(torch::jit::Module &module, const torch::Tensor &x) {
#ifndef FIXED
  const float *p = module.forward({x}).toTensor().data_ptr<float>();
#else
  auto p_tensor = module.forward({x}).toTensor();
  const float *p = p_tensor.data_ptr<float>();
#endif
  return p[10];
}

int64_t elements(torch::jit::Module &module, const torch::Tensor &x) {
  int64_t sum = 0;
#ifndef FIXED
  for (const auto &element : module.run_method("pair", x).toTuple()->elements())
#else
  auto tuple = module.run_method("pair", x).toTuple();
  for (const auto &element : tuple->elements())
#endif
    sum += element.toTensor().numel();
  return sum;
}

int main(int argc, char **argv) {
  at::set_num_threads(1);
  torch::NoGradGuard no_grad;
  torch::Tensor x = torch::ones({100, 100});
  torch::jit::Module module("m");
  module.define("def forward(self, x):\n  return x + 1\n"
                "def pair(self, x):\n  return (x + 1, x + 2)\n");
  const char *what = argc > 1 ? argv[1] : "";
  if (std::strcmp(what, "data") == 0)
    std::printf("data: %g\n", data(x));
  else if (std::strcmp(what, "converted") == 0)
    std::printf("converted: %g\n", converted(x));
  else if (std::strcmp(what, "sizes") == 0)
    std::printf("sizes: %lld\n", static_cast<long long>(sizes(x)));
  else if (std::strcmp(what, "braces") == 0)
    std::printf("braces: %lld\n", static_cast<long long>(braces(3)));
  else if (std::strcmp(what, "scripted") == 0)
    std::printf("scripted: %g\n", scripted(module, x));
  else if (std::strcmp(what, "elements") == 0)
    std::printf("elements: %lld\n",
                static_cast<long long>(elements(module, x)));
  return 0;
}
