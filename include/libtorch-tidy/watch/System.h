//===- System.h - The process, and memory of the watch's own ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What the watch writes down is not on the heap that it measures: it takes
/// pages from the system.

#ifndef LIBTORCH_TIDY_WATCH_SYSTEM_H
#define LIBTORCH_TIDY_WATCH_SYSTEM_H

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <malloc.h>
#include <new>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace libtorch_tidy::detail {

/// Bytes of pages that the watch has taken from the system.
inline std::atomic<int64_t> &ownBytes() {
  static std::atomic<int64_t> Bytes{0};
  return Bytes;
}

inline void *takePages(size_t Bytes) {
  void *Pages = ::mmap(nullptr, Bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (Pages == MAP_FAILED)
    throw std::bad_alloc();
  ownBytes() += static_cast<int64_t>(Bytes);
  return Pages;
}

inline void givePages(void *Pages, size_t Bytes) {
  ::munmap(Pages, Bytes);
  ownBytes() -= static_cast<int64_t>(Bytes);
}

/// For containers that grow by doubling: each block is at least a page.
template <class T> struct PageAllocator {
  using value_type = T;
  PageAllocator() = default;
  template <class U> PageAllocator(const PageAllocator<U> &) {}
  T *allocate(size_t Count) {
    return static_cast<T *>(takePages(Count * sizeof(T)));
  }
  void deallocate(T *Data, size_t Count) { givePages(Data, Count * sizeof(T)); }
  template <class U> bool operator==(const PageAllocator<U> &) const {
    return true;
  }
  template <class U> bool operator!=(const PageAllocator<U> &) const {
    return false;
  }
};

template <class T> using PageVector = std::vector<T, PageAllocator<T>>;

/// glibc's heap, of all threads, in bytes. -1: not known.
struct Heap {
  int64_t Used = -1; ///< By malloc's callers, CPU tensors among them.
  int64_t Kept = -1; ///< Free, but not given back to the system.
};

inline Heap heap() {
  Heap H;
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
  struct mallinfo2 Info = ::mallinfo2();
  H.Used = static_cast<int64_t>(Info.uordblks + Info.hblkhd);
  H.Kept = static_cast<int64_t>(Info.fordblks);
#endif
  return H;
}

/// Whether malloc is glibc's. With jemalloc or tcmalloc in front of it,
/// glibc's figures are of no use.
inline bool heapIsKnown() {
  int64_t Before = heap().Used;
  if (Before < 0)
    return false;
  void *volatile Probe = std::malloc(size_t(1) << 20);
  bool Known = heap().Used - Before >= int64_t(1) << 20;
  std::free(Probe);
  return Known;
}

struct Process {
  int64_t Rss = -1;     ///< Memory of the process in RAM, in bytes.
  int64_t Threads = -1; ///< That are there now.
};

/// Opened once. A child of fork() has to open its own.
inline int &statFile() {
  static int File = -1;
  return File;
}

inline void openStatFile() {
  if (statFile() >= 0)
    ::close(statFile());
  statFile() = ::open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
}

inline Process process() {
  Process P;
  int File = statFile();
  char Text[1024];
  ssize_t Size = File < 0 ? -1 : ::pread(File, Text, sizeof Text - 1, 0);
  if (Size <= 0)
    return P;
  Text[Size] = '\0';
  // The second field is a name that may contain anything.
  const char *Field = std::strrchr(Text, ')');
  for (int I = 2; Field && I < 24; ++I) {
    if (I == 20)
      P.Threads = std::atoll(Field);
    Field = std::strchr(Field + 1, ' ');
  }
  if (Field)
    P.Rss = std::atoll(Field) * ::sysconf(_SC_PAGESIZE);
  return P;
}

} // namespace libtorch_tidy::detail

#endif // LIBTORCH_TIDY_WATCH_SYSTEM_H
