// Told without an edit: no edit would be safe.
// RUN: %check_libtorch_tidy %s libtorch-oom-recovery-in-catch %t --level=1

#include <torch/torch.h>

using torch::Tensor;

struct NetImpl : torch::nn::Module {
  torch::nn::Linear layer{nullptr};
  Tensor forward(Tensor x) { return layer(x); }
};
TORCH_MODULE(Net);

struct BadBatch : std::runtime_error {
  using std::runtime_error::runtime_error;
  Tensor batch;
};
struct Batch {
  Tensor data, target;
};
Batch prepare(const Tensor &x);
void log(const char *text);
int64_t parse(const char *text);

// A const variable ends with its scope only; a struct has no release.
Tensor const_variable(Net net, const Tensor &x) {
  const Tensor work = x.exp();
  Batch batch = prepare(x);
  try {
    return net(work + batch.data);
  } catch (const c10::OutOfMemoryError &) {
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: failing retry: this handler retries while 'work' (declared at line 27) and 'batch' (declared at line 28) are still alive; retry after their scope has ended [libtorch-oom-recovery-in-catch]
    return net(x.slice(0, 0, 1));
  }
}

// The moved statements would rethrow.
Tensor rethrow(Net net, const Tensor &x) {
  try {
    return net(x);
  } catch (const BadBatch &) {
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: failing retry: this handler retries while it holds an exception of type 'BadBatch'
    Tensor y = net(x.slice(0, 0, 1));
    if (!y.defined())
      throw;
    return y;
  }
}

// They would use the exception after its end.
Tensor uses_exception(Net net, const Tensor &x) {
  Tensor y;
  try {
    y = net(x);
  } catch (const BadBatch &e) {
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: failing retry: this handler retries while it holds 'e' of type 'BadBatch'
    y = net(x.slice(0, 0, 1));
    log(e.what());
  }
  return y;
}

// They use what the part that stays declares.
Tensor uses_declaration(Net net, const Tensor &x) {
  Tensor y;
  try {
    y = net(x);
  } catch (const BadBatch &e) {
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: failing retry: this handler retries while it holds 'e' of type 'BadBatch'
    int64_t size = parse(e.what());
    y = net(x.slice(0, 0, size));
  }
  return y;
}

// There is no "behind" inside the function.
Tensor function_try(Net net, const Tensor &x) try {
  return net(x);
} catch (const BadBatch &) {
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: failing retry: this handler retries while it holds an exception of type 'BadBatch'
  return net(x.slice(0, 0, 1));
}

// Two handlers that retry.
Tensor two(Net net, const Tensor &x) {
  Tensor y;
  try {
    y = net(x);
  } catch (const BadBatch &) {
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: failing retry: this handler retries while it holds an exception of type 'BadBatch'
    y = net(x.slice(0, 0, 1));
  } catch (const std::exception &) {
    y = net(x.slice(0, 0, 2));
  }
  return y;
}

// The try statement is not one of a block.
Tensor branch(Net net, const Tensor &x, bool careful) {
  Tensor y;
  if (careful)
    try {
      y = net(x);
    } catch (const BadBatch &) {
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: failing retry: this handler retries while it holds an exception of type 'BadBatch'
      y = net(x.slice(0, 0, 1));
    }
  return y;
}

// The exception is kept beyond the handler.
Tensor kept(Net net, const Tensor &x) {
  Tensor y;
  std::exception_ptr error;
  try {
    y = net(x);
  } catch (const BadBatch &) {
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: failing retry: this handler retries while it holds an exception of type 'BadBatch'
    y = net(x.slice(0, 0, 1));
    error = std::current_exception();
  }
  return y;
}

Tensor directives(Net net, const Tensor &x) {
  Tensor y;
  try {
    y = net(x);
  } catch (const BadBatch &) {
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: failing retry: this handler retries while it holds an exception of type 'BadBatch'
#ifdef USE_CUDA
    y = net(x.slice(0, 0, 2));
#else
    y = net(x.slice(0, 0, 1));
#endif
  }
  return y;
}
