// Four rows, four losses and one file, each with the memory of a whole tensor.
#include "Memory.h"
#include <sstream>
#include <torch/torch.h>

constexpr int64_t MegaByte = 1 << 20;

std::vector<torch::Tensor> rows() {
  std::vector<torch::Tensor> kept;
  for (int i = 0; i < 4; ++i) {
    torch::Tensor whole = torch::rand({10, MegaByte / 4});
#ifndef FIXED
    kept.push_back(whole[3]);
#else
    kept.push_back(whole[3].clone());
#endif
  }
  return kept;
}

std::vector<torch::Tensor> losses(const torch::Tensor &a,
                                  const torch::Tensor &b) {
  std::vector<torch::Tensor> kept;
  for (int i = 0; i < 4; ++i)
#ifndef FIXED
    kept.push_back(torch::mse_loss(a, b).detach());
#else
    kept.push_back(torch::mse_loss(a, b).detach().clone());
#endif
  return kept;
}

int main() {
  proof::begin();
  torch::Tensor a = torch::rand({MegaByte}), b = torch::rand({MegaByte});
  std::vector<float> bits;

  proof::Span ofRows;
  std::vector<torch::Tensor> fourRows = rows();
  ofRows.print("rows");
  for (const torch::Tensor &row : fourRows)
    bits.push_back(row.sum().item<float>());

  proof::Span ofLosses;
  std::vector<torch::Tensor> fourLosses = losses(a, b);
  ofLosses.print("losses");
  for (const torch::Tensor &loss : fourLosses)
    bits.push_back(loss.item<float>());

  std::stringstream file;
#ifndef FIXED
  torch::save(a.slice(0, 0, 4), file);
#else
  torch::save(a.slice(0, 0, 4).clone(), file);
#endif
  std::printf("file: %zu bytes\n", file.str().size());
  torch::Tensor loaded;
  torch::load(loaded, file);
  bits.push_back(loaded.sum().item<float>());
  proof::printBits("rows, losses and file", bits);
}
