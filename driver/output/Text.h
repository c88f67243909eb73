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
#include "driver/findings/Finding.h"
#include "driver/project/Configuration.h"
#include "driver/project/FileSystem.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/VirtualFileSystem.h"

namespace libtorch_tidy::driver {

/// Prints \p Findings by clang-tidy's own means, so that whatever reads
/// clang-tidy reads us. With \p ToStderr the standard output is left to another
/// writer.
void printText(llvm::ArrayRef<Finding> Findings,
               clang::tidy::ClangTidyContext &Context, bool ToStderr,
               llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS);

/// For a run that is not about findings: prints those of \p Findings that are
/// errors of the compiler. \p File is one of those that are analysed.
void printCompileErrors(llvm::ArrayRef<Finding> Findings,
                        const Configuration &Config, llvm::StringRef File,
                        const FileSystem &FS);

/// \p Findings as YAML for clang-apply-replacements. \p MainFile is what it
/// names as their source.
std::string toReplacements(llvm::ArrayRef<Finding> Findings,
                           llvm::StringRef MainFile);

/// What clang-tidy says of findings it left out.
void printStats(const clang::tidy::ClangTidyStats &Stats);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_OUTPUT_TEXT_H
