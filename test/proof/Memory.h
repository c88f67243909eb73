//===- Memory.h - Counts what a program keeps -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Measures the programs of this folder: bytes of tensors through an allocator
/// installed in LibTorch, and objects on the heap (autograd nodes, tensor
/// handles) through operator new. Each program is one source file and includes
/// this once.
///
/// Growth and Span also record memory over the run. It goes to the file that
/// the environment variable LIBTORCH_TIDY_SERIES names, if any; figures.py
/// collects it for the pictures in docs/figures.

#ifndef LIBTORCH_TIDY_TEST_PROOF_MEMORY_H
#define LIBTORCH_TIDY_TEST_PROOF_MEMORY_H

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <malloc.h>
#include <new>
#include <torch/torch.h>
#include <vector>

namespace proof {

struct Counters {
  std::atomic<int64_t> Live{0}, Peak{0};          ///< Bytes of tensors.
  std::atomic<int64_t> Total{0};                  ///< Allocated so far.
  std::atomic<int64_t> HeapLive{0}, HeapCount{0}; ///< Of operator new.
};

inline Counters &counters() {
  static Counters C;
  return C;
}

/// Memory over a run. Has room for a fixed number of samples, since memory must
/// not change by taking one; when it is full, pairs become their larger one.
class Series {
public:
  void sample(int64_t Bytes) {
    Pending = Waiting == 0 ? Bytes : std::max(Pending, Bytes);
    if (++Waiting < PerSample)
      return;
    Waiting = 0;
    if (Size == Room) {
      for (int I = 0; I < Room / 2; ++I)
        Samples[I] = std::max(Samples[2 * I], Samples[2 * I + 1]);
      Size = Room / 2;
      PerSample *= 2;
      Waiting = PerSample / 2;
      return;
    }
    Samples[Size++] = Pending;
  }
  int size() const { return Size; }
  int perSample() const { return PerSample; }
  /// Appends the first \p Count samples to the file for the pictures: \p What
  /// was measured, after every \p Step.
  void write(const char *What, const char *Step, int Count) const {
    const char *Path = std::getenv("LIBTORCH_TIDY_SERIES");
    std::FILE *File = Path ? std::fopen(Path, "a") : nullptr;
    if (!File)
      return;
    std::fprintf(File, "%s\t%s\t%d\t", What, Step, PerSample);
    for (int I = 0; I < Count && I < Size; ++I)
      std::fprintf(File, I ? " %lld" : "%lld",
                   static_cast<long long>(Samples[I]));
    std::fprintf(File, "\n");
    std::fclose(File);
  }

private:
  static constexpr int Room = 512;
  int64_t Samples[Room] = {}, Pending = 0;
  int Size = 0, PerSample = 1, Waiting = 0;
};

class Span;
/// The innermost of this thread.
inline thread_local Span *CurrentSpan = nullptr;
/// Tells the spans of this thread that the live bytes have changed.
inline void tellSpans();

/// Blocks carry their size in front, in a whole cache line so that LibTorch's
/// vectorised kernels find the alignment they are used to.
constexpr size_t Header = 64;

inline void release(void *Data) {
  if (!Data)
    return;
  char *Block = static_cast<char *>(Data) - Header;
  size_t Size = 0;
  std::memcpy(&Size, Block, sizeof Size);
  counters().Live -= static_cast<int64_t>(Size);
  tellSpans();
  std::free(Block);
}

class CountingAllocator final : public c10::Allocator {
public:
  // Later versions declare it without const.
#if TORCH_VERSION_MAJOR > 2 ||                                                 \
    (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 3)
  c10::DataPtr allocate(size_t Size) override{
#else
  c10::DataPtr allocate(size_t Size) const override {
#endif
      c10::Device Cpu(c10::DeviceType::CPU);
  if (Size == 0)
    return {nullptr, nullptr, &release, Cpu};
  void *Block = nullptr;
  if (posix_memalign(&Block, Header, Header + Size) != 0)
    throw std::bad_alloc();
  std::memcpy(Block, &Size, sizeof Size);
  Counters &C = counters();
  int64_t Now = C.Live += static_cast<int64_t>(Size);
  if (Now > C.Peak)
    C.Peak = Now;
  C.Total += static_cast<int64_t>(Size);
  tellSpans();
  void *Data = static_cast<char *>(Block) + Header;
  return {Data, Data, &release, Cpu};
}
#if TORCH_VERSION_MAJOR > 2 ||                                                 \
    (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 3)
  void copy_data(void *To, const void *From, size_t Size) const override {
  std::memcpy(To, From, Size);
}
#endif
c10::DeleterFnPtr raw_deleter() const override { return &release; }
}; // namespace proof

/// Call first in main(): counts from here on, on one thread and with one
/// random stream, so that every run gives the same figures.
inline void begin() {
  static CountingAllocator Allocator;
  c10::SetAllocator(c10::DeviceType::CPU, &Allocator, /*priority=*/255);
  at::set_num_threads(1);
  torch::manual_seed(0);
}

/// What grows from one iteration to the next, without the first ones, in which
/// LibTorch fills its caches.
class Growth {
public:
  static constexpr int First = 10, Last = 110;
  /// To be called at the end of iteration \p I, counted from 0.
  void endOf(int I) {
    const Counters &C = counters();
    if (I == 0)
      Start = C.Live + C.HeapLive;
    Kept.sample(C.Live + C.HeapLive - Start);
    if (I != First && I != Last)
      return;
    int64_t Sign = I == First ? -1 : 1;
    Tensors += Sign * counters().Live;
    Heap += Sign * counters().HeapLive;
    Objects += Sign * counters().HeapCount;
  }
  void print(const char *What) const {
    std::printf("%s: %lld bytes of tensors, %lld bytes of heap in %lld objects "
                "per iteration\n",
                What, perIteration(Tensors), perIteration(Heap),
                perIteration(Objects));
    Kept.write(What, "iteration", Kept.size());
  }

private:
  static long long perIteration(int64_t Bytes) {
    return Bytes / (Last - First);
  }
  int64_t Start = 0, Tensors = 0, Heap = 0, Objects = 0;
  Series Kept; ///< Since the end of the first iteration, tensors and heap.
};

/// Bytes of tensors over what is live when it is made.
class Span {
public:
  Span() : Base(counters().Live), Before(counters().Total), Outer(CurrentSpan) {
    counters().Peak = Base;
    CurrentSpan = this;
    Trace.sample(0);
    Allocated.sample(0);
  }
  ~Span() {
    CurrentSpan = Outer;
    // What is alive after the last figure is no matter of it.
    if (*Last)
      Trace.write(Last, "allocation", UpTo);
    if (*LastAllocated)
      Allocated.write(LastAllocated, "allocated", AllocatedUpTo);
  }
  Span(const Span &) = delete;
  Span &operator=(const Span &) = delete;
  void print(const char *What) {
    std::printf("%s: peak %lld KB, live %lld KB\n", What,
                static_cast<long long>(counters().Peak - Base) / 1024,
                static_cast<long long>(counters().Live - Base) / 1024);
    std::snprintf(Last, sizeof Last, "%s", What);
    UpTo = Trace.size();
  }
  /// All that was allocated, also what is gone again.
  void printAllocated(const char *What) {
    std::printf("%s: %lld KB allocated\n", What,
                static_cast<long long>(counters().Total - Before) / 1024);
    std::snprintf(LastAllocated, sizeof LastAllocated, "%s", What);
    AllocatedUpTo = Allocated.size();
  }

private:
  friend void tellSpans();
  int64_t Base, Before;
  Span *Outer;
  Series Trace;     ///< After every allocation and release by this thread.
  Series Allocated; ///< All that was allocated so far, likewise.
  char Last[128] = "", LastAllocated[128] = "";
  int UpTo = 0, AllocatedUpTo = 0;
};

inline void tellSpans() {
  for (Span *S = CurrentSpan; S; S = S->Outer) {
    S->Trace.sample(counters().Live - S->Base);
    S->Allocated.sample(counters().Total - S->Before);
  }
}

/// Prints a digest of the bits of \p Values.
inline void printBits(const char *What, const std::vector<float> &Values) {
  uint64_t Digest = 14695981039346656037u; // FNV-1a
  for (float Value : Values) {
    uint32_t Bits = 0;
    std::memcpy(&Bits, &Value, sizeof Bits);
    Digest = (Digest ^ Bits) * 1099511628211u;
  }
  std::printf("%s: %zu values, bits %016llx\n", What, Values.size(),
              static_cast<unsigned long long>(Digest));
}

} // namespace proof

void *operator new(size_t Size) {
  void *Block = std::malloc(Size ? Size : 1);
  if (!Block)
    throw std::bad_alloc();
  proof::counters().HeapLive += static_cast<int64_t>(malloc_usable_size(Block));
  ++proof::counters().HeapCount;
  return Block;
}
void operator delete(void *Block) noexcept {
  if (!Block)
    return;
  proof::counters().HeapLive -= static_cast<int64_t>(malloc_usable_size(Block));
  --proof::counters().HeapCount;
  std::free(Block);
}
void operator delete(void *Block, size_t) noexcept { operator delete(Block); }

#endif // LIBTORCH_TIDY_TEST_PROOF_MEMORY_H
