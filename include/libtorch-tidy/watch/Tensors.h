//===- Tensors.h - Sees tensors and graph nodes come and go -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// On the CPU an allocator in front of the one that is there sees the tensors
/// of all threads. Allocators of other devices report to whoever is registered
/// with the thread; from LibTorch 2.9 on they also have figures that can be
/// asked for. Neither needs a header of the device's.
///
/// LibTorch has no count of graph nodes. In anomaly mode each node gets a
/// record that lives as long as the node does, and the engine makes it. So the
/// watch is an engine whose records count; all else it hands on to the engine
/// that was there. The costly part of anomaly mode, the search for NaN in
/// backward, stays off unless the program itself asks for it.
///
/// LibTorch's interfaces differ between 1.13 and 2.14: what a function takes
/// and whether it is const is deduced from its declaration.

#ifndef LIBTORCH_TIDY_WATCH_TENSORS_H
#define LIBTORCH_TIDY_WATCH_TENSORS_H

#include "libtorch-tidy/watch/Tracker.h"

#include <ATen/Context.h>
#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>
#include <memory>
#include <string>
#include <torch/csrc/autograd/anomaly_mode.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/version.h>
#include <type_traits>

#if TORCH_VERSION_MAJOR > 2 ||                                                 \
    (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 9)
#include <c10/core/CachingDeviceAllocator.h>
#define LIBTORCH_TIDY_DEVICE_STATISTICS 1
#else
#define LIBTORCH_TIDY_DEVICE_STATISTICS 0
#endif

/// Defined where Python runs in this process.
extern "C" int Py_IsInitialized() __attribute__((weak));

namespace libtorch_tidy::detail {

//===----------------------------------------------------------------------===//
// The CPU
//===----------------------------------------------------------------------===//

/// The allocator that does the work, and its deleter, if it has one for all.
struct Previous {
  c10::Allocator *Allocator = nullptr;
  c10::DeleterFnPtr Deleter = nullptr;
};
inline Previous &previous() {
  static Previous P;
  return P;
}

/// Blocks from before the watch come here as well, from raw_deallocate().
inline void releaseBlock(void *Context) {
  if (Context)
    tracker().gone(Context);
  previous().Deleter(Context);
}

/// For an allocator whose blocks have deleters of their own.
struct Held {
  c10::DataPtr Inner;
};
inline void releaseHeld(void *Context) {
  Held *H = static_cast<Held *>(Context);
  tracker().gone(H->Inner.get());
  delete H;
}

inline c10::DataPtr allocateWatched(size_t Size, void *Caller) {
  c10::DataPtr Data;
  try {
    Data = previous().Allocator->allocate(Size);
  } catch (...) {
    tracker().failed(static_cast<int64_t>(Size), 0);
    throw;
  }
  if (!Data.get())
    return Data;
  void *Address = Data.get();
  c10::DeleterFnPtr Deleter = previous().Deleter;
  if (Deleter) {
    // Its deleter is not the one it said: the block is not counted, since it
    // would never be seen to go.
    if (Data.get_context() != Address ||
        !Data.compare_exchange_deleter(Deleter, &releaseBlock))
      return Data;
  } else {
    c10::Device Device = Data.device();
    Held *H = new Held{std::move(Data)};
    Data = c10::DataPtr(Address, H, &releaseHeld, Device);
  }
  tracker().made(Address, static_cast<int64_t>(Size), 0, Caller);
  return Data;
}

template <class Base> struct Releasing : Base {
  c10::DeleterFnPtr raw_deleter() const override {
    return previous().Deleter ? &releaseBlock : nullptr;
  }
};

/// Allocators copy, too, from LibTorch 2.3 on.
template <class Base, class = void> struct Copying : Releasing<Base> {};
template <class Base>
struct Copying<Base, std::void_t<decltype(&Base::copy_data)>>
    : Releasing<Base> {
  void copy_data(void *To, const void *From, size_t Size) const override {
    static_cast<const Base *>(previous().Allocator)->copy_data(To, From, Size);
  }
};

/// allocate() is const up to LibTorch 2.2: one of the two overrides it.
class WatchingAllocator final : public Copying<c10::Allocator> {
public:
  __attribute__((noinline)) c10::DataPtr allocate(size_t Size) const {
    return allocateWatched(Size, __builtin_return_address(0));
  }
  __attribute__((noinline)) c10::DataPtr allocate(size_t Size) {
    return allocateWatched(Size, __builtin_return_address(0));
  }
};

/// Puts the watch in front of the allocator of CPU tensors. To be called once.
inline void watchCpu() {
  Previous &P = previous();
  P.Allocator = c10::GetAllocator(c10::DeviceType::CPU);
  P.Deleter = P.Allocator->raw_deleter();
  tracker().Devices[0].Key = 0;
  static auto *Watching = new WatchingAllocator;
  c10::SetAllocator(c10::DeviceType::CPU, Watching, /*priority=*/255);
}

//===----------------------------------------------------------------------===//
// Other devices
//===----------------------------------------------------------------------===//

/// Hears of each block that an allocator of a device hands out or takes back,
/// on the threads that it is registered with and in their backward passes.
template <class Signature> class DeviceReporter;
template <class Base, class Total>
class DeviceReporter<void (Base::*)(void *, int64_t, Total, Total, c10::Device)>
    final : public Base {
public:
  __attribute__((noinline)) void
  reportMemoryUsage(void *Address, int64_t Size, Total Allocated,
                    Total Reserved, c10::Device Device) override {
    if (Device.type() == c10::DeviceType::CPU)
      return; // The allocator above has it.
    Tracker &T = tracker();
    uint32_t Slot = T.deviceOf(static_cast<int>(Device.type()), Device.index());
    if (Size > 0)
      T.made(Address, Size, Slot, __builtin_return_address(0));
    else
      T.gone(Address);
    T.Devices[Slot].Allocated = static_cast<int64_t>(Allocated);
    T.Devices[Slot].Reserved = static_cast<int64_t>(Reserved);
  }
  void reportOutOfMemory(int64_t Size, Total, Total,
                         c10::Device Device) override {
    Tracker &T = tracker();
    T.failed(Size, T.deviceOf(static_cast<int>(Device.type()), Device.index()));
  }
  /// Asked for by the CPU's own reports only, which would warn of blocks from
  /// before. Devices report in any case.
  bool memoryProfilingEnabled() const override { return false; }

private:
  /// LibTorch takes what is registered in this place for a profiler's state,
  /// when one asks whether a profiler runs. Zeros there say no.
  char Disabled[1024] = {};
};

/// Registers with this thread. True where there is a device to watch.
inline bool watchDevices(bool Force = false) {
  static bool Present = Force || at::hasCUDA();
  if (!Present)
    return false;
  // Leaked: threads that end after main have it still.
  static auto *Reporter = new std::shared_ptr<c10::DebugInfoBase>(
      std::make_shared<DeviceReporter<
          decltype(&c10::MemoryReportingInfoBase::reportMemoryUsage)>>());
  static const auto Kind = c10::DebugInfoKind::PROFILER_STATE;
  // Complete after LibTorch's own note of this thread, and so gone before it:
  // what is freed after main must not find that note.
  struct Registration {
    Registration() { c10::ThreadLocalDebugInfo::_push(Kind, *Reporter); }
    ~Registration() {
      try {
        if (c10::ThreadLocalDebugInfo::get(Kind) == Reporter->get())
          c10::ThreadLocalDebugInfo::_pop(Kind);
      } catch (...) {
        // Something of another kind was pushed above it and never popped.
      }
    }
  };
  static thread_local Registration OfThread;
  return true;
}

/// Asks the allocators of devices that have made a tensor, where they can be.
inline void askDevices() {
#if LIBTORCH_TIDY_DEVICE_STATISTICS
  tracker().forEachDevice([](uint32_t Slot, DeviceFigures &D) {
    int Key = D.Key.load();
    auto *Allocator =
        Slot == 0 ? nullptr
                  : dynamic_cast<c10::DeviceAllocator *>(c10::GetAllocator(
                        static_cast<c10::DeviceType>(Key / 256)));
    if (!Allocator || !Allocator->initialized())
      return;
    auto Figures =
        Allocator->getDeviceStats(static_cast<c10::DeviceIndex>(Key % 256));
    // The first figure is that of all pools.
    D.Allocated = Figures.allocated_bytes[0].current;
    D.Reserved = Figures.reserved_bytes[0].current;
  });
#endif
}

//===----------------------------------------------------------------------===//
// Nodes of autograd graphs
//===----------------------------------------------------------------------===//

/// Nodes are held by pointers of another type from LibTorch 2.13 on.
template <class Signature> class NodeRecord;
template <class Base, class Pointer>
class NodeRecord<void (Base::*)(const Pointer &)> final : public Base {
public:
  ~NodeRecord() override {
    if (Counted)
      tracker().nodeGone(Node);
  }
  __attribute__((noinline)) void store_stack() override {
    if (!Counted)
      Node = tracker().nodeMade(__builtin_return_address(0));
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
  Block Node;
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

} // namespace libtorch_tidy::detail

#endif // LIBTORCH_TIDY_WATCH_TENSORS_H
