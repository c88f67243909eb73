#include <torch/torch.h>

// An index with more than one ellipsis is not followed.
struct TwoEllipsesImpl : torch::nn::Module {
  TwoEllipsesImpl() {
    auto x = torch::zeros({2, 3, 4});
    register_buffer("y", x.index({"...", "...", 0}));
  }
};
TORCH_MODULE(TwoEllipses);

struct ThenNewImpl : torch::nn::Module {
  ThenNewImpl() {
    auto x = torch::zeros({2, 3, 4});
    register_buffer("y", x.index({"...", "...", torch::indexing::None}));
  }
};
TORCH_MODULE(ThenNew);

int main() {
  TwoEllipses a;
  ThenNew b;
}
