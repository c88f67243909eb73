//===- Errors.h - Where code does not compile -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Clang goes on after an error, and leaves out what it did not understand: a
/// syntax tree does not say where something is missing, only the places of the
/// errors do.

#ifndef LIBTORCH_TIDY_ANALYSIS_CPP_ERRORS_H
#define LIBTORCH_TIDY_ANALYSIS_CPP_ERRORS_H

#include "clang/AST/Decl.h"
#include "clang/Basic/Diagnostic.h"
#include "llvm/ADT/StringSet.h"
#include <optional>
#include <vector>

namespace libtorch_tidy::cpp {

/// From now on the places of errors are noted, once for each \p Engine.
void noteErrors(clang::DiagnosticsEngine &Engine);

/// What the errors of a unit touch.
class Errors {
public:
  /// Does the unit compile?
  static bool none(const clang::ASTContext &Context);

  /// \p Functions are all that the unit defines, templates among them.
  Errors(const clang::ASTContext &Context,
         llvm::ArrayRef<const clang::FunctionDecl *> Functions);

  /// Does every error stand in a function? What stands elsewhere (a class, an
  /// #include) may be missing anywhere.
  bool areInFunctions() const { return InFunctions; }
  /// Does \p F hold an error, or stand in a function that does?
  bool touch(const clang::FunctionDecl *F) const;
  /// May a function that holds an error use \p D: is its name in the text?
  bool mayUse(const clang::NamedDecl *D) const;

private:
  struct Range {
    clang::FileID File;
    unsigned Begin, End;
  };
  std::optional<Range> rangeOf(const clang::Decl *D) const;

  const clang::SourceManager &SM;
  bool InFunctions = true;
  std::vector<Range> Broken;
  llvm::StringSet<> Names; ///< In the text of these.
};

} // namespace libtorch_tidy::cpp

#endif // LIBTORCH_TIDY_ANALYSIS_CPP_ERRORS_H
