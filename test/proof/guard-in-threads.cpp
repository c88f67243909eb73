// One guard, seen by the thread that made it and not by the threads that it
// starts.
#include "Memory.h"
#include <ATen/Parallel.h>
#include <future>
#include <thread>
#include <torch/torch.h>

void measure(torch::nn::Sequential &net, const torch::Tensor &rows,
             const char *where) {
  proof::Span span;
  torch::Tensor scores = net->forward(rows);
  span.print(where);
}

int main() {
  proof::begin();
  // Eight layers whose activations have 1 MB each for 1024 rows.
  torch::nn::Sequential net;
  for (int i = 0; i < 8; ++i) {
    net->push_back(torch::nn::Linear(256, 256));
    net->push_back(torch::nn::Tanh());
  }
  torch::Tensor rows = torch::randn({1024, 256});

  torch::NoGradGuard no_grad;
  measure(net, rows, "caller");
  std::thread([&] { measure(net, rows, "thread"); }).join();
  std::thread([&] {
    torch::NoGradGuard no_grad_guard;
    measure(net, rows, "thread with a guard of its own");
  }).join();
  std::async(std::launch::async, [&] { measure(net, rows, "async"); }).get();
  std::async(std::launch::deferred, [&] {
    measure(net, rows, "deferred");
  }).get();
  std::promise<void> done;
  at::launch([&] {
    measure(net, rows, "at::launch");
    done.set_value();
  });
  done.get_future().get();
}
