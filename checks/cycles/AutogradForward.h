//===- AutogradForward.h - What forward() gives its context -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What the forward() of a torch::autograd::Function puts into its context, and
/// which of that it returns.

#ifndef LIBTORCH_TIDY_CHECKS_CYCLES_AUTOGRADFORWARD_H
#define LIBTORCH_TIDY_CHECKS_CYCLES_AUTOGRADFORWARD_H

#include "analysis/cpp/Body.h"
#include "analysis/cpp/Object.h"
#include "checks/base/Catalog.h"
#include "fixits/FixIts.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>
#include <string>

namespace libtorch_tidy {

inline constexpr struct AutogradContextCycleReasons {
  Reason NoOutput{"not-output", Effect::Likely,
                  "The tensor is not seen to be returned from the same call: "
                  "an input, an intermediate, a copy, an index, an output of a "
                  "function that uses `mark_non_differentiable`."};
  Reason Released{"released-by-backward", Effect::Silent,
                  "The tensor is no output, and `backward` erases its key from "
                  "`saved_data` or clears that, which releases it as those of "
                  "`save_for_backward` are. An output stays a finding: the "
                  "cycle ends only if `backward` runs."};
  Reason NoBackward{"backward-unseen", Effect::NoFix,
                    "This file does not define `backward`."};
  Reason Template{"in-template", Effect::NoFix,
                  "`forward` or `backward` is a template."};
  Reason Escapes{"context-escapes", Effect::NoFix,
                 "One of the two hands the context to other code."};
  Reason OtherSaves{"saves-otherwise", Effect::NoFix,
                    "`forward` calls `save_for_backward` more than once, or "
                    "not with a list in braces that the new elements can be "
                    "added to."};
  Reason OtherStores{
      "stores-otherwise", Effect::NoFix,
      "A tensor is not stored by a statement of `forward`'s own block, "
      "`ctx->saved_data[\"key\"] = variable;`, with a key that is a string "
      "literal and the only one of that text; or something changes the "
      "variable afterwards; or `forward` uses `saved_data` in another way."};
  Reason OtherReads{
      "reads-otherwise", Effect::NoFix,
      "`backward` reads a tensor in another way than by "
      "`ctx->saved_data[\"key\"].toTensor()`, to initialise a variable of type "
      "`Tensor` or as an operand of an operator that makes a tensor. "
      "`const Tensor &y = ...` would dangle."};
  Reason WithFirst{"fixed-with-first", Effect::NoFix,
                   "The fix of the first finding in the function moves this "
                   "tensor, too."};
} AutogradContextCycle{};

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
  explicit ContextUses(const clang::FunctionDecl *F) : F(F) {
    cpp::forEach<clang::Stmt>(
        F->getBody(), [&](const clang::Stmt *S) { lookAt(S); },
        cpp::Lambdas::Skipped);
  }

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
  explicit AutogradForward(const clang::FunctionDecl *F)
      : F(F), Body(F->getBody()), Uses(F) {}

  const ContextUses &uses() const { return Uses; }
  const clang::FunctionDecl *function() const { return F; }

  /// The tensors that \p S keeps.
  llvm::SmallVector<SavedTensor, 2> keptBy(const SavedValue &S) const;

  struct Output {
    const clang::Stmt *Return;
    /// Where an input is marked to be its own output.
    const clang::CallExpr *Dirty;
    /// What is returned, where that is a part of what is kept.
    const clang::Expr *Part = nullptr;
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
  /// Is \p Part, of local variable \p Of, perhaps an input as it came? Such a
  /// one is returned as a view that is not stored.
  bool mayBeInput(const clang::Expr *Part, const clang::ValueDecl *Of) const;
  /// What \p Return returns of \p K; null for nothing.
  const clang::Expr *returnedBy(const clang::ReturnStmt *Return,
                                const SavedTensor &K) const;
  /// Is \p Part, an element or a field, given another value after \p At?
  bool isSetAfter(const clang::Expr *Part, const clang::CallExpr *At) const;
  const clang::CallExpr *listWith(llvm::ArrayRef<const clang::CallExpr *> Calls,
                                  const clang::ValueDecl *Var) const;

  const clang::FunctionDecl *F;
  const clang::Stmt *Body;
  ContextUses Uses;
};

/// The text of \p Key, a string literal; nullopt for others.
std::optional<std::string> literalOf(const clang::Expr *Key);

/// Makes of saved_data save_for_backward, for all \p Tensors that \p Forward
/// stores at once, and their reads in \p Backward, which may be null. The edits
/// go to \p All. The reason why there are none; null for edits.
///
///   ctx->saved_data["y"] = y;              ctx->save_for_backward({y});
///   ctx->saved_data["y"].toTensor()   ->   ctx->get_saved_variables()[0]
const Reason *saveForBackward(const AutogradForward &Forward,
                              llvm::ArrayRef<SavedValue> Tensors,
                              const clang::FunctionDecl *Backward,
                              clang::ASTContext &Context, fixits::Edits &All);

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_CYCLES_AUTOGRADFORWARD_H
