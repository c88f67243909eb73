// Exceptions that own tensors, or Python frames that do: only when the handler
// ends do they go, so the retry moves behind it.
// RUN: %check_libtorch_tidy %s libtorch-oom-recovery-in-catch %t --level=1

#include <torch/torch.h>

using torch::Tensor;

// A minimal stand-in for pybind11.
namespace pybind11 {
class error_already_set : public std::exception {
public:
  const char *what() const noexcept override;
};
struct object {
  object operator()(const Tensor &) const;
  Tensor cast() const;
};
} // namespace pybind11
namespace py = pybind11;

struct NetImpl : torch::nn::Module {
  torch::nn::Linear layer{nullptr};
  Tensor forward(Tensor x) { return layer(x); }
};
TORCH_MODULE(Net);

struct BadBatch : std::runtime_error {
  explicit BadBatch(Tensor batch)
      : std::runtime_error("bad batch"), batch(std::move(batch)) {}
  Tensor batch;
};
void log(const char *text);
Tensor check(const Tensor &y);

Tensor payload(Net net, const Tensor &x) {
  Tensor y;
  // CHECK-FIXES: bool failed = false;
  try {
    y = check(net(x));
  // CHECK-NOTES: :[[@LINE+2]]:5: warning: failing retry: this handler retries while it holds 'e' of type 'BadBatch', which owns tensors; set a flag and retry after the handler [libtorch-oom-recovery-in-catch]
  // CHECK-NOTES: :[[@LINE-2]]:15: note: this call may run out of memory
  } catch (const BadBatch &e) {
    // CHECK-NOTES: :[[@LINE+3]]:9: note: the retry runs here, inside the handler
    log(e.what());
    auto half = x.slice(0, 0, x.size(0) / 2);
    y = net(half);
  }
  // CHECK-FIXES: log(e.what());
  // CHECK-FIXES-NEXT: failed = true;
  // CHECK-FIXES-NEXT: }
  // CHECK-FIXES-NEXT: if (failed) {
  // CHECK-FIXES-NEXT: auto half = x.slice(0, 0, x.size(0) / 2);
  // CHECK-FIXES-NEXT: y = net(half);
  // CHECK-FIXES-NEXT: }
  return y;
}

// Nothing but this handler leads behind the try statement: no flag.
Tensor returns(Net net, const Tensor &x) {
  try {
    return check(net(x));
  // CHECK-NOTES: :[[@LINE+2]]:5: warning: failing retry: this handler retries while it holds 'e' of type 'BadBatch'
  // CHECK-NOTES: :[[@LINE-2]]:18: note: this call may run out of memory
  } catch (const BadBatch &e) {
    // CHECK-NOTES: :[[@LINE+5]]:12: note: the retry runs here, inside the handler
    log(e.what());
    if (x.size(0) == 1)
      throw;
    // Half of it fits.
    return net(x.slice(0, 0, 1));
  } catch (const c10::Error &e) {
    throw std::runtime_error(e.what());
  }
  // CHECK-FIXES: // Recovered below, once the exception has been destroyed.
  // CHECK-FIXES: return net(x.slice(0, 0, 1));
}

// The frames of the failed Python call hold their tensors.
Tensor python(py::object model, const Tensor &x) {
  Tensor y;
  // CHECK-FIXES: bool failed = false;
  try {
    y = model(x).cast();
  // CHECK-NOTES: :[[@LINE+2]]:5: warning: failing retry: this handler retries while it holds 'e' of type 'pybind11::error_already_set', which keeps Python frames and their tensors alive; set a flag and retry after the handler
  // CHECK-NOTES: :[[@LINE-2]]:9: note: this call may throw
  } catch (py::error_already_set &e) {
    // CHECK-NOTES: :[[@LINE+2]]:9: note: the retry runs here, inside the handler
    std::cerr << e.what() << "\n";
    y = model(x.slice(0, 0, 1)).cast();
  }
  // CHECK-FIXES: failed = true;
  // CHECK-FIXES-NEXT: }
  // CHECK-FIXES-NEXT: if (failed) {
  // CHECK-FIXES-NEXT: y = model(x.slice(0, 0, 1)).cast();
  // CHECK-FIXES-NEXT: }
  return y;
}

// Thrown in a callee, caught by its base; a variable is alive as well. The
// name of the flag is taken.
static Tensor checked(const Tensor &y) {
  if (y.isnan().any().item<bool>())
    throw BadBatch(y);
  return y;
}
Tensor by_base(Net net, const Tensor &x, bool verbose) {
  Tensor y;
  bool failed = verbose;
  // CHECK-FIXES: bool failed2 = false;
  try {
    y = net(x);
    y = checked(net(y));
  // CHECK-NOTES: :[[@LINE+4]]:5: warning: failing retry: this handler retries while it holds an exception of type 'BadBatch', which owns tensors; set a flag and retry after the handler; 'y' (declared at line 108) is still alive too
  // CHECK-NOTES: :[[@LINE-3]]:5: note: 'y' gets tensors here, in the try block, and outlives it
  // CHECK-NOTES: :[[@LINE-12]]:5: note: the exception that owns tensors is thrown here
  // CHECK-NOTES: :[[@LINE+1]]:43: note: the retry runs here, inside the handler
  } catch (const std::exception &e) { y = net(x * 0.5); }
  // CHECK-FIXES: } catch (const std::exception &e) {
  // CHECK-FIXES-NEXT: failed2 = true;
  // CHECK-FIXES-NEXT: }
  // CHECK-FIXES-NEXT: if (failed2) {
  // CHECK-FIXES-NEXT: y.reset();
  // CHECK-FIXES-NEXT: y = net(x * 0.5);
  // CHECK-FIXES-NEXT: }
  return failed ? x : y;
}

// `continue` means the same behind the try statement.
void in_loop(Net net, const std::vector<Tensor> &batches) {
  for (const auto &batch : batches) {
    // CHECK-FIXES: bool failed = false;
    try {
      check(net(batch));
    // CHECK-NOTES: :[[@LINE+2]]:7: warning: failing retry: this handler retries while it holds an exception of type 'BadBatch', which owns tensors
    // CHECK-NOTES: :[[@LINE-2]]:13: note: this call may run out of memory
    } catch (const BadBatch &) {
      // CHECK-NOTES: :[[@LINE+1]]:7: note: the retry runs here, inside the handler
      net(batch.slice(0, 0, 1));
      continue;
    }
    // CHECK-FIXES: failed = true;
    // CHECK-FIXES-NEXT: }
    // CHECK-FIXES-NEXT: if (failed) {
    // CHECK-FIXES-NEXT: net(batch.slice(0, 0, 1));
    // CHECK-FIXES-NEXT: continue;
    // CHECK-FIXES-NEXT: }
    log("whole");
  }
}

// Indented as the handler is.
Tensor wide(Net net, const Tensor &x) {
    Tensor y;
    // CHECK-FIXES: bool failed = false;
    try {
        y = check(net(x));
    // CHECK-NOTES: :[[@LINE+2]]:7: warning: failing retry: this handler retries while it holds 'e' of type 'BadBatch'
    // CHECK-NOTES: :[[@LINE-2]]:19: note: this call may run out of memory
    } catch (const BadBatch &e) {
        // CHECK-NOTES: :[[@LINE+1]]:13: note: the retry runs here, inside the handler
        y = net(x);
    }
    // CHECK-FIXES: {{^        }}failed = true;
    // CHECK-FIXES-NEXT: {{^    }}}
    // CHECK-FIXES-NEXT: {{^    }}if (failed) {
    // CHECK-FIXES-NEXT: {{^        }}y = net(x);
    // CHECK-FIXES-NEXT: {{^    }}}
    return y;
}
