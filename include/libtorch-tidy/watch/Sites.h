//===- Sites.h - Who made a tensor or a graph node --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A site is a stack of the user's calls that ended in LibTorch. Stacks are
/// kept as addresses; libtorch-tidy makes lines of them after the run.
/// Nothing is started and no debug information is read in the process.

#ifndef LIBTORCH_TIDY_WATCH_SITES_H
#define LIBTORCH_TIDY_WATCH_SITES_H

#include "libtorch-tidy/watch/System.h"

#include <algorithm>
#include <cstring>
#include <link.h>
#include <mutex>
#include <string>
#include <unistd.h>
#include <unwind.h>

namespace libtorch_tidy::detail {

inline const char *baseName(const char *Path) {
  const char *Slash = std::strrchr(Path, '/');
  return Slash ? Slash + 1 : Path;
}

/// A program or library in memory.
struct Module {
  uintptr_t Begin = 0, End = 0; ///< The addresses of its code.
  uintptr_t Base = 0;     ///< What to take from an address for its offset.
  bool IsLibrary = false; ///< LibTorch's own, or the system's.
  char Path[232] = "";
};

/// The modules of the process, by address. Those that come later are found
/// when their first address is.
class Modules {
public:
  /// The module of \p Address, or null.
  const Module *find(uintptr_t Address) {
    const Module *Found = search(Address);
    return Found || !refresh() ? Found : search(Address);
  }

  const PageVector<Module> &all() {
    if (!Current.load())
      refresh();
    return *Current.load();
  }
  std::mutex &mutex() { return Mutex; }

private:
  const Module *search(uintptr_t Address) const {
    const PageVector<Module> *List = Current.load(std::memory_order_acquire);
    if (!List)
      return nullptr;
    auto After = std::upper_bound(
        List->begin(), List->end(), Address,
        [](uintptr_t A, const Module &M) { return A < M.Begin; });
    if (After == List->begin() || Address >= (After - 1)->End)
      return nullptr;
    return &*(After - 1);
  }

  static bool isLibrary(const char *Path) {
    const char *Name = baseName(Path);
    for (const char *Prefix :
         {"libtorch",   "libc10",   "libcaffe2",   "libshm",   "libstdc++",
          "libc++",     "libc.so",  "libm.so",     "libgcc_s", "libgomp",
          "libomp",     "libiomp",  "libpthread",  "libdl.so", "ld-linux",
          "libmkl",     "libdnnl",  "libopenblas", "libblas",  "liblapack",
          "libcudart",  "libcudnn", "libcublas",   "libnvrtc", "libcuda.so",
          "libprotobuf"})
      if (std::strncmp(Name, Prefix, std::strlen(Prefix)) == 0)
        return true;
    return false;
  }

  static int note(dl_phdr_info *Info, size_t, void *Data) {
    auto *List = static_cast<PageVector<Module> *>(Data);
    for (int I = 0; I < Info->dlpi_phnum; ++I) {
      const auto &Header = Info->dlpi_phdr[I];
      if (Header.p_type != PT_LOAD || !(Header.p_flags & PF_X))
        continue;
      Module M;
      M.Base = Info->dlpi_addr;
      M.Begin = Info->dlpi_addr + Header.p_vaddr;
      M.End = M.Begin + Header.p_memsz;
      const char *Path = Info->dlpi_name ? Info->dlpi_name : "";
      // The program itself has no name here.
      if (*Path) {
        std::strncpy(M.Path, Path, sizeof M.Path - 1);
        M.IsLibrary = isLibrary(Path);
      } else if (List->empty()) {
        ssize_t Size = ::readlink("/proc/self/exe", M.Path, sizeof M.Path - 1);
        M.Path[Size > 0 ? Size : 0] = '\0';
      }
      List->push_back(M);
    }
    return 0;
  }

  /// Reads the list again if something was loaded. Lists that are out of date
  /// stay, since another thread may read one.
  bool refresh() {
    std::lock_guard<std::mutex> Lock(Mutex);
    unsigned long long Now = 0;
    ::dl_iterate_phdr(
        [](dl_phdr_info *Info, size_t, void *Loads) {
          *static_cast<unsigned long long *>(Loads) = Info->dlpi_adds;
          return 1;
        },
        &Now);
    if (Current.load() && Now == Loaded)
      return false;
    Loaded = Now;
    auto *List = new (takePages(sizeof(PageVector<Module>))) PageVector<Module>;
    ::dl_iterate_phdr(&note, List);
    std::sort(List->begin(), List->end(), [](const Module &A, const Module &B) {
      return A.Begin < B.Begin;
    });
    Current.store(List, std::memory_order_release);
    return true;
  }

  std::mutex Mutex;
  unsigned long long Loaded = 0;
  std::atomic<PageVector<Module> *> Current{nullptr};
};

/// The frames of one stack that are the user's, innermost first. Before them
/// the last one of LibTorch, which names the operator.
struct Stack {
  static constexpr int Room = 28;
  uintptr_t Frames[Room];
  int Size = 0;
  bool HasOperator = false; ///< Frames[0] is LibTorch's.
};

/// Stacks that were seen, each with what is alive of it.
struct Site {
  uint64_t Hash = 0;
  Stack Calls;
  std::atomic<int64_t> Bytes{0};  ///< Of live tensors.
  std::atomic<int64_t> Blocks{0}; ///< Live tensors.
  std::atomic<int64_t> Nodes{0};  ///< Live graph nodes.
};

class Sites {
public:
  static constexpr uint32_t Room = 8192;

  Sites()
      : List(static_cast<Site *>(takePages(Room * sizeof(Site)))),
        Index(static_cast<uint32_t *>(takePages(2 * Room * sizeof(uint32_t)))) {
    new (&List[0]) Site; // For all without a stack.
  }

  uint32_t size() const { return Size.load(std::memory_order_acquire); }
  Site &operator[](uint32_t Number) { return List[Number]; }
  Modules &modules() { return Mods; }
  std::mutex &mutex() { return Mutex; }

  /// The site of the calls that led to the function that returns to \p Caller.
  /// 0 when there is no room for more.
  __attribute__((noinline)) uint32_t capture(void *Caller) {
    Walk W;
    W.Mods = &Mods;
    W.Caller = reinterpret_cast<uintptr_t>(Caller);
    _Unwind_Backtrace(&visit, &W);
    Stack &S = W.Calls;
    // A thread of LibTorch's: no call of the user's is in sight.
    if (S.Size == 0 && W.Operator) {
      S.Frames[S.Size++] = W.Operator;
      S.HasOperator = true;
    }
    uint64_t Hash = 14695981039346656037u; // FNV-1a over words
    for (int I = 0; I < S.Size; ++I)
      Hash = (Hash ^ S.Frames[I]) * 1099511628211u;
    return number(Hash | 1, S);
  }

private:
  struct Walk {
    Modules *Mods = nullptr;
    uintptr_t Caller = 0, Operator = 0;
    int Seen = 0;
    bool Started = false;
    Stack Calls;
  };

  static _Unwind_Reason_Code visit(_Unwind_Context *Context, void *Data) {
    Walk &W = *static_cast<Walk *>(Data);
    int BeforeCall = 0;
    uintptr_t Address = _Unwind_GetIPInfo(Context, &BeforeCall);
    if (!Address || ++W.Seen > 400)
      return _URC_END_OF_STACK;
    // The watch's own frames come first.
    if (W.Caller && !W.Started && Address != W.Caller && W.Seen < 12)
      return _URC_NO_REASON;
    W.Started = true;
    if (!BeforeCall)
      --Address;
    const Module *M = W.Mods->find(Address);
    if (!M || M->IsLibrary) {
      if (W.Calls.Size == 0)
        W.Operator = Address;
      return _URC_NO_REASON;
    }
    if (W.Calls.Size == 0 && W.Operator) {
      W.Calls.Frames[W.Calls.Size++] = W.Operator;
      W.Calls.HasOperator = true;
    }
    W.Calls.Frames[W.Calls.Size++] = Address;
    return W.Calls.Size == Stack::Room ? _URC_END_OF_STACK : _URC_NO_REASON;
  }

  uint32_t number(uint64_t Hash, const Stack &S) {
    std::lock_guard<std::mutex> Lock(Mutex);
    uint32_t Slot = static_cast<uint32_t>(Hash % (2 * Room));
    while (Index[Slot] && List[Index[Slot]].Hash != Hash)
      Slot = (Slot + 1) % (2 * Room);
    if (Index[Slot])
      return Index[Slot];
    uint32_t Number = Size.load(std::memory_order_relaxed);
    if (Number == Room)
      return 0;
    Site *New = new (&List[Number]) Site;
    New->Hash = Hash;
    New->Calls = S;
    Index[Slot] = Number;
    Size.store(Number + 1, std::memory_order_release);
    return Number;
  }

  std::mutex Mutex;
  Site *List;
  uint32_t *Index;
  std::atomic<uint32_t> Size{1};
  Modules Mods;
};

} // namespace libtorch_tidy::detail

#endif // LIBTORCH_TIDY_WATCH_SITES_H
