// A student learns from a teacher, which runs below a guard.
// budget: --optimizer=sgd-momentum
#include <iostream>
#include <torch/torch.h>

namespace F = torch::nn::functional;

struct CNNImpl : torch::nn::Module {
  CNNImpl(int64_t width, int64_t classes)
      : features(
            torch::nn::Conv2d(torch::nn::Conv2dOptions(3, width, 3).padding(1)),
            torch::nn::BatchNorm2d(width), torch::nn::ReLU(),
            torch::nn::MaxPool2d(2),
            torch::nn::Conv2d(
                torch::nn::Conv2dOptions(width, 2 * width, 3).padding(1)),
            torch::nn::BatchNorm2d(2 * width), torch::nn::ReLU(),
            torch::nn::AdaptiveAvgPool2d(1)),
        classifier(2 * width, classes) {
    register_module("features", features);
    register_module("classifier", classifier);
  }
  torch::Tensor forward(torch::Tensor x) {
    return classifier(features->forward(x).flatten(1));
  }
  torch::nn::Sequential features;
  torch::nn::Linear classifier;
};
TORCH_MODULE(CNN);

torch::Tensor distillation_loss(const torch::Tensor &s, const torch::Tensor &t,
                                const torch::Tensor &y, double T,
                                double alpha) {
  auto soft = F::kl_div(F::log_softmax(s / T, 1), F::softmax(t / T, 1),
                        F::KLDivFuncOptions().reduction(torch::kBatchMean));
  auto hard = F::cross_entropy(s, y);
  return alpha * T * T * soft + (1 - alpha) * hard;
}

int main() {
  CNN teacher(16, 10), student(12, 10);
  teacher->eval();
  for (auto &p : teacher->parameters())
    p.set_requires_grad(false);
  torch::optim::SGD optimizer(
      student->parameters(),
      torch::optim::SGDOptions(0.05).momentum(0.9).weight_decay(1e-4));
  torch::optim::StepLR scheduler(optimizer, 2, 0.5);
  student->train();
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (int b = 0; b < 4; ++b) {
      auto x = torch::randn({16, 3, 32, 32});
      auto y = torch::randint(0, 10, {16}, torch::kLong);
      torch::Tensor t;
      {
        torch::NoGradGuard guard;
        t = teacher->forward(x);
      }
      auto s = student->forward(x);
      auto loss = distillation_loss(s, t, y, 4.0, 0.7);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
    }
    scheduler.step();
  }
  return 0;
}
