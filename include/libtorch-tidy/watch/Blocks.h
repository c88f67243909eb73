//===- Blocks.h - The blocks of tensors that are alive ----------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_WATCH_BLOCKS_H
#define LIBTORCH_TIDY_WATCH_BLOCKS_H

#include "libtorch-tidy/watch/System.h"

#include <mutex>

namespace libtorch_tidy::detail {

/// What is known of one live block.
struct Block {
  uintptr_t Address = 0;
  int64_t Size = 0;    ///< In bytes, as it was asked for.
  uint32_t Site = 0;   ///< Who made it, a number of Sites; 0: not noted.
  uint32_t Device = 0; ///< A slot of Devices.
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

  template <class Function> void forEach(Function Do) {
    for (Shard &S : Shards) {
      std::lock_guard<std::mutex> Lock(S.Mutex);
      for (const Block &B : S.Slots)
        if (B.Address)
          Do(B);
    }
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

} // namespace libtorch_tidy::detail

#endif // LIBTORCH_TIDY_WATCH_BLOCKS_H
