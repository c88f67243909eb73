//===- LibtorchLookup.h - Where LibTorch's headers are ----------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_PROJECT_LIBTORCHLOOKUP_H
#define LIBTORCH_TIDY_DRIVER_PROJECT_LIBTORCHLOOKUP_H

#include "llvm/Support/VirtualFileSystem.h"
#include <optional>
#include <string>
#include <vector>

namespace libtorch_tidy::driver {

/// Compiler flags for a file that no compile database speaks of. LibTorch is
/// looked for, in this order, through the environment variables Torch_DIR,
/// TORCH_ROOT, Torch_ROOT, CMAKE_PREFIX_PATH, VIRTUAL_ENV and CONDA_PREFIX, and
/// in /usr/local and /usr. Absent when it is in none of them.
std::optional<std::vector<std::string>>
findLibtorchFlags(llvm::vfs::FileSystem &FS);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_PROJECT_LIBTORCHLOOKUP_H
