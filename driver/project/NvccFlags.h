//===- NvccFlags.h - The command lines of nvcc ------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_PROJECT_NVCCFLAGS_H
#define LIBTORCH_TIDY_DRIVER_PROJECT_NVCCFLAGS_H

#include "clang/Tooling/ArgumentsAdjusters.h"
#include "llvm/Support/VirtualFileSystem.h"

namespace libtorch_tidy::driver {

/// Is \p Args a command line of nvcc, or of a program that passes its flags on?
bool isForNvcc(const clang::tooling::CommandLineArguments &Args);

/// A command line of nvcc in words of Clang: what it reads itself, and what it
/// hands to the compiler of the host. Its options for code of the device and
/// for other programs go, with their values: to Clang, a value that stands
/// alone is a file. Files of options (-optf), below \p Folder, are read.
clang::tooling::CommandLineArguments
fromNvcc(const clang::tooling::CommandLineArguments &Args,
         llvm::StringRef Folder, llvm::vfs::FileSystem &FS);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_PROJECT_NVCCFLAGS_H
