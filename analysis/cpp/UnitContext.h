//===- UnitContext.h - What the analyses of a unit share --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// One place for all that is kept while a unit is analysed: models of it,
/// answers that are asked for again and again, and what the program that runs
/// the analysis lends to it. Whoever has a node of the syntax tree finds it, so
/// no analysis depends on what was installed in its thread before.

#ifndef LIBTORCH_TIDY_ANALYSIS_CPP_UNITCONTEXT_H
#define LIBTORCH_TIDY_ANALYSIS_CPP_UNITCONTEXT_H

#include "clang/AST/ASTContext.h"
#include "llvm/ADT/DenseMap.h"
#include <memory>

namespace libtorch_tidy::cpp {

class UnitContext {
public:
  /// The context of the unit whose syntax tree \p AST has. They die together.
  static UnitContext &of(clang::ASTContext &AST);

  explicit UnitContext(clang::ASTContext &AST) : AST(AST) {}

  /// The only T of the unit. It is made when it is first asked for, with the
  /// ASTContext if it takes one.
  template <typename T> T &get() {
    static char Key; // Its address stands for T.
    if (auto It = Parts.find(&Key); It != Parts.end())
      return *static_cast<T *>(It->second.get());
    std::shared_ptr<T> Made;
    if constexpr (std::is_constructible_v<T, clang::ASTContext &>)
      Made = std::make_shared<T>(AST);
    else
      Made = std::make_shared<T>();
    Parts[&Key] = Made;
    return *Made;
  }

private:
  clang::ASTContext &AST;
  llvm::DenseMap<const char *, std::shared_ptr<void>> Parts;
};

/// UnitContext::get() of the unit of \p AST.
template <typename T> T &ofUnit(clang::ASTContext &AST) {
  return UnitContext::of(AST).get<T>();
}

} // namespace libtorch_tidy::cpp

#endif // LIBTORCH_TIDY_ANALYSIS_CPP_UNITCONTEXT_H
