//===- Graph.h - Sees the nodes of autograd graphs --------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// LibTorch has no count of graph nodes. In anomaly mode each node gets a
/// record that lives as long as the node does, and the engine makes it. So the
/// watch is an engine whose records count; all else it hands on to the engine
/// that was there. The costly part of anomaly mode, the search for NaN in
/// backward, stays off unless the program itself asks for it.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_WATCH_GRAPH_H
#define LIBTORCH_TIDY_WATCH_GRAPH_H

#include "libtorch-tidy/watch/Tracker.h"

#include <memory>
#include <string>
#include <torch/csrc/autograd/anomaly_mode.h>
#include <torch/csrc/autograd/engine.h>

/// Defined where Python runs in this process.
extern "C" int Py_IsInitialized() __attribute__((weak));

namespace libtorch_tidy {
namespace detail {

/// Nodes are held by pointers of another type from LibTorch 2.13 on.
template <class Signature> class NodeRecord;
template <class Base, class Pointer>
class NodeRecord<void (Base::*)(const Pointer &)> final : public Base {
public:
  ~NodeRecord() override {
    if (Counted)
      tracker().nodeGone(Site);
  }
  __attribute__((noinline)) void store_stack() override {
    if (!Counted)
      Site = tracker().nodeMade(__builtin_return_address(0));
    Counted = true;
  }
  void print_stack(const std::string &Name) override {
    if (torch::autograd::AnomalyMode::should_check_nan())
      Base::print_stack(Name);
  }
  /// A parent would be kept alive by it.
  void assign_parent(const Pointer &Parent) override {
    if (torch::autograd::AnomalyMode::should_check_nan())
      Base::assign_parent(Parent);
  }

private:
  uint32_t Site = 0;
  bool Counted = false;
};

class CountingEngine final : public torch::autograd::Engine {
public:
  explicit CountingEngine(torch::autograd::Engine &Worker) : Worker(Worker) {}
  torch::autograd::variable_list
  execute(const torch::autograd::edge_list &Roots,
          const torch::autograd::variable_list &Inputs, bool KeepGraph,
          bool CreateGraph, bool AccumulateGrad,
          const torch::autograd::edge_list &Outputs) override {
    return Worker.execute(Roots, Inputs, KeepGraph, CreateGraph, AccumulateGrad,
                          Outputs);
  }
  std::unique_ptr<torch::autograd::AnomalyMetadata>
  make_anomaly_metadata() override {
    return std::make_unique<NodeRecord<
        decltype(&torch::autograd::AnomalyMetadata::assign_parent)>>();
  }
  std::unique_ptr<torch::autograd::SavedVariableHooks>
  get_default_saved_variable_hooks() override {
    return Worker.get_default_saved_variable_hooks();
  }

private:
  torch::autograd::Engine &Worker;
};

inline CountingEngine *&countingEngine() {
  static CountingEngine *Engine = nullptr;
  return Engine;
}

/// False where nodes cannot be counted: under Python, whose engine holds
/// Python's lock, or when the program has anomaly mode on already.
inline bool watchGraph() {
  if (countingEngine())
    return true;
  if ((Py_IsInitialized && Py_IsInitialized()) ||
      torch::autograd::AnomalyMode::is_enabled())
    return false;
  countingEngine() =
      new CountingEngine(torch::autograd::Engine::get_default_engine());
  torch::autograd::set_default_engine_stub(
      []() -> torch::autograd::Engine & { return *countingEngine(); });
  torch::autograd::AnomalyMode::set_enabled(true, /*check_nan=*/false);
  return true;
}

/// A guard for anomaly mode switches it off at its end; this switches it on
/// again. To be called at each step.
inline void watchGraphAgain() {
  if (countingEngine() && !torch::autograd::AnomalyMode::is_enabled())
    torch::autograd::AnomalyMode::set_enabled(true, /*check_nan=*/false);
}

} // namespace detail
} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_WATCH_GRAPH_H
