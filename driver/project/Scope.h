//===- Scope.h - The user's part of a translation unit ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A unit that includes LibTorch has a hundred thousand declarations of the
/// library and a few of the user's. Checks walk only the latter, and bodies of
/// library functions are not even parsed: a third of the time.

#ifndef LIBTORCH_TIDY_DRIVER_PROJECT_SCOPE_H
#define LIBTORCH_TIDY_DRIVER_PROJECT_SCOPE_H

#include "clang/AST/ASTConsumer.h"
#include "clang/Basic/SourceLocation.h"
#include "llvm/ADT/DenseMap.h"
#include <memory>

namespace clang {
class CompilerInstance;
class SourceManager;
} // namespace clang

namespace libtorch_tidy::driver {

/// Whether code lies in a library: a system header or LibTorch itself.
class LibraryCode {
public:
  explicit LibraryCode(const clang::SourceManager &SM) : SM(SM) {}
  bool contains(clang::SourceLocation Loc);

private:
  const clang::SourceManager &SM;
  llvm::DenseMap<clang::FileID, bool> Known;
};

/// Narrows the traversal scope to the user's declarations when the unit is
/// parsed, and says which bodies the parser may skip. Goes in front of the
/// consumer that runs the checks.
std::unique_ptr<clang::ASTConsumer>
createScopeConsumer(const clang::SourceManager &SM);

/// Only skips bodies of library functions.
std::unique_ptr<clang::ASTConsumer>
createSkipBodiesConsumer(const clang::SourceManager &SM);

/// Makes templates forget the specializations that only their template knows.
/// Goes in front of the consumer that writes the precompiled header: a unit
/// that names one specialization of a template in it makes Clang 19 read all of
/// them (RedeclarableTemplateDecl's lazy specializations have no index), 4,400
/// of std::__or_, nearly all left over from overload resolution in the headers.
/// The unit instantiates what it needs of those.
std::unique_ptr<clang::ASTConsumer>
createForgetSpecializationsConsumer(clang::CompilerInstance &Compiler);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_PROJECT_SCOPE_H
