// Programs for watch.h on a device: one is run at a time, named by the
// argument.
#include "libtorch-tidy/watch.h"
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>
#include <torch/torch.h>

using torch::Tensor;
static const auto OnDevice = torch::TensorOptions(torch::kCUDA);

struct NetImpl : torch::nn::Module {
  NetImpl(int64_t width)
      : in(register_module("in", torch::nn::Linear(256, width))),
        out(register_module("out", torch::nn::Linear(width, 10))) {}
  Tensor forward(const Tensor &x) { return out(torch::relu(in(x))); }
  torch::nn::Linear in, out;
};
TORCH_MODULE(Net);

static Tensor lossOf(Net &net) {
  auto x = torch::rand({64, 256}, OnDevice);
  auto y = torch::randint(0, 10, {64}, OnDevice.dtype(torch::kLong));
  return torch::nn::functional::cross_entropy(net(x), y);
}

int main(int argc, char **argv) {
  libtorch_tidy::Watch watch;
  const std::string kind = argc > 1 ? argv[1] : "";
  const int steps = argc > 2 ? std::atoi(argv[2]) : 60;
  Net net(argc > 3 ? std::atoi(argv[3]) : 1024);
  net->to(torch::kCUDA);
  torch::optim::Adam adam(net->parameters());
  auto train = [&] {
    adam.zero_grad();
    auto loss = lossOf(net);
    loss.backward();
    adam.step();
    return loss;
  };
  Tensor total = torch::zeros({}, OnDevice);
  std::vector<Tensor> kept;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < steps; ++i) {
    if (kind == "clean" || kind == "time")
      train();
    else if (kind == "sum")
      total = total + lossOf(net);
    else if (kind == "losses")
      kept.push_back(train());
    else if (kind == "detached")
      kept.push_back(train().detach());
    else if (kind == "results")
      kept.push_back(net(torch::rand({64, 256}, OnDevice)));
    else if (kind == "epoch") {
      total = total + lossOf(net);
      if (i % 16 == 15)
        total = torch::zeros({}, OnDevice);
    } else if (kind == "thread") {
      std::thread([&] {
        kept.push_back(torch::rand({64, 256}, OnDevice));
      }).join();
      train();
    } else if (kind == "stays") {
      // Gone after eight steps.
      kept.push_back(train().detach());
      if (kept.size() > 8)
        kept.erase(kept.begin());
    } else if (kind == "too-large") {
      train();
      if (i == 20)
        torch::empty({int64_t(1) << 40}, OnDevice);
    }
    watch.step();
  }
  torch::cuda::synchronize();
  if (kind == "time")
    std::printf("%.1f us a step\n",
                std::chrono::duration<double, std::micro>(
                    std::chrono::steady_clock::now() - start)
                        .count() /
                    steps);
}
