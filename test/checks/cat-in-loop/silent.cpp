// What does not grow, or not by copying itself again and again.
// RUN: %check_libtorch_tidy %s libtorch-cat-in-loop %t -- -- -I%S/../Inputs
#include "net.h"

using torch::Tensor;

Tensor once(Net &net, const Batches &batches) {
  std::vector<Tensor> parts;
  for (const auto &batch : batches) {
    parts.push_back(net(batch));
    Tensor pair = torch::cat({batch, parts.back()});
    Tensor same = torch::stack({batch, batch});
  }
  Tensor all = torch::cat(parts);
  all = torch::cat({all, torch::ones({1, 4})});
  return all;
}

// The model reads the whole sequence in each step.
Tensor at_once(Net &net, Tensor tokens, int n) {
  while (tokens.size(0) < n)
    tokens = torch::cat({tokens, net(tokens)});
  return tokens;
}
Tensor decode(Net &net, Tensor tokens, torch::Device device, int n) {
  for (int i = 0; i < n; ++i) {
    Tensor next = net->forward(tokens.unsqueeze(0).to(device)).argmax(-1, true);
    tokens = torch::cat({tokens, next}, 1);
  }
  return tokens;
}

// A few times.
Tensor few(Tensor x) {
  for (int i = 0; i < 3; ++i)
    x = torch::cat({x, torch::ones({1})});
  for (int side : {0, 1})
    x = torch::cat({x, torch::full({1}, side)});
  const int sizes[] = {1, 2, 4};
  for (int size : sizes)
    x = torch::cat({x, torch::ones({size})});
  for (float z : std::array<float, 2>{0, 1})
    x = torch::cat({x, torch::full({1}, z)});
  return x;
}

// Something else sets it in each iteration.
Tensor skip_connections(Net &net, Tensor x, const Batches &skips) {
  for (const auto &skip : skips) {
    x = net(x);
    x = torch::cat({x, skip}, 1);
  }
  for (const auto &skip : skips) {
    x = torch::cat({x, skip}, 1);
    x = net(x);
  }
  return x;
}

// Cut, flushed or let go on the way.
Tensor bounded(const Batches &batches, int n) {
  Tensor window = torch::empty({0, 4}), batch, chunk;
  std::vector<Tensor> pending;
  for (const auto &x : batches) {
    window = torch::cat({window, x});
    if (window.size(0) > 8)
      window = window.slice(0, -8);
    batch = batch.defined() ? batch : x;
    pending.push_back(x);
    if (static_cast<int>(pending.size()) == n) {
      chunk = torch::stack(pending);
      pending.clear();
    }
  }
  int count = 0;
  for (const auto &x : batches) {
    if (count == 0)
      batch = x;
    else
      batch = torch::cat({batch, x});
    if (++count == n) {
      std::cout << batch;
      count = 0;
    }
  }
  for (size_t i = 0; i < batches.size(); ++i) {
    if (i % 8 == 0)
      batch = batches[i];
    else
      batch = torch::cat({batch, batches[i]});
  }
  for (const auto &x : batches) {
    window = torch::cat({window.slice(0, 1), x});
    window = torch::cat({window, x}).narrow(0, 0, 8);
  }
  return window;
}

void refill(Tensor &t);
class Stream {
public:
  void run(const Batches &batches) {
    for (const auto &x : batches) {
      pending_ = torch::cat({pending_, x});
      if (pending_.size(0) > 8)
        flush();
    }
    Tensor open = torch::empty({0});
    for (const auto &x : batches) {
      open = torch::cat({open, x});
      refill(open);
    }
  }
  // A cache that grows by one per call.
  Tensor attend(Tensor key) {
    keys_ = torch::cat({keys_, key}, 1);
    return keys_;
  }

private:
  void flush();
  Tensor pending_, keys_;
};

// Attention needs all keys in each step.
Tensor attention(Net &net, Tensor x, int n) {
  Tensor keys = torch::empty({0, 4}), k_cache = keys;
  for (int i = 0; i < n; ++i) {
    keys = torch::cat({keys, net(x)});
    x = torch::matmul(x, keys.t()).softmax(-1);
  }
  for (int i = 0; i < n; ++i) {
    Tensor k = net(torch::matmul(x, k_cache.t()));
    k_cache = torch::cat({k_cache, k});
  }
  return x;
}

// Dense connections: each layer reads what all before it made.
struct DenseImpl : torch::nn::Module {
  Tensor forward(Tensor x) {
    for (size_t i = 0; i < layers->size(); ++i)
      x = torch::cat({x, layers[i]->as<torch::nn::Linear>()->forward(x)}, 1);
    for (auto &linear : linears)
      x = torch::cat({x, linear->forward(x)}, 1);
    return x;
  }
  torch::nn::ModuleList layers;
  std::vector<torch::nn::Linear> linears;
};
struct WeightsImpl : torch::nn::Module {
  Tensor forward(Tensor x, const Batches &weights) {
    for (const auto &weight : weights) {
      Tensor more = torch::matmul(x, weight);
      x = torch::cat({x, more}, 1);
    }
    return x;
  }
};
Tensor dense(std::vector<torch::nn::Linear> &linears, Tensor x) {
  for (auto &linear : linears)
    x = torch::cat({x, linear(x)}, 1);
  return x;
}

// Doubled, which is linear in the end.
Tensor doubled(Tensor x, int n) {
  while (x.size(0) < n)
    x = torch::cat({x, x});
  while (x.size(0) < n)
    x = torch::cat({x, x.flip(0)});
  return x;
}

// Each element grows once; one per iteration.
void elements(std::vector<Tensor> &outs, const Batches &batches) {
  for (size_t i = 0; i < outs.size(); ++i)
    outs[i] = torch::cat({outs[i], batches[i]});
  for (auto &out : outs)
    out = torch::cat({out, batches[0]});
}

// Leaves the loop.
Tensor last(Tensor x, int n) {
  for (int i = 0; i < n; ++i)
    if (i * i > n) {
      x = torch::cat({x, torch::ones({1})});
      break;
    }
  for (int i = 0; i < n; ++i)
    if (i * i > n) {
      x = torch::cat({x, torch::ones({1})});
      return x;
    }
  return x;
}

// The history that each step looks at as a whole.
void histories(Net &net, Tensor x, int n) {
  std::vector<Tensor> history;
  for (int i = 0; i < n; ++i) {
    history.push_back(x);
    Tensor all = torch::stack(history);
    x = net(all).mean(0);
  }
}

// Into a slot; in a lambda; a function of the same name.
Tensor cat(std::vector<Tensor> list);
Tensor others(Tensor x, Tensor y, int n) {
  for (int i = 0; i < n; ++i) {
    x[0] = torch::cat({x[0], y});
    x = cat({x, y});
  }
  auto add = [&] { y = torch::cat({y, x}); };
  for (int i = 0; i < n; ++i)
    add();
  return x;
}

// Begun anew now and then.
Tensor flushed(Net &net, const Batches &batches) {
  Tensor all = batches[0];
  for (const auto &batch : batches)
    all = all.size(0) > 8 ? net(batch) : torch::cat({all, net(batch)});
  for (const auto &batch : batches)
    all = batch.numel() == 0 ? batch : torch::cat({all, batch});
  return all;
}

// The model reads the whole, by way of a list, a variable, a function.
Tensor mask_of(const Tensor &tokens);
Tensor listed(torch::jit::Module &model, Tensor tokens, int n) {
  for (int i = 0; i < n; ++i) {
    std::vector<torch::jit::IValue> inputs;
    inputs.push_back(tokens);
    Tensor next = model.forward(inputs).toTensor().argmax(-1, true);
    tokens = torch::cat({tokens, next}, 1);
  }
  return tokens;
}
Tensor masked(Net &net, Tensor tokens, int n) {
  for (int i = 0; i < n; ++i) {
    Tensor mask = mask_of(tokens);
    tokens = torch::cat({tokens, net->forward(tokens * mask)}, 1);
  }
  return tokens;
}
Tensor cropped(Net &net, Tensor tokens, int n) {
  for (int i = 0; i < n; ++i) {
    Tensor seen = tokens.size(1) <= 64 ? tokens : tokens.slice(1, -64);
    tokens = torch::cat({tokens, net->forward(seen)}, 1);
  }
  return tokens;
}
// A window whose length is not written here: with a long context it is the whole.
Tensor window_of(Net &net, Tensor tokens, int n, int64_t context) {
  for (int i = 0; i < n; ++i) {
    Tensor seen = tokens.index({torch::indexing::Slice(), torch::indexing::Slice(-context, torch::indexing::None)});
    tokens = torch::cat({tokens, net->forward(seen)}, 1);
  }
  return tokens;
}
Tensor narrowed(Net &net, Tensor tokens, int n, int64_t context) {
  for (int i = 0; i < n; ++i) {
    const int64_t length = std::min(tokens.size(1), context);
    Tensor next = net->forward(tokens.narrow(1, tokens.size(1) - length, length));
    tokens = torch::cat({tokens, next}, 1);
  }
  return tokens;
}
