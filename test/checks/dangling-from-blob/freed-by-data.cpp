// Where a function of the file frees the memory below a tensor, nothing is told to leak.
// RUN: %check_libtorch_tidy %s libtorch-dangling-from-blob %t

#include <torch/torch.h>

torch::Tensor make() {
  float *values = new float[4]();
  return torch::from_blob(values, {4});
}
void release(torch::Tensor &t) { delete[] t.data_ptr<float>(); }
