// Kept for a reason, or too small to matter.
// RUN: %check_libtorch_tidy %s libtorch-long-lived-intermediate %t

#include "../Inputs/net.h"
#include <iostream>

using torch::Tensor;

// 1. Carried from iteration to iteration.
void carried(Net net, const Batches &data) {
  Tensor state = torch::zeros({4}), previous, ema;
  for (const Tensor &x : data) {
    state = net(x + state);
    if (previous.defined())
      std::cout << (state - previous).abs().sum();
    previous = net(x);
  }
}
// 2. Read after the loop.
void last_loss(Net net, const Batches &data) {
  Tensor loss;
  for (const Tensor &x : data) {
    loss = net(x).sum();
    loss.backward();
  }
  std::cout << loss.item<float>();
}
// 3. Preallocated.
void preallocated(Net net, const Batches &data) {
  Tensor all = torch::empty({100, 4});
  for (size_t i = 0; i < data.size(); ++i) {
    all[i] = net(data[i]).detach();
    all.copy_(net(data[i]).detach());
  }
}
// 4. A try block needs it outside.
void tried(Net net, const Batches &data) {
  for (const Tensor &x : data) {
    Tensor out;
    try {
      out = net(x);
    } catch (const std::exception &e) {
      std::cout << e.what();
    }
    std::cout << out.argmax();
  }
}
// Scalars, indices, inputs and labels.
void small(Net net, const Batches &data) {
  Tensor loss, index, input, label, mean, criterion_loss;
  torch::nn::MSELoss criterion;
  for (const Tensor &x : data) {
    input = x.to(torch::kCPU);
    label = input.argmax();
    loss = torch::mse_loss(net(input), input);
    loss.backward();
    index = net(input).argmax(1);
    mean = net(input).mean();
    criterion_loss = criterion(net(input), input);
    std::cout << index << label << mean << criterion_loss;
  }
}
// Only on some paths, captured, or seen through a reference.
void some_paths(Net net, const Batches &data, bool sometimes) {
  Tensor out, captured, seen;
  auto show = [&] { std::cout << captured.sizes(); };
  Tensor &alias = seen;
  for (const Tensor &x : data) {
    if (sometimes)
      out = net(x);
    std::cout << out.sizes();
    captured = net(x);
    seen = net(x);
    show();
    std::cout << alias.sizes();
  }
}
// Kept elsewhere anyway.
Batches collected(Net net, const Batches &data) {
  Batches all;
  Tensor out;
  for (const Tensor &x : data) {
    out = net(x);
    all.push_back(out);
  }
  return all;
}
// 7. Constants and buffers.
struct MaskImpl : torch::nn::Module {
  Tensor forward(Tensor x) {
    if (!mask.defined())
      mask = torch::ones({4}).triu();
    cached = torch::arange(4);
    return x * mask + cached;
  }
  Tensor mask, cached;
};
// 9. A static constant.
Tensor constant() {
  static Tensor table = torch::linspace(0, 1, 100);
  return table;
}
// Captured where it is made.
void captured_inside(Net net, const Batches &data) {
  Tensor out;
  for (const Tensor &x : data) {
    out = net(x);
    auto show = [&] { std::cout << out.sizes(); };
    show();
  }
}
// Under the caller's guard.
static void helper_of_guarded(Net net, const Batches &data) {
  Tensor out;
  for (const Tensor &x : data) {
    out = net(x);
    std::cout << out.sizes();
  }
}
void guarded_caller(Net net, const Batches &data) {
  torch::NoGradGuard no_grad;
  helper_of_guarded(net, data);
}

// Something else holds what the variable held at that point.
static std::vector<Tensor> Stored;
static Tensor twice(const Tensor &x) { return x * 2; }
float held_elsewhere(Net net, Net head, const Tensor &x, Tensor y) {
  torch::NoGradGuard no_grad;
  Tensor a = net(x);
  Stored.push_back(a);
  Tensor b = net(x), c = b;
  b = x;
  float sum = b.sum().item<float>();
  Batches list;
  Tensor d = net(x);
  list.push_back(d);
  d = x.t();
  sum += y.sum().item<float>();
  Tensor e = std::get<1>(std::make_tuple(net(x), x));
  sum += e.sum().item<float>();
  Tensor f = twice(x.mean());
  sum += f.item<float>();
  sum += head(x).sum().item<float>();
  return sum + (c + list[0]).sum().item<float>();
}

// A number goes through a helper of the file and back into its variable.
Tensor itself(Tensor x) { return x; }
float through_helper(Net &net, const Tensor &in) {
  torch::NoGradGuard no_grad;
  Tensor mean = in.mean();
  mean = itself(mean);
  const float number = mean.item<float>();
  return number + net->forward(in).sum().item<float>();
}

// Small: a part of a struct, what a helper makes of it, and what a variable holds by then.
struct Parts {
  Tensor whole, number;
};
float small_parts(Net net, Net head, const Tensor &x) {
  torch::NoGradGuard no_grad;
  Parts parts{net(x), x.mean()};
  Tensor two = twice(parts.number);
  float sum = head(x).sum().item<float>();
  return sum + parts.whole.sum().item<float>();
}
float small_by_then(Net net, Net head, const Tensor &x, int n) {
  torch::NoGradGuard no_grad;
  Tensor out = net(x) * 2;
  do
    out = out.mean();
  while (n-- > 0);
  Tensor copy = out.clone();
  std::cout << copy.dim();
  return head(x).sum().item<float>();
}
