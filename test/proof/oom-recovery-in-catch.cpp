// Three recoveries from running out of memory, by a retry inside the handler.
#include "Budget.h"
#include <torch/torch.h>

// Allocates twice its input beside it.
struct NetImpl : torch::nn::Module {
  torch::Tensor forward(torch::Tensor x) {
    torch::Tensor y = x * 2;
    return y + x;
  }
};
TORCH_MODULE(Net);

struct BadBatch : std::runtime_error {
  explicit BadBatch(torch::Tensor batch)
      : std::runtime_error("bad batch"), batch(std::move(batch)) {}
  torch::Tensor batch;
};

long long aliveAtRetry = 0;
torch::Tensor again(Net net, const torch::Tensor &x,
                    const proof::Limit &limit) {
  aliveAtRetry = limit.live();
  return net(x);
}

// A variable that the try block assigns.
float assigned(Net encoder, Net decoder, const torch::Tensor &x) {
  proof::Limit limit(25);
  torch::Tensor features, y;
  try {
    features = encoder(x);
    y = decoder(features);
  } catch (const c10::OutOfMemoryError &) {
#ifdef FIXED
    features.reset();
#endif
    y = again(encoder, x.slice(0, 0, x.size(0) / 2), limit);
  }
  return y.slice(0, 0, 4).sum().item<float>();
}

// A copy at every level of a recursion.
int splits = 0;
double halves(Net net, const torch::Tensor &x, int depth) {
  splits = std::max(splits, depth);
  torch::Tensor work = x.to(torch::kDouble);
  try {
    return net(work).sum().item<double>();
  } catch (const c10::OutOfMemoryError &) {
    if (depth == 12)
      throw;
    int64_t half = x.size(0) / 2;
#ifdef FIXED
    work.reset();
#endif
    return halves(net, x.slice(0, 0, half), depth + 1) +
           halves(net, x.slice(0, half), depth + 1);
  }
}

// An exception that owns a tensor.
float thrown(Net net, const torch::Tensor &x) {
  proof::Limit limit(1000);
  torch::Tensor y;
  try {
    torch::Tensor first = net(x);
    throw BadBatch(first);
  } catch (const BadBatch &e) {
    std::puts(e.what());
#ifndef FIXED
    y = again(net, x, limit);
#else
    // Recovered below, once the exception has been destroyed.
#endif
  }
#ifdef FIXED
  y = again(net, x, limit);
#endif
  return y.slice(0, 0, 4).sum().item<float>();
}

int main() {
  proof::beginWithBudget();
  Net net;
  torch::Tensor x = proof::megabytes(10);
  std::vector<float> results;

  results.push_back(assigned(net, net, x));
  std::printf("variable: %lld MB alive at the retry\n", aliveAtRetry);
  {
    proof::Limit limit(42);
    results.push_back(static_cast<float>(halves(net, x, 0)));
    std::printf("recursion: %d splits\n", splits);
  }
  results.push_back(thrown(net, x));
  std::printf("exception: %lld MB alive at the retry\n", aliveAtRetry);
  proof::printBits("results", results);
}
