// An editing slip: the compiler takes the class for the missing implementation of
// itself, and so for a module holder of itself.
// RUN: %ends
#include <torch/torch.h>

struct M : torch::nn::Module {};
TORCH_MODULE(Detector);
struct Trainer {
  explicit Trainer(Detector net) : net_(std::move(net)) {}
  Detector net_;
};
