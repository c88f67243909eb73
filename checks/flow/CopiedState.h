//===- CopiedState.h - What a copied object brings along --------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_FLOW_COPIEDSTATE_H
#define LIBTORCH_TIDY_CHECKS_FLOW_COPIEDSTATE_H

#include "clang/AST/DeclCXX.h"
#include "clang/AST/Expr.h"
#include "llvm/ADT/SmallVector.h"

namespace libtorch_tidy::flow {

/// A member that each copy of an object has for itself, and that the methods
/// which run on the copy use.
struct CopiedMember {
  enum Kind {
    Random, ///< A generator of random numbers, with its state.
    Data,   ///< Numbers for every example, or a large array.
    Some,   ///< Containers of strings or of containers, many or few.
  };
  Kind What;
  const clang::FieldDecl *Field;
  const clang::Expr *Used; ///< Where a method uses it.
};

/// The members of \p Class and its bases that matter when an object is copied
/// for each of several threads. Handles (tensors, std::shared_ptr, cv::Mat)
/// are shared by the copies and stay out, and so does everything in a class
/// with a copy constructor of its own, a generator that is seeded where it is
/// used, and what looks small: labels, names, paths.
llvm::SmallVector<CopiedMember, 2>
copiedMembers(const clang::CXXRecordDecl *Class,
              bool (*IsEntry)(const clang::CXXMethodDecl *));

} // namespace libtorch_tidy::flow

#endif // LIBTORCH_TIDY_CHECKS_FLOW_COPIEDSTATE_H
