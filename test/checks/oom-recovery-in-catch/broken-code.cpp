// Code that does not compile, and code that is odd: no crash, no lost finding.
// RUN: %not %clang-tidy -load %plugin %s \
// RUN:   -checks='-*,libtorch-oom-recovery-in-catch,libtorch-pad-packed-total-length' \
// RUN:   -config='{CheckOptions: {Level: 2}}' -- %torch_flags > %t 2>&1
// RUN: %FileCheck %s -check-prefixes=CHECK,V%llvm-version --input-file=%t

#include <torch/torch.h>

using torch::Tensor;
namespace rnn = torch::nn::utils::rnn;

struct NetImpl : torch::nn::Module {
  torch::nn::Linear layer{nullptr};
  Tensor forward(Tensor x) { return layer(x); }
};
TORCH_MODULE(Net);
struct Error : std::exception {
  Tensor tensor;
};

Tensor sound(Net net, const Tensor &x) {
  Tensor work = x.exp();
  try {
    return net(work);
  } catch (const c10::Error &) {
    // CHECK: :[[@LINE-1]]:5: warning: failing retry: this handler retries while 'work'
    return net(x);
  }
}

struct Members {
  Tensor a;
  Net net{nullptr};
  Members(Net n) try : a(n(a)), net(n) {
    net(a);
  } catch (const c10::Error &) {
    n(torch::ones(1));
  }
  ~Members() try { net(a); } catch (...) { net(a); }
  Tensor (Members::*pointer)(Tensor) = nullptr;
  Tensor run(Tensor x) {
    Tensor array[2];
    try {
      array[0] = (this->*pointer)(x);
      array[1] = run(array[0]);
    } catch (const c10::OutOfMemoryError &) {
      return run(x);
    }
    return x;
  }
};

template <typename E> struct Template {
  void run(Net net, Tensor x) {
    try {
      net(x);
    } catch (E &e) {
      net(x);
    } catch (typename E::Other &) {
      net(x);
    }
  }
};

void jumps(Net net, const Tensor &x) {
  Tensor y;
again:
  try {
    net(x);
  } catch (const Error &) {
    // CHECK: :[[@LINE-1]]:5: warning: failing retry: this handler retries while it holds
  retry:
    y = net(x);
    if (!y.defined())
      goto retry;
    goto again;
  }
}

void itself(rnn::PackedSequence packed) {
  rnn::PackedSequence same = same;
  rnn::pad_packed_sequence(same);
  // CHECK: :[[@LINE-1]]:3: warning: wrong length: pad_packed_sequence without total_length
  packed = packed;
  rnn::pad_packed_sequence(packed);
  // CHECK: :[[@LINE-1]]:3: warning: wrong length: pad_packed_sequence without total_length
}

void broken(Net net, Tensor x) {
  // CHECK: :[[@LINE+1]]:14: error: use of undeclared identifier 'unknown'
  Tensor a = unknown(x);
  try {
    net(a, undefined);
    a = nothing;
    rnn::pad_packed_sequence();
    rnn::pad_packed_sequence(a);
    rnn::pad_packed_sequence(bad, true);
  } catch (const Missing &e) {
    net(x);
  } catch (const c10::Error &) {
    a.reset(1, 2);
    net(bad(x));
  }
  auto p = rnn::pack_padded_sequence(x, );
  rnn::pad_packed_sequence(p, true);
  // V19: error: expected ')'
  // V22: error: expected '}'
  rnn::pad_packed_sequence(p, true
}
