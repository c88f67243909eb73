//===- Places.h - Where a pointer can be stored -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The places of a function that can hold a pointer: variables, fields of
/// `*this`, and all parts of them. A path leads from an object to a part of it,
/// step by step: `.name` for a field, `<1>` for a part of a pair or tuple,
/// `[i]` for an element (`[*]` where it is not known which, `[:]` for each in
/// turn, `[$]` for the last one), `*` for what a pointer, smart pointer or
/// optional leads to, `*i` for what lies i further on. A path names nothing of
/// the syntax tree, so that summaries can have it.

#ifndef LIBTORCH_TIDY_ANALYSIS_FLOW_MEMORY_PLACES_H
#define LIBTORCH_TIDY_ANALYSIS_FLOW_MEMORY_PLACES_H

#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>
#include <string>
#include <vector>

namespace libtorch_tidy::flow {

/// The variable that \p E names, without implicit nodes; null for others.
const clang::VarDecl *namedBy(const clang::Expr *E);

/// The object that an expression names a part of, and the step from it to the
/// part. Whole is null for other expressions.
struct PartOf {
  const clang::Expr *Whole = nullptr;
  std::string Step;
  const clang::Expr *Index = nullptr; ///< What chooses the element, if known.
};
PartOf partOf(const clang::Expr *E);

/// The step to argument \p I of a class template: a part of a pair or tuple.
std::string tupleStep(unsigned I);
/// The step to \p Field.
std::string fieldStep(const clang::FieldDecl *Field);
/// The step to the element at \p Index, which may be null.
std::string elementStep(const clang::Expr *Index);
/// The step to element number \p N.
std::string numberStep(unsigned N);
/// The step to an element that is not known.
inline constexpr llvm::StringLiteral SomeElement = "[*]";
/// The step to each element in turn, as range-for takes it.
inline constexpr llvm::StringLiteral EachElement = "[:]";
/// The step to the last element, as push_back() adds it and back() gives it.
inline constexpr llvm::StringLiteral LastElement = "[$]";
/// The step to the first element, where elements have an order.
inline constexpr llvm::StringLiteral FirstElement = "[0]";
/// Do push() and its like add to the end of \p Container, where top() and its
/// like read?
bool hasLastElement(clang::QualType Container);

/// The container or array that variable \p E leads through, from its first
/// element to its last: the iterator of a range-for, or of a for statement from
/// begin() to end(). Null for others.
const clang::Expr *rangeOf(const clang::Expr *E);
/// The call of begin(), end() or find() that \p E is, also as an iterator of
/// another type; null for others.
const clang::CallExpr *iteratorOf(const clang::Expr *E);
/// The container that iteratorOf() \p E is called on; null for others.
const clang::Expr *iteratedBy(const clang::Expr *E);
/// Do \p A and \p B name the same place?
bool isSamePlace(const clang::Expr *A, const clang::Expr *B);

/// Takes the first step off \p Path, which is not empty.
llvm::StringRef takeStep(llvm::StringRef &Path);
/// What leads on from the end of \p Whole to the end of \p Part; nullopt when
/// \p Part is not in it. One element may be another, unless both have numbers;
/// with \p Surely only the same one is.
std::optional<llvm::StringRef>
pathWithin(llvm::StringRef Part, llvm::StringRef Whole, bool Surely = false);
/// Is it certain that \p A and \p B, of the same object, are one place or one
/// is a part of the other? With \p SameNames the same name of an index has the
/// same value in both.
bool surelyMeet(llvm::StringRef A, llvm::StringRef B, bool SameNames);
/// \p Path without the names of variables, which mean nothing to a caller.
std::string withoutNames(llvm::StringRef Path);
/// Does \p Path go through a pointer?
bool leadsOut(llvm::StringRef Path);
/// Is \p Path so long that it may be one of a list or tree without end?
bool isDeep(llvm::StringRef Path);

/// A place that can hold a borrow.
struct Keeper {
  /// A variable, or a field of `*this`.
  const clang::ValueDecl *Root = nullptr;
  std::string Path;
  clang::QualType Type; ///< Of the place; null where it is not known.
  /// The variables that choose elements on the way.
  llvm::SmallVector<const clang::VarDecl *, 1> Indices = {};
  bool ByReference = false; ///< Elements were chosen when that was bound.

  bool operator==(const Keeper &O) const {
    return Root == O.Root && Path == O.Path;
  }
  /// The place that \p E names, also through references; nullopt for results.
  static std::optional<Keeper> of(const clang::Expr *E);
  /// All of \p Var.
  static Keeper of(const clang::ValueDecl *Var) {
    return {Var, {}, Var->getType()};
  }
  /// What pointer \p E points to.
  static std::optional<Keeper> pointedToBy(const clang::Expr *E);
  /// As the user would write it, without elements.
  std::string name() const;
  /// It becomes the element at \p Index, which may be null.
  void enter(const clang::Expr *Index);
  /// The places that it is in the rounds of the loop that \p Var counts from
  /// one constant to another; none where something else chooses, too.
  std::vector<Keeper> inRoundsOf(const clang::VarDecl *Var) const;
  /// May one of Indices have another value than the statements at hand show?
  bool mayMove() const;
  /// Is it there when the function is over?
  bool outlives() const;
  /// Is there one element of several on the way?
  bool isOneOfSeveral() const {
    return llvm::StringRef(Path).contains(SomeElement);
  }
};

} // namespace libtorch_tidy::flow

#endif // LIBTORCH_TIDY_ANALYSIS_FLOW_MEMORY_PLACES_H
