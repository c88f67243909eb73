// A guard after the work that it is for: its block ends before anything runs that
// it could reach.
// RUN: %check_libtorch_tidy %s libtorch-ineffective-grad-guard %t --level=0

#include <cstdio>
#include <iostream>
#include <string>
#include <torch/script.h>
#include <torch/torch.h>

using torch::Tensor;

class Detector {
public:
  explicit Detector(const std::string &path) {
    model_ = torch::jit::load(path);
    model_.eval();
    torch::NoGradGuard no_grad;
    // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: ineffective guard: 'no_grad' ends with its block before anything runs that it could reach: it guards nothing; declare it in the block that it is to guard [libtorch-ineffective-grad-guard]
  }
  // Not the first time that a block ends too early.
  bool reload(const std::string &path) {
    try {
      model_ = torch::jit::load(path);
      c10::InferenceMode mode; // No gradients from here on.
      // CHECK-MESSAGES: :[[@LINE-1]]:26: warning: ineffective guard: 'mode' ends with its block before
      std::cout << "loaded " << path << ", " << path.size() << std::endl;
    } catch (const c10::Error &e) {
      std::printf("not loaded\n");
      return false;
    }
    return true;
  }
  Tensor detect(const Tensor &x) { return model_.forward({x}).toTensor(); }

private:
  torch::jit::Module model_;
};

torch::jit::Module loaded(const std::string &path) {
  auto model = torch::jit::load(path);
  torch::AutoGradMode mode(false);
  // CHECK-MESSAGES: :[[@LINE-1]]:23: warning: ineffective guard: 'mode' ends with its block before
  std::printf("%s\n", path.c_str());
  return model;
}

void ends_in_a_branch(torch::nn::Linear net, bool predict) {
  if (predict) {
    net->eval();
    torch::NoGradGuard no_grad;
    // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: ineffective guard: 'no_grad' ends with its block before
  }
  std::cout << net(torch::ones({1, 2}));
}

void ends_in_front_of_a_device(torch::nn::Linear net, bool cuda) {
  torch::Device device(torch::kCPU);
  if (cuda) {
    torch::NoGradGuard no_grad;
    // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: ineffective guard: 'no_grad' ends with its block before
    device = torch::Device(torch::kCUDA, 0);
  }
  net->to(device);
  std::cout << net(torch::ones({1, 2}, device));
}

Tensor ends_after_an_input(torch::jit::Module net, std::vector<Tensor> &inputs, int i,
                           bool gradients) {
  if (!gradients) {
    torch::NoGradGuard no_grad;
    // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: ineffective guard: 'no_grad' ends with its block before
    inputs[i].requires_grad_(false);
  }
  return net.forward({inputs.at(i)}).toTensor();
}
