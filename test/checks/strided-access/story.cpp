// The note says which operator changed the strides.
// RUN: %check_libtorch_tidy %s libtorch-strided-access %t

#include <torch/torch.h>

#include <cstring>

using torch::Tensor;

static Tensor turned(const Tensor &x) { return x.transpose(0, 1); }

void story(const Tensor &x, float *to) {
  auto hwc = x.permute({1, 2, 0}).mul(255);
  auto bytes = hwc.round().clone();
  std::memcpy(to, bytes.data_ptr<float>(), bytes.nbytes());
  // CHECK-NOTES: :[[@LINE-1]]:19: warning: wrong bytes: 'memcpy' copies the bytes of 'bytes' as they lie in memory, but 'permute' has moved no bytes: they lie in the order from before; read from a packed copy, contiguous(), kept in a variable [libtorch-strided-access]
  // CHECK-NOTES: :[[@LINE-4]]:16: note: 'permute' changes the strides here
  // CHECK-FIXES: auto bytes_packed = bytes.contiguous();
  // CHECK-FIXES: std::memcpy(to, bytes_packed.data_ptr<float>(), bytes.nbytes());
  auto q = std::get<0>(torch::linalg_qr(x));
  std::memcpy(to, q.data_ptr<float>(), q.nbytes());
  // CHECK-NOTES: :[[@LINE-1]]:19: warning: wrong bytes: 'memcpy' copies the bytes of 'q' as they lie in memory, but the result of 'linalg_qr' lies column by column; read from a packed copy, contiguous(), kept in a variable [libtorch-strided-access]
  // CHECK-NOTES: :[[@LINE-3]]:24: note: 'linalg_qr' returns it here
  // CHECK-FIXES: auto q_packed = q.contiguous();
  // CHECK-FIXES: std::memcpy(to, q_packed.data_ptr<float>(), q.nbytes());
  auto t = turned(x);
  std::memcpy(to, t.data_ptr<float>(), t.nbytes());
  // CHECK-NOTES: :[[@LINE-1]]:19: warning: wrong bytes: 'memcpy' copies the bytes of 't' as they lie in memory, but the result of 'turned' lies in another order; read from a packed copy, contiguous(), kept in a variable [libtorch-strided-access]
  // CHECK-NOTES: :[[@LINE-3]]:12: note: 'turned' returns it here
  // CHECK-FIXES: auto t_packed = t.contiguous();
  // CHECK-FIXES: std::memcpy(to, t_packed.data_ptr<float>(), t.nbytes());
  auto parts = x.chunk(2, 1);
  auto first = parts[0];
  std::memcpy(to, first.data_ptr<float>(), first.nbytes());
  // CHECK-NOTES: :[[@LINE-1]]:19: warning: wrong bytes: 'memcpy' copies the bytes of 'first' as they lie in memory, but 'chunk' has left those of the whole tensor between them; read from a packed copy, contiguous(), kept in a variable [libtorch-strided-access]
  // CHECK-NOTES: :[[@LINE-4]]:18: note: 'chunk' changes the strides here
  // CHECK-FIXES: auto first_packed = first.contiguous();
  // CHECK-FIXES: std::memcpy(to, first_packed.data_ptr<float>(), first.nbytes());
}
