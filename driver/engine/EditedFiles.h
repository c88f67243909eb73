//===- EditedFiles.h - Files as fixes would leave them ----------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_ENGINE_EDITEDFILES_H
#define LIBTORCH_TIDY_DRIVER_ENGINE_EDITEDFILES_H

#include "fixits/Verifier.h"
#include "llvm/Support/VirtualFileSystem.h"

namespace libtorch_tidy::driver {

/// \p Base, but with other texts for some files: those of \p Texts, by real
/// path. However a path is spelled, and through symbolic links, it leads to the
/// other text.
llvm::IntrusiveRefCntPtr<llvm::vfs::OverlayFileSystem>
withTexts(llvm::IntrusiveRefCntPtr<llvm::vfs::OverlayFileSystem> Base,
          const fixits::FileTexts &Texts);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_ENGINE_EDITEDFILES_H
