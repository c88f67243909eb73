// The ten look-alikes of a defect: all of this is right, or cannot be judged.
// RUN: %check_libtorch_tidy %s libtorch-accumulated-history %t

#include "../Inputs/net.h"
#include <deque>
#include <iostream>

using torch::Tensor;

// 1. A sum over time that is back-propagated.
void bptt(Net net, const std::vector<Batches> &episodes) {
  for (const Batches &episode : episodes) {
    Tensor total = torch::zeros({});
    for (const Tensor &x : episode)
      total += net(x).sum();
    total.backward();
  }
}

// 2. A loss function that returns its sum, or hands it to its caller.
Tensor loss_function(Net net, const Batches &data) {
  Tensor total = torch::zeros({});
  for (const Tensor &x : data)
    total += net(x).sum();
  return total;
}
void out_parameter(Net net, const Batches &data, Tensor &total,
                   std::vector<Tensor> *all) {
  for (const Tensor &x : data) {
    total += net(x).sum();
    all->push_back(net(x));
  }
}

// 3. Gradient accumulation.
void every_k_steps(Net net, const Batches &data, torch::optim::Optimizer &opt) {
  Tensor total = torch::zeros({});
  int k = 0;
  for (const Tensor &x : data) {
    total = total + net(x).sum() / 4;
    if (++k % 4 == 0) {
      total.backward();
      opt.step();
      total = torch::zeros({});
    }
  }
}

// 4. Policy gradients.
void policy_gradient(Net net, const std::vector<Batches> &episodes) {
  std::vector<Tensor> log_probs;
  for (const Batches &episode : episodes) {
    for (const Tensor &x : episode)
      log_probs.push_back(torch::log_softmax(net(x), 1));
    torch::stack(log_probs).sum().backward();
    log_probs.clear();
  }
}
void grad_of_it(Net net, const Batches &data, Tensor input) {
  Tensor total = torch::zeros({});
  for (const Tensor &x : data)
    total += net(x).sum();
  auto grads = torch::autograd::grad({total}, {input});
  std::cout << grads[0];
}

// 5. Counts.
void accuracy(Net net, const Batches &data, const Batches &labels) {
  Tensor correct = torch::zeros({}, torch::kLong);
  int64_t hits = 0;
  double sum = 0;
  for (size_t i = 0; i < data.size(); ++i) {
    Tensor pred = net(data[i]);
    correct += pred.argmax(1).eq(labels[i]).sum();
    hits += pred.argmax(1).eq(labels[i]).sum().item<int64_t>();
    sum += torch::mse_loss(pred, labels[i]).item<double>();
    correct += pred.to(torch::kLong).sum();
  }
  std::cout << correct << hits << sum;
}

// 6. Under a guard, here or in every caller.
void guarded(Net net, const Batches &data) {
  Tensor total = torch::zeros({});
  {
    torch::NoGradGuard no_grad;
    for (const Tensor &x : data)
      total += net(x).sum();
  }
  for (const Tensor &x : data) {
    c10::InferenceMode guard;
    total = total + net(x).sum();
  }
  std::cout << total;
}
static void helper_of_guarded(Net net, const Batches &data) {
  Tensor total = torch::zeros({});
  for (const Tensor &x : data)
    total += net(x).sum();
  std::cout << total;
}
void guarded_caller(Net net, const Batches &data) {
  torch::NoGradGuard no_grad;
  helper_of_guarded(net, data);
}

// 7. Nothing differentiable in it: data, and frozen models.
void statistics(const Batches &data) {
  Tensor mean = torch::zeros({});
  std::vector<Tensor> rows;
  for (const Tensor &x : data) {
    mean += x.mean();
    rows.push_back(x * 2 + torch::rand({4}));
  }
  std::cout << mean << rows.size();
}
void frozen(const Batches &data) {
  Net net;
  for (auto &p : net->parameters())
    p.set_requires_grad(false);
  Tensor total = torch::zeros({});
  for (const Tensor &x : data)
    total += net(x).sum();
  std::cout << total;
}

// 8. A step closure, and a regulariser that becomes part of the loss.
void closure(Net net, const Batches &data, torch::optim::LBFGS &opt) {
  opt.step([&] {
    Tensor total = torch::zeros({});
    for (const Tensor &x : data)
      total += net(x).sum();
    total.backward();
    return total;
  });
}
void regulariser(Net net, const Batches &data) {
  for (const Tensor &x : data) {
    Tensor l2 = torch::zeros({});
    for (auto &p : net->parameters())
      l2 += p.pow(2).sum();
    (net(x).sum() + 0.1 * l2).backward();
  }
}

// 9. Bounded windows.
void windows(Net net, const Batches &data) {
  std::deque<Tensor> window;
  std::vector<Tensor> ring(8);
  size_t i = 0;
  for (const Tensor &x : data) {
    window.push_back(net(x));
    if (window.size() > 8)
      window.pop_front();
    ring[i++ % 8] = net(x);
  }
  std::cout << window.size() << ring.size();
}

// 10. A loss that is a number already.
void number(Net net, const Batches &data) {
  double total = 0;
  std::vector<float> losses;
  for (const Tensor &x : data) {
    auto loss = net(x).sum().item<float>();
    total += loss;
    losses.push_back(loss);
  }
  std::cout << total << losses.size();
}

// Overwriting keeps one; detached copies keep none.
void overwritten(Net net, const Batches &data) {
  Tensor last;
  Tensor total = torch::zeros({});
  Tensor cut = torch::zeros({});
  std::vector<Tensor> kept;
  for (const Tensor &x : data) {
    last = net(x);
    total += last.sum().detach();
    kept.push_back(last.detach().clone());
    kept.push_back(last.data());
    cut = (cut + last.sum()).detach();
  }
  std::cout << last << total << kept.size() << cut;
}

// A list of parameters is a list of handles.
void parameters(Net net) {
  std::vector<Tensor> trainable;
  for (auto &p : net->parameters())
    if (p.requires_grad())
      trainable.push_back(p);
  torch::optim::SGD opt(trainable, 0.1);
}

// Few iterations: parts of one result.
void heads(std::vector<Net> nets, const Tensor &x) {
  Tensor sum = torch::zeros({4});
  for (int i = 0; i < 3; ++i)
    sum += nets[i](x);
  std::cout << sum;
}

// Code that is not seen may back-propagate.
void escapes(Net net, const Batches &data) {
  Tensor total = torch::zeros({});
  std::vector<Tensor> all;
  for (const Tensor &x : data) {
    total += net(x).sum();
    all.push_back(net(x));
  }
  unseen(total);
  unseen(all);
}
void by_lambda(Net net, const Batches &data) {
  Tensor total = torch::zeros({});
  auto finish = [&] { total.backward(); };
  for (const Tensor &x : data)
    total += net(x).sum();
  finish();
}

// No loop, no growth.
Tensor once(Net net, const Tensor &x) {
  Tensor y = net(x);
  Tensor z = torch::zeros({4});
  z += y;
  std::cout << z;
  return y.detach();
}

// x = x.to(...) adds nothing.
void moved(Net net, const Tensor &x) {
  Tensor memory = net(x);
  for (int i = 0; i < 100; ++i) {
    memory = memory.to(torch::kCPU);
    std::cout << memory.argmax();
  }
}
