//===- Headers.h - LibTorch's headers ---------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Whether a file is LibTorch's, an installed library's or the user's own.

#ifndef LIBTORCH_TIDY_ANALYSIS_TORCH_API_HEADERS_H
#define LIBTORCH_TIDY_ANALYSIS_TORCH_API_HEADERS_H

#include "clang/Basic/SourceLocation.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/VirtualFileSystem.h"

namespace libtorch_tidy::torch {

/// True for the path of one of LibTorch's headers: one below `torch`, `ATen`,
/// `c10` or `caffe2` in a folder that holds LibTorch, as some headers there
/// show. It does not matter how the path is written, or what the folder is
/// called.
bool isTorchHeader(llvm::StringRef Path, llvm::vfs::FileSystem &FS);

/// True when an #include of \p Name, as it is spelled, asks for a header of
/// LibTorch, whether or not there is one.
bool namesTorchHeader(llvm::StringRef Name);

/// The standard of C++ that LibTorch's headers ask for where they refuse to
/// compile with an older one: "C++20" for their #error with \p Message in 2.14,
/// "C++17" in 2.6, "C++14" in 1.13 (torch/all.h, ATen/ATen.h). Empty for other
/// messages.
llvm::StringRef standardAskedFor(llvm::StringRef Message);

/// True for the headers that include all of the C++ frontend: after one of
/// them, LibTorch's other public headers add little.
bool isWholeFrontend(llvm::StringRef Name);

/// True for a header that takes as long to read after the whole frontend (see
/// isWholeFrontend) as all that a small unit has of its own: 0.3 s for
/// TorchScript of 1.13.1. Others take a few milliseconds.
bool isLargeBesideFrontend(llvm::StringRef Name);

/// What LibTorch has for CUDA's own compiler only, and stands in the
/// declarations of kernels and in their calls.
inline constexpr llvm::StringLiteral ForKernels = R"(
#define C10_LAUNCH_BOUNDS_0
#define C10_LAUNCH_BOUNDS_1(...)
#define C10_LAUNCH_BOUNDS_2(...)
#if !defined(__CUDACC__) && !defined(__HIPCC__)
namespace at {
template <typename T> struct RestrictPtrTraits {
  typedef T *__restrict__ PtrType;
};
} // namespace at
#endif
)";

} // namespace libtorch_tidy::torch

#endif // LIBTORCH_TIDY_ANALYSIS_TORCH_API_HEADERS_H
