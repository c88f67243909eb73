// A method of a module in another file, other than forward(), may have a guard
// itself: level 2.
// RUN: %check_libtorch_tidy %s libtorch-inference-without-no-grad %t --level=2
// RUN: %check_libtorch_tidy %s libtorch-inference-without-no-grad %t --check-suffix=L1 --level=1

#include <torch/torch.h>

using torch::Tensor;

struct RendererImpl : torch::nn::Module {
  RendererImpl();
  Tensor forward(Tensor pose);
  Tensor render(Tensor pose);
  torch::nn::Linear layer{nullptr};
};
TORCH_MODULE(Renderer);
void save(const Tensor &image);

void show(Renderer renderer, torch::optim::Optimizer &optimizer, Tensor pose,
          Tensor image) {
  for (int i = 0; i < 1000; i++) {
    Tensor loss = torch::mse_loss(renderer->forward(pose), image);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (i % 50 == 0) {
      Tensor made = renderer->render(pose);
      // CHECK-MESSAGES: :[[@LINE-1]]:31: warning: inference without NoGradGuard: 'renderer' runs in 'show' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
      save(torch::cat({image, made}, 0).detach());
    }
    if (i % 50 == 1) {
      Tensor made = renderer->forward(pose);
      // CHECK-MESSAGES: :[[@LINE-1]]:31: warning: inference without NoGradGuard: 'renderer' runs in 'show' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
      // CHECK-MESSAGES-L1: :[[@LINE-2]]:31: warning: inference without NoGradGuard: 'renderer' runs in 'show' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
      save(torch::cat({image, made}, 0).detach());
    }
  }
}
