//===- ModuleUse.h - What a unit does with its modules ----------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Whose parameters do not train, and what a call of a TorchScript module is
/// for.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_FLOW_UNIT_MODULEUSE_H
#define LIBTORCH_TIDY_ANALYSIS_FLOW_UNIT_MODULEUSE_H

#include "analysis/cpp/Body.h"
#include "analysis/flow/program/Program.h"
#include "analysis/torch/modules/Modules.h"
#include "clang/AST/ExprCXX.h"
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

  /// As torch::parametersOf(), but knows constructors in other units, too.
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

//===----------------------------------------------------------------------===//
// Calls of TorchScript
//===----------------------------------------------------------------------===//

// The code of a TorchScript module is not in the program. The purpose of a call
// shows in its inputs and in the use of its result.

/// Does \p M only ask a TorchScript module something: no tensor goes in, and
/// what comes out is read as a number, a text or a list, or not at all, or the
/// method is called get_... or set_...? Such a method returns an attribute:
/// module.run_method("get_cutoff").toDouble().
bool isQuery(const torch::ModuleCall &M, const cpp::Body &In);

/// Do names in function \p In suggest that its TorchScript modules
/// differentiate inside: "forward_lower", an output called "forces", dvirial?
/// Such a module throws under a guard.
bool namesDerivatives(const cpp::Body &In);

/// Does the name of a part of \p M's result suggest that a module, whose body
/// is in another file, differentiates: auto [energy, forces] = net->forward(x)?
bool handsOutDerivative(const torch::ModuleCall &M, const cpp::Body &In);

} // namespace libtorch_tidy::flow

#endif // LIBTORCH_TIDY_ANALYSIS_FLOW_UNIT_MODULEUSE_H
