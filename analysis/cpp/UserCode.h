//===- UserCode.h - Which code is the user's ------------------ -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_ANALYSIS_CPP_USERCODE_H
#define LIBTORCH_TIDY_ANALYSIS_CPP_USERCODE_H

#include "clang/AST/Decl.h"
#include "clang/Basic/SourceLocation.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/StringRef.h"

namespace libtorch_tidy::cpp {

/// True for code of the analysed project: not a system header, and neither a
/// header of the library itself nor an installed one, which many builds include
/// with -I. Macro locations are judged by where they are expanded.
bool isUserCode(clang::SourceLocation Loc, const clang::SourceManager &SM);

/// The definition of \p F, when the unit has its body, it is code of the user
/// and no template. Null for others, and for null.
const clang::FunctionDecl *userDefinition(const clang::FunctionDecl *F);

/// True for a path where packages and `make install` put the headers of
/// libraries (Filesystem Hierarchy Standard): /usr/include/eigen3/Eigen/Core.
bool isInstalledHeader(llvm::StringRef Path);

} // namespace libtorch_tidy::cpp

#endif // LIBTORCH_TIDY_ANALYSIS_CPP_USERCODE_H
