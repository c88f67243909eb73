// What lies otherwise on each path: an operator may put one of them in order.
// RUN: %check_libtorch_tidy %s libtorch-strided-access %t --level=0 --expect-none

#include <torch/torch.h>

#include <cstring>

using torch::Tensor;

void part(float *rows, float *to, bool turn) {
  Tensor t = torch::from_blob(rows, {2, 3}, {4, 1});
  if (turn)
    t = t.permute({1, 0});
  t = t.chunk(2, -1)[0];
  std::memcpy(to, t.data_ptr<float>(), t.nbytes());
}
void turned_again(float *to, bool turn) {
  auto t = torch::eye(4);
  if (turn)
    t = t.t();
  auto column = t.t().select(1, 0);
  std::memcpy(to, column.data_ptr<float>(), column.nbytes());
}
