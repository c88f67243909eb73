//===- Classes.h - Bases and pointees of classes ----------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Walks over types that always end: a class can be a pointer to itself, and
/// the ways to a virtual base double with every diamond below it. Answers that
/// are asked for again and again are remembered.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_TORCH_CLASSES_H
#define LIBTORCH_TIDY_CHECKS_TORCH_CLASSES_H

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/Type.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <map>

namespace libtorch_tidy::torch {

/// What is remembered of a unit, as long as its syntax tree lives.
template <typename T> T &rememberedFor(clang::ASTContext &Context) {
  static thread_local std::map<const clang::ASTContext *, T> Units;
  auto [It, New] = Units.try_emplace(&Context);
  if (New)
    Context.AddDeallocation(
        [](void *Gone) {
          Units.erase(static_cast<const clang::ASTContext *>(Gone));
        },
        &Context);
  return It->second;
}

/// Is \p Matches true of one of the classes that \p R derives from, directly or
/// not? Each is asked once, those without a definition, too.
bool anyBase(const clang::CXXRecordDecl *R,
             llvm::function_ref<bool(const clang::CXXRecordDecl *)> Matches);

/// What \p T points to in the end, through pointers to pointers: \p T itself
/// when it is not a pointer (see pointeeOf). Null for a class that is a pointer
/// to itself, as `struct P : std::shared_ptr<P> {};` is.
clang::QualType finalPointee(clang::QualType T);

} // namespace libtorch_tidy::torch

#endif // LIBTORCH_TIDY_CHECKS_TORCH_CLASSES_H
