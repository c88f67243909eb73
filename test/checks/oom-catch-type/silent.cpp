// What must stay silent.
// RUN: %check_libtorch_tidy %s libtorch-oom-catch-type %t

#include <torch/script.h>
#include <torch/torch.h>

using torch::Tensor;

namespace c10::cuda::CUDACachingAllocator {
void emptyCache();
}
void report(const char *text);
struct zoom_t {
  int room = 0;
};

// c10::Error is what load() throws.
torch::jit::Module load(const std::string &path) {
  try {
    return torch::jit::load(path);
  } catch (const c10::Error &e) {
    report("out of memory, or no such file");
    throw;
  }
}

struct Detector {
  torch::jit::Module module;
  torch::nn::Linear layer{nullptr};
  zoom_t zoom;

  // The general types see it.
  void general(const Tensor &x) {
    try {
      module.forward({x});
    } catch (const std::exception &e) {
      c10::cuda::CUDACachingAllocator::emptyCache();
    }
    try {
      module.forward({x});
    } catch (const std::runtime_error &e) {
      c10::cuda::CUDACachingAllocator::emptyCache();
    }
    try {
      module.forward({x});
    } catch (...) {
      c10::cuda::CUDACachingAllocator::emptyCache();
    }
  }
  void both(const Tensor &x) {
    try {
      module.forward({x});
    } catch (const c10::OutOfMemoryError &e) {
      report("memory");
    } catch (const std::runtime_error &e) {
      report("script");
    }
  }
  void seenOutside(const Tensor &x) {
    try {
      for (int i = 0; i < 3; ++i)
        try {
          module.forward({x});
        } catch (const c10::OutOfMemoryError &e) {
          report("memory");
        }
    } catch (const std::exception &e) {
      report("else");
    }
  }

  // Nothing shows that memory is meant: a missing operator arrives as
  // c10::Error, and so does a bad argument.
  void logs(const Tensor &x) {
    try {
      module.forward({x});
    } catch (const c10::Error &e) {
      std::cerr << e.what() << "\n";
      zoom.room = 1;
      report("no room to zoom, boom");
    }
  }
  Tensor fallsBack(const Tensor &x) {
    try {
      return module.forward({x}).toTensor();
    } catch (const c10::Error &e) {
      module.to(torch::kCPU);
    }
    return module.forward({x.cpu()}).toTensor();
  }
  void fraction(const Tensor &x, double scale) {
    try {
      module.forward({x});
    } catch (const c10::Error &e) {
      scale /= 2;
      report("again");
    }
  }

  // No TorchScript: what the handler is for arrives as it is.
  void eager(const Tensor &x) {
    try {
      layer(x);
    } catch (const c10::OutOfMemoryError &e) {
      c10::cuda::CUDACachingAllocator::emptyCache();
    }
  }
  // It fails in a try block of its own.
  void caughtInside(const Tensor &x) {
    try {
      try {
        module.forward({x});
      } catch (const std::exception &e) {
        report("script");
      }
      layer(x);
    } catch (const c10::OutOfMemoryError &e) {
      report("memory");
    }
  }
  Tensor translated(const Tensor &x) {
    try {
      return module.forward({x}).toTensor();
    } catch (const std::runtime_error &e) {
      TORCH_CHECK_WITH(OutOfMemoryError, false, e.what());
    }
  }
  void catchesTranslated(const Tensor &x) {
    try {
      translated(x);
    } catch (const c10::OutOfMemoryError &e) {
      report("memory");
    }
  }
  // The lambda is only made here.
  void later(const Tensor &x, std::vector<std::function<void()>> &tasks) {
    try {
      tasks.push_back([this, x] { module.forward({x}); });
    } catch (const c10::OutOfMemoryError &e) {
      report("memory");
    }
  }
};

// A device may be the one that has no memory.
Tensor onDevices(torch::Device device, int64_t n) {
  try {
    return torch::empty({n}, device);
  } catch (const c10::OutOfMemoryError &e) {
    return Tensor();
  }
}
Tensor moved(torch::Device device, int64_t n) {
  try {
    return torch::empty({n}).to(device);
  } catch (const c10::OutOfMemoryError &e) {
    return Tensor();
  }
}
void train(int64_t n);
Tensor withOthers(int64_t n) {
  try {
    train(n);
    return torch::empty({n});
  } catch (const c10::OutOfMemoryError &e) {
    return Tensor();
  }
}
// Pages of the host that a device maps are its allocator's.
Tensor pinned(int64_t n) {
  try {
    return torch::empty({n}, torch::dtype(torch::kFloat).pinned_memory(true));
  } catch (const c10::OutOfMemoryError &e) {
    return Tensor();
  }
}
// Containers of the standard library throw it.
void host(int64_t n) {
  try {
    std::vector<float> data(n);
    torch::empty({n});
  } catch (const std::bad_alloc &e) {
    report("memory");
  }
}
Tensor plainError(int64_t n) {
  try {
    return torch::empty({n}, torch::kCPU);
  } catch (const c10::Error &e) {
    report("out of memory");
    return Tensor();
  }
}

// Handlers of the standard library's errors around eager code: seen by another,
// for TorchScript, for memory and errors of the program's own, for anything.
Tensor eager(torch::nn::Linear net, torch::jit::Module script, const Tensor &x,
             int64_t n) {
  try {
    return net(x);
  } catch (const c10::Error &) {
    report("out of memory");
  } catch (const std::runtime_error &) {
    report("out of memory");
  }
  try {
    return script.forward({x}).toTensor();
  } catch (const std::runtime_error &) {
    report("out of memory");
  }
  try {
    std::vector<float> host(n);
    return net(torch::tensor(host));
  } catch (const std::bad_alloc &) {
    report("out of memory");
  }
  try {
    if (n < 0)
      throw std::runtime_error("out of memory");
    return net(x);
  } catch (const std::runtime_error &) {
    report("out of memory");
  }
  try {
    return net(x);
  } catch (const std::runtime_error &) {
    report("failed");
  }
  return x;
}
