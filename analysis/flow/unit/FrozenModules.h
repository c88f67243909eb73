//===- FrozenModules.h - Whose parameters do not train ----------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_FLOW_UNIT_FROZENMODULES_H
#define LIBTORCH_TIDY_ANALYSIS_FLOW_UNIT_FROZENMODULES_H

#include "analysis/flow/program/Program.h"
#include "analysis/torch/modules/Modules.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <map>

namespace libtorch_tidy::flow {

/// Whose parameters do not train, in one unit. Each function is read once.
class FrozenModules {
public:
  using Modules = llvm::SmallPtrSet<const clang::ValueDecl *, 4>;

  /// Does \p F let some tensor require gradients?
  static bool letsTrain(const clang::FunctionDecl *F);

  /// The variables and fields whose module brings no history in function \p F:
  /// its parameters are all switched off there, or by a function that it calls,
  /// and none on again.
  Modules in(const clang::FunctionDecl *F);

  /// The fields of class \p R whose modules its constructors leave frozen, for
  /// its other methods.
  const Modules &byConstructors(const clang::CXXRecordDecl *R);

  /// Does a constructor of \p R, or what it calls, switch gradient mode off for
  /// the rest of its thread, and none on again?
  bool constructorsEndGradients(const clang::CXXRecordDecl *R);

  /// Does a constructor, another method or the initialiser of the class set
  /// \p Field to a module that LibTorch has frozen (see torch::isFreezeCall())?
  /// Null is allowed.
  static bool isSetFrozen(const clang::FieldDecl *Field);

  /// As torch::parametersOf(), with what other units say of constructors.
  static torch::Parameters parametersOf(clang::QualType T);

private:
  /// Modules whose parameters a function switches off, and on again.
  struct Switched {
    Modules Off, On;
  };
  /// \p Depth: how far the functions that \p F calls are followed.
  const Switched &switchedIn(const clang::FunctionDecl *F, unsigned Depth);
  void addHelper(const clang::CallExpr *Call, const clang::FunctionDecl *F,
                 unsigned Depth, Switched &To);
  Modules findByConstructors(const clang::CXXRecordDecl *R);

  std::map<std::pair<const clang::FunctionDecl *, unsigned>, Switched> Known;
  std::map<const clang::CXXRecordDecl *, Modules> OfClasses;
  std::map<const clang::CXXRecordDecl *, bool> EndGradients;
};

} // namespace libtorch_tidy::flow

#endif // LIBTORCH_TIDY_ANALYSIS_FLOW_UNIT_FROZENMODULES_H
