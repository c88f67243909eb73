// Variables that own tensors while the handler retries, and nothing reads them
// any more. They are released before the retry.
// RUN: %check_libtorch_tidy %s libtorch-oom-recovery-in-catch %t --level=1

#include <torch/script.h>
#include <torch/torch.h>

using torch::Tensor;

struct NetImpl : torch::nn::Module {
  torch::nn::Linear layer{nullptr};
  Tensor forward(Tensor x) { return layer(x); }
};
TORCH_MODULE(Net);

static Tensor process(Tensor x) {
  Tensor t = x * 2;
  return t + 1;
}

static int depth = 0;

// Every level of the recursion keeps its own 'work'.
static Tensor recursion(const Tensor &x) {
  Tensor work = x.to(torch::kDouble);
  try {
    return process(work).sum();
  } catch (const c10::OutOfMemoryError &) {
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: failing retry: this handler retries while 'work' (declared at line 25) is still alive; reset it first, or retry after its scope has ended [libtorch-oom-recovery-in-catch]
    // CHECK-NOTES: :[[@LINE-5]]:10: note: 'work' is declared outside the try block and owns tensors when the handler runs
    // CHECK-NOTES: :[[@LINE-4]]:12: note: this call may run out of memory
    // CHECK-NOTES: :[[@LINE+5]]:12: note: the retry runs here, inside the handler
    if (++depth > 8)
      throw;
    auto half = x.size(0) / 2;
    // CHECK-FIXES: work.reset();
    return recursion(x.slice(0, 0, half)) + recursion(x.slice(0, half));
  }
}

Tensor assigned_in_try(Net encoder, Net decoder, const Tensor &x) {
  Tensor features, y;
  try {
    features = encoder(x);
    y = decoder(features);
  } catch (const c10::Error &e) {
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: failing retry: this handler retries while 'features' (declared at line 42) is still alive; reset it first, or retry
    // CHECK-NOTES: :[[@LINE-4]]:5: note: 'features' gets tensors here, in the try block, and outlives it
    // CHECK-NOTES: :[[@LINE-4]]:9: note: this call may run out of memory
    // CHECK-NOTES: :[[@LINE+4]]:9: note: the retry runs here, inside the handler
    std::cerr << e.what() << "\n";
    c10::toString(torch::kCPU);
    // CHECK-FIXES: features.reset();
    y = decoder(encoder(x.slice(0, 0, 1)));
  }
  return y;
}

// `out = net(batch)` keeps the old value until the new one is there.
void earlier_iteration(Net net, const std::vector<Tensor> &batches) {
  Tensor out;
  for (const auto &batch : batches) {
    try {
      out = net(batch);
    } catch (const std::exception &) {
      // CHECK-NOTES: :[[@LINE-1]]:7: warning: failing retry: this handler retries while 'out' (declared at line 61) is still alive; reset it first
      // CHECK-NOTES: :[[@LINE-3]]:7: note: 'out' keeps what an earlier iteration assigned here
      // CHECK-NOTES: :[[@LINE-4]]:13: note: this call may run out of memory
      // CHECK-NOTES: :[[@LINE+2]]:13: note: the retry runs here, inside the handler
      // CHECK-FIXES: out.reset();
      out = net(batch.slice(0, 0, 1));
    }
    std::cout << out.sizes();
  }
}

// A container that was being filled, and a second variable.
std::vector<Tensor> containers(Net net, const std::vector<Tensor> &batches) {
  std::vector<Tensor> outputs;
  c10::optional<Tensor> mask;
  try {
    mask = net(batches[0]);
    for (const auto &batch : batches)
      outputs.push_back(net(batch));
  } catch (...) {
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: failing retry: this handler retries while 'outputs' (declared at line 79) and 'mask' (declared at line 80) are still alive; reset them first, or retry after their scope has ended
    // CHECK-NOTES: :[[@LINE-3]]:7: note: 'outputs' gets tensors here, in the try block, and outlives it
    // CHECK-NOTES: :[[@LINE-6]]:5: note: 'mask' gets tensors here
    // CHECK-NOTES: :[[@LINE-5]]:25: note: this call may run out of memory
    // CHECK-NOTES: :[[@LINE+3]]:13: note: the retry runs here
    // CHECK-FIXES: outputs.clear();
    // CHECK-FIXES: mask.reset();
    return {net(batches[0])};
  }
  return outputs;
}

// A by-value parameter lives as long as the call.
Tensor parameter(Net net, Tensor x, const std::string &fallback) {
  try {
    return net(std::as_const(x).to(torch::kCUDA)) * 2;
  } catch (const std::bad_alloc &) {
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: failing retry: this handler retries while 'x' (declared at line 99) is still alive
    // CHECK-NOTES: :[[@LINE-5]]:34: note: 'x' is declared outside the try block
    // CHECK-NOTES: :[[@LINE-4]]:12: note: this call may run out of memory
    // CHECK-NOTES: :[[@LINE+4]]:12: note: the retry runs here
    Tensor smaller;
    torch::load(smaller, fallback);
    // CHECK-FIXES: x.reset();
    return net(smaller);
  }
}

// In a function-try-block the parameters are still alive.
Tensor function_try(Net net, Tensor x) try {
  return net(x * 2);
} catch (const c10::OutOfMemoryError &) {
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: failing retry: this handler retries while 'x' (declared at line 115) is still alive
  // CHECK-NOTES: :[[@LINE-4]]:37: note: 'x' is declared outside the try block
  // CHECK-NOTES: :[[@LINE-4]]:10: note: this call may run out of memory
  // CHECK-NOTES: :[[@LINE+2]]:10: note: the retry runs here
  // CHECK-FIXES: x.reset();
  return net(torch::ones({1, 4}));
}

class Trainer {
public:
  void step(const Tensor &x, const Tensor &target) {
    try {
      output_ = net_(x);
      torch::mse_loss(output_, target).backward();
    } catch (const c10::OutOfMemoryError &) {
      // CHECK-NOTES: :[[@LINE-1]]:7: warning: failing retry: this handler retries while 'output_' (declared at line 159) is still alive
      // CHECK-NOTES: :[[@LINE-4]]:7: note: 'output_' gets tensors here, in the try block, and outlives it
      // CHECK-NOTES: :[[@LINE-4]]:7: note: this call may run out of memory
      // CHECK-NOTES: :[[@LINE+3]]:17: note: the retry runs here
      net_->zero_grad();
      // CHECK-FIXES: this->output_.reset();
      output_ = net_(x.slice(0, 0, 1));
    }
  }
  // The member is assigned first thing when the function is called again.
  void again(const Tensor &x) {
    try {
      output_ = net_(x);
      output_.sum().backward();
    } catch (const std::exception &) {
      // CHECK-NOTES: :[[@LINE-1]]:7: warning: failing retry: this handler retries while 'output_' (declared at line 159) is still alive
      // CHECK-NOTES: :[[@LINE-4]]:7: note: 'output_' gets tensors here
      // CHECK-NOTES: :[[@LINE-4]]:7: note: this call may run out of memory
      // CHECK-NOTES: :[[@LINE+2]]:7: note: the retry runs here
      // CHECK-FIXES: this->output_.reset();
      again(x.slice(0, 0, 1));
    }
  }

private:
  Net net_{nullptr};
  Tensor output_;
};

// TorchScript throws std::runtime_error.
Tensor script(torch::jit::Module module, const Tensor &x) {
  std::vector<torch::jit::IValue> inputs;
  inputs.push_back(x.to(torch::kHalf));
  try {
    return module.forward(inputs).toTensor();
  } catch (const std::runtime_error &) {
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: failing retry: this handler retries while 'inputs' (declared at line 164) is still alive
    // CHECK-NOTES: :[[@LINE-6]]:35: note: 'inputs' is declared outside the try block
    // CHECK-NOTES: :[[@LINE-4]]:12: note: this call may run out of memory
    // CHECK-NOTES: :[[@LINE+4]]:14: note: the retry runs here
    torch::NoGradGuard no_grad;
    // CHECK-FIXES: inputs.clear();
    if (x.size(0) > 1)
      return module.forward({x.slice(0, 0, 1)}).toTensor();
  }
  return x;
}

// The handler calls a lambda and a helper of this file that run the net.
Tensor through_helpers(Net net, const Tensor &x) {
  auto run = [&net](const Tensor &input) { return net(input); };
  Tensor scores = process(x);
  try {
    scores = run(scores);
  } catch (const c10::Error &) {
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: failing retry: this handler retries while 'scores' (declared at line 184) is still alive
    // CHECK-NOTES: :[[@LINE-5]]:10: note: 'scores' is declared outside the try block
    // CHECK-NOTES: :[[@LINE-4]]:14: note: this call may run out of memory
    // CHECK-NOTES: :[[@LINE+2]]:14: note: the retry runs here
    // CHECK-FIXES: scores.reset();
    scores = run(x.slice(0, 0, 1));
  }
  return scores;
}

// No module: the same operator is run again.
Tensor same_call(const Tensor &a, const Tensor &b) {
  Tensor left = a.exp();
  try {
    left = torch::cdist(left, b);
  } catch (const c10::OutOfMemoryError &) {
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: failing retry: this handler retries while 'left' (declared at line 200) is still alive
    // CHECK-NOTES: :[[@LINE-5]]:10: note: 'left' is declared
    // CHECK-NOTES: :[[@LINE-4]]:12: note: this call may run out of memory
    // CHECK-NOTES: :[[@LINE+2]]:12: note: the retry runs here
    // CHECK-FIXES: left.reset();
    left = torch::cdist(a, b);
  }
  return left;
}

// A mask among the indices copies: this is memory of its own.
Tensor selected(Net net, const Tensor &x, const Tensor &mask) {
  Tensor chosen = x.index({mask});
  try {
    return net(chosen);
  } catch (const c10::OutOfMemoryError &) {
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: failing retry: this handler retries while 'chosen' (declared at line 216) is still alive; reset it first
    // CHECK-NOTES: :[[@LINE-5]]:10: note: 'chosen' is declared outside the try block and owns tensors when the handler runs
    // CHECK-NOTES: :[[@LINE-4]]:12: note: this call may run out of memory
    // CHECK-NOTES: :[[@LINE+2]]:12: note: the retry runs here, inside the handler
    // CHECK-FIXES: chosen.reset();
    return net(x.slice(0, 0, 1));
  }
}
