#include <torch/torch.h>

// Two fixes that begin at the same place: the second has to wait for a round.
torch::Tensor join(const std::vector<torch::Tensor> &Xs) {
  torch::Tensor All = torch::zeros({1}), Squares = torch::zeros({1});
  for (const torch::Tensor &X : Xs) {
    All = torch::cat({All, X.exp()});
    Squares = torch::cat({Squares, X.pow(2)});
  }
  return All + Squares;
}
