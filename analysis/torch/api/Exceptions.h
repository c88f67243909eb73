//===- Exceptions.h - What LibTorch throws, what sees it --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_ANALYSIS_TORCH_API_EXCEPTIONS_H
#define LIBTORCH_TIDY_ANALYSIS_TORCH_API_EXCEPTIONS_H

#include "clang/AST/DeclCXX.h"

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
/// the CPU's, and by TorchScript's interpreter, whatever it has caught
/// itself, std::runtime_error.
enum class OutOfMemoryIn { Device, Cpu, Script };

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
