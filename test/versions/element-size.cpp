// Dtypes and their sizes with the headers of 2.x, where ScalarType is one of
// torch::headeronly.
// REQUIRES: libtorch-2.6, libtorch-2.14
// RUN: %check_libtorch_tidy %s libtorch-element-size %t --torch-flags "%torch-2.6-flags"
// RUN: %check_libtorch_tidy %s libtorch-element-size %t --torch-flags "%torch-2.14-flags"

#include <cstring>
#include <torch/torch.h>
#include <vector>

void constants(torch::Tensor t, std::vector<float> &v, c10::ScalarType of) {
  std::memcpy(v.data(), t.const_data_ptr<float>(), sizeof(torch::kFloat32) * t.numel());
  // CHECK-MESSAGES: :[[@LINE-1]]:52: warning: wrong byte count: 'sizeof(torch::kFloat32)' is 1, the size of the value that names the element type, not of an element, which has 4 bytes; use 'sizeof(float)' [libtorch-element-size]
  // CHECK-FIXES: std::memcpy(v.data(), t.const_data_ptr<float>(), sizeof(float) * t.numel());
  std::memcpy(v.data(), t.data_ptr(), t.numel() * sizeof(t.scalar_type()));
  // CHECK-MESSAGES: :[[@LINE-1]]:51: warning: wrong byte count: 'sizeof(t.scalar_type())' is 1
  // CHECK-FIXES: std::memcpy(v.data(), t.data_ptr(), t.numel() * t.element_size());
  std::memcpy(v.data(), t.data_ptr(), t.numel() * sizeof(t.dtype()));
  // CHECK-MESSAGES: :[[@LINE-1]]:51: warning: wrong byte count: 'sizeof(t.dtype())' is 2
  // CHECK-FIXES: std::memcpy(v.data(), t.data_ptr(), t.numel() * t.element_size());
  std::memcpy(v.data(), t.data_ptr(), t.numel() * sizeof(of));
  // CHECK-MESSAGES: :[[@LINE-1]]:51: warning: wrong byte count: 'sizeof(of)' is 1
  std::memcpy(v.data(), t.mutable_data_ptr<float>(), t.numel());
  // CHECK-MESSAGES: :[[@LINE-1]]:54: warning: wrong byte count: 'memcpy' takes bytes, and gets the number of elements of 't'; each has 4 bytes ('float'), so a part of them is left out; multiply by 'sizeof(float)'
  // CHECK-FIXES: std::memcpy(v.data(), t.mutable_data_ptr<float>(), t.numel() * sizeof(float));
}

size_t right(torch::Tensor t, std::vector<uint8_t> &v) {
  std::memcpy(v.data(), t.data_ptr(), t.numel() * t.itemsize());
  std::memcpy(v.data(), t.data_ptr(), sizeof(torch::kUInt8) * t.numel());
  return t.numel() * c10::elementSize(t.scalar_type()) + sizeof(torch::ScalarType) +
         sizeof(torch::kUInt8);
}
