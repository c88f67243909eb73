// Reported, but not edited.
// RUN: %check_libtorch_tidy %s libtorch-cat-in-loop %t -- -- -I%S/../Inputs
#include "net.h"
#include <algorithm>

using torch::Tensor;

Tensor next_row(int i);

// Only the end of the sequence is read in each step.
Tensor decode(Net &net, Tensor tokens, int n) {
  torch::NoGradGuard no_grad;
  for (int i = 0; i < n; ++i) {
    Tensor logits = net->forward(tokens.slice(1, -8));
    Tensor next = logits.select(1, -1).argmax(-1, true);
    if (next.item<int64_t>() == 0) {
      tokens = torch::cat({tokens, next}, 1);
      break;
    }
    tokens = torch::cat({tokens, next}, 1);
    // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: quadratic copying: every iteration copies all of 'tokens' into a longer tensor; allocate it once, write each part into its slice and read what is filled through narrow() [libtorch-cat-in-loop]
  }
  return tokens;
}

// Eight of them, wherever they stand, and one.
Tensor of_known_length(Net &net, Tensor tokens, int n) {
  torch::NoGradGuard no_grad;
  for (int i = 0; i < n; ++i) {
    Tensor next = net->forward(tokens.narrow(1, i, 8));
    tokens = torch::cat({tokens, next}, 1);
    // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: quadratic copying: every iteration copies all of 'tokens'
  }
  return tokens;
}
Tensor of_one(Net &net, Tensor tokens, int n) {
  torch::NoGradGuard no_grad;
  for (int i = 0; i < n; ++i) {
    Tensor next = net->forward(tokens.index({torch::indexing::Slice(), i}));
    tokens = torch::cat({tokens, next}, 1);
    // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: quadratic copying: every iteration copies all of 'tokens'
  }
  return tokens;
}

class Recorder {
public:
  // Other methods see the member.
  void record(const Batches &batches) {
    for (const auto &batch : batches)
      all_ = torch::cat({all_, batch});
      // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: quadratic copying: every iteration copies all of 'all_' into a longer tensor; collect the parts in a std::vector and concatenate them once after the loop [libtorch-cat-in-loop]
    for (const auto &batch : batches)
      this->frames.all = torch::cat({frames.all, batch});
      // CHECK-MESSAGES: :[[@LINE-1]]:26: warning: quadratic copying: every iteration copies all of 'this->frames.all' into a longer tensor; collect the parts in a std::vector and concatenate them once after the loop [libtorch-cat-in-loop]
  }

private:
  Tensor all_ = torch::empty({0, 4});
  struct {
    Tensor all;
  } frames;
};

// One element of several, grown by the outer loop.
std::vector<Tensor> elements(int n) {
  std::vector<Tensor> outs(4, torch::empty({0}));
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < 4; ++k)
      outs[k] = torch::cat({outs[k], torch::ones({1})});
      // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: quadratic copying: every iteration copies all of 'outs[k]' into a longer tensor; collect the parts in a std::vector and concatenate them once after the loop [libtorch-cat-in-loop]
  return outs;
}

// The part may change, or is a piece of something larger.
Tensor parts(const Tensor &big, int n) {
  Tensor a = torch::empty({0}), b = a, c = a, d = a, e = a, buffer = a.clone();
  for (int i = 0; i < n; ++i) {
    a = torch::cat({a, next_row(i)});
    // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: quadratic copying: every iteration copies all of 'a' into a longer tensor; collect the parts in a std::vector and concatenate them once after the loop [libtorch-cat-in-loop]
    b = torch::cat({b, big[i]});
    // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: quadratic copying: every iteration copies all of 'b' into a longer tensor; collect the parts in a std::vector and concatenate them once after the loop [libtorch-cat-in-loop]
    buffer.copy_(big[i]);
    c = torch::cat({c, buffer});
    // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: quadratic copying: every iteration copies all of 'c' into a longer tensor; collect the parts in a std::vector and concatenate them once after the loop [libtorch-cat-in-loop]
    d = torch::cat({torch::ones({1}), d});
    // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: quadratic copying: every iteration copies all of 'd' into a longer tensor; collect the parts in a std::vector and concatenate them once after the loop [libtorch-cat-in-loop]
    e = torch::cat({e, torch::ones({1}), torch::zeros({1})});
    // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: quadratic copying: every iteration copies all of 'e' into a longer tensor; collect the parts in a std::vector and concatenate them once after the loop [libtorch-cat-in-loop]
  }
  return a + b + c + d + e;
}

// Over a variable, a list in a variable, a conversion, a move.
Tensor indirect(int n) {
  Tensor a = torch::empty({0}), b = a, c = a, d = a;
  for (int i = 0; i < n; ++i) {
    auto longer = torch::cat({a, torch::ones({1})});
    // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: quadratic copying: every iteration copies all of 'a' into a longer tensor; collect the parts in a std::vector and concatenate them once after the loop [libtorch-cat-in-loop]
    a = longer;
    std::vector<Tensor> both = {b, torch::ones({1})};
    b = torch::cat(both);
    // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: quadratic copying: every iteration copies all of 'b' into a longer tensor; collect the parts in a std::vector and concatenate them once after the loop [libtorch-cat-in-loop]
    std::vector<Tensor> pair;
    pair.push_back(c);
    pair.push_back(torch::ones({1}));
    c = torch::cat(pair);
    // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: quadratic copying: every iteration copies all of 'c' into a longer tensor; collect the parts in a std::vector and concatenate them once after the loop [libtorch-cat-in-loop]
    d = torch::cat(torch::TensorList({std::move(d), torch::ones({1})}))
    // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: quadratic copying: every iteration copies all of 'd' into a longer tensor; collect the parts in a std::vector and concatenate them once after the loop [libtorch-cat-in-loop]
            .contiguous();
  }
  return a + b + c + d;
}

// Only the first iteration has nothing before it; more is in that branch.
Tensor first_of_more(Net &net, const Batches &batches, Tensor out) {
  bool is_first = true;
  for (const auto &batch : batches) {
    if (is_first) {
      out = net(batch);
      is_first = false;
    } else {
      out = torch::cat({out, net(batch)});
      // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: quadratic copying: every iteration copies all of 'out' into a longer tensor; collect the parts in a std::vector and concatenate them once after the loop [libtorch-cat-in-loop]
    }
  }
  int state = 0;
  for (const auto &batch : batches) {
    switch (state) {
    case 0:
      out = net(batch);
      state = 1;
      break;
    default:
      out = torch::cat({out, net(batch)});
      // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: quadratic copying: every iteration copies all of 'out' into a longer tensor; collect the parts in a std::vector and concatenate them once after the loop [libtorch-cat-in-loop]
    }
  }
  return out;
}

// Behind an exception, the parts would be lost.
Tensor caught(Net &net, const Batches &batches) {
  Tensor all = torch::empty({0, 4});
  try {
    for (const auto &batch : batches)
      all = torch::cat({all, net(batch)});
      // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: quadratic copying: every iteration copies all of 'all' into a longer tensor; collect the parts in a std::vector and concatenate them once after the loop [libtorch-cat-in-loop]
  } catch (const std::exception &) {
  }
  return all;
}

// Its size is asked for in the loop.
Tensor queried(int n) {
  Tensor all = torch::empty({0, 4});
  while (all.size(0) < n)
    all = torch::cat({all, torch::rand({1, 4})});
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: quadratic copying: every iteration copies all of 'all' into a longer tensor; collect the parts in a std::vector and concatenate them once after the loop [libtorch-cat-in-loop]
  return all;
}

// In one arm, which all iterations but the first take.
Tensor arms(Net &net, const Batches &batches) {
  Tensor all;
  for (const auto &batch : batches)
    all = all.defined() ? torch::cat({all, net(batch)}) : net(batch);
    // CHECK-MESSAGES: :[[@LINE-1]]:27: warning: quadratic copying: every iteration copies all of 'all' into a longer tensor; collect the parts in a std::vector and concatenate them once after the loop [libtorch-cat-in-loop]
  for (int i = 0; i < 9; ++i)
    all = i == 0 ? next_row(i) : torch::cat({all, next_row(i)});
    // CHECK-MESSAGES: :[[@LINE-1]]:34: warning: quadratic copying: every iteration copies all of 'all' into a longer tensor; collect the parts in a std::vector and concatenate them once after the loop [libtorch-cat-in-loop]
  return all;
}

// A list of other things holds what has grown so far.
std::vector<Tensor> prefixes(int n) {
  std::vector<Tensor> all_so_far;
  Tensor all = next_row(0);
  for (int i = 1; i < n; ++i) {
    all_so_far.push_back(all);
    all = torch::cat({all, next_row(i)});
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: quadratic copying: every iteration copies all of 'all' into a longer tensor; allocate it once, write each part into its slice and read what is filled through narrow() [libtorch-cat-in-loop]
  }
  return all_so_far;
}

// An algorithm is a loop, and its elements are others in each round.
Tensor each(Batches &batches) {
  Tensor all = next_row(0);
  std::for_each(batches.begin(), batches.end(), [&](Tensor &batch) {
    batch = torch::cat({batch, next_row(1)});
    all = torch::cat({all, batch});
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: quadratic copying: every iteration copies all of 'all' into a longer tensor; collect the parts in a std::vector and concatenate them once after the loop [libtorch-cat-in-loop]
  });
  return all;
}
