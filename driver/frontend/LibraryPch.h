//===- LibraryPch.h - A precompiled library header --------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_FRONTEND_LIBRARYPCH_H
#define LIBTORCH_TIDY_DRIVER_FRONTEND_LIBRARYPCH_H

#include "driver/frontend/Configuration.h"
#include "clang/Tooling/ArgumentsAdjusters.h"
#include "clang/Tooling/CompilationDatabase.h"

namespace libtorch_tidy::driver {

/// Precompiles the header \p Header into \p Output, without the bodies of
/// library functions. A unit that is analysed with `-include-pch Output`
/// parses in a fraction of the time; its flags must be the same. Compilers
/// take it for a syntax check, not to make code of. The file appears whole or
/// not at all; false on compile errors, which the user has been told.
bool emitLibraryPch(const clang::tooling::CompileCommand &Command,
                    llvm::StringRef Header, llvm::StringRef Output,
                    const CommandLine &Options,
                    const clang::tooling::ArgumentsAdjuster &MakeOurs,
                    llvm::IntrusiveRefCntPtr<llvm::vfs::OverlayFileSystem> FS);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_FRONTEND_LIBRARYPCH_H
