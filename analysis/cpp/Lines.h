//===- Lines.h - Where code stands, in words --------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_CPP_LINES_H
#define LIBTORCH_TIDY_ANALYSIS_CPP_LINES_H

#include "clang/Basic/SourceManager.h"
#include "llvm/Support/Path.h"
#include <string>

namespace libtorch_tidy::cpp {

/// `net.cpp:12`, where \p Loc is written or a macro is expanded: for notes
/// about code that the unit at hand does not show.
inline std::string lineOf(clang::SourceLocation Loc,
                          const clang::SourceManager &SM) {
  Loc = SM.getFileLoc(Loc);
  return (llvm::sys::path::filename(SM.getFilename(Loc)) + ":" +
          llvm::Twine(SM.getSpellingLineNumber(Loc)))
      .str();
}

} // namespace libtorch_tidy::cpp

#endif // LIBTORCH_TIDY_ANALYSIS_CPP_LINES_H
