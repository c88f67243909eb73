// A pass that is given new tensors, and of which only shapes are read, also by a helper.
// RUN: %check_libtorch_tidy %s libtorch-inference-without-no-grad %t
// RUN: %check_libtorch_tidy %s libtorch-inference-without-no-grad %t-L1 --check-suffix=L1 --level=1

#include "../Inputs/net.h"
#include <torch/script.h>

using torch::Tensor;

std::vector<int64_t> shape_of(const Tensor &t) { return t.sizes().vec(); }
struct Shape {
  int64_t dims, sizes[8];
};
void store(Shape &shape, const Tensor &t) {
  shape.dims = t.dim();
  for (int64_t i = 0; i < t.dim(); ++i)
    shape.sizes[i] = t.size(i);
}
double mean_of(const Tensor &t) { return t.mean().item<double>(); }

int64_t features(torch::nn::Sequential layers, int64_t side) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  Tensor out = layers->forward(torch::zeros({1, 3, side, side}));
  // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: inference without NoGradGuard: 'layers' runs in 'features'
  return out.view({1, -1}).size(1);
}

class Api {
public:
  void probe() {
    // CHECK-FIXES: torch::NoGradGuard no_grad;
    const Tensor input = torch::rand({1, 3, 8, 8});
    Tensor out = module_.forward({input}).toTensor();
    // CHECK-MESSAGES: :[[@LINE-1]]:26: warning: inference without NoGradGuard: 'module_' runs in 'probe'
    store(shape_, out);
    sizes_ = shape_of(out);
  }
  // Its numbers are read, or it is given data.
  void calibrate() {
    // CHECK-FIXES: torch::NoGradGuard no_grad;
    // CHECK-FIXES-L1: torch::NoGradGuard no_grad;
    Tensor out = module_.forward({torch::rand({1, 3, 8, 8})}).toTensor();
    // CHECK-MESSAGES: :[[@LINE-1]]:26: warning: inference without NoGradGuard: 'module_' runs in 'calibrate'
    // CHECK-MESSAGES-L1: :[[@LINE-2]]:26: warning: inference without NoGradGuard: 'module_' runs in 'calibrate'
    mean_ = mean_of(out);
  }
  void measure(const Tensor &x) {
    // CHECK-FIXES: torch::NoGradGuard no_grad;
    // CHECK-FIXES-L1: torch::NoGradGuard no_grad;
    sizes_ = shape_of(module_.forward({x}).toTensor());
    // CHECK-MESSAGES: :[[@LINE-1]]:31: warning: inference without NoGradGuard: 'module_' runs in 'measure'
    // CHECK-MESSAGES-L1: :[[@LINE-2]]:31: warning: inference without NoGradGuard: 'module_' runs in 'measure'
  }

private:
  torch::jit::Module module_;
  Shape shape_;
  std::vector<int64_t> sizes_;
  double mean_ = 0;
};
