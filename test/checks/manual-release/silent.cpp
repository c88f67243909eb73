// What looks like the defect and is right.
// RUN: %check_libtorch_tidy %s libtorch-manual-release %t

#include <cstdlib>
#include <new>
#include <torch/torch.h>

extern "C" int cudaFree(void *Pointer);

// The program's own memory, under a tensor or not.
void blob(size_t N) {
  auto *Buffer = static_cast<float *>(std::malloc(N * sizeof(float)));
  torch::Tensor X = torch::from_blob(Buffer, {int64_t(N)}).view({-1, 1});
  torch::Tensor Same = X;
  X.sum();
  std::free(Same.data_ptr());
}
void beside(const torch::Tensor &X) {
  auto *Copy = static_cast<float *>(std::malloc(X.nbytes()));
  std::memcpy(Copy, X.data_ptr<float>(), X.nbytes());
  std::free(Copy);
  float *Device = nullptr;
  cudaFree(Device);
}
// Who gave it cannot be known in a unit that makes tensors over its memory.
void release(torch::Tensor &X) { free(X.data_ptr()); }
torch::Tensor either(bool Own, float *Buffer) {
  torch::Tensor X = torch::rand({4});
  if (!Own)
    X = torch::from_blob(Buffer, {4});
  X.relu_();
  if (!Own)
    free(X.data_ptr());
  return X;
}

// A pointer that points elsewhere by then.
void moved(const torch::Tensor &X) {
  float *Data = X.data_ptr<float>();
  Data = static_cast<float *>(malloc(4));
  free(Data);
}

// A function of the user's that has the name.
struct Pool {
  void free(void *Pointer);
};
namespace mine {
void free(void *Pointer) { (void)Pointer; }
} // namespace mine
void pooled(Pool &P) {
  torch::Tensor X = torch::rand({2});
  P.free(X.data_ptr());
  mine::free(X.data_ptr());
}

// Objects in memory that the program manages.
void placed(void *Memory) {
  auto *X = new (Memory) torch::Tensor(torch::rand({2}));
  X->~Tensor();
}
void through(torch::Tensor *X) { X->~Tensor(); }
void again() {
  torch::Tensor X = torch::rand({2});
  X.~Tensor();
  new (&X) torch::Tensor(torch::rand({3}));
}
union Slot {
  torch::Tensor X;
  int Other;
  Slot() : Other(0) {}
  ~Slot() {}
  void clear() { X.~Tensor(); }
};

// The right ways.
void right(torch::nn::Linear Net) {
  torch::Tensor X = torch::rand({2});
  auto *P = new torch::Tensor(X);
  delete P;
  X.reset();
  Net = nullptr;
}

// Without LibTorch's tensors in it a reset is the program's own business: this
// one is not called.
extern "C" int deviceReset();
void own() { deviceReset(); }

// Right before the program ends: nothing of LibTorch runs any more.
extern "C" int cudaDeviceReset();
extern "C" int cudaGetLastError();
[[noreturn]] void die();
#define CUDA_CHECK(Call)                                                       \
  do {                                                                         \
    if ((Call) != 0) {                                                         \
      cudaDeviceReset();                                                       \
      exit(1);                                                                 \
    }                                                                          \
  } while (0)
void ends(const torch::Tensor &X) {
  CUDA_CHECK(cudaGetLastError());
  try {
    X.sum();
  } catch (const c10::Error &E) {
    cudaDeviceReset();
    std::exit(EXIT_FAILURE);
  }
  if (!X.defined()) {
    cudaDeviceReset();
    std::abort();
  }
  X.sum();
  cudaDeviceReset();
  die();
}
