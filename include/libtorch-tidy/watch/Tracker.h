//===- Tracker.h - Counts what is alive -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The figures that every allocation of a tensor changes. All threads write
/// them at a time; whoever takes a step reads them.
///
/// Nothing here is ever destroyed, because tensors are freed after main.

#ifndef LIBTORCH_TIDY_WATCH_TRACKER_H
#define LIBTORCH_TIDY_WATCH_TRACKER_H

#include "libtorch-tidy/watch/Sites.h"

#include <chrono>
#include <ctime>

namespace libtorch_tidy {

/// Which allocations have their stack noted.
enum class Stacks {
  None, ///< None: growth has no lines.
  Auto, ///< As many as fit into 3 % of the run time, suspects first.
  All,  ///< Each one: exact, and slow.
};

namespace detail {

inline int64_t nanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// The same clock a few milliseconds late, for a fifth of the price.
inline int64_t lateNanoseconds() {
  std::timespec Time{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &Time);
  return int64_t(Time.tv_sec) * 1000000000 + Time.tv_nsec;
}

inline void raise(std::atomic<int64_t> &Largest, int64_t Value) {
  int64_t Old = Largest.load(std::memory_order_relaxed);
  while (Value > Old &&
         !Largest.compare_exchange_weak(Old, Value, std::memory_order_relaxed))
    ;
}

/// What is known of one live block.
struct Block {
  uintptr_t Address = 0;
  int64_t Size = 0;    ///< In bytes, as it was asked for.
  uint32_t Step = 0;   ///< In which it was made.
  uint16_t Site = 0;   ///< Who made it, a number of Sites; 0: not noted.
  uint16_t Device = 0; ///< A slot of Devices.
};
static_assert(Sites::Room <= UINT16_MAX, "a block has no more room");

/// How many of the things that are alive were made in the step that is not over
/// yet.
class Recent {
public:
  /// Another one; returns what gone() asks for.
  uint32_t made() {
    Count.fetch_add(1, std::memory_order_relaxed);
    return Step.load(std::memory_order_relaxed);
  }
  void gone(uint32_t MadeIn) {
    if (MadeIn == Step.load(std::memory_order_relaxed))
      Count.fetch_sub(1, std::memory_order_relaxed);
  }
  /// Begins a new step. Returns how many of \p Alive are from earlier ones.
  int64_t keptOf(int64_t Alive) {
    int64_t New = Count.exchange(0, std::memory_order_relaxed);
    Step.fetch_add(1, std::memory_order_relaxed);
    return Alive - New;
  }

private:
  std::atomic<int64_t> Count{0};
  std::atomic<uint32_t> Step{0};
};

/// Live blocks by address. Many threads may use it at a time.
///
/// Blocks carry nothing in front of them, so those that were there before the
/// watch, or that pass it by, are only not found.
class Blocks {
public:
  /// Returns what was known of its address before: a block that went without
  /// being seen. Its address is null if there was none.
  Block add(const Block &B) {
    Shard &S = shardOf(B.Address);
    std::lock_guard<std::mutex> Lock(S.Mutex);
    if ((S.Count + 1) * 4 > S.Slots.size() * 3)
      S.grow();
    Block &Slot = S.slotOf(B.Address);
    if (!Slot.Address)
      ++S.Count;
    Block Old = Slot;
    Slot = B;
    return Old;
  }

  /// Removes the block at \p Address into \p Removed. False: not one of ours.
  bool remove(const void *Address, Block &Removed) {
    uintptr_t Key = reinterpret_cast<uintptr_t>(Address);
    Shard &S = shardOf(Key);
    std::lock_guard<std::mutex> Lock(S.Mutex);
    if (!Key || S.Slots.empty())
      return false;
    Block &Slot = S.slotOf(Key);
    if (!Slot.Address)
      return false;
    Removed = Slot;
    S.close(static_cast<size_t>(&Slot - S.Slots.data()));
    --S.Count;
    return true;
  }

  template <class Function> void forEachMutex(Function Do) {
    for (Shard &S : Shards)
      Do(S.Mutex);
  }

private:
  static constexpr size_t ShardBits = 5;

  static uint64_t hash(uintptr_t Address) {
    return (static_cast<uint64_t>(Address) >> 4) * 0x9E3779B97F4A7C15u;
  }

  /// One table with open addressing and linear probing.
  struct alignas(64) Shard {
    std::mutex Mutex;
    PageVector<Block> Slots;
    size_t Count = 0;

    size_t homeOf(uintptr_t Address) const {
      return (hash(Address) >> 16) & (Slots.size() - 1);
    }
    Block &slotOf(uintptr_t Address) {
      size_t I = homeOf(Address);
      while (Slots[I].Address && Slots[I].Address != Address)
        I = (I + 1) & (Slots.size() - 1);
      return Slots[I];
    }
    void grow() {
      PageVector<Block> Old(Slots.empty() ? 256 : Slots.size() * 2);
      Old.swap(Slots);
      for (const Block &B : Old)
        if (B.Address)
          slotOf(B.Address) = B;
    }
    /// Empties slot \p I and moves up what had to pass it by.
    void close(size_t I) {
      size_t Mask = Slots.size() - 1;
      Slots[I] = Block();
      for (size_t J = (I + 1) & Mask; Slots[J].Address; J = (J + 1) & Mask) {
        size_t Home = homeOf(Slots[J].Address);
        if (((J - Home) & Mask) < ((J - I) & Mask))
          continue;
        Slots[I] = Slots[J];
        Slots[J] = Block();
        I = J;
      }
    }
  };

  Shard &shardOf(uintptr_t Address) {
    return Shards[hash(Address) >> (64 - ShardBits)];
  }

  Shard Shards[size_t(1) << ShardBits];
};

/// Tensors of one device, in bytes.
struct DeviceFigures {
  std::atomic<int> Key{-1};        ///< Type * 256 + index, -1: none yet.
  std::atomic<int64_t> Live{0};    ///< Of tensors that are alive.
  std::atomic<int64_t> Count{0};   ///< How many those are.
  std::atomic<int64_t> Peak{0};    ///< Of Live, since the last step.
  std::atomic<int64_t> Largest{0}; ///< Allocation since the last step.
  /// What the allocator of the device says, -1: nothing.
  std::atomic<int64_t> Allocated{-1}, Reserved{-1};
};

class Tracker {
public:
  static constexpr uint32_t MaxDevices = 9; ///< The CPU, and eight others.
  static constexpr unsigned MaxClasses = 384;

  DeviceFigures Devices[MaxDevices];
  Blocks Live;
  Sites Made;
  Recent Tensors;
  std::atomic<int64_t> Nodes{0}; ///< Of autograd graphs, alive.
  Recent NewNodes;
  std::atomic<int64_t> Allocations{0}; ///< So far, of all devices.
  std::atomic<int64_t> Threads{0};     ///< That have made a tensor, so far.
  std::atomic<uint64_t> Sizes{0};      ///< A sum that tells sizes apart.
  std::atomic<int64_t> Failed{0};      ///< Allocations that threw.
  std::atomic<int64_t> FailedSize{0};  ///< Of the largest of them, in bytes.
  std::atomic<int64_t> FailedLive{0};  ///< What was alive then, in bytes.
  std::atomic<bool> Missed{false};     ///< Something has no stack.
  Stacks Mode = Stacks::Auto;
  int64_t Start = nanoseconds();

  /// A block of \p Size bytes was made for the function that returns to
  /// \p Caller.
  void made(const void *Address, int64_t Size, uint32_t Device, void *Caller) {
    bool Suspect =
        Classes[classOf(Size)].Suspect.load(std::memory_order_relaxed);
    Block B = {reinterpret_cast<uintptr_t>(Address), Size, Tensors.made(),
               static_cast<uint16_t>(siteOf(Suspect, Caller)),
               static_cast<uint16_t>(Device)};
    raise(Devices[Device].Peak, count(B, 1));
    raise(Devices[Device].Largest, Size);
    Allocations.fetch_add(1, std::memory_order_relaxed);
    Sizes.fetch_add((static_cast<uint64_t>(Size) + 1) * 0x9E3779B97F4A7C15u ^
                        static_cast<uint64_t>(Size) << 20,
                    std::memory_order_relaxed);
    static thread_local bool Known = false;
    if (!Known) {
      Known = true;
      Threads.fetch_add(1, std::memory_order_relaxed);
    }
    Block Unseen = Live.add(B);
    if (Unseen.Address)
      forget(Unseen);
  }

  /// To be called before the block is free, so that nobody has it yet.
  void gone(const void *Address) {
    Block B;
    if (Live.remove(Address, B))
      forget(B);
  }

  void failed(int64_t Size, uint32_t Device) {
    Failed.fetch_add(1, std::memory_order_relaxed);
    if (Size >= FailedSize.load()) {
      FailedSize = Size;
      FailedLive = Devices[Device].Live.load();
    }
  }

  /// A node of a graph, of which the site and the step are noted.
  Block nodeMade(void *Caller) {
    Nodes.fetch_add(1, std::memory_order_relaxed);
    Block B;
    B.Step = NewNodes.made();
    B.Site = static_cast<uint16_t>(
        siteOf(NodesSuspect.load(std::memory_order_relaxed), Caller));
    Made[B.Site].Nodes.fetch_add(1, std::memory_order_relaxed);
    return B;
  }

  void nodeGone(const Block &B) {
    Nodes.fetch_sub(1, std::memory_order_relaxed);
    NewNodes.gone(B.Step);
    Made[B.Site].Nodes.fetch_sub(1, std::memory_order_relaxed);
  }

  /// Of all devices.
  int64_t liveBytes() const { return sumOf(&DeviceFigures::Live); }
  int64_t liveTensors() const { return sumOf(&DeviceFigures::Count); }

  /// The slot of a device; the last one is for all that have no room.
  uint32_t deviceOf(int Type, int Index) {
    if (Type == 0)
      return 0;
    int Key = Type * 256 + (Index < 0 ? 0 : Index);
    for (uint32_t I = 1; I < MaxDevices; ++I) {
      int Old = -1;
      if (Devices[I].Key.compare_exchange_strong(Old, Key) || Old == Key)
        return I;
    }
    return MaxDevices - 1;
  }

  /// The slots of devices that have made a tensor, with the CPU.
  template <class Function> void forEachDevice(Function Do) {
    for (uint32_t I = 0; I < MaxDevices; ++I)
      if (Devices[I].Key.load() >= 0)
        Do(I, Devices[I]);
  }

  /// All that there are, in the order in which they are locked.
  template <class Function> void forEachMutex(Function Do) {
    Do(Made.mutex());
    Do(Made.modules().mutex());
    Live.forEachMutex(Do);
  }

  /// Which sizes have grown: their allocations have their stacks noted first.
  /// To be called by one thread at a time, at each step.
  void suspect() {
    for (SizeClass &C : Classes) {
      int64_t Now = C.Live.load(std::memory_order_relaxed);
      C.Score = score(C.Score, Now > C.Before);
      C.Before = Now;
      C.Suspect.store(C.Score >= 2, std::memory_order_relaxed);
    }
    int64_t Now = Nodes.load(std::memory_order_relaxed);
    NodesScore = score(NodesScore, Now > NodesBefore);
    NodesBefore = Now;
    NodesSuspect.store(NodesScore >= 2, std::memory_order_relaxed);
  }

  /// Has each suspect's stack noted from here on, or no more: for a few whole
  /// steps, which have each of the places that grow, however short they are.
  void lookCloser(bool On) { Closer = On ? MostCloser : 0; }

private:
  /// Live bytes of blocks of about one size.
  struct SizeClass {
    std::atomic<int64_t> Live{0};
    std::atomic<bool> Suspect{false};
    int64_t Before = 0;
    int Score = 0;
  };

  /// \p B comes, for a \p Sign of 1, or goes, for -1. Returns the bytes that
  /// are alive on its device.
  int64_t count(const Block &B, int64_t Sign) {
    int64_t Size = Sign * B.Size;
    Devices[B.Device].Count.fetch_add(Sign, std::memory_order_relaxed);
    Classes[classOf(B.Size)].Live.fetch_add(Size, std::memory_order_relaxed);
    Made[B.Site].Bytes.fetch_add(Size, std::memory_order_relaxed);
    Made[B.Site].Blocks.fetch_add(Sign, std::memory_order_relaxed);
    return Devices[B.Device].Live.fetch_add(Size, std::memory_order_relaxed) +
           Size;
  }

  int64_t sumOf(std::atomic<int64_t> DeviceFigures::*Figure) const {
    int64_t Sum = 0;
    for (const DeviceFigures &D : Devices)
      Sum += (D.*Figure).load();
    return Sum;
  }

  void forget(const Block &B) {
    count(B, -1);
    Tensors.gone(B.Step);
  }

  static int score(int Old, bool Grew) {
    return Grew ? std::min(Old + 1, 4) : std::max(Old - 1, 0);
  }

  /// Eight classes for each power of two.
  static unsigned classOf(int64_t Size) {
    if (Size < 8)
      return Size < 0 ? 0 : static_cast<unsigned>(Size);
    unsigned Log = 63 - static_cast<unsigned>(__builtin_clzll(
                            static_cast<unsigned long long>(Size)));
    unsigned Class = 8 * (Log - 2) + ((Size >> (Log - 3)) & 7);
    return std::min(Class, MaxClasses - 1);
  }

  uint32_t siteOf(bool Suspect, void *Caller) {
    uint32_t Number = Mode == Stacks::None  ? 0
                      : Mode == Stacks::All ? Made.capture(Caller)
                                            : sampled(Suspect, Caller);
    if (!Number && !Missed.load(std::memory_order_relaxed))
      Missed.store(true, std::memory_order_relaxed);
    return Number;
  }

  uint32_t sampled(bool Suspect, void *Caller) {
    if (Suspect && Closer.load(std::memory_order_relaxed) > 0) {
      Closer.fetch_sub(1, std::memory_order_relaxed);
      return timed(SpentOnSuspects, Caller);
    }
    // One percent of the time for any allocation, two for suspects. The
    // first two milliseconds are a gift: many programs are over by then.
    std::atomic<int64_t> &Spent = Suspect ? SpentOnSuspects : SpentOnOthers;
    int64_t Allowed =
        (lateNanoseconds() - Start) / (Suspect ? 50 : 100) + 2000000;
    if (Spent.load(std::memory_order_relaxed) > Allowed)
      return 0;
    // Not always the first one of those that come when there is time again.
    if (!Suspect && Spent.load(std::memory_order_relaxed) > 2000000 &&
        Dice.fetch_add(1, std::memory_order_relaxed) * 0x9E3779B97F4A7C15u >>
                61 !=
            0)
      return 0;
    return timed(Spent, Caller);
  }

  uint32_t timed(std::atomic<int64_t> &Spent, void *Caller) {
    int64_t Now = nanoseconds();
    uint32_t Number = Made.capture(Caller);
    Spent.fetch_add(nanoseconds() - Now, std::memory_order_relaxed);
    return Number;
  }

  SizeClass Classes[MaxClasses];
  std::atomic<bool> NodesSuspect{false};
  int64_t NodesBefore = 0;
  int NodesScore = 0;
  std::atomic<int64_t> SpentOnSuspects{0}, SpentOnOthers{0};
  static constexpr int MostCloser = 1000;
  std::atomic<int> Closer{0}; ///< So many stacks more, whatever they take.
  std::atomic<uint64_t> Dice{0};
};

/// The tracker of this process, for ever.
inline Tracker &tracker() {
  static Tracker *T = new (takePages(sizeof(Tracker))) Tracker;
  return *T;
}

} // namespace detail
} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_WATCH_TRACKER_H
