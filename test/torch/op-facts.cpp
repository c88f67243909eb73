// RUN: %torch-facts -ops %s -- %torch_flags | %FileCheck %s
// Callees are found under the names of C++: operators, free functions,
// methods, torch::nn::functional and the families with a namespace of their
// own.
#include <torch/torch.h>

namespace F = torch::nn::functional;

namespace torch::project {
// A project's own function is no operator of ATen's.
Tensor relu(int) { return {}; }
} // namespace torch::project

void calls(torch::Tensor x, torch::Tensor y, std::vector<torch::Tensor> list) {
  auto a = x + y; // CHECK: [[@LINE]]: op add pure saves-nothing keeps-order{{$}}
  x += y; // CHECK: [[@LINE]]: op add_ in-place saves-nothing{{$}}
  x *= 2; // CHECK: [[@LINE]]: op mul_ in-place{{$}}
  auto b = -x; // CHECK: [[@LINE]]: op neg pure saves-nothing keeps-order{{$}}
  auto c = 2 * x; // CHECK: [[@LINE]]: op mul pure keeps-order{{$}}
  auto d = x[0]; // CHECK: [[@LINE]]: op select view part saves-nothing{{$}}
  auto e = x > y; // CHECK: [[@LINE]]: op gt saves-nothing never-differentiable keeps-order{{$}}
  auto f = x.sum(); // CHECK: [[@LINE]]: op sum saves-nothing reduces packs{{$}}
  auto g = torch::relu(x); // CHECK: [[@LINE]]: op relu keeps-order{{$}}
  auto h = torch::mse_loss(x, y); // CHECK: [[@LINE]]: op mse_loss pins-buffer reduces{{$}}
  auto i = F::mse_loss(x, y); // CHECK: [[@LINE]]: op mse_loss pins-buffer reduces{{$}}
  auto j = F::cross_entropy(x, y); // CHECK: [[@LINE]]: op cross_entropy reduces{{$}}
  auto k = torch::special::expit(x); // CHECK: [[@LINE]]: op special_expit{{$}}
  auto l = torch::fft::rfft(x); // CHECK: [[@LINE]]: op fft_rfft{{$}}
  auto m = x.max(1); // CHECK: [[@LINE]]: op max packs{{$}}
  auto n = x.argmax(1); // CHECK: [[@LINE]]: op argmax saves-nothing reduces never-differentiable packs{{$}}
  auto o = x.view({1}); // CHECK: [[@LINE]]: op view view whole pure saves-nothing{{$}}
  auto p = x.cpu(); // CHECK: [[@LINE]]: op cpu may-share whole same-elements pure saves-nothing{{$}}
  auto q = x.index({0}); // CHECK: [[@LINE]]: op index may-share part{{$}}
  auto r = torch::cat(list); // CHECK: [[@LINE]]: op cat saves-nothing{{$}}
  auto s = torch::zeros({1}); // CHECK: [[@LINE]]: op zeros factory saves-nothing never-differentiable{{$}}
  auto t = x.chunk(2); // CHECK: [[@LINE]]: op chunk view saves-nothing{{$}}
  auto u = torch::project::relu(1); // CHECK-NOT: [[@LINE]]: op
  x = y;                   // CHECK-NOT: [[@LINE]]: op
  list.clear();            // CHECK-NOT: [[@LINE]]: op
}
