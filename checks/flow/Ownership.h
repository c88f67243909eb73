//===- Ownership.h - Which values keep which objects alive ------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Names of objects within one function, and what a value owns: a copied
/// Tensor, ModuleHolder or shared_ptr is the same object, and a lambda, a
/// std::bind or a container owns what it was given by value. By syntax, for
/// variables that keep their value.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_FLOW_OWNERSHIP_H
#define LIBTORCH_TIDY_CHECKS_FLOW_OWNERSHIP_H

#include "clang/AST/Expr.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace libtorch_tidy::flow {

/// An object as an expression leads to it.
struct ObjectPath {
  const clang::ValueDecl *Root = nullptr; ///< A variable; null for `*this`.
  llvm::SmallVector<const clang::FieldDecl *, 2> Fields;
  /// One of several: an element of a container, one of parameters().
  bool Element = false;

  bool operator==(const ObjectPath &O) const {
    return Root == O.Root && Fields == O.Fields && Element == O.Element;
  }
};

/// The object that \p E names, is a handle of or points to, without what leads
/// to it: net for net, net.get(), *net; `*this` for shared_from_this(); y for
/// y.relu_(). \p Body is the function's, in which variables that always hold
/// what they start with stand for that: `auto self = shared_from_this();`.
/// nullopt for all that is computed.
std::optional<ObjectPath> objectOf(const clang::Expr *E,
                                   const clang::Stmt *Body);
/// The same without looking behind variables.
std::optional<ObjectPath> namedObject(const clang::Expr *E);

/// Does object \p Owner own \p Part, as its field or that of a field, by
/// value, smart pointer, holder or container? Not itself.
bool owns(const ObjectPath &Owner, const ObjectPath &Part);

/// Does a value of \p T own an object that others may own too: a Tensor, a
/// ModuleHolder, AnyModule, std::shared_ptr or c10::intrusive_ptr? Not weak and
/// raw pointers, nor references.
bool isSharedOwner(clang::QualType T);

/// Does a field of type \p T own what it leads to?
bool isOwningType(clang::QualType T);

/// The expressions whose values a copy of \p E keeps, seen through lambdas
/// (what they capture by value), std::function, std::bind, tuples, lists,
/// containers, IValues and user classes that store what they are made of. \p E
/// itself when it is none of these.
llvm::SmallVector<const clang::Expr *, 4> keptBy(const clang::Expr *E,
                                                 const clang::Stmt *Body);

/// Is \p Var given another value, or may it be, in \p Body?
bool isReassigned(const clang::ValueDecl *Var, const clang::Stmt *Body);

} // namespace libtorch_tidy::flow

#endif // LIBTORCH_TIDY_CHECKS_FLOW_OWNERSHIP_H
