//===- Layers.cpp - Fully connected and recurrent layers ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/torch/modules/Layers.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/Walk.h"
#include "analysis/torch/api/Conventions.h"
#include "analysis/torch/api/TorchTypes.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::torch {

/// Does \p E itself name the size of a vocabulary, without its operands?
static bool isVocabulary(const Expr *E) {
  const auto *Ref = dyn_cast<DeclRefExpr>(E);
  const auto *Member = dyn_cast<MemberExpr>(E);
  return (Ref && namesVocabulary(cpp::nameOf(Ref->getDecl()))) ||
         (Member && namesVocabulary(cpp::nameOf(Member->getMemberDecl())));
}

/// Is the size of a vocabulary part of \p E?
static bool mentionsVocabulary(const Expr *E) {
  return cpp::anyOf<Expr>(E, isVocabulary);
}

static std::optional<uint64_t> features(const Expr *E,
                                        const ASTContext &Context) {
  const std::optional<int64_t> Number = cpp::constantInt(E, Context);
  if (!Number || *Number < 0 || mentionsVocabulary(E))
    return std::nullopt;
  return *Number;
}

static bool isLinearOptions(QualType T) {
  return cpp::isOrDerivesFrom(T, "torch::nn::LinearOptions");
}

/// LinearOptions(in, out) and what a chain of setters makes of it.
static std::optional<LinearShape> shapeOfOptions(const Expr *E,
                                                 const ASTContext &Context) {
  std::optional<uint64_t> In, Out;
  // Chains and variables are short; the bound guards against odd code.
  for (unsigned Steps = 0; Steps < cpp::MaxChase; ++Steps) {
    E = cpp::stripImplicit(E);
    if (const auto *Call = dyn_cast_or_null<CXXMemberCallExpr>(E)) {
      StringRef Name = cpp::calleeName(Call);
      if (Call->getNumArgs() != 1 ||
          !isLinearOptions(Call->getImplicitObjectArgument()->getType()))
        return std::nullopt;
      // The last setter of a chain comes first.
      std::optional<uint64_t> *Set = Name == "in_features"    ? &In
                                     : Name == "out_features" ? &Out
                                                              : nullptr;
      if (Set && !*Set && !(*Set = features(Call->getArg(0), Context)))
        return std::nullopt;
      E = Call->getImplicitObjectArgument();
      continue;
    }
    const VarDecl *Var = cpp::variableOf(E);
    if (Var && Var->getType().isConstQualified() && Var->hasInit()) {
      E = Var->getInit();
      continue;
    }
    const auto *Made = dyn_cast_or_null<CXXConstructExpr>(E);
    if (!Made || !isLinearOptions(Made->getType()) || Made->getNumArgs() != 2)
      return std::nullopt;
    if (!In)
      In = features(Made->getArg(0), Context);
    if (!Out)
      Out = features(Made->getArg(1), Context);
    if (!In || !Out)
      return std::nullopt;
    return LinearShape{*In, *Out};
  }
  return std::nullopt;
}

/// The arguments of what makes a layer: a constructor, or a call.
static llvm::SmallVector<const Expr *, 4> argumentsOf(const Expr *E) {
  if (const auto *Made = dyn_cast<CXXConstructExpr>(E))
    return cpp::writtenArguments(Made);
  const auto *Call = dyn_cast<CallExpr>(E);
  if (!Call || !cpp::isOrDerivesFrom(cpp::pointeeOf(Call->getType()),
                                     "torch::nn::LinearImpl"))
    return {};
  return {Call->arg_begin(), Call->arg_end()};
}

/// Is the size of a vocabulary part of \p E, or of the variables in it?
static bool followsVocabulary(const Expr *E,
                              llvm::SmallPtrSetImpl<const VarDecl *> &Seen) {
  return cpp::anyOf<Expr>(E, [&](const Expr *Part) {
    const VarDecl *Var = cpp::variableOf(Part);
    return isVocabulary(Part) ||
           (Var && Var->getInit() && Seen.insert(Var).second &&
            followsVocabulary(Var->getInit(), Seen));
  });
}

bool makesLinearOfVocabulary(const Expr *E) {
  llvm::SmallPtrSet<const VarDecl *, 8> Seen;
  return llvm::any_of(argumentsOf(E), [&](const Expr *A) {
    return followsVocabulary(A, Seen);
  });
}

bool makesLinearOfGivenSizes(const Expr *E) {
  const auto Args = argumentsOf(E);
  if (E->isInstantiationDependent() || E->containsErrors() ||
      makesLinearOfVocabulary(E))
    return false;
  if (Args.size() == 1)
    return isLinearOptions(Args[0]->getType());
  return Args.size() == 2 && llvm::all_of(Args, [](const Expr *A) {
           return A->getType().getNonReferenceType()->isIntegerType();
         });
}

std::optional<LinearShape> linearShape(const Expr *E,
                                       const ASTContext &Context) {
  const auto Args = argumentsOf(E);
  if (Args.size() == 1 && isLinearOptions(Args[0]->getType()))
    return shapeOfOptions(Args[0], Context);
  if (Args.size() != 2)
    return std::nullopt;
  auto In = features(Args[0], Context), Out = features(Args[1], Context);
  if (!In || !Out)
    return std::nullopt;
  return LinearShape{*In, *Out};
}

bool isPackPaddedSequence(const FunctionDecl *F) {
  return cpp::nameOf(F) == "pack_padded_sequence" &&
         F->getQualifiedNameAsString() ==
             "torch::nn::utils::rnn::pack_padded_sequence";
}

bool isForwardWithPackedInput(const FunctionDecl *F) {
  return cpp::nameOf(F) == "forward_with_packed_input" && isTorchDecl(F);
}

bool isPackedSequence(QualType T) {
  return cpp::isOrDerivesFrom(T, "torch::nn::utils::rnn::PackedSequence");
}

bool keepsPacking(const FunctionDecl *F) {
  return cpp::isOneOf(cpp::nameOf(F), {"to", "cuda", "cpu", "pin_memory"});
}

bool isBatchSizes(const FunctionDecl *F) {
  return cpp::nameOf(F) == "batch_sizes" && isTorchDecl(F);
}

} // namespace libtorch_tidy::torch
