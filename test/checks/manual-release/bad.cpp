// What is reported.
// RUN: %check_libtorch_tidy %s libtorch-manual-release %t

#include <cstdlib>
#include <torch/script.h>
#include <torch/torch.h>

// As cuda_runtime.h and cuda.h declare them.
extern "C" int cudaFree(void *Pointer);
extern "C" int cudaDeviceReset();
extern "C" int cuMemFree_v2(unsigned long long Pointer);
namespace c10::cuda::CUDACachingAllocator {
void raw_delete(void *Pointer);
}

struct NetImpl : torch::nn::Module {
  torch::nn::Linear Fc{nullptr};
  torch::Tensor forward(torch::Tensor X) { return Fc(X); }
  void release();
  torch::Tensor Last;
};
TORCH_MODULE(Net);

void functions() {
  torch::Tensor X = torch::rand({100, 100});
  std::free(X.data_ptr());
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: double free: free() releases the memory of 'X', which LibTorch owns: its allocator releases it again, or hands it out again; X.reset() releases it [libtorch-manual-release]
  auto Y = X.cuda();
  cudaFree(Y.data_ptr<float>());
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: double free: cudaFree() releases the memory of 'Y', which LibTorch owns: its allocator releases it again, or hands it out again; Y.reset() releases it [libtorch-manual-release]
  c10::cuda::CUDACachingAllocator::raw_delete(
      const_cast<void *>(static_cast<const void *>(Y.storage().data())));
  // CHECK-NOTES: :[[@LINE-2]]:3: warning: double free: raw_delete() releases the memory of 'Y', which LibTorch owns: its allocator releases it again, or hands it out again; Y.reset() releases it [libtorch-manual-release]
  cuMemFree_v2(reinterpret_cast<unsigned long long>(Y.data_ptr()));
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: double free: cuMemFree_v2() releases the memory of 'Y', which LibTorch owns: its allocator releases it again, or hands it out again; Y.reset() releases it [libtorch-manual-release]
}

void pointers() {
  torch::Tensor X = torch::zeros({10}).view({2, 5});
  float *Data = X.data_ptr<float>();
  Data[0] = 1;
  free(Data);
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: double free: free() releases the memory of 'X', which LibTorch owns: its allocator releases it again, or hands it out again; X.reset() releases it [libtorch-manual-release]
  // CHECK-NOTES: :[[@LINE-4]]:17: note: the pointer is taken from 'X' here
  const auto *Bytes = static_cast<const char *>(X.t().data_ptr());
  delete[] Bytes;
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: double free: delete releases the memory of this tensor, which LibTorch owns: its allocator releases it again, or hands it out again; it is freed with the last tensor that uses it [libtorch-manual-release]
  // CHECK-NOTES: :[[@LINE-3]]:49: note: the pointer is taken from this tensor here
}

// A function that may get any tensor, in a unit that makes none over memory of
// its own.
void release(torch::Tensor &X, Net &Model) {
  free(X.data_ptr());
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: double free: free() releases the memory of 'X', which LibTorch owns: its allocator releases it again, or hands it out again; X.reset() releases it [libtorch-manual-release]
  for (auto &Parameter : Model->parameters()) {
    if (Parameter.is_cuda())
      cudaFree(Parameter.data_ptr());
      // CHECK-NOTES: :[[@LINE-1]]:7: warning: double free: cudaFree() releases the memory of 'Parameter', which LibTorch owns: its allocator releases it again, or hands it out again; Parameter.reset() releases it [libtorch-manual-release]
  }
}

torch::Tensor Global;
void destructors(torch::jit::Module Script) {
  torch::Tensor X = torch::rand({100, 100});
  X.~Tensor();
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: double free: the destructor of 'X' runs again at the end of its scope, and releases what it owns a second time; drop this call [libtorch-manual-release]
  Script.~Module();
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: double free: the destructor of 'Script' runs again at the end of its scope, and releases what it owns a second time; drop this call [libtorch-manual-release]
  Global.~Tensor();
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: double free: the destructor of 'Global' runs again when the program ends, and releases what it owns a second time; drop this call [libtorch-manual-release]
  Net Model;
  Model->~NetImpl();
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: double free: the destructor of 'Model' runs again when the last handle of it ends, and releases what it owns a second time; drop this call [libtorch-manual-release]
  auto Held = std::make_shared<NetImpl>();
  (*Held).~NetImpl();
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: double free: the destructor of 'Held' runs again when the last handle of it ends, and releases what it owns a second time; drop this call [libtorch-manual-release]
  std::vector<torch::Tensor> All(3);
  using List = std::vector<torch::Tensor>;
  All.~List();
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: double free: the destructor of 'All' runs again at the end of its scope, and releases what it owns a second time; drop this call [libtorch-manual-release]
}
void NetImpl::release() {
  Last.~Tensor();
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: double free: the destructor of 'Last' runs again with the object that it is a part of, and releases what it owns a second time; drop this call [libtorch-manual-release]
}

// LibTorch's allocators, by method.
void byAllocator(c10::Allocator *Of) {
  torch::Tensor X = torch::rand({4});
  Of->raw_deallocate(X.data_ptr());
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: double free: raw_deallocate() releases the memory of 'X', which LibTorch owns: its allocator releases it again, or hands it out again; X.reset() releases it [libtorch-manual-release]
  Of->raw_deallocate(Of->raw_allocate(64));
}

// A template is reported once.
template <typename T> void typed(int64_t N) {
  torch::Tensor X = torch::empty({N});
  free(X.data_ptr<T>());
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: double free: free() releases the memory of 'X', which LibTorch owns: its allocator releases it again, or hands it out again; X.reset() releases it [libtorch-manual-release]
}
void instances() {
  typed<float>(1);
  typed<double>(2);
}

void reload(const std::string &File) {
  {
    auto Model = torch::jit::load(File);
    Model.to(torch::kCUDA);
  }
  cudaDeviceReset();
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: cudaDeviceReset() destroys the context of the device under LibTorch: tensors and modules on it, its streams and its allocator's blocks are invalid from here on, and no other can be made; emptyCache() gives back what no tensor holds [libtorch-manual-release]
}

int main() {
  reload("a.pt");
  cudaDeviceReset();
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: cudaDeviceReset() destroys the context of the device under LibTorch: tensors and modules on it, its streams and its allocator's blocks are invalid from here on, and no other can be made; emptyCache() gives back what no tensor holds [libtorch-manual-release]
  auto X = torch::rand({1}).cuda();
  cudaDeviceReset();
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: cudaDeviceReset() destroys the context of the device under LibTorch: tensors and modules on it, its streams and its allocator's blocks are invalid from here on, and no other can be made; emptyCache() gives back what no tensor holds [libtorch-manual-release]
  return 0;
}
