#include <torch/torch.h>

// Guarded, or not guarded at all.
void silent(torch::nn::Linear &net, const torch::Tensor &x) {
#pragma omp parallel
  std::cout << net(x);
}

void regions(torch::nn::Linear &net, const torch::Tensor &x) {
  torch::NoGradGuard no_grad;
#pragma omp parallel for
  for (int i = 0; i < 4; ++i) {
    std::cout << net(x);
  }
#pragma omp parallel
  {
    torch::NoGradGuard own;
    std::cout << net(x);
  }
#pragma omp simd
  for (int i = 0; i < 4; ++i)
    std::cout << net(x);
}
