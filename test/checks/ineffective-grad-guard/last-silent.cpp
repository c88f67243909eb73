// Guards that something comes after, however little it is.
// RUN: %check_libtorch_tidy %s libtorch-ineffective-grad-guard %t --level=2

#include <functional>
#include <future>
#include <iostream>
#include <string>
#include <torch/script.h>
#include <torch/torch.h>

using torch::Tensor;

void warm_up(); // In another file.
std::ostream &operator<<(std::ostream &, const torch::nn::Linear &);

void calls(torch::nn::Linear net) {
  net->eval();
  torch::NoGradGuard no_grad;
  warm_up();
}
void calls_what_is_stored(torch::nn::Linear net, std::function<void()> run) {
  net->eval();
  torch::NoGradGuard no_grad;
  run();
}
// get() may run it in this thread.
int waits(torch::nn::Linear net, std::future<int> later) {
  net->eval();
  torch::NoGradGuard no_grad;
  return later.get();
}
float adds(Tensor x) {
  x = x.contiguous();
  torch::NoGradGuard no_grad;
  return (x + x).item<float>();
}
void prints(torch::nn::Linear net, Tensor x) {
  x = net(x);
  torch::NoGradGuard no_grad;
  std::cout << net << x << "\n";
}
// Something is done with the guard itself.
const void *seen;
void hands_out(torch::nn::Linear net) {
  net->eval();
  torch::NoGradGuard no_grad;
  seen = &no_grad;
}
auto keeps(torch::nn::Linear net) {
  net->eval();
  auto no_grad = std::make_shared<torch::NoGradGuard>();
  return no_grad;
}
struct Layer {
  Tensor weight = torch::ones({2}).requires_grad_();
  Tensor scaled = weight * 2;
};
Layer *makes(torch::nn::Linear net) {
  net->eval();
  torch::NoGradGuard no_grad;
  return new Layer;
}
void makes_here(torch::nn::Linear net) {
  net->eval();
  torch::NoGradGuard no_grad;
  Layer layer;
}
std::function<Tensor()> makes_lambda(torch::nn::Linear net, Tensor x) {
  net->eval();
  torch::NoGradGuard no_grad;
  return [y = net(x)] { return y; };
}
void left_out(torch::nn::Linear net, Tensor x) {
  net->eval();
  torch::NoGradGuard no_grad;
#ifdef TRACE
  std::cout << net(x);
#endif
}
// A macro that is nothing, or little, in this build.
#define TRACE_NOTHING(What)
#define TRACE_LITTLE(What) std::cout << "trace"
void traced(torch::nn::Linear net, Tensor x) {
  {
    net->eval();
    torch::NoGradGuard no_grad;
    TRACE_NOTHING(net(x));
  }
  net->eval();
  torch::NoGradGuard no_grad;
  TRACE_LITTLE(net(x));
}
void again(torch::nn::Linear net, Tensor x) {
round:
  net->train();
  torch::NoGradGuard no_grad;
  if (net->is_training())
    goto round;
}
template <typename Run> void any(torch::nn::Linear net, Run run) {
  net->eval();
  torch::NoGradGuard no_grad;
  run();
}
void runs_any(torch::nn::Linear net) { any(net, warm_up); }

#define TEST(Suite, Name) void Suite##_##Name()
TEST(GradMode, EndsWithItsBlock) {
  {
    Tensor x = torch::ones({2});
    torch::NoGradGuard no_grad;
  }
  if (!torch::GradMode::is_enabled())
    std::cout << "wrong\n";
}

Tensor on_again(torch::nn::Linear net, std::vector<Tensor> &inputs, int i,
                bool gradients) {
  if (!gradients) {
    torch::NoGradGuard no_grad;
    inputs[i].requires_grad_(true);
  }
  if (gradients) {
    torch::NoGradGuard no_grad;
    inputs[i].mul_(2).requires_grad_(false);
  }
  return net(inputs[i]);
}
