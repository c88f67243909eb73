// RUN: %check_libtorch_tidy %s libtorch-accumulated-history %t --level=0 --check-suffix=0
// RUN: %check_libtorch_tidy %s libtorch-accumulated-history %t --level=1 --check-suffix=1
// RUN: %check_libtorch_tidy %s libtorch-accumulated-history %t --level=2 --check-suffix=2

#include "../Inputs/net.h"
#include <iostream>

using torch::Tensor;

void train(Net net, const Batches &data) {
  Tensor certain = torch::zeros({});
  std::vector<Tensor> likely;
  std::vector<Tensor> advisory(data.size());
  size_t i = 0;
  for (const Tensor &x : data) {
    Tensor loss = net(x).sum();
    loss.backward();
    certain += loss;
    // CHECK-MESSAGES-0: :[[@LINE-1]]:13: warning: 'certain' accumulates tensors with autograd history; nothing back-propagates through it, so the graph metadata of every iteration stays in memory [libtorch-accumulated-history]
    // CHECK-MESSAGES-1: :[[@LINE-2]]:13: warning: 'certain' accumulates tensors with autograd history; nothing back-propagates through it, so the graph metadata of every iteration stays in memory [libtorch-accumulated-history]
    // CHECK-MESSAGES-2: :[[@LINE-3]]:13: warning: 'certain' accumulates tensors with autograd history; nothing back-propagates through it, so the graph metadata of every iteration stays in memory [libtorch-accumulated-history]
    // CHECK-FIXES-0: certain += loss.detach();
    // CHECK-FIXES-1: certain += loss.detach();
    // CHECK-FIXES-2: certain += loss.detach();
    likely.push_back(loss);
    // CHECK-MESSAGES-1: :[[@LINE-1]]:12: warning: 'likely' accumulates tensors with autograd history; nothing back-propagates through it, so the graph metadata of every iteration stays in memory [libtorch-accumulated-history]
    // CHECK-MESSAGES-2: :[[@LINE-2]]:12: warning: 'likely' accumulates tensors with autograd history; nothing back-propagates through it, so the graph metadata of every iteration stays in memory [libtorch-accumulated-history]
    // CHECK-FIXES-1: likely.push_back(loss.detach());
    // CHECK-FIXES-2: likely.push_back(loss.detach());
    advisory[i++] = loss;
    // CHECK-MESSAGES-2: :[[@LINE-1]]:19: warning: 'advisory' accumulates tensors with autograd history; nothing back-propagates through it, so the graph metadata of every iteration stays in memory [libtorch-accumulated-history]
    // CHECK-FIXES-2: advisory[i++] = loss.detach();
  }
  std::cout << certain << likely.size() << advisory.size();
}
