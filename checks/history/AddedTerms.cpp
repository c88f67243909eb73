//===- AddedTerms.cpp - What an accumulation adds -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "checks/history/AddedTerms.h"
#include "analysis/cpp/Body.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Object.h"
#include "analysis/torch/autograd/Autograd.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace libtorch_tidy {

using flow::Accumulation;
using flow::FunctionFlow;
using flow::Label;

/// The operand of `total + x` that is not the accumulator itself.
static const Expr *otherOperand(const Expr *E, const VarDecl *Accumulator) {
  const auto *Op = dyn_cast<CXXOperatorCallExpr>(cpp::stripImplicit(E));
  if (Accumulator && Op && Op->getNumArgs() == 2 &&
      Op->getOperator() == OO_Plus)
    for (unsigned I : {0U, 1U})
      if (cpp::variableOf(Op->getArg(I)) == Accumulator)
        return Op->getArg(1 - I);
  return nullptr;
}

const Expr *termOf(const Accumulation &A, const FunctionFlow &Flow) {
  if (A.How == Accumulation::Rebind)
    return otherOperand(A.Addend, Flow.rootOf(A.Where));
  return A.How == Accumulation::InPlace && isa<CXXOperatorCallExpr>(A.Site)
             ? A.Addend
             : nullptr;
}

bool isProven(const Accumulation &A, const Label &Source,
              const FunctionFlow &Flow) {
  const Expr *Term = termOf(A, Flow);
  const VarDecl *Var = cpp::variableOf(Term ? Term : A.Addend);
  const auto Back =
      torch::asBackward(dyn_cast_or_null<CallExpr>(Source.BackwardAt));
  if (!Var || !Back || (A.Loop && !Flow.isWithin(Source.BackwardAt, A.Loop)) ||
      llvm::none_of(Back->Roots, [&](const Expr *Root) {
        return cpp::variableOf(Root) == Var;
      }))
    return false;
  const SourceManager &SM = Flow.function()->getASTContext().getSourceManager();
  const Expr *First = A.Site, *Last = Source.BackwardAt;
  if (cpp::comesBefore(Last, First, SM))
    std::swap(First, Last);
  return llvm::none_of(
      cpp::Body::of(Flow.function()).writesTo(Var), [&](const cpp::Write &W) {
        return W.Kind != cpp::WriteKind::Escaped && W.Where != Last &&
               cpp::comesBefore(First, W.Where, SM) &&
               cpp::comesBefore(W.Where, Last, SM);
      });
}

const Label *provenSource(const Accumulation &A, const FunctionFlow &Flow) {
  const auto Found = llvm::find_if(Flow.labels(), [&](const Label &L) {
    return L.K == Label::Proven && isProven(A, L, Flow);
  });
  return Found == Flow.labels().end() ? nullptr : &*Found;
}

} // namespace libtorch_tidy
