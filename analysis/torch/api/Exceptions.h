//===- Exceptions.h - What LibTorch throws, what sees it --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_ANALYSIS_TORCH_API_EXCEPTIONS_H
#define LIBTORCH_TIDY_ANALYSIS_TORCH_API_EXCEPTIONS_H

#include "clang/AST/DeclCXX.h"
#include "clang/AST/Expr.h"
#include <optional>

namespace libtorch_tidy::torch {

enum class OomHandler {
  No,      ///< Never sees an out-of-memory error.
  Library, ///< c10::OutOfMemoryError, c10::CUDAOutOfMemoryError (before 1.13),
           ///< c10::Error: thrown by LibTorch alone.
  General, ///< std::exception, std::runtime_error (TorchScript),
           ///< std::bad_alloc, `...`: where the try block runs tensor work.
};

/// Which errors a handler for \p Caught can see; null for `catch (...)`.
OomHandler oomHandler(clang::QualType Caught);

/// Where memory runs out. What is thrown depends on it:
/// c10::OutOfMemoryError by the allocators of devices, a plain c10::Error by
/// the CPU's. TorchScript's interpreter, a model that AOTInductor compiled and
/// torch::stable, which call LibTorch through its interface of C, throw
/// std::runtime_error in place of whatever they caught.
enum class OutOfMemoryIn { Device, Cpu, Script, Compiled, Stable };

/// What \p Call runs that throws std::runtime_error for all that fails in it,
/// and makes tensors: one of the last three; none for other calls.
std::optional<OutOfMemoryIn> rethrowing(const clang::CallExpr *Call);

/// Does a handler for \p Caught (null: `...`) see that?
bool catchesOutOfMemory(clang::QualType Caught, OutOfMemoryIn Where);

/// c10::OutOfMemoryError and its name before 1.13, c10::CUDAOutOfMemoryError.
bool isOutOfMemoryError(clang::QualType T);

/// std::runtime_error or std::bad_alloc: c10::Error derives from neither.
bool isStdError(clang::QualType Caught);

/// pybind11::error_already_set: its Python frames live as long as it does.
bool isPythonError(clang::QualType T);

} // namespace libtorch_tidy::torch

#endif // LIBTORCH_TIDY_ANALYSIS_TORCH_API_EXCEPTIONS_H
