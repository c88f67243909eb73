// A handler has the gradient mode of each point of its try block that may throw, with
// the guards of the block gone. What leaves the mode off covers what comes after it.
// RUN: %check_libtorch_tidy %s libtorch-inference-without-no-grad %t --level=2

#include <torch/torch.h>

#include <memory>
#include <vector>

void mayThrow(int n);

struct Server {
  torch::nn::Linear net{3, 4};
  Server() { net->eval(); }

  float guardedInHandler(torch::Tensor in) {
    torch::NoGradGuard no_grad;
    try {
      mayThrow(1);
    } catch (const std::exception &) {
      return net(in).sum().item<float>();
    }
    return 0;
  }

  float guardedAfter(torch::Tensor in, std::vector<float> v) {
    c10::InferenceMode guard;
    try {
      return v.at(7);
    } catch (const std::exception &) {
      v.clear();
    }
    return net(in).sum().item<float>();
  }

  // Nothing throws before the mode is switched.
  float switchedInTry(torch::Tensor in) {
    try {
      torch::GradMode::set_enabled(false);
      mayThrow(1);
    } catch (...) {
      return net(in).sum().item<float>();
    }
    return 0;
  }

  float guardEndsWithTry(torch::Tensor in) {
    try {
      torch::NoGradGuard no_grad;
      mayThrow(1);
    } catch (const std::exception &) {
      return net(in).sum().item<float>();
      // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: inference without NoGradGuard: 'net' runs in 'guardEndsWithTry' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
      // CHECK-FIXES: {{^}}    torch::NoGradGuard no_grad2;{{$}}
    }
    return 0;
  }

  // The lambda's guard ends when it throws.
  float guardEndsWithLambda(torch::Tensor in) {
    try {
      auto read = [&] {
        torch::NoGradGuard no_grad;
        if (in.numel() == 0)
          throw std::runtime_error("empty");
      };
      read();
    } catch (const std::exception &) {
    }
    return net(in).sum().item<float>();
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: inference without NoGradGuard: 'net' runs in 'guardEndsWithLambda'
    // CHECK-FIXES: {{^}}    torch::NoGradGuard no_grad2;{{$}}
  }

  // What is_enabled() said is set again.
  float restored(torch::Tensor in) {
    const bool before = torch::GradMode::is_enabled();
    torch::GradMode::set_enabled(false);
    float all = net(in).sum().item<float>();
    torch::GradMode::set_enabled(before);
    return all + net(in * 2).sum().item<float>();
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: inference without NoGradGuard: 'net' runs in 'restored'
    // CHECK-FIXES: {{^}}    torch::NoGradGuard no_grad;{{$}}
  }
};

// The copy leaves gradients off, but the first rounds run with them on.
struct Trainer {
  torch::nn::Linear net{4, 2};
  Trainer() { net->eval(); }
  void copy() { torch::GradMode::set_enabled(false); }
  void run(torch::Tensor x) {
    for (int i = 1; i < 5000; ++i) {
      mayThrow(net(x)[0].item<int>());
      // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: inference without NoGradGuard: 'net' runs in 'run'
      if (i % 1000 == 0)
        copy(); // No fix: a guard's end would undo it.
    }
  }
};
