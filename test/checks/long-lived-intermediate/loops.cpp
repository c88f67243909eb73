// Declared outside the loop that makes it.
// RUN: %check_libtorch_tidy %s libtorch-long-lived-intermediate %t

#include "../Inputs/net.h"
#include <iostream>

using torch::Tensor;

void graph_stays(Net net, const Batches &data) {
  Tensor out;
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: wasted peak memory: 'out' is declared outside the loop that makes it, so the tensor and its graph stay alive while the next iteration computes the new one; declare it inside the loop [libtorch-long-lived-intermediate]
  for (const Tensor &x : data) {
    out = net(x);
    // CHECK-FIXES: Tensor out = net(x);
    std::cout << out.argmax();
  }
}

// Several steps, a struct, and an inner block.
struct Pair {
  Tensor a, b;
};
static Pair pair_of(Net net, const Tensor &x) { return {net(x), net(x)}; }
void deeper(Net net, const Batches &data, bool verbose) {
  Tensor hidden;
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: wasted peak memory: 'hidden' is declared outside the loop that makes it, so the tensor and its graph stay alive while the next iteration computes the new one; declare it inside the loop [libtorch-long-lived-intermediate]
  torch::Tensor  scores;
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: wasted peak memory: 'scores' is declared outside the loop that makes it, so the tensor and its graph stay alive while the next iteration computes the new one; declare it inside the loop [libtorch-long-lived-intermediate]
  Pair pair;
  // CHECK-MESSAGES: :[[@LINE-1]]:8: warning: wasted peak memory: 'pair' is declared outside the loop that makes it, so the tensor and its graph stay alive while the next iteration computes the new one; declare it inside the loop [libtorch-long-lived-intermediate]
  for (int epoch = 0; epoch < 10; ++epoch) {
    for (const Tensor &x : data) {
      hidden = torch::relu(net(x));
      scores = torch::softmax(hidden, 1);
      // CHECK-FIXES: Tensor hidden = torch::relu(net(x));
      // CHECK-FIXES: torch::Tensor scores = torch::softmax(hidden, 1);
      if (verbose) {
        pair = pair_of(net, x);
        // CHECK-FIXES: Pair pair = pair_of(net, x);
        std::cout << pair.a.sizes() << pair.b.sizes();
      }
      std::cout << scores.argmax();
    }
  }
}

// backward() released the graph: only the tensor stays, so level 2.
void tensor_stays(Net net, const Batches &data) {
  Tensor out;
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: wasted peak memory: 'out' is declared outside the loop that makes it, so the tensor stays alive while the next iteration computes the new one; declare it inside the loop [libtorch-long-lived-intermediate]
  for (const Tensor &x : data) {
    out = net(x);
    // CHECK-FIXES: Tensor out = net(x);
    out.sum().backward();
  }
}
// Under a guard there is no graph.
void guarded(Net net, const Batches &data) {
  torch::NoGradGuard no_grad;
  Tensor out;
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: wasted peak memory: 'out' is declared outside the loop that makes it, so the tensor stays alive while the next iteration computes the new one; declare it inside the loop [libtorch-long-lived-intermediate]
  for (const Tensor &x : data) {
    out = net(x);
    // CHECK-FIXES: Tensor out = net(x);
    std::cout << out.argmax();
  }
}

// Nothing to move: several names in one declaration, a value that would be
// lost, a macro. The tensor is let go of instead.
#define ASSIGN(to, from) to = from
void released(Net net, const Batches &data) {
  Tensor a, b;
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: wasted peak memory: 'a' is declared outside the loop that makes it, so the tensor and its graph stay alive while the next iteration computes the new one; declare it inside the loop [libtorch-long-lived-intermediate]
  // CHECK-MESSAGES: :[[@LINE-2]]:13: warning: wasted peak memory: 'b' is declared outside the loop that makes it, so the tensor and its graph stay alive while the next iteration computes the new one; declare it inside the loop [libtorch-long-lived-intermediate]
  Tensor c = torch::zeros({4});
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: wasted peak memory: 'c' is declared outside the loop that makes it, so the tensor and its graph stay alive while the next iteration computes the new one; declare it inside the loop [libtorch-long-lived-intermediate]
  Tensor d;
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: wasted peak memory: 'd' is declared outside the loop that makes it, so the tensor and its graph stay alive while the next iteration computes the new one; declare it inside the loop [libtorch-long-lived-intermediate]
  for (const Tensor &x : data) {
    a = net(x);
    b = net(x);
    c = net(x);
    ASSIGN(d, net(x));
    std::cout << a.argmax();
    // CHECK-FIXES: a = torch::Tensor();
    std::cout << b.argmax();
    // CHECK-FIXES: b = torch::Tensor();
    std::cout << c.argmax();
    // CHECK-FIXES: c = torch::Tensor();
    std::cout << d.argmax();
    // CHECK-FIXES: d = torch::Tensor();
  }
}

void already_released(Net net, const Batches &data) {
  Tensor a, b;
  for (const Tensor &x : data) {
    a = net(x);
    b = net(x);
    std::cout << a.argmax() << b.argmax();
    a = torch::Tensor();
    b = Tensor();
  }
}

template <typename Model> void in_template(Model model, const Batches &data) {
  Tensor out;
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: wasted peak memory: 'out' is declared outside the loop that makes it, so the tensor and its graph stay alive while the next iteration computes the new one; declare it inside the loop [libtorch-long-lived-intermediate]
  for (const Tensor &x : data) {
    out = model->forward(x);
    // CHECK-FIXES: Tensor out = model->forward(x);
    std::cout << out.argmax();
  }
}
void use(Net a, torch::nn::Linear b, const Batches &data) {
  in_template(a, data);
  in_template(b, data);
}
void suppressed(Net net, const Batches &data) {
  Tensor out; // NOLINT(libtorch-long-lived-intermediate)
  for (const Tensor &x : data) {
    out = net(x);
    std::cout << out.argmax();
  }
}

// Comments go along: behind the declaration, or above it in a paragraph of its
// own, of which one blank line goes too.
// CHECK-FIXES: void comments(Net net, const Batches &data) {
// CHECK-FIXES-NEXT: //
// CHECK-FIXES-NEXT: int rows = 0;
// CHECK-FIXES-EMPTY:
// CHECK-FIXES-NEXT: //
// CHECK-FIXES-NEXT: for (const Tensor &x : data) {
void comments(Net net, const Batches &data) {
  Tensor out; // The logits.
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: wasted peak memory: 'out' is declared outside the loop that makes it, so the tensor and its graph stay alive while the next iteration computes the new one; declare it inside the loop [libtorch-long-lived-intermediate]
  int rows = 0;

  // What is left,
  // row by row.
  Tensor best; /* Of all. */

  // CHECK-MESSAGES: :[[@LINE-2]]:10: warning: wasted peak memory: 'best' is declared outside the loop that makes it, so the tensor and its graph stay alive while the next iteration computes the new one; declare it inside the loop [libtorch-long-lived-intermediate]
  for (const Tensor &x : data) {
    out = net(x); // Not softmax.
    // CHECK-FIXES: // The logits.
    // CHECK-FIXES-NEXT: Tensor out = net(x); // Not softmax.
    best = out.exp();
    // CHECK-FIXES: // What is left,
    // CHECK-FIXES-NEXT: // row by row.
    // CHECK-FIXES-NEXT: /* Of all. */
    // CHECK-FIXES-NEXT: Tensor best = out.exp();
    std::cout << out.argmax() << best.max() << rows++;
  }
}

// No place for the comment: the declaration stays.
void comment_has_no_line(Net net, const Batches &data) {
  Tensor out; // The logits.
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: wasted peak memory: 'out' is declared outside the loop that makes it, so the tensor and its graph stay alive while the next iteration computes the new one; declare it inside the loop [libtorch-long-lived-intermediate]
  // CHECK-FIXES: Tensor out; // The logits.
  for (const Tensor &x : data) { out = net(x);
    std::cout << out.argmax();
    // CHECK-FIXES: std::cout << out.argmax();
    // CHECK-FIXES-NEXT: out = torch::Tensor();
  }
}
