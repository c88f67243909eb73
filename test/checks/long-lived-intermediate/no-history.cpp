// What carries no history is in no graph, whatever the gradient mode is where
// it is made; a guard in the function that runs the module is enough.
// RUN: %check_libtorch_tidy %s libtorch-long-lived-intermediate %t

#include "../Inputs/net.h"
#include <torch/script.h>

using torch::Tensor;

struct Detector {
  Net net;
  torch::jit::Module script;
  std::vector<Tensor> kept;

  Tensor guarded(const Tensor &x) {
    torch::NoGradGuard no_grad;
    return net(x);
  }
  Tensor recorded(const Tensor &x) { return net(x); }
  void keep(const Tensor &x) { kept.push_back(net(x)); }
  static Tensor toTensor(unsigned char *pixels, int h, int w) {
    Tensor data = torch::from_blob(pixels, {h, w, 3}, torch::kByte);
    data = data.permute({2, 0, 1});
    data = data.toType(torch::kFloat);
    data = data.div(255);
    return data.unsqueeze(0);
  }

  // Code that does not train gives no history to its parameters.
  Tensor ofInput(const Tensor &image) {
    auto scaled = image.to(torch::kFloat) / 255;
    // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: wasted peak memory: 'scaled' is last used before 'guarded' runs, but its memory stays allocated while it does; reset it first [libtorch-long-lived-intermediate]
    auto padded = torch::constant_pad_nd(scaled, {1, 1, 1, 1});
    // CHECK-FIXES: auto padded = torch::constant_pad_nd(scaled, {1, 1, 1, 1});
    // CHECK-FIXES-NEXT: scaled = torch::Tensor();
    return guarded(padded);
  }
  Tensor ofImage(float *pixels, int n, int h, int w) {
    auto raw = torch::from_blob(pixels, {n, 3, h, w}).clone();
    // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: wasted peak memory: 'raw' is last used before 'guarded' runs, but its memory stays allocated while it does; reset it first [libtorch-long-lived-intermediate]
    auto scaled = raw / 255;
    // CHECK-FIXES: auto scaled = raw / 255;
    // CHECK-FIXES-NEXT: raw = torch::Tensor();
    return guarded(scaled);
  }
  // The sizes are known.
  Tensor ofKnown(float *pixels) {
    auto raw = torch::from_blob(pixels, {3, 640, 640}).clone();
    // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: wasted peak memory: 'raw' is last used before 'guarded' runs, but its memory stays allocated while it does; reset it first [libtorch-long-lived-intermediate]
    auto scaled = raw / 255;
    // CHECK-FIXES: auto scaled = raw / 255;
    // CHECK-FIXES-NEXT: raw = torch::Tensor();
    return guarded(scaled);
  }
  // The graph of the module holds the batch, and not what it is made of.
  Tensor ofImages(const std::vector<float *> &all, int h, int w) {
    std::vector<Tensor> images;
    // CHECK-MESSAGES: :[[@LINE-1]]:25: warning: wasted peak memory: 'images' is last used before 'recorded' runs, but its memory stays allocated while it does; reset it first [libtorch-long-lived-intermediate]
    for (float *pixels : all)
      images.push_back(torch::from_blob(pixels, {3, h, w}).clone());
    auto batch = torch::stack(images);
    // CHECK-FIXES: auto batch = torch::stack(images);
    // CHECK-FIXES-NEXT: images.clear();
    return recorded(batch);
  }
  // A function makes them.
  Tensor ofPictures(const std::vector<unsigned char *> &all, int h, int w) {
    std::vector<Tensor> pictures;
    // CHECK-MESSAGES: :[[@LINE-1]]:25: warning: wasted peak memory: 'pictures' is last used before 'recorded' runs, but its memory stays allocated while it does; reset it first [libtorch-long-lived-intermediate]
    for (unsigned char *pixels : all)
      pictures.push_back(toTensor(pixels, h, w));
    Tensor batch = torch::cat(pictures);
    // CHECK-FIXES: Tensor batch = torch::cat(pictures);
    // CHECK-FIXES-NEXT: pictures.clear();
    return recorded(batch);
  }
};

// Look-alikes.
struct Silent : Detector {
  Tensor small(float *pixels) {
    auto raw = torch::from_blob(pixels, {1, 16}).clone();
    auto scaled = raw / 255;
    return guarded(scaled);
  }
  Tensor row(float *numbers, int n) {
    auto raw = torch::from_blob(numbers, {1, n}).clone();
    auto scaled = raw / 255;
    return guarded(scaled);
  }
  // A tensor over memory of the caller owns none.
  Tensor borrowed(float *pixels, int h, int w) {
    auto raw = torch::from_blob(pixels, {3, h, w});
    auto turned = raw.permute({1, 2, 0});
    auto scaled = turned / 255;
    return guarded(scaled);
  }
  Tensor shared(float *pixels, int h, int w) {
    auto raw = torch::from_blob(pixels, {1, h, w, 3}).clone();
    auto image = raw.permute({0, 3, 1, 2}).contiguous();
    return script.forward({image.to(torch::kFloat)}).toTensor();
  }
  // Graphs hold these.
  Tensor twice(float *pixels, int h, int w) {
    auto raw = torch::from_blob(pixels, {1, 3, h, w}).clone();
    auto a = recorded(raw);
    auto b = guarded(a.detach());
    return a + b;
  }
  Tensor stored(float *pixels, int h, int w) {
    auto raw = torch::from_blob(pixels, {1, 3, h, w}).clone();
    keep(raw);
    return kept.back() + guarded(kept.back().detach());
  }
  Tensor readAgain(float *pixels, int h, int w) {
    auto raw = torch::from_blob(pixels, {1, 3, h, w}).clone();
    auto scaled = raw / 255;
    return guarded(scaled) + raw;
  }
};
// The caller of forward() decides on the history of its input.
struct BlockImpl : torch::nn::Module {
  Tensor forward(const Tensor &x) {
    auto doubled = x * 2;
    auto squared = doubled * doubled;
    return net(squared);
  }
  Net net;
};
