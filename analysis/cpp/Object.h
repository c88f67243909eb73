//===- Object.h - Which object an expression names --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Names of objects within one function. A copied Tensor, ModuleHolder or
/// shared_ptr is the same object.

#ifndef LIBTORCH_TIDY_ANALYSIS_CPP_OBJECT_H
#define LIBTORCH_TIDY_ANALYSIS_CPP_OBJECT_H

#include "analysis/cpp/Calls.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>
#include <string>

namespace libtorch_tidy::cpp {

/// An object as an expression leads to it.
struct Object {
  const clang::ValueDecl *Root = nullptr; ///< A variable; null for `*this`.
  llvm::SmallVector<const clang::FieldDecl *, 2> Fields;
  /// One of several: an element of a container, one of parameters().
  bool Element = false;

  bool operator==(const Object &O) const {
    return Root == O.Root && Fields == O.Fields && Element == O.Element;
  }
  bool isThis() const { return !Root && Fields.empty(); }
  /// `net.fc` as the user would say it; \p This for `*this` itself.
  std::string name(llvm::StringRef This = "this") const;
};

/// The object that \p E names, is a handle of or points to, without what leads
/// to it: net for net, net.get(), *net; `*this` for shared_from_this(); y for
/// y.relu_(). \p Body is the function's, in which variables that always hold
/// what they start with stand for that: `auto self = shared_from_this();`.
/// nullopt for all that is computed.
std::optional<Object> objectOf(const clang::Expr *E, const clang::Stmt *Body);
/// The same without looking through variables.
std::optional<Object> namedObject(const clang::Expr *E);

/// The variable, binding or field of `*this` that \p E names or is a part of,
/// by value: x for `x`, `x.member`, `x[i]`, `std::get<0>(x)`; null for anything
/// else, also for what a pointer leads to.
const clang::ValueDecl *rootOf(const clang::Expr *E);
/// rootOf(), where it is a field of `*this`; null for others.
const clang::FieldDecl *fieldOf(const clang::Expr *E);

/// The variable that \p D, a name of a part as in `auto [a, b] = pair`, is a
/// part of; \p D itself for all that is no such name.
const clang::ValueDecl *wholeOf(const clang::ValueDecl *D);

/// The variable that \p S, a declaration of one thing, declares; the nameless
/// one for `auto [a, b] = pair`. Null for others.
const clang::VarDecl *declaredBy(const clang::Stmt *S);

/// Do both name the same object in the same way: `all`, `this->all_`,
/// `outs[k]`?
bool isSameName(const clang::Expr *A, const clang::Expr *B);

/// Does object \p Owner own \p Part, as its field or that of a field, by
/// value, smart pointer, holder or container? Not itself.
bool owns(const Object &Owner, const Object &Part);

/// Is \p E a default-constructed, null or nullopt value?
bool isEmptyValue(const clang::Expr *E);

/// The module that a ModuleHolder, or a class that TORCH_MODULE made, is made
/// to hold by \p Construct; null for others.
const clang::Expr *heldBy(const clang::CXXConstructExpr *Construct);

} // namespace libtorch_tidy::cpp

#endif // LIBTORCH_TIDY_ANALYSIS_CPP_OBJECT_H
