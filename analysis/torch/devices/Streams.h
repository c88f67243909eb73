//===- Streams.h - Streams of devices, and who waits ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Streams of a device, copies that return before they are done, and what waits
/// for them. By LibTorch's own names and those of the CUDA runtime.

#ifndef LIBTORCH_TIDY_ANALYSIS_TORCH_DEVICES_STREAMS_H
#define LIBTORCH_TIDY_ANALYSIS_TORCH_DEVICES_STREAMS_H

#include "clang/AST/ExprCXX.h"
#include <optional>

namespace libtorch_tidy::torch {

/// c10::Stream, c10::cuda::CUDAStream, cudaStream_t and those of HIP.
bool isStream(clang::QualType T);
/// A guard of the current stream: CUDAStreamGuard, StreamGuard and similar.
bool isStreamGuard(clang::QualType T);

/// The call of getStreamFromPool() that \p E is; null for others.
const clang::CallExpr *takenFromPool(const clang::Expr *E);

/// May \p Call wait for work of the device, or make a stream wait: anything
/// called synchronize, wait, query or block, a copy to the CPU that is not
/// non_blocking, item(); or a function of the user, which may do so?
bool mayWait(const clang::CallExpr *Call, const clang::ASTContext &Context);

/// A copy that is asked for with non_blocking = true.
struct AsyncCopy {
  const clang::CallExpr *Call;
  const clang::Expr *From; ///< The tensor that is read.
  /// The tensor that is written; null for a new one: x.to(...).
  const clang::Expr *To = nullptr;
  bool ToHost = false, ToDevice = false; ///< As the arguments say.
};
std::optional<AsyncCopy> asAsyncCopy(const clang::CallExpr *Call,
                                     const clang::ASTContext &Context);

/// x.to(...), x.cuda(), x.copy_(y): may it copy elements to or from a device?
bool copiesElements(const clang::CallExpr *Call);

/// Is \p E, a call that makes a tensor, one of pinned memory: x.pin_memory(),
/// a factory with pinned_memory(true)?
bool makesPinned(const clang::Expr *E, const clang::ASTContext &Context);

/// x.record_stream(stream).
bool recordsStream(const clang::CallExpr *Call);

} // namespace libtorch_tidy::torch

#endif // LIBTORCH_TIDY_ANALYSIS_TORCH_DEVICES_STREAMS_H
