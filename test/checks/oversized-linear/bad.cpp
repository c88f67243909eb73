// RUN: %check_libtorch_tidy %s libtorch-oversized-linear %t

#include <torch/torch.h>

namespace nn = torch::nn;

constexpr int64_t kChannels = 512;
constexpr int kPool = 7;

struct VggImpl : nn::Module {
  VggImpl(int64_t classes) {
    classifier = register_module(
        "classifier",
        nn::Sequential(nn::Linear(kChannels * kPool * kPool, 4096), nn::ReLU(),
        // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: large layer: Linear(25088, 4096) takes 392.0 MB for its weight, 784.0 MB with the gradient and 1.5 GB with Adam's state (float32) [libtorch-oversized-linear]
                       nn::Linear(nn::LinearOptions(4096, 4096).bias(false)),
                       // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: large layer: Linear(4096, 4096) takes 64.0 MB for its weight, 128.0 MB with the gradient and 256.0 MB with Adam's state (float32) [libtorch-oversized-linear]
                       nn::Linear(4096, classes)));
    shared = std::make_shared<nn::LinearImpl>(8192, 8192);
    // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: large layer: Linear(8192, 8192) takes 256.0 MB for its weight, 512.0 MB with the gradient and 1.0 GB with Adam's state (float32) [libtorch-oversized-linear]
    options = std::make_shared<nn::LinearImpl>(nn::LinearOptions(1 << 13, 4096));
    // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: large layer: Linear(8192, 4096) takes 128.0 MB for its weight, 256.0 MB with the gradient and 512.0 MB with Adam's state (float32) [libtorch-oversized-linear]
    raw = std::shared_ptr<nn::LinearImpl>(new nn::LinearImpl(65536, 1024));
    // CHECK-MESSAGES: :[[@LINE-1]]:47: warning: large layer: Linear(65536, 1024) takes 256.0 MB for its weight, 512.0 MB with the gradient and 1.0 GB with Adam's state (float32) [libtorch-oversized-linear]
  }
  nn::Sequential classifier{nullptr};
  nn::Linear member{16384, 16384};
  // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: large layer: Linear(16384, 16384) takes 1.0 GB for its weight, 2.0 GB with the gradient and 4.0 GB with Adam's state (float32) [libtorch-oversized-linear]
  nn::Linear assigned = nn::Linear(nn::LinearOptions(10, 10)
  // CHECK-MESSAGES: :[[@LINE-1]]:25: warning: large layer: Linear(100000, 1000) takes 381.5 MB for its weight, 762.9 MB with the gradient and 1.5 GB with Adam's state (float32) [libtorch-oversized-linear]
                                       .in_features(100000)
                                       .bias(true)
                                       .out_features(1000));
  std::shared_ptr<nn::LinearImpl> shared, options, raw;
};

void variables() {
  const nn::LinearOptions options(4096, 8192);
  nn::Linear layer(options);
  // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: large layer: Linear(4096, 8192) takes 128.0 MB for its weight, 256.0 MB with the gradient and 512.0 MB with Adam's state (float32) [libtorch-oversized-linear]
  nn::LinearImpl plain(4096, 8192);
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: large layer: Linear(4096, 8192) takes 128.0 MB for its weight, 256.0 MB with the gradient and 512.0 MB with Adam's state (float32) [libtorch-oversized-linear]
}

template <int In, int Out> void layer() { nn::Linear fc(In, Out); }
  // CHECK-MESSAGES: :[[@LINE-1]]:54: warning: large layer: Linear(8192, 8192) takes 256.0 MB for its weight, 512.0 MB with the gradient and 1.0 GB with Adam's state (float32) [libtorch-oversized-linear]
template <typename T> void generic() { nn::Linear fc(sizeof(T) * 4096, 4096); }
  // CHECK-MESSAGES: :[[@LINE-1]]:51: warning: large layer: Linear(16384, 4096) takes 256.0 MB for its weight, 512.0 MB with the gradient and 1.0 GB with Adam's state (float32) [libtorch-oversized-linear]
void instances() {
  layer<8192, 8192>();
  layer<8, 8>();
  generic<float>();
}

#define LAYER(in, out) nn::Linear(in, out)
auto macro = LAYER(8192, 8192);
  // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: large layer: Linear(8192, 8192) takes 256.0 MB for its weight, 512.0 MB with the gradient and 1.0 GB with Adam's state (float32) [libtorch-oversized-linear]
auto silenced = nn::Linear(8192, 8192); // NOLINT(libtorch-oversized-linear)
