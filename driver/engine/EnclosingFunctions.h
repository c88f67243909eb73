//===- EnclosingFunctions.h - The function around a place -------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_ENGINE_ENCLOSINGFUNCTIONS_H
#define LIBTORCH_TIDY_DRIVER_ENGINE_ENCLOSINGFUNCTIONS_H

#include "clang/Basic/SourceLocation.h"
#include <string>
#include <vector>

namespace clang {
class ASTContext;
class Decl;
class FunctionDecl;
class SourceManager;
} // namespace clang

namespace libtorch_tidy::driver {

/// The functions that the user's part of a unit defines, by what they take of
/// their files. Lambdas and the methods of local classes count as a part of
/// the function that they are in, and so does what a macro makes of a body that
/// is written after it.
class EnclosingFunctions {
public:
  /// \p Context is complete.
  explicit EnclosingFunctions(const clang::ASTContext &Context);

  /// The qualified name of the function around \p Loc, a place in a file,
  /// without anonymous namespaces and template arguments; empty outside
  /// functions.
  std::string at(clang::SourceLocation Loc) const;

private:
  struct Extent {
    clang::FileID File;
    unsigned First, Last; ///< Offsets of tokens.
    const clang::FunctionDecl *Function;
  };
  void add(const clang::Decl *D);

  const clang::SourceManager &SM;
  std::vector<Extent> Extents;
};

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_ENGINE_ENCLOSINGFUNCTIONS_H
