// RUN: %check_libtorch_tidy %s libtorch-oom-recovery-in-catch %t --level=1
// RUN: %check_libtorch_tidy %s libtorch-oom-recovery-in-catch %t --level=0 --expect-none

#include <torch/torch.h>

using torch::Tensor;

struct NetImpl : torch::nn::Module {
  torch::nn::Linear layer{nullptr};
  Tensor forward(Tensor x) { return layer(x); }
};
TORCH_MODULE(Net);

// Nothing is edited inside a macro.
#define RETRY_ON_OOM(EXPRESSION, AGAIN)                                        \
  try {                                                                        \
    return EXPRESSION;                                                         \
  } catch (const c10::OutOfMemoryError &) {                                    \
    return AGAIN;                                                              \
  }
Tensor in_macro(Net net, const Tensor &x) {
  Tensor work = x.exp();
  RETRY_ON_OOM(net(work), net(x.slice(0, 0, 1)))
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: failing retry: this handler retries while 'work' (declared at line 22) is still alive
}

// One report and one fix for all instantiations.
template <typename Module> Tensor run(Module net, const Tensor &x) {
  Tensor work = x.exp();
  try {
    return net(work);
  } catch (const c10::OutOfMemoryError &) {
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: failing retry: this handler retries while 'work' (declared at line 29) is still alive; reset it first
    // CHECK-FIXES: work.reset();
    return net(x.slice(0, 0, 1));
  }
}

// Only one of the types owns tensors in the exception.
template <typename Error> Tensor guarded(Net net, const Tensor &x) {
  try {
    return net(x);
  } catch (const Error &) {
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: failing retry: this handler retries while it holds an exception of type 'BadBatch'
    // CHECK-FIXES: // Recovered below, once the exception has been destroyed.
    return net(x.slice(0, 0, 1));
  }
  // CHECK-FIXES: return net(x.slice(0, 0, 1));
}
struct BadBatch : std::exception {
  Tensor batch;
};

// Never instantiated.
template <typename Module> Tensor unused(Module net, const Tensor &x) {
  Tensor work = x.exp();
  try {
    return net(work);
  } catch (const c10::OutOfMemoryError &) {
    return net(x.slice(0, 0, 1));
  }
}

void instantiate(Net net, torch::nn::Sequential sequential, const Tensor &x) {
  run(net, x);
  run(net, x);
  run([&](const Tensor &y) { return net(y); }, x);
  guarded<c10::OutOfMemoryError>(net, x);
  guarded<BadBatch>(net, x);
}

#define SLICE(X) X.slice(0, 0, 1)
Tensor macro_inside(Net net, const Tensor &x) {
  Tensor work = x.exp();
  try {
    return net(work);
  } catch (const c10::OutOfMemoryError &) {
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: failing retry: this handler retries while 'work' (declared at line 74) is still alive
    // CHECK-FIXES: work.reset();
    return net(SLICE(x));
  }
}

// In a lambda, with its own variables; those around it are read later.
void lambdas(Net net, const Tensor &x) {
  Tensor around = x.exp();
  auto run = [&](const Tensor &y) {
    Tensor work = y.exp();
    try {
      return net(work + around);
    } catch (const c10::OutOfMemoryError &) {
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: failing retry: this handler retries while 'work' (declared at line 88) is still alive
      // CHECK-FIXES: work.reset();
      return net(y.slice(0, 0, 1));
    }
  };
  run(x);
  run(around);
}

Tensor suppressed(Net net, const Tensor &x) {
  Tensor work = x.exp();
  try {
    return net(work);
  } catch (const c10::Error &) { // NOLINT(libtorch-oom-recovery-in-catch)
    return net(x.slice(0, 0, 1));
  }
}
