//===- AutogradForward.h - What forward() gives its context -----*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What the forward() of a torch::autograd::Function puts into its context, and
/// which of that it returns.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_CYCLES_AUTOGRADFORWARD_H
#define LIBTORCH_TIDY_CHECKS_CYCLES_AUTOGRADFORWARD_H

#include "analysis/cpp/Body.h"
#include "analysis/cpp/Object.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>
#include <string>

namespace libtorch_tidy {

/// One value that goes into saved_data, in the forward function itself or in
/// a helper that it hands the value to.
struct SavedValue {
  const clang::CallExpr *Where; ///< In forward.
  const clang::Expr *Value;     ///< In forward.
  const clang::Expr *Key = nullptr;
  const clang::CallExpr *InHelper = nullptr;
};

/// What a body does with the context.
class ContextUses {
public:
  explicit ContextUses(const clang::FunctionDecl *F);

  llvm::SmallVector<SavedValue, 4> Stores;
  llvm::SmallVector<const clang::ReturnStmt *, 4> Returns;
  llvm::SmallVector<const clang::CallExpr *, 2> Saves, Dirty, NonDifferentiable;
  llvm::SmallVector<const clang::Expr *, 4> SavedDataMentions;
  unsigned ContextMentions = 0; ///< Other than ctx->member.

private:
  void lookAt(const clang::Stmt *S);
  void storesOfHelper(const clang::CallExpr *Call);

  const clang::FunctionDecl *F;
};

/// A tensor that goes into saved_data.
struct SavedTensor {
  const clang::Expr *E = nullptr;
  std::optional<cpp::Object> Of; ///< Set when it is, or is a view of, one.
  bool IsView = false;
};

/// One forward function.
class AutogradForward {
public:
  explicit AutogradForward(const clang::FunctionDecl *F);

  const ContextUses &uses() const { return Uses; }
  const clang::FunctionDecl *function() const { return F; }

  /// The tensors that \p S keeps.
  llvm::SmallVector<SavedTensor, 2> keptBy(const SavedValue &S) const;

  struct Output {
    const clang::Stmt *Return;
    /// Where an input is marked to be its own output.
    const clang::CallExpr *Dirty;
  };
  /// Why \p K, stored by \p S, is certainly a differentiable output.
  std::optional<Output> asOutput(const SavedTensor &K,
                                 const SavedValue &S) const;

private:
  /// By the mentions of which they are made.
  using ReturnsByMention =
      llvm::DenseMap<const clang::Stmt *, const clang::ReturnStmt *>;

  const clang::Stmt *followsInText(const clang::ValueDecl *Var,
                                   const SavedValue &S,
                                   const ReturnsByMention &Goals) const;
  bool returns(const clang::ReturnStmt *Return,
               const cpp::Object &Output) const;
  const clang::CallExpr *listWith(llvm::ArrayRef<const clang::CallExpr *> Calls,
                                  const clang::ValueDecl *Var) const;

  const clang::FunctionDecl *F;
  const clang::Stmt *Body;
  ContextUses Uses;
  const cpp::Paths *Ways = nullptr; ///< Not in templates.
};

/// Is something moved in \p E?
bool mentionsMove(const clang::Expr *E);

/// The text of \p Key, a string literal; nullopt for others.
std::optional<std::string> literalOf(const clang::Expr *Key);

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_CYCLES_AUTOGRADFORWARD_H
