// Mixed precision on the CPU, which a guard of the program's switches on and
// off. budget: --optimizer=sgd
#include <ATen/autocast_mode.h>
#include <torch/torch.h>

class Mixed {
public:
  explicit Mixed(bool on) : before(isOn()) {
    set(on);
    at::autocast::increment_nesting();
  }
  ~Mixed() {
    if (at::autocast::decrement_nesting() == 0)
      at::autocast::clear_cache();
    set(before);
  }

private:
#if TORCH_VERSION_MAJOR >= 2
  static bool isOn() { return at::autocast::is_autocast_enabled(at::kCPU); }
  static void set(bool on) { at::autocast::set_autocast_enabled(at::kCPU, on); }
#else
  static bool isOn() { return at::autocast::is_cpu_enabled(); }
  static void set(bool on) { at::autocast::set_cpu_enabled(on); }
#endif
  bool before;
};

struct NetImpl : torch::nn::Module {
  NetImpl(int64_t in, int64_t hidden, int64_t out) {
    fc1 = register_module("fc1", torch::nn::Linear(in, hidden));
    fc2 = register_module("fc2", torch::nn::Linear(hidden, hidden));
    fc3 = register_module("fc3", torch::nn::Linear(hidden, out));
  }
  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(fc1(x));
    x = torch::relu(fc2(x));
    return fc3(x);
  }
  torch::nn::Linear fc1{nullptr}, fc2{nullptr}, fc3{nullptr};
};
TORCH_MODULE(Net);

int main() {
  Net net(64, 128, 10);
  torch::optim::SGD optimizer(net->parameters(),
                              torch::optim::SGDOptions(1e-3));
  for (int i = 0; i < 6; ++i) {
    auto x = torch::randn({1024, 64});
    auto y = torch::randint(0, 10, {1024}, torch::kLong);
    optimizer.zero_grad();
    torch::Tensor loss;
    {
      Mixed scope(true);
      auto out = net->forward(x);
      loss = torch::nn::functional::cross_entropy(out.to(torch::kFloat), y);
    }
    loss.backward();
    optimizer.step();
  }
  return 0;
}
