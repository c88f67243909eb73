// Members of class templates, also those that nobody in the unit calls.
// RUN: %check_libtorch_tidy %s libtorch-inference-without-no-grad %t

#include "../Inputs/net.h"

template <class Model> class Predictor {
public:
  float score(torch::Tensor X);
  float inlineScore(torch::Tensor X) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
    torch::Tensor Y = M->forward(X);
    // CHECK-MESSAGES: :[[@LINE-1]]:26: warning: inference without NoGradGuard: 'M' runs in 'inlineScore' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
    return Y.sum().template item<float>();
  }
  float guarded(torch::Tensor X) {
    torch::NoGradGuard NoGrad;
    return M->forward(X).sum().template item<float>();
  }
  void train(torch::Tensor X) { M->forward(X).sum().backward(); }

  // Not for this model: nobody can call it, so nothing is said of it.
  float notForNet(torch::Tensor X) {
    M->thereIsNoSuchMember();
    return M->forward(X).sum().template item<float>();
  }

private:
  Model M;
};

template <class Model> float Predictor<Model>::score(torch::Tensor X) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
  torch::Tensor Y = M->forward(X);
  // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: inference without NoGradGuard: 'M' runs in 'score' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
  return Y.sum().template item<float>();
}

// Two instantiations, one finding.
template <class Model, int N> struct Ranker {
  float best(torch::Tensor X) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
    torch::Tensor Y = M->forward(X);
    // CHECK-MESSAGES: :[[@LINE-1]]:26: warning: inference without NoGradGuard: 'M' runs in 'best' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
    return Y.max().template item<float>() + N;
  }
  float used(torch::Tensor X) {
  // CHECK-FIXES: torch::NoGradGuard no_grad;
    torch::Tensor Y = M->forward(X);
    // CHECK-MESSAGES: :[[@LINE-1]]:26: warning: inference without NoGradGuard: 'M' runs in 'used' and records an autograd graph that nothing back-propagates; its activations stay in memory as long as the result does [libtorch-inference-without-no-grad]
    return Y.min().template item<float>() + N;
  }
  Model M;
};

// Whoever gives a specialization of their own means that one.
template <class Model> struct Special {
  float best(torch::Tensor X);
  Model M;
};
template <> float Special<Net>::best(torch::Tensor) { return 0; }
template <class Model> float Special<Model>::best(torch::Tensor X) {
  return M->forward(X).max().template item<float>();
}

// Nobody says for which model.
template <class Model> struct Unknown {
  float best(torch::Tensor X) {
    return M->forward(X).max().template item<float>();
  }
  Model M;
};

float use(Predictor<Net> P, Ranker<Net, 1> R, Ranker<Net, 2> S, Special<Net> T,
          torch::Tensor X) {
  return R.used(X);
}
