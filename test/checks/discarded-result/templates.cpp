// In templates, what every instantiation of the file makes a tensor of. Where the type
// depends on the arguments there is no fix: in another file it may be something else.
// RUN: %check_libtorch_tidy %s libtorch-discarded-result %t

#include <torch/torch.h>

using torch::Tensor;

template <typename T> Tensor scale(Tensor A, const T &Low, const T &High) {
  auto S = static_cast<T>(2.0) * ((A - Low) / (High - Low));
  S.to(A.dtype());
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: the result of 'to' is discarded; 'S' stays as it is [libtorch-discarded-result]
  return S;
}
template <class T> T bounded(T X) {
  X.clamp(0, 1);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: no effect: the result of 'clamp' is discarded; 'X' stays as it is
  return X;
}
template <class T> struct State {
  T Hidden;
  Tensor Mask;
  T cut() {
    Hidden.detach();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: no effect: the result of 'detach' is discarded; 'Hidden' stays as it is
    return Hidden;
  }
  Tensor mask() {
    Mask.clamp(0, 1);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: no effect: the result of 'clamp' is discarded; 'Mask' stays as it is
    // CHECK-FIXES: Mask = Mask.clamp(0, 1);
    return Mask;
  }
};
// An arm that is for tensors alone.
template <class T> auto onCpu(T X) {
  if constexpr (std::is_same_v<T, Tensor>)
    X.cpu();
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: no effect: the result of 'cpu' is discarded; 'X' stays as it is
  return X;
}

// The same text moves a module, for which that is right.
template <class T> void moved(T &X) { X.to(torch::kCUDA); }
template <class T> void movedAll(std::vector<T> &All) {
  for (auto &X : All)
    X.to(torch::kHalf);
}

Tensor used(Tensor A, torch::nn::Linear Net, std::vector<Tensor> All) {
  std::vector<torch::nn::LinearImpl> Nets;
  moved(A);
  moved(*Net);
  movedAll(All);
  movedAll(Nets);
  State<Tensor> S;
  S.mask();
  onCpu(3);
  auto Generic = [](auto X) {
    X.clamp(0, 1);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: no effect: the result of 'clamp' is discarded; 'X' stays as it is
    return X;
  };
  return scale<float>(A, 0, 1) + bounded(A) + S.cut() + onCpu(A) + Generic(A);
}
