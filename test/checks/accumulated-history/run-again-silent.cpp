// Functions that a loop runs, and that keep no more with each round.
// RUN: %check_libtorch_tidy %s libtorch-accumulated-history %t --level=2 -- -- -I%S/../Inputs
#include "net.h"
#include <algorithm>
#include <numeric>

using torch::Tensor;

void once(Net net, const Tensor &x) {
  Tensor total = torch::zeros({});
  auto step = [&] {
    Tensor loss = net(x).sum();
    loss.backward();
    total += loss;
  };
  step();
}

void one_round(Net net, const Batches &batches) {
  for (const Tensor &x : batches) {
    std::vector<Tensor> losses;
    auto step = [&] {
      Tensor loss = net(x).sum();
      loss.backward();
      losses.push_back(loss);
    };
    step();
    step();
  }
}

void emptied(Net net, const Batches &batches) {
  std::vector<Tensor> losses;
  auto step = [&](const Tensor &x) {
    Tensor loss = net(x).sum();
    loss.backward();
    losses.push_back(loss);
  };
  for (const Tensor &x : batches) {
    losses.clear();
    step(x);
  }
}

void last_one(Net net, const Batches &batches) {
  Tensor last;
  auto step = [&](const Tensor &x) {
    Tensor loss = net(x).sum();
    loss.backward();
    last = loss;
  };
  for (const Tensor &x : batches)
    step(x);
}

// The graph of the sum is needed.
void back_propagated(Net net, const Batches &batches, bool now) {
  Tensor total = torch::zeros({});
  auto add = [&](const Tensor &x) {
    Tensor loss = net(x).sum();
    if (now)
      loss.backward();
    total = total + loss;
  };
  for (const Tensor &x : batches)
    add(x);
  if (!now)
    total.backward();
}

void retained(Net net, const Batches &batches) {
  Tensor total = torch::zeros({});
  auto add = [&](const Tensor &x) {
    Tensor loss = net(x).sum();
    loss.backward({}, true);
    total = total + loss;
  };
  for (const Tensor &x : batches)
    add(x);
  total.backward();
}

void helper(Net net, const Tensor &x, std::vector<Tensor> &log) {
  Tensor loss = net(x).sum();
  loss.backward();
  log.push_back(loss);
}
void log_of_each(Net net, const Batches &batches) {
  for (const Tensor &x : batches) {
    std::vector<Tensor> log;
    helper(net, x, log);
  }
}

// As many as the ring has places.
void ring(Net net, const Batches &batches) {
  std::vector<Tensor> last(16);
  size_t i = 0;
  for (const Tensor &x : batches) {
    Tensor loss = net(x).sum();
    loss.backward();
    last[i++ % last.size()] = loss;
  }
}

// An algorithm adds up what is back-propagated after it.
void one_backward(Net net, const Batches &batches) {
  Tensor total = torch::zeros({});
  std::for_each(batches.begin(), batches.end(),
                [&](const Tensor &x) { total += net(x).sum(); });
  total.backward();
  Tensor sum = std::accumulate(
      batches.begin(), batches.end(), torch::zeros({}),
      [&](Tensor sum, const auto &x) { return sum + net(x).sum(); });
  sum.backward();
}

Tensor handed_on(Net net, const Batches &batches) {
  Tensor total = torch::zeros({});
  std::for_each(batches.begin(), batches.end(),
                [&](const Tensor &x) { total += net(x).sum(); });
  return total;
}

// Each call has an element of its own.
void elements(Net net, std::vector<Tensor> &sums) {
  std::for_each(sums.begin(), sums.end(), [&](Tensor &sum) {
    Tensor loss = net(sum.detach()).sum();
    loss.backward();
    sum = sum.detach() + loss.detach();
  });
}

void layers(std::vector<Net> &nets, Tensor x) {
  std::for_each(nets.begin(), nets.end(), [&](Net &net) { x = net(x); });
  x.sum().backward();
}

Tensor skipped(Net net, const Batches &batches, bool train) {
  Tensor total = torch::zeros({});
  for (const Tensor &x : batches) {
    Tensor loss = net(x).sum();
    if (loss.item<float>() > 100) {
      loss.backward();
      continue;
    }
    total += loss;
  }
  // What a caller asks for is the same in all rounds.
  Tensor other = torch::zeros({});
  for (const Tensor &x : batches) {
    Tensor loss = net(x).sum();
    if (train)
      loss.backward();
    other += loss;
  }
  return total + other;
}
