// Written through a view, kept, or done for its own sake.
// RUN: %check_libtorch_tidy %s libtorch-discarded-result %t --level=2

#include <torch/torch.h>

#include <chrono>

using torch::Tensor;
using torch::indexing::None;
using torch::indexing::Slice;

void consume(const Tensor &x);
Tensor model(Tensor x);

Tensor kept(Tensor x, Tensor mask) {
  Tensor y = x.index({mask}).fill_(0);
  consume(x.index({mask}).zero_());
  (void)x.index({mask}).fill_(0);
  Tensor some = x.index({mask});
  some.fill_(0);
  x.add_(some.sum());
  return x.index({mask}).mul_(2) + y;
}

void views(Tensor x, Tensor y) {
  x.index({0}).fill_(0);
  x.index({Slice(0, 2), None}).zero_();
  x[0] = y;
  x[0][1] += 2;
  x.select(0, 1) = y;
  x.slice(0, 1) = 3;
  x.view({-1}).add_(1);
  x.detach().add_(1);
  x.data().zero_();
  x.t().copy_(x);
  x.diagonal().fill_(1);
  x.grad().zero_();
  x.chunk(2)[0].zero_();
}

// They may return the tensor itself.
void perhaps(Tensor x, std::vector<at::indexing::TensorIndex> indices, Tensor y) {
  x.contiguous().add_(1);
  x.to(torch::kFloat32).add_(1);
  x.to(y).add_(1);
  x.cpu().add_(1);
  x.reshape({-1}).add_(1);
  x.index(indices).fill_(0);
}

// Run to warm up, or to measure.
void own_sake(Tensor x, Tensor mask) {
  torch::empty({1 << 20}).fill_(0);
  model(x).add_(1);
  x.mm(x).add_(1);
  try {
    x.index({mask}).fill_(0);
  } catch (const c10::Error &) {
  }
  auto begin = std::chrono::steady_clock::now();
  x.index({mask}).fill_(0);
  auto time = std::chrono::steady_clock::now() - begin;
  std::printf("%ld", static_cast<long>(time.count()));
}
void not_read_again() {
  Tensor x = torch::ones({3, 3});
  x.index({torch::eye(3, torch::kBool)}).fill_(0);
}

#define THROWS(STATEMENT) STATEMENT
void macros(Tensor x, Tensor mask) { THROWS(x.index({mask}).fill_(0)); }

// Names that go on, and are read.
Tensor names(Tensor x, Tensor y, int n) {
  Tensor row = x[0];
  consume(row);
  row = x[1];
  Tensor picked = x.index({128});
  for (int i = 0; i < n; ++i) {
    consume(picked);
    picked = x.index({y + i});
  }
  consume(picked);
  picked = x.index({y + 1});
  Tensor released = x[0];
  consume(released);
  released = Tensor();
  Tensor carried = x[0];
  for (int i = 0; i < n; ++i)
    carried = carried * 2;
  Tensor own = y + 1;
  own = x;
  Tensor captured = x[0];
  auto later = [&] { consume(captured); };
  captured = y;
  later();
  Tensor &other = x;
  other = y;
  Tensor written = x[0];
  written.copy_(y);
  Tensor used = x[0];
  used = y;
  return used;
}
void elements(std::vector<Tensor> &list) {
  for (auto &element : list)
    element = element.relu();
}
