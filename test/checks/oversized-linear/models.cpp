// Sizes that the arguments of a model decide, where the unit makes it.
// RUN: %check_libtorch_tidy %s libtorch-oversized-linear %t
// RUN: %check_libtorch_tidy %s libtorch-oversized-linear %t --expect-none --level=1

#include <torch/torch.h>
namespace nn = torch::nn;
struct NetImpl : nn::Module {
  NetImpl(int64_t width, int64_t hidden) : direct(width * 10, hidden) {
  // CHECK-MESSAGES: :[[@LINE-1]]:44: warning: large layer: Linear(5120, 4096) in Net(512, 4096) takes 80.0 MB for its weight, 160.0 MB with the gradient and 320.0 MB with Adam's state (float32) [libtorch-oversized-linear]
    fc = register_module("fc", nn::Linear(width * 7 * 7, hidden));
    // CHECK-MESSAGES: :[[@LINE-1]]:32: warning: large layer: Linear(25088, 4096) in Net(512, 4096) takes 392.0 MB for its weight, 784.0 MB with the gradient and 1.5 GB with Adam's state (float32) [libtorch-oversized-linear]
    seq = register_module("seq", nn::Sequential(nn::Linear(nn::LinearOptions(width * 49, hidden).bias(false)), nn::ReLU(), nn::Linear(hidden, 10)));
    // CHECK-MESSAGES: :[[@LINE-1]]:49: warning: large layer: Linear(25088, 4096) in Net(512, 4096) takes 392.0 MB for its weight, 784.0 MB with the gradient and 1.5 GB with Adam's state (float32) [libtorch-oversized-linear]
    other = register_module("other", std::make_shared<nn::LinearImpl>(width * 49, hidden));
    // CHECK-MESSAGES: :[[@LINE-1]]:38: warning: large layer: Linear(25088, 4096) in Net(512, 4096) takes 392.0 MB for its weight, 784.0 MB with the gradient and 1.5 GB with Adam's state (float32) [libtorch-oversized-linear]
    register_module("direct", direct);
    auto options = nn::LinearOptions(width * 49, hidden);
    named = register_module("named", nn::Linear(options));
    // CHECK-MESSAGES: :[[@LINE-1]]:38: warning: large layer: Linear(25088, 4096) in Net(512, 4096) takes 392.0 MB for its weight, 784.0 MB with the gradient and 1.5 GB with Adam's state (float32) [libtorch-oversized-linear]
    for (int i = 0; i < 3; ++i) list->push_back(nn::Linear(hidden << i, hidden << i));
    // CHECK-MESSAGES: :[[@LINE-1]]:49: warning: large layer: Linear(16384, 16384) in Net(512, 4096) takes 1.0 GB for its weight, 2.0 GB with the gradient and 4.0 GB with Adam's state (float32) [libtorch-oversized-linear]
    register_module("list", list);
  }
  nn::Linear fc{nullptr}, direct, named{nullptr};
  nn::Sequential seq{nullptr};
  nn::ModuleList list;
  std::shared_ptr<nn::LinearImpl> other;
};
TORCH_MODULE(Net);
struct HalfImpl : nn::Module {
  HalfImpl(int64_t width, int64_t vocab_size) {
    fc = register_module("fc", nn::Linear(width, width));
    // CHECK-MESSAGES: :[[@LINE-1]]:32: warning: large layer: Linear(8192, 8192) in Half(8192, 100000) takes 128.0 MB for its weight, 256.0 MB with the gradient and 512.0 MB with Adam's state (float16) [libtorch-oversized-linear]
    head = register_module("head", nn::Linear(width, vocab_size));
    frozen = register_module("frozen", nn::Linear(width, width * 4));
    // CHECK-MESSAGES: :[[@LINE-1]]:40: warning: large layer: Linear(8192, 32768) in Half(8192, 100000) takes 512.0 MB for its weight (float16) [libtorch-oversized-linear]
    to(torch::kHalf);
    for (auto& p : frozen->parameters()) p.set_requires_grad(false);
  }
  nn::Linear fc{nullptr}, head{nullptr}, frozen{nullptr};
};
TORCH_MODULE(Half);
// Not made here, made with what is read, or small: nothing.
struct OpenImpl : nn::Module {
  OpenImpl(int64_t w) {
    fc = register_module("fc", nn::Linear(w, w));
    small = register_module("small", nn::Linear(w, 1));
  }
  nn::Linear fc{nullptr}, small{nullptr};
};
TORCH_MODULE(Open);
// Made by its default constructor, as far as one sees.
struct AloneImpl : nn::Module {
  AloneImpl(int64_t w = 5000) : fc(w, w) { register_module("fc", fc); }
  // CHECK-MESSAGES: :[[@LINE-1]]:33: warning: large layer: Linear(5000, 5000) in Alone() takes 95.4 MB for its weight, 190.7 MB with the gradient and 381.5 MB with Adam's state (float32) [libtorch-oversized-linear]
  nn::Linear fc;
};
template <typename T> struct WrapImpl : nn::Module {
  WrapImpl(int64_t w) { fc = register_module("fc", nn::Linear(w, sizeof(T) * w)); }
  // CHECK-MESSAGES: :[[@LINE-1]]:52: warning: large layer: Linear(4096, 32768) in Wrap<double>(4096) takes 512.0 MB for its weight, 1.0 GB with the gradient and 2.0 GB with Adam's state (float32) [libtorch-oversized-linear]
  nn::Linear fc{nullptr};
};
struct QuietImpl : nn::Module {
  QuietImpl(int64_t w) {
    fc = register_module("fc", nn::Linear(w, w)); // NOLINT(libtorch-oversized-linear)
  }
  nn::Linear fc{nullptr};
};
struct BadImpl : nn::Module {
  BadImpl(std::string name, int64_t w) { fc = register_module("fc", nn::Linear(w, w)); }
  // CHECK-MESSAGES: :[[@LINE-1]]:69: warning: large layer: Linear(10000, 10000) in Bad(...) takes 381.5 MB for its weight, 762.9 MB with the gradient and 1.5 GB with Adam's state (float32) [libtorch-oversized-linear]
  nn::Linear fc{nullptr};
};
int main(int argc, char **argv) {
  Open open(std::atoi(argv[1])), little(64);
  WrapImpl<double> wrap(4096);
  QuietImpl quiet(10000);
  // The largest is said.
  Net a(64, 512), b(512, 4096);
  Half h(8192, 100000);
  auto bad = std::make_shared<BadImpl>("odd\n\x1b[31m", 10000);
}
