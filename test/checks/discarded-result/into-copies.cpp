// In-place operators on a copy that nobody keeps write nothing into the tensor that it
// is made from.
// RUN: %check_libtorch_tidy %s libtorch-discarded-result %t

#include <torch/torch.h>

using torch::Tensor;
using torch::indexing::Slice;

void masks(Tensor x, Tensor mask, Tensor *p) {
  x.index({mask}).fill_(0);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: 'fill_' writes into the copy that 'index' makes, which is discarded; 'x' stays as it is; use 'index_put_' [libtorch-discarded-result]
  // CHECK-FIXES: x.index_put_({mask}, 0);
  x.index({mask, Slice()}).zero_();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: 'zero_' writes into the copy that 'index' makes
  // CHECK-FIXES: x.index_put_({mask, Slice()}, 0);
  x.index({Slice(), mask}) = -1.5;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: '=' writes into the copy that 'index' makes
  // CHECK-FIXES: x.index_put_({Slice(), mask}, -1.5);
  p->index({mask}).fill_(2);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: 'fill_' writes into the copy that 'index' makes, which is discarded; 'p' stays
  // CHECK-FIXES: p->index_put_({mask}, 2);
  x[0].index({mask}).fill_(0);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: 'fill_' writes into the copy that 'index' makes, which is discarded; 'x[0]' stays
  // CHECK-FIXES: x[0].index_put_({mask}, 0);
  x.masked_select(mask).fill_(x.size(0));
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: 'fill_' writes into the copy that 'masked_select' makes, which is discarded; 'x' stays as it is; use 'masked_fill_'
  // CHECK-FIXES: x.masked_fill_(mask, x.size(0));
  if (mask.defined())
    x.gather(1, mask).fill_(3);
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: no effect: 'fill_' writes into the copy that 'gather' makes, which is discarded; 'x' stays as it is; use 'scatter_'
  // CHECK-FIXES: x.scatter_(1, mask, 3);
}

struct Table {
  std::vector<Tensor> rows;
  void reset(const Tensor &mask) {
    for (auto &row : rows) {
      row.index({mask}).zero_();
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: no effect: 'zero_' writes into the copy that 'index' makes, which is discarded; 'row' stays
      // CHECK-FIXES: row.index_put_({mask}, 0);
    }
    rows[0].index({mask}).fill_(1);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: no effect: 'fill_' writes into the copy that 'index' makes, which is discarded; 'rows[0]' stays
    // CHECK-FIXES: rows[0].index_put_({mask}, 1);
  }
};

Tensor suppressed(Tensor x, Tensor mask) {
  x.index({mask}).fill_(0); // NOLINT(libtorch-discarded-result)
  return x;
}
