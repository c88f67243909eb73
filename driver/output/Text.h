//===- Text.h - Findings as clang-tidy prints them --------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_OUTPUT_TEXT_H
#define LIBTORCH_TIDY_DRIVER_OUTPUT_TEXT_H

#include "clang-tidy/ClangTidy.h"
#include "clang-tidy/ClangTidyDiagnosticConsumer.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/VirtualFileSystem.h"

namespace libtorch_tidy::driver {

/// Prints \p Errors by clang-tidy's own means, so that whatever reads
/// clang-tidy reads us. With \p ToStderr the standard output is left to another
/// writer.
void printText(llvm::ArrayRef<clang::tidy::ClangTidyError> Errors,
               clang::tidy::ClangTidyContext &Context, bool ToStderr,
               llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS);

/// What clang-tidy says of findings it left out.
void printStats(const clang::tidy::ClangTidyStats &Stats);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_OUTPUT_TEXT_H
