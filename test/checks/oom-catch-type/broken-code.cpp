// Code that does not compile, and code that is odd: no crash, no lost finding.
// RUN: %not %clang-tidy -load %plugin %s \
// RUN:   -checks='-*,libtorch-oom-catch-type,libtorch-autocast-cache,libtorch-empty-cache-in-loop,libtorch-oversized-linear,libtorch-dataset-worker-copy,libtorch-stale-optimizer-state' \
// RUN:   -config='{CheckOptions: {Level: 2}}' -- %torch_flags > %t 2>&1
// RUN: %FileCheck %s --input-file=%t

#include <ATen/autocast_mode.h>
#include <random>
#include <torch/script.h>
#include <torch/torch.h>

using torch::Tensor;
namespace data = torch::data;

namespace c10::cuda::CUDACachingAllocator {
void emptyCache();
void emptyCache(int device);
} // namespace c10::cuda::CUDACachingAllocator

void handlers(torch::jit::Module &module, const Tensor &x) {
  try {
    module.forward({x});
    // CHECK: :[[@LINE+1]]:5: warning: ineffective handler: this handler never sees TorchScript
  } catch (const c10::OutOfMemoryError &) {
    oom = undefined;
  } catch (const Missing &e) {
    // CHECK: :[[@LINE-1]]:18: error: unknown type name 'Missing'
  }
  try {
    module.forward(unknown);
    module.forward();
  } catch (c10::OutOfMemoryError *) {
  } catch (c10::Error) {
    "out of memory";
    L"out of memory";
  } catch (int) {
    oom();
  }
}

struct Recursive {
  Recursive *next;
  Tensor run(torch::jit::Module &m) try {
    return next->run(m);
  } catch (const c10::OutOfMemoryError &) {
    return run(m);
  }
};

void autocast(const Tensor &x) {
  at::autocast::set_enabled();
  at::autocast::set_enabled(unknown);
  at::autocast::set_enabled(true, true);
  auto pointer = &at::autocast::set_cpu_enabled;
  pointer(true);
  pointer(false);
}

void cache(torch::nn::Linear net, const Tensor &x) {
  for (;;)
    for (;;) {
    again:
      net(x);
      c10::cuda::CUDACachingAllocator::emptyCache(0);
      // CHECK: :[[@LINE-1]]:7: warning: wasted time: emptyCache() in every iteration
      if (int i = x.size(0))
        c10::cuda::CUDACachingAllocator::emptyCache();
      if (x.size(0) % 0)
        c10::cuda::CUDACachingAllocator::emptyCache();
      c10::cuda::CUDACachingAllocator::emptyCache("x");
      while (c10::cuda::CUDACachingAllocator::emptyCache(), true)
        goto again;
    }
}

template <int N> void sizes() {
  torch::nn::Linear a(N, N / 0);
  torch::nn::Linear b(N, missing);
  torch::nn::Linear c(1 << 40, 1.5);
  torch::nn::Linear d(torch::nn::LinearOptions(1));
  torch::nn::Linear e{100000, 100000};
}
template void sizes<100000>();

struct Incomplete;
struct Odd : data::datasets::Dataset<Odd> {
  data::Example<> get(size_t index) override {
    rows[index];
    self[index];
    rng(), rng.seed(), lambda();
    return missing;
  }
  torch::optional<size_t> size() const override { return 1; }
  std::vector<std::vector<float>> rows;
  std::vector<Odd> self;
  std::vector<Incomplete *> incomplete;
  Undeclared member;
  int bits : 3;
  std::mt19937 rng;
  std::function<void()> lambda;
  Odd &operator=(const Odd &);
};
void loaders(data::DataLoaderOptions given) {
  auto same = same.workers(4);
  data::DataLoaderOptions own = own.workers(4);
  auto a = data::make_data_loader(Odd(), own);
  auto b = data::make_data_loader(Odd(), missing);
  auto c = data::make_data_loader(Odd(), data::DataLoaderOptions().workers(bad));
  auto d = data::make_data_loader(Odd(), given.workers(1 / 0));
}

void optimizers(torch::optim::Adam &adam, torch::optim::Adam *pointer) {
  auto &self = self;
  while (true) {
    adam.step();
    adam.param_groups()[0].params() = {Tensor()};
    // CHECK: :[[@LINE-1]]:5: warning: memory growth: parameters are replaced while
    pointer[1].param_groups()[bad].params() = missing;
    (*pointer).param_groups().front().params().clear();
    adam.add_param_group();
    adam.add_param_group(missing);
    adam.param_groups().params();
    self.params() = {};
  }
}
