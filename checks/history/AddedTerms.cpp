//===- AddedTerms.cpp - What an accumulation adds -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "checks/history/AddedTerms.h"
#include "analysis/cpp/Body.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Walk.h"
#include "analysis/torch/api/OpFacts.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Autograd.h"
#include "analysis/torch/storage/Sharing.h"
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

/// Is \p E the result of an operator that computes a tensor of its own, a copy
/// of one, or a variable that is given nothing else?
static bool isOfOperator(const Expr *E, cpp::Body &In, unsigned Depth = 0) {
  constexpr unsigned Enough = 4; // Each value of each variable is followed.
  const Expr *Origin = Depth < Enough ? In.originOf(E) : nullptr;
  if (const VarDecl *Var = cpp::variableOf(Origin)) {
    const cpp::Values All = In.valuesOf(Var);
    return All.Complete && !All.Given.empty() &&
           llvm::all_of(All.Given, [&](const Expr *Value) {
             return isOfOperator(Value, In, Depth + 1);
           });
  }
  const auto *Call = dyn_cast_or_null<CallExpr>(Origin);
  if (const Expr *Same = Call ? torch::sameShapeObject(Call) : nullptr)
    return isOfOperator(Same, In, Depth + 1);
  const torch::OpFacts *Facts = torch::opFacts(Call);
  return Facts ? Facts->Shares == torch::Sharing::None &&
                     !Facts->neverDifferentiable()
               : isa_and_nonnull<CXXOperatorCallExpr>(Call) &&
                     torch::isTensor(Call->getType()) && Call->isPRValue();
}

/// Is \p E a parameter, or an element of one, that is surely not what \p Leaf
/// is?
static bool isOther(const Expr *E, const Label &Leaf, cpp::Body &In) {
  const VarDecl *Var = cpp::variableOf(E);
  if (const Expr *Range = In.rangeOf(Var))
    return Leaf.Site && !cpp::mentions(Leaf.Site, Var) &&
           isOther(Range, Leaf, In);
  const auto *Param = dyn_cast_or_null<ParmVarDecl>(Var);
  return Param && Leaf.Site && !cpp::mentions(Leaf.Site, Param) &&
         llvm::all_of(In.valuesOf(Param).Given, [&](const Expr *Value) {
           return isOfOperator(Value, In);
         });
}

/// The tensors that \p E, a struct in braces or one tensor, is made of.
static void collectParts(const Expr *E,
                         llvm::SmallVectorImpl<const Expr *> &To) {
  E = cpp::peel(E);
  llvm::SmallVector<const Expr *, 4> Args;
  if (const auto *List = dyn_cast<InitListExpr>(E))
    Args.assign(List->inits().begin(), List->inits().end());
  else if (const auto *Made = dyn_cast<CXXConstructExpr>(E);
           Made && !torch::isTensor(Made->getType()))
    Args.assign(Made->arg_begin(), Made->arg_end());
  else
    return To.push_back(E);
  for (const Expr *Arg : Args)
    if (torch::mayHoldTensor(Arg->getType()))
      collectParts(Arg, To);
}

bool addsComputed(const Accumulation &A, const Label &Leaf,
                  const FunctionFlow &Flow) {
  cpp::Body &In = cpp::Body::of(Flow.function());
  llvm::SmallVector<const Expr *, 4> Parts;
  const auto *Call = dyn_cast_or_null<CallExpr>(A.Site);
  const auto Put = A.Inner.empty() || !In.isWithin(A.Inner.back(), In.root())
                       ? std::nullopt // Not in a lambda of this function.
                       : cpp::asInsertion(A.Inner.back());
  if (Put) {
    collectParts(Put->value(), Parts);
  } else if (A.How == Accumulation::ViaCall && Call) {
    const cpp::Call C(Call);
    for (const Expr *Arg : C.Args)
      if (torch::mayHoldTensor(Arg->getType()) &&
          (!Flow.rootOf(A.Where) || cpp::rootOf(Arg) != Flow.rootOf(A.Where)))
        collectParts(Arg, Parts);
  } else if (A.Addend) {
    collectParts(A.Addend, Parts);
  } else if (Call) {
    // What an algorithm puts there is what a lambda returns.
    for (const Expr *Arg : Call->arguments())
      if (const auto *Lambda = dyn_cast<LambdaExpr>(cpp::stripImplicit(Arg)))
        cpp::forEach<ReturnStmt>(Lambda->getBody(),
                                 [&](const ReturnStmt *Return) {
                                   if (Return->getRetValue())
                                     collectParts(Return->getRetValue(), Parts);
                                 });
  }
  return llvm::any_of(
             Parts, [&](const Expr *Part) { return isOfOperator(Part, In); }) &&
         llvm::all_of(Parts, [&](const Expr *Part) {
           return isOfOperator(Part, In) || isOther(Part, Leaf, In);
         });
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
