// What the retry reads by another name is not reset: that would free what it reads.
// RUN: %check_libtorch_tidy %s libtorch-oom-recovery-in-catch %t --level=2

#include <functional>
#include <map>
#include <torch/torch.h>
#include <vector>

using torch::Tensor;
using Net = torch::nn::Linear;
using List = std::vector<Tensor>;

Tensor half(const Tensor &x) { return x.slice(0, 0, x.size(0) / 2); }

float loop(Net net, List ins) {
  float r = 0;
  for (const auto &in : ins) {
    try {
      r += net(in).sum().item<float>();
    } catch (const c10::Error &) {
      r += net(half(in)).sum().item<float>();
    }
  }
  return r;
}
float map(Net net, std::map<std::string, Tensor> named) {
  float r = 0;
  for (auto &[name, in] : named) {
    try {
      r += net(in).sum().item<float>();
    } catch (const c10::Error &) {
      r += net(half(in)).sum().item<float>();
    }
  }
  return r;
}
float iterators(Net net, List ins) {
  float r = 0;
  for (auto it = ins.begin(); it != ins.end(); ++it) {
    try {
      r += net(*it).sum().item<float>();
    } catch (const c10::Error &) {
      r += net(half(*it)).sum().item<float>();
    }
  }
  return r;
}
Tensor reference(Net net, List ins) {
  const Tensor &in = ins.front();
  try {
    return net(in);
  } catch (const c10::Error &) {
    return net(half(in));
  }
}
Tensor pointer(Net net, List ins) {
  const Tensor *in = ins.data();
  try {
    return net(*in);
  } catch (const c10::Error &) {
    return net(half(*in));
  }
}
Tensor blob(Net net, Tensor x) {
  float *memory = x.data_ptr<float>();
  Tensor same = torch::from_blob(memory, {4, 2});
  try {
    return net(x);
  } catch (const c10::Error &) {
    return net(half(same));
  }
}
struct Inputs {
  const List &all;
};
Tensor views(Net net, List ins) {
  torch::TensorList list(ins);
  Inputs given{ins};
  auto first = std::ref(ins[0]);
  try {
    return net(list[0]) + net(given.all[0]) + net(first.get());
  } catch (const c10::Error &) {
    return net(half(first.get()));
  }
}
Tensor sizes(Net net, Tensor x) {
  auto shape = x.sizes();
  try {
    return net(x);
  } catch (const c10::Error &) {
    return net(torch::ones(shape));
  }
}
// It may read what it was given a pointer to.
struct Engine {
  void bind(float *memory);
  void run();
};
Tensor bound(Net net, Engine &engine, Tensor x) {
  x = x.contiguous();
  engine.bind(x.data_ptr<float>());
  try {
    engine.run();
    return net(x);
  } catch (const c10::Error &) {
    engine.run();
    return net(torch::ones({1, 4}));
  }
}
Tensor parts(Net net, std::tuple<Tensor, Tensor> pair,
             c10::optional<Tensor> maybe) {
  auto &[a, b] = pair;
  auto &in = maybe.value();
  try {
    return net(a) + net(in);
  } catch (const c10::Error &) {
    return net(half(b)) + net(half(in));
  }
}

// Numbers and options are copies, and a loop that is over reads nothing again.
Tensor copies(Net net, Tensor x, List parts) {
  int64_t n = x.size(0);
  auto options = x.options();
  for (auto &part : parts)
    n += part.size(0);
  try {
    return net(x) + net(parts[0]);
  } catch (const c10::Error &) {
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: failing retry: this handler retries while 'x' (declared at line [[@LINE-8]]) and 'parts' (declared at line [[@LINE-8]]) are still alive; reset them first
    // CHECK-NOTES: note
    // CHECK-NOTES: note
    // CHECK-NOTES: note
    // CHECK-NOTES: note
    // CHECK-FIXES: x.reset();
    // CHECK-FIXES-NEXT: parts.clear();
    return net(torch::ones({n, 4}, options));
  }
}
