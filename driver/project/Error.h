//===- Error.h - Errors in words --------------------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_PROJECT_ERROR_H
#define LIBTORCH_TIDY_DRIVER_PROJECT_ERROR_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/SourceMgr.h"
#include <string>

namespace libtorch_tidy::driver {

/// An error that the user reads and no code asks for the kind of.
inline llvm::Error makeError(const llvm::Twine &Message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), Message);
}

/// A handler for llvm::SourceMgr, which prints what it hears, and the line it
/// is about, as it is: keeps the first message in \p Kept, a std::string.
inline void keepFirstMessage(const llvm::SMDiagnostic &Said, void *Kept) {
  auto &Message = *static_cast<std::string *>(Kept);
  if (Message.empty())
    Message =
        ("line " + llvm::Twine(Said.getLineNo()) + ": " + Said.getMessage())
            .str();
}

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_PROJECT_ERROR_H
