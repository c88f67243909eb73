// RUN: %check_libtorch_tidy %s libtorch-empty-cache-in-loop %t

#include <torch/script.h>
#include <torch/torch.h>

using torch::Tensor;

namespace c10::cuda::CUDACachingAllocator {
void emptyCache();
}
using c10::cuda::CUDACachingAllocator::emptyCache;

struct Cache {
  void emptyCache();
  void empty_cache();
};
void train(int epoch);
bool lowOnMemory();

void trainEpoch(torch::nn::Linear net, const std::vector<Tensor> &batches) {
  for (const Tensor &x : batches)
    net(x).sum().backward();
}

void epochs(torch::nn::Linear net, const std::vector<Tensor> &batches,
            const Tensor &test) {
  // A round is an epoch.
  for (int i = 0; i < 10; ++i) {
    for (const Tensor &x : batches)
      net(x).sum().backward();
    net(test);
    emptyCache();
  }
  for (int i = 0; i < 10; ++i) {
    trainEpoch(net, batches);
    emptyCache();
  }
  for (int epoch = 0; epoch < 10; ++epoch) {
    net(test);
    emptyCache();
  }
  // What it does is not seen.
  for (int i = 0; i < 10; ++i) {
    train(i);
    emptyCache();
  }
  // Few rounds.
  for (int i = 0; i < 3; ++i) {
    net(test);
    emptyCache();
  }
  emptyCache();
}

void rare(torch::nn::Linear net, const Tensor &x, int limit) {
  for (int i = 0; i < 10000; ++i) {
    net(x);
    if (i % 100 == 0)
      emptyCache();
    if (!(i % 100))
      emptyCache();
    if (lowOnMemory())
      emptyCache();
    if (i % 3 == 0)
      emptyCache();
    if (i % limit)
      emptyCache();
    if (torch::cuda::is_available() && lowOnMemory())
      emptyCache();
    if (torch::cuda::is_available())
      ++limit;
    else
      emptyCache();
    lowOnMemory() && (emptyCache(), true);
    switch (limit) {
    case 3:
      emptyCache();
    }
  }
}

Tensor retry(torch::nn::Linear net, Tensor x) {
  while (true) {
    try {
      return net(x);
    } catch (const c10::OutOfMemoryError &) {
      emptyCache();
    }
    x = x.slice(0, 0, x.size(0) / 2);
  }
}

void once(torch::nn::Linear net, const std::vector<Tensor> &inputs) {
  for (const Tensor &x : inputs) {
    net(x);
    emptyCache();
    break;
  }
}

// One model after the other: the next one has other sizes.
void models(const std::vector<std::string> &files, const Tensor &x) {
  for (const std::string &file : files) {
    torch::jit::Module module = torch::jit::load(file);
    module.forward({x});
    emptyCache();
  }
}

void later(torch::nn::Linear net, const Tensor &x, Cache &cache,
           std::vector<std::function<void()>> &callbacks) {
  for (int i = 0; i < 1000; ++i) {
    net(x);
    callbacks.push_back([] { emptyCache(); });
    cache.emptyCache();
    cache.empty_cache();
  }
  // Nothing is allocated here.
  for (int i = 0; i < 1000; ++i)
    emptyCache();
}
