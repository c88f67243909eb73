//===- Std.h - What the standard library and others do ----------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The names of the standard library, and of the libraries that LibTorch
/// programs use next to it: OpenCV. LibTorch's own containers grow by
/// the same names (c10::List::push_back), so that they are asked here, too.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_CPP_STD_H
#define LIBTORCH_TIDY_ANALYSIS_CPP_STD_H

#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace libtorch_tidy::cpp {

/// A call that puts elements into a container.
struct Insertion {
  const clang::CXXMemberCallExpr *Call;
  const clang::Expr *Into; ///< The container, as written.
  /// What goes in, or what an element is made of: the arguments that are
  /// written, positions and keys included.
  llvm::SmallVector<const clang::Expr *, 4> Given;
  bool AtEnd; ///< As the last element: push_back and its like.

  /// The element: the last argument, after positions and keys.
  const clang::Expr *value() const { return Given.back(); }
};

/// The insertion that \p E is: v.push_back(x), m.emplace(k, x),
/// list.append(x). nullopt for others, and for insertions of nothing.
/// Assignments (m[k] = x) are not calls of a method.
std::optional<Insertion> asInsertion(const clang::Expr *E);
/// Is \p Name a method that adds elements, and keeps what is there?
bool isInsertion(llvm::StringRef Name);
/// Is \p Name a method that takes single elements out?
bool isRemoval(llvm::StringRef Name);
/// Is \p Name a method that leads to elements: at, front, begin, find?
bool isElementAccess(llvm::StringRef Name);
/// Is \p Name a method or function after which an object holds less than
/// before: isRemoval(), clear, reset, swap, move, exchange?
bool isEmptying(llvm::StringRef Name);
/// Does \p Call, of a method, let go of all that its object holds: clear(),
/// reset() without an argument?
bool isRelease(const clang::CallExpr *Call);

/// Everything in \p S that puts a value into an object: `to = value` of
/// classes, `to.push_back(value)`; for each argument of an insertion.
void forEachStore(
    const clang::Stmt *S,
    llvm::function_ref<void(const clang::CallExpr *, const clang::Expr *To,
                            const clang::Expr *Value)>
        Visit);

/// `to = value` of classes: an operator= of one argument.
bool isAssignment(const clang::CallExpr *Call);

/// A call of std::\p Name, also through parentheses and casts.
bool isStdCall(const clang::Expr *E, llvm::StringRef Name);
bool isStdCall(const clang::Expr *E, llvm::ArrayRef<llvm::StringRef> Names);
/// std::move(x) or std::forward<T>(x): x; null for others.
const clang::Expr *movedBy(const clang::Expr *E);

/// The class of \p T is std::\p Name, for one of \p Names.
bool isStdClass(clang::QualType T, llvm::ArrayRef<llvm::StringRef> Names);
bool isStdClass(const clang::CXXRecordDecl *R,
                llvm::ArrayRef<llvm::StringRef> Names);

/// A class of the standard library whose elements lie in memory of its own,
/// which a pointer can lead to: std::vector, std::array, std::unique_ptr.
bool ownsBuffer(clang::QualType T);
/// A class that refers to the elements of another object: std::span,
/// std::string_view, gsl::span, Eigen::Map.
bool isView(clang::QualType T);
/// Is \p Name a method of ownsBuffer() or isMat() that hands out a pointer to
/// the elements: data, get, ptr, c_str?
bool handsOutBuffer(llvm::StringRef Name);

/// cv::Mat, whose copies share the pixels.
bool isMat(clang::QualType T);
/// cv::Mat, or a container of the standard library of them.
bool holdsMat(clang::QualType T);
/// Is \p Name a function or method that makes a cv::Mat of its own: clone,
/// imread, imdecode?
bool makesMat(llvm::StringRef Name);

} // namespace libtorch_tidy::cpp

#endif // LIBTORCH_TIDY_ANALYSIS_CPP_STD_H
