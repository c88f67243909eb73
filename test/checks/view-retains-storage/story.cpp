// Where the loss is computed, and where the part is taken.
// RUN: %check_libtorch_tidy %s libtorch-view-retains-storage %t
#include <torch/torch.h>

using torch::Tensor;

void losses(torch::nn::Linear net, std::vector<Tensor> &all, int n) {
  torch::NoGradGuard no_grad;
  for (int i = 0; i < n; ++i) {
    Tensor x = torch::rand({64, 8});
    Tensor loss = torch::mse_loss(net(x), x);
    all.push_back(loss);
    // CHECK-NOTES: :[[@LINE-1]]:19: warning: wasted memory: 'all' keeps the whole unreduced loss alive for a single number; keep a clone() of that number [libtorch-view-retains-storage]
    // CHECK-NOTES: :[[@LINE-3]]:19: note: the loss is computed here
    // CHECK-FIXES: all.push_back(loss.clone());
  }
}
