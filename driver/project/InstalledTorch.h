//===- InstalledTorch.h - LibTorch and Python on this machine ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_DRIVER_PROJECT_INSTALLEDTORCH_H
#define LIBTORCH_TIDY_DRIVER_PROJECT_INSTALLEDTORCH_H

#include "llvm/Support/VirtualFileSystem.h"
#include <optional>
#include <string>
#include <vector>

namespace libtorch_tidy::driver {

/// The nearest virtual environment of Python, `.venv` or `venv`, in \p Folder
/// or above it; empty when there is none.
std::string environmentAbove(llvm::StringRef Folder, llvm::vfs::FileSystem &FS);

/// Compiler flags for a file that no compile database speaks of: LibTorch's
/// headers, and Python's, which torch/extension.h includes. LibTorch is looked
/// for, in this order, through the environment variables Torch_DIR, TORCH_ROOT,
/// Torch_ROOT, CMAKE_PREFIX_PATH, VIRTUAL_ENV and CONDA_PREFIX, in the virtual
/// environment \p Environment (empty: none), in the installation of the first
/// python3 in PATH, in /usr/local and /usr, and in ~/.local. Absent when it is
/// in none of them. No program is run.
///
/// An environment says itself which Python it was made with. What \p
/// Environment, a part of the project, says so is not taken when it is not
/// where a Python is installed; \p Trouble is then a warning about it.
std::optional<std::vector<std::string>>
flagsOfInstalledTorch(llvm::vfs::FileSystem &FS, llvm::StringRef Environment,
                      std::string &Trouble);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_PROJECT_INSTALLEDTORCH_H
