//===- Pages.h - Memory of the watch's own ----------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What the watch notes down does not lie on the heap that it measures: it
/// takes pages from the system.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_WATCH_PAGES_H
#define LIBTORCH_TIDY_WATCH_PAGES_H

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <sys/mman.h>
#include <vector>

namespace libtorch_tidy {
namespace detail {

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

} // namespace detail
} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_WATCH_PAGES_H
