// Handlers that hold nothing a retry could use, or that do not retry.
// RUN: %check_libtorch_tidy %s libtorch-oom-recovery-in-catch %t --level=2

#include <torch/script.h>
#include <torch/torch.h>

using torch::Tensor;

struct NetImpl : torch::nn::Module {
  torch::nn::Linear layer{nullptr};
  Tensor forward(Tensor x) { return layer(x); }
};
TORCH_MODULE(Net);

namespace c10::cuda::CUDACachingAllocator {
void emptyCache();
}

void log(const char *text);

// Locals of the try block are gone when a C++ handler runs.
Tensor locals_of_the_try(Net net, const Tensor &x) {
  try {
    Tensor a = net(x);
    Tensor b = net(a);
    std::vector<Tensor> kept{a, b};
    return net(b);
  } catch (const c10::OutOfMemoryError &e) {
    return net(x.slice(0, 0, 1));
  }
}

// What throws is the only thing that would have been assigned.
Tensor nothing_assigned(Net net, const Tensor &x) {
  Tensor y;
  try {
    y = net(x);
  } catch (const c10::OutOfMemoryError &) {
    c10::cuda::CUDACachingAllocator::emptyCache();
    y = net(x.slice(0, 0, 1));
  }
  return y;
}

void logs(Net net, const Tensor &x) {
  Tensor y = net(x);
  try {
    y = net(y);
  } catch (const c10::OutOfMemoryError &e) {
    log(e.what());
    c10::cuda::CUDACachingAllocator::emptyCache();
  }
}

void rethrows(Net net, const Tensor &x) {
  Tensor y = net(x);
  try {
    y = net(y);
  } catch (const c10::Error &e) {
    log(e.what());
    throw;
  } catch (const std::exception &e) {
    throw std::runtime_error(e.what());
  }
}

// The loop retries, after the handler.
Tensor flag_and_loop(Net net, Tensor x) {
  Tensor features = x.exp();
  for (int64_t size = x.size(0); size > 0;) {
    try {
      features = net(features);
      return net(features);
    } catch (const c10::OutOfMemoryError &) {
      size /= 2;
      x = x.slice(0, 0, size);
    }
  }
  return features;
}

Tensor flag(Net net, const Tensor &x) {
  Tensor a, b;
  bool failed = false;
  try {
    a = net(x);
    b = net(a);
  } catch (const c10::OutOfMemoryError &) {
    failed = true;
  }
  if (failed)
    b = net(x.slice(0, 0, 1));
  return b;
}

// The caller owns the inputs.
Tensor inputs_of_the_caller(Net net, const Tensor &x, const Tensor &mask,
                            const std::vector<Tensor> &more, Tensor &out) {
  try {
    return net(x * mask + more[0] + out);
  } catch (const std::exception &) {
    return net(x.slice(0, 0, 1));
  }
}

// The retry needs it, as it is or through a view.
Tensor needed(Net net, Tensor x) {
  Tensor work = x.to(torch::kHalf);
  Tensor half = work.slice(0, 0, 1);
  Tensor scale = x.exp();
  auto again = [&] { return net(scale); };
  try {
    return net(work);
  } catch (const c10::OutOfMemoryError &) {
    return net(half) + net(x.slice(0, 0, 1)) + again();
  }
}

Tensor needed_later(Net net, const Tensor &x) {
  Tensor skip = net(x), y;
  try {
    y = net(skip);
  } catch (const c10::OutOfMemoryError &) {
    y = net(x.slice(0, 0, 1));
  }
  return y + skip;
}

Tensor needed_in_chunks(Net net, const Tensor &x) {
  Tensor work = net(x);
  std::vector<Tensor> outputs;
  try {
    return net(work);
  } catch (const c10::OutOfMemoryError &) {
    auto chunks = work.chunk(4);
    for (auto &chunk : chunks)
      outputs.push_back(net(chunk));
  }
  return torch::cat(outputs);
}

// It shares storage with what lives on anyway.
Tensor not_its_own(Net net, const Tensor &x) {
  Tensor first = x[0];
  Tensor all = x;
  std::vector<Tensor> list;
  list.push_back(x);
  try {
    return net(first + all + list[0]);
  } catch (const c10::OutOfMemoryError &) {
    return net(x.slice(0, 0, 1));
  }
}

// Everything is let go of before the retry.
Tensor released(Net net, Net head, const Tensor &x) {
  Tensor a, b, y;
  c10::optional<Tensor> c;
  std::vector<Tensor> list;
  try {
    a = net(x);
    b = net(a);
    c = net(b);
    list.push_back(net(b));
    y = head(b);
  } catch (const c10::OutOfMemoryError &) {
    a.reset();
    b = Tensor();
    c = c10::nullopt;
    list.clear();
    y = head(net(x.slice(0, 0, 1)));
  }
  return y;
}

Tensor consumed(Net net, Net head, const Tensor &x) {
  Tensor a = net(x);
  try {
    return head(std::move(a));
  } catch (const c10::OutOfMemoryError &) {
    return head(x.slice(0, 0, 1));
  }
}

Tensor scope_ended(Net net, const Tensor &x) {
  bool failed = false;
  {
    Tensor work = x.exp();
    try {
      return net(work);
    } catch (const c10::OutOfMemoryError &) {
      failed = true;
    }
  }
  return failed ? net(x.slice(0, 0, 1)) : x;
}

Tensor released_in_loop(Net net, const std::vector<Tensor> &batches) {
  Tensor out, sum = torch::zeros(1);
  for (const auto &batch : batches) {
    out.reset();
    try {
      out = net(batch);
    } catch (const c10::OutOfMemoryError &) {
      out = net(batch.slice(0, 0, 1));
    }
    sum += out.detach().sum();
  }
  return sum;
}

// The assignment ends the loop; the two branches exclude each other.
void attempts(Net net, const Tensor &x) {
  Tensor y;
  for (int i = 0; i < 3; ++i) {
    try {
      y = net(x);
      std::cout << y.sizes();
      return;
    } catch (const c10::OutOfMemoryError &) {
      net(x.slice(0, 0, 1));
    }
  }
}

void branches(Net net, Net other, const Tensor &x, bool first) {
  Tensor y;
  try {
    if (first)
      y = net(x);
    else
      other(x);
  } catch (const c10::OutOfMemoryError &) {
    net(x.slice(0, 0, 1));
  }
}

// In place, in what another owns.
void in_place(Net net, const Tensor &x) {
  Tensor row = x[0];
  try {
    row += 1;
    row.mul_(2);
    net(row);
  } catch (const c10::OutOfMemoryError &) {
    net(x.slice(0, 0, 1));
  }
}

// A boundary that maps errors to codes.
extern "C" int run(void *handle, float *data, long n) {
  Tensor x = torch::empty({n});
  try {
    x = (*static_cast<Net *>(handle))(x);
    std::copy_n(x.data_ptr<float>(), n, data);
    return 0;
  } catch (const c10::OutOfMemoryError &) {
    return 12;
  } catch (const std::exception &e) {
    log(e.what());
    return 1;
  } catch (...) {
    return 2;
  }
}

// Another algorithm for the same operator, with nothing else alive.
Tensor fallback(const Tensor &x, const Tensor &weight) {
  try {
    return torch::conv2d(x, weight);
  } catch (const c10::Error &) {
    return torch::conv2d(x.contiguous(), weight);
  }
}

// Work that is no tensor's.
void small_work(Net net, const Tensor &x) {
  Tensor y = net(x);
  std::vector<int> history;
  try {
    y = net(y);
  } catch (const std::exception &) {
    history.push_back(static_cast<int>(y.size(0)));
    for (int i = 0; i < 10; ++i)
      history.push_back(i * i);
    std::sort(history.begin(), history.end());
  }
}

// The try block cannot run out of tensor memory.
Tensor not_oom(Net net, const std::string &path) {
  Tensor y = net(torch::ones(4));
  int n = 0;
  try {
    n = std::stoi(path);
  } catch (const std::exception &) {
    return net(torch::ones(2));
  }
  return y.slice(0, 0, n);
}

// Other errors than out of memory.
Tensor other_types(Net net, const Tensor &x) {
  Tensor y = net(x);
  try {
    y = net(y);
  } catch (const std::out_of_range &) {
    return net(x);
  } catch (const c10::IndexError &) {
    return net(x);
  } catch (int) {
    return net(x);
  }
  return y;
}

// The official tutorial.
torch::jit::Module load(const std::string &path, const Tensor &x) {
  Tensor warm_up = x.exp();
  torch::jit::Module module;
  try {
    module = torch::jit::load(path);
  } catch (const c10::Error &e) {
    std::cerr << "error loading the model\n";
    module = torch::jit::load(path + ".bak");
  }
  module.forward({warm_up});
  return module;
}

// The retry works on what the exception carries.
struct Interrupted : std::runtime_error {
  using std::runtime_error::runtime_error;
  Tensor rest;
};
Tensor resume(Net net, const Tensor &x) {
  try {
    return net(x);
  } catch (const Interrupted &e) {
    return net(e.rest);
  }
}

// Only made here, run elsewhere.
std::function<Tensor()> deferred(Net net, const Tensor &x) {
  Tensor y = net(x);
  try {
    y = net(y);
  } catch (const c10::OutOfMemoryError &) {
    return [net, x]() mutable { return net(x.slice(0, 0, 1)); };
  }
  return [] { return Tensor(); };
}

// Modules and optimizers are not what a retry can do without.
void training(const Tensor &x) {
  Net net;
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  try {
    net(x).sum().backward();
  } catch (const c10::OutOfMemoryError &) {
    optimizer.zero_grad();
    net(x.slice(0, 0, 1)).sum().backward();
  }
  optimizer.step();
}

// A part, another shape or another name of what the caller owns has no memory
// of its own that a reset would free.
Tensor shapes_of_the_callers(Net net, const Tensor &x) {
  Tensor row = x.index({0}), flat = x.reshape({1, -1}), all = x.flatten();
  Tensor scaled = x.mul_(2);
  try {
    return net(row) + net(flat) + net(all) + net(scaled);
  } catch (const c10::OutOfMemoryError &) {
    return net(x.slice(0, 0, 1));
  }
}
