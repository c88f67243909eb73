// Passes that a caller may have guarded: advice.
// RUN: %check_libtorch_tidy %s libtorch-inference-without-no-grad %t --level=2

#include <torch/script.h>
#include <torch/torch.h>

// A method of a module other than forward() may be one of a step of training.
struct RankerImpl : torch::nn::Module {
  torch::nn::Linear head = register_module("head", torch::nn::Linear(4, 1));
  torch::Tensor forward(torch::Tensor x) { return head(x); }
  float score(torch::Tensor x) {
    return head(x).item<float>();
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: inference without NoGradGuard: 'head' runs in 'score' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
    // CHECK-FIXES: {{^}}    torch::NoGradGuard no_grad;{{$}}
    // CHECK-FIXES-NEXT: {{^}}    return head(x).item<float>();{{$}}
  }
};

// Another file loads the module, and may train it.
torch::Tensor answered(torch::jit::script::Module &module, torch::Tensor x) {
  return module.forward({x}).toTensor();
  // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: inference without NoGradGuard: 'module' runs in 'answered' and records an autograd graph that nothing in this file back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  // CHECK-FIXES: {{^}}  torch::NoGradGuard no_grad;{{$}}
  // CHECK-FIXES-NEXT: {{^}}  return module.forward({x}).toTensor();{{$}}
}
