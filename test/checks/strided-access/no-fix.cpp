// Where no fix is offered.
// RUN: %check_libtorch_tidy %s libtorch-strided-access %t

#include <torch/torch.h>

#include <cstring>
#include <vector>

using torch::Tensor;

// What is written to a copy is lost.
void written(const float *from) {
  auto part = torch::rand({3, 4}).slice(1, 1, 3);
  std::memcpy(part.data_ptr<float>(), from, part.nbytes());
  // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: wrong bytes: 'memcpy' copies the bytes of 'part' as they lie in memory, but 'slice' has left those of the whole tensor between them; read from a packed copy, contiguous(), kept in a variable [libtorch-strided-access]
}

// A copy would not live as long.
std::vector<float> later(bool first) {
  auto part = torch::rand({3, 4}).slice(1, 1, 3);
  const float *p = nullptr;
  if (first)
    p = part.data_ptr<float>();
  std::vector<float> v;
  for (int64_t i = 0; i < part.numel(); ++i)
    v.push_back(p[i]);
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: wrong bytes: the loop goes through the memory of 'part' element by element, but 'slice' has left those of the whole tensor between them; read from a packed copy, contiguous(), kept in a variable [libtorch-strided-access]
  return v;
}

#define ALL(t) std::vector<float>(t.data_ptr<float>(), t.data_ptr<float>() + t.numel())
std::vector<float> in_macro() {
  auto part = torch::rand({3, 4}).slice(1, 1, 3);
  return ALL(part);
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: wrong bytes: 'vector' takes the elements of 'part' as they lie in memory, but 'slice' has left those of the whole tensor between them; read from a packed copy, contiguous(), kept in a variable [libtorch-strided-access]
}
