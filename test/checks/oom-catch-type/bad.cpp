// Handlers that never run, because what is thrown is of another type.
// RUN: %check_libtorch_tidy %s libtorch-oom-catch-type %t

#include <torch/script.h>
#include <torch/torch.h>

using torch::Tensor;

namespace c10::cuda::CUDACachingAllocator {
void emptyCache();
}
void report(const char *text);
bool isOutOfMemory(const std::string &what);

struct Detector {
  torch::jit::Module module;
  torch::jit::Method method;
  std::function<void()> onError;
  bool oom_seen = false;

  Tensor byType(const Tensor &x) {
    try {
      return module.forward({x}).toTensor();
    } catch (const c10::OutOfMemoryError &e) {
    // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: ineffective handler: this handler never sees TorchScript run out of memory: the interpreter throws 'std::runtime_error', not 'c10::OutOfMemoryError'; catch 'std::exception' and look at what() [libtorch-oom-catch-type]
      return Tensor();
    }
  }

  Tensor emptiesTheCache(const Tensor &x) {
    try {
      return module({x}).toTensor();
    } catch (const c10::Error &e) {
    // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: ineffective handler: this handler never sees TorchScript run out of memory: the interpreter throws 'std::runtime_error', not 'c10::Error'; catch 'std::exception' and look at what() [libtorch-oom-catch-type]
      c10::cuda::CUDACachingAllocator::emptyCache();
    }
    return module({x}).toTensor();
  }

  Tensor looksAtTheText(const Tensor &x) {
    try {
      return module.run_method("encode", x).toTensor();
    } catch (const torch::Error &e) {
    // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: ineffective handler: this handler never sees TorchScript run out of memory: the interpreter throws 'std::runtime_error', not 'c10::Error'; catch 'std::exception' and look at what() [libtorch-oom-catch-type]
      if (std::string(e.what()).find("CUDA out of memory") == std::string::npos)
        throw;
    }
    return Tensor();
  }

  Tensor asksAHelper(const Tensor &x) {
    try {
      return method({x}).toTensor();
    } catch (c10::Error &e) {
    // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: ineffective handler: this handler never sees TorchScript run out of memory: the interpreter throws 'std::runtime_error', not 'c10::Error'; catch 'std::exception' and look at what() [libtorch-oom-catch-type]
      if (!isOutOfMemory(e.what()))
        throw;
    }
    return Tensor();
  }

  void setsAFlag(const Tensor &x) {
    try {
      module.get_method("encode")({x});
    } catch (const c10::Error &) {
    // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: ineffective handler: this handler never sees TorchScript run out of memory: the interpreter throws 'std::runtime_error', not 'c10::Error'; catch 'std::exception' and look at what() [libtorch-oom-catch-type]
      oom_seen = true;
    }
  }

  void goesOnWithLess(const Tensor &x) {
    for (int64_t batch = 64; batch > 0;) {
      try {
        module.forward({x.slice(0, 0, batch)});
        return;
      } catch (const c10::Error &e) {
      // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: ineffective handler: this handler never sees TorchScript run out of memory: the interpreter throws 'std::runtime_error', not 'c10::Error'; catch 'std::exception' and look at what() [libtorch-oom-catch-type]
        batch /= 2;
      }
    }
  }

  void goesOnWithHalf(const Tensor &x, int64_t batch) {
    try {
      module.forward({x.slice(0, 0, batch)});
    } catch (const c10::Error &e) {
    // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: ineffective handler: this handler never sees TorchScript run out of memory: the interpreter throws 'std::runtime_error', not 'c10::Error'; catch 'std::exception' and look at what() [libtorch-oom-catch-type]
      batch = batch / 2;
      report("again");
    }
  }

  Tensor predict(const Tensor &x) { return module.forward({x}).toTensor(); }
  Tensor predictAll(const Tensor &x) {
    Tensor y = x.to(torch::kCPU);
    return predict(y);
  }
  void throughFunctions(const Tensor &x) {
    try {
      predictAll(x);
    } catch (const c10::OutOfMemoryError &) {
    // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: ineffective handler: this handler never sees TorchScript run out of memory: the interpreter throws 'std::runtime_error', not 'c10::OutOfMemoryError'; catch 'std::exception' and look at what() [libtorch-oom-catch-type]
      report("smaller, please");
    }
  }

  void otherWorkToo(torch::nn::Linear layer, const Tensor &x) {
    try {
      module.forward({layer(x)});
    } catch (const c10::OutOfMemoryError &) {
    // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: ineffective handler: this handler never sees TorchScript run out of memory: the interpreter throws 'std::runtime_error', not 'c10::OutOfMemoryError'; catch 'std::exception' and look at what() [libtorch-oom-catch-type]
      report("smaller, please");
    }
  }

  void standardType(const Tensor &x) {
    try {
      module.forward({x});
    } catch (const std::bad_alloc &) {
    // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: ineffective handler: this handler never sees TorchScript run out of memory: the interpreter throws 'std::runtime_error', not 'std::bad_alloc'; catch 'std::exception' and look at what() [libtorch-oom-catch-type]
      c10::cuda::CUDACachingAllocator::emptyCache();
    }
  }

  void severalHandlers(const Tensor &x) {
    try {
      module.forward({x});
    } catch (const c10::IndexError &) {
      report("index");
    } catch (const c10::OutOfMemoryError &) {
    // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: ineffective handler: this handler never sees TorchScript run out of memory: the interpreter throws 'std::runtime_error', not 'c10::OutOfMemoryError'; catch 'std::exception' and look at what() [libtorch-oom-catch-type]
      report("memory");
    } catch (const c10::Error &) {
      report("out of memory, or else");
    }
  }

  // The outer handler is for other things, and the inner one for a handler's.
  void nested(const Tensor &x) {
    try {
      report("start");
    } catch (const std::exception &) {
      try {
        module.forward({x});
      } catch (const c10::OutOfMemoryError &) {
      // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: ineffective handler: this handler never sees TorchScript run out of memory: the interpreter throws 'std::runtime_error', not 'c10::OutOfMemoryError'; catch 'std::exception' and look at what() [libtorch-oom-catch-type]
        report("memory");
      }
    }
  }

  void inALambda(const Tensor &x) {
    try {
      onError = [this, x] {
        try {
          module.forward({x});
        } catch (const c10::OutOfMemoryError &) {
        // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: ineffective handler: this handler never sees TorchScript run out of memory: the interpreter throws 'std::runtime_error', not 'c10::OutOfMemoryError'; catch 'std::exception' and look at what() [libtorch-oom-catch-type]
          report("memory");
        }
      };
    } catch (...) {
      report("unknown");
    }
  }
};

Tensor buffer(int64_t n) {
  try {
    return torch::empty({n, 1 << 20});
  } catch (const c10::OutOfMemoryError &e) {
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: ineffective handler: this handler never sees the CPU run out of memory: its allocator throws a plain 'c10::Error', not 'c10::OutOfMemoryError'; catch 'c10::Error' [libtorch-oom-catch-type]
    return torch::empty({n, 1 << 10});
  }
}

Tensor namedDevice(int64_t n) {
  std::vector<int64_t> shape;
  try {
    shape.push_back(n);
    return torch::zeros(shape, torch::dtype(torch::kFloat).device(torch::kCPU));
  } catch (const c10::OutOfMemoryError &e) {
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: ineffective handler: this handler never sees the CPU run out of memory: its allocator throws a plain 'c10::Error', not 'c10::OutOfMemoryError'; catch 'c10::Error' [libtorch-oom-catch-type]
    return Tensor();
  }
}

Tensor standardAllocation(int64_t n) {
  try {
    return torch::full({n}, 1.0, torch::kCPU);
  } catch (const std::bad_alloc &e) {
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: ineffective handler: this handler never sees the CPU run out of memory: its allocator throws a plain 'c10::Error', not 'std::bad_alloc'; catch 'c10::Error' [libtorch-oom-catch-type]
    report("out of memory");
    return Tensor();
  }
}

// What eager code throws derives from std::exception alone.
Tensor runtimeError(torch::nn::Linear net, const Tensor &x) {
  try {
    return net(x);
  } catch (const std::runtime_error &e) {
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: ineffective handler: this handler never sees LibTorch run out of memory: what it throws is a 'c10::Error', which derives from 'std::exception' and not from 'std::runtime_error'; catch 'c10::Error' [libtorch-oom-catch-type]
    report("out of memory");
    return net(x.slice(0, 0, 1));
  }
}
Tensor badAlloc(torch::nn::Linear net, const Tensor &x) {
  try {
    Tensor loss = net(x).sum();
    loss.backward();
    return loss;
  } catch (std::bad_alloc &) {
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: ineffective handler: this handler never sees LibTorch run out of memory: what it throws is a 'c10::Error', which derives from 'std::exception' and not from 'std::bad_alloc'; catch 'c10::Error' [libtorch-oom-catch-type]
    report("out of memory");
    return Tensor();
  }
}
