// A region of autocast for each of five weights that die, and for one that
// changes between two regions.
#include "Memory.h"
#include <ATen/autocast_mode.h>

static torch::Tensor inBfloat16(const torch::Tensor &x,
                                const torch::Tensor &weight) {
  at::autocast::set_cpu_enabled(true);
  torch::Tensor y = torch::mm(x, weight);
#ifdef FIXED
  at::autocast::clear_cache();
#endif
  at::autocast::set_cpu_enabled(false);
  return y.to(torch::kFloat);
}

static float sumOf(const torch::Tensor &t) {
  return t.detach().abs().sum().item<float>();
}

int main() {
  proof::begin();
  // On processors with AVX-512, oneDNN multiplies bfloat16 and takes scratch
  // memory for it. The figures are to be the same on every processor.
  at::globalContext().setUserEnabledMkldnn(false);
  torch::Tensor x = torch::randn({4, 1024});
  std::vector<float> results;

  proof::Span span;
  for (int i = 0; i < 5; ++i) {
    torch::Tensor weight = torch::randn({1024, 1024}, torch::requires_grad());
    results.push_back(sumOf(inBfloat16(x, weight)));
  }
  span.print("five weights that are gone");

  torch::Tensor weight = torch::randn({1024, 1024}, torch::requires_grad());
  float before = sumOf(inBfloat16(x, weight));
  {
    torch::NoGradGuard guard;
    weight.mul_(2);
  }
  std::printf("a doubled weight: %.0f times the result\n",
              sumOf(inBfloat16(x, weight)) / before);
  proof::printBits("sums", results);
}
