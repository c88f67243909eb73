//===- Sharing.cpp - Whose memory somebody else may hold ------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/flow/memory/Sharing.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Walk.h"
#include "analysis/cpp/Writes.h"
#include "analysis/flow/memory/Memory.h"
#include "analysis/torch/api/Effects.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/storage/Sharing.h"
#include "analysis/torch/storage/Storage.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::flow {

using namespace cpp;

namespace {

/// OpenCV's functions use the pixels and let go of them.
bool isInCv(const Decl *D) {
  for (const DeclContext *DC = D->getDeclContext(); DC; DC = DC->getParent())
    if (const auto *NS = dyn_cast<NamespaceDecl>(DC);
        NS && NS->getIdentifier() && NS->getName() == "cv")
      return true;
  return false;
}

/// Variables whose memory may be held elsewhere, too, so that it need not die
/// with them.
class SharingFinder {
public:
  SharingFinder(const ASTContext &Context, MemorySummaries Callees)
      : Context(Context), Callees(Callees) {}

  /// A tensor or cv::Mat that is copied to somewhere: the copies share.
  llvm::DenseMap<const VarDecl *, unsigned> Copied;
  /// A container that is moved, swapped, released or returned.
  llvm::DenseSet<const VarDecl *> Leaves;
  /// A tensor that an operator takes: backward may keep it.
  llvm::DenseSet<const VarDecl *> Operands;

  void lookAt(const FunctionDecl *F) {
    if (const auto *Ctor = dyn_cast<CXXConstructorDecl>(F))
      for (const CXXCtorInitializer *Init : Ctor->inits())
        lookAt(Init->getInit());
    lookAt(F->getBody());
  }

private:
  void lookAt(const Stmt *Body) {
    forEach<VarDecl>(Body, [&](const VarDecl *Var) {
      if (Var->hasInit())
        sink(Var->getInit(), Var->getType(), Var);
    });
    forEach<Stmt>(Body, [&](const Stmt *S) {
      if (const auto *Call = dyn_cast<CallExpr>(S))
        visit(Call);
      else if (const auto *Construct = dyn_cast<CXXConstructExpr>(S))
        visit(Construct);
      else if (const auto *Lambda = dyn_cast<LambdaExpr>(S))
        visit(Lambda);
      else if (const auto *Return = dyn_cast<ReturnStmt>(S))
        visit(Return);
      else if (const auto *Op = dyn_cast<BinaryOperator>(S))
        visit(Op);
    });
  }

  void visit(const LambdaExpr *Lambda) {
    for (const LambdaCapture &Capture : Lambda->captures())
      if (Capture.capturesVariable())
        if (const auto *Var = dyn_cast<VarDecl>(Capture.getCapturedVar())) {
          ++Copied[Var];
          Leaves.insert(Var);
        }
  }

  void visit(const ReturnStmt *Return) {
    if (const Expr *Value = Return->getRetValue()) {
      sink(Value, Value->getType(), nullptr);
      if (const VarDecl *Var =
              dyn_cast_or_null<VarDecl>(rootOf(valueOf(Value))))
        Leaves.insert(Var);
    }
  }

  void visit(const BinaryOperator *Op) {
    if (Op->getOpcode() == BO_Assign)
      sink(Op->getRHS(), Op->getRHS()->getType(),
           dyn_cast_or_null<VarDecl>(rootOf(Op->getLHS())));
  }

  void visit(const CallExpr *Call) {
    const FunctionDecl *Callee = Call->getDirectCallee();
    if (isStdCall(Call, Std::Move | Std::Swap | Std::Exchange | Std::Refer)) {
      for (const Expr *Arg : Call->arguments())
        leave(Arg);
      return;
    }
    if (isStdCall(Call, Std::Forward | Std::Part))
      return;
    if (const auto *Member = dyn_cast<CXXMemberCallExpr>(Call))
      if (does(Call, Std::Swap | Std::Release)) {
        leave(Member->getImplicitObjectArgument());
        for (const Expr *Arg : Call->arguments())
          leave(Arg);
      }
    if (const auto *Op = dyn_cast<CXXOperatorCallExpr>(Call);
        Op && Op->getOperator() == OO_Equal && Op->getNumArgs() == 2) {
      // `t[i] = x` copies the elements.
      if (!torch::isTensor(Op->getArg(0)->getType()) ||
          Op->getArg(0)->isLValue())
        sink(Op->getArg(1), Op->getArg(0)->getType(),
             dyn_cast_or_null<VarDecl>(rootOf(Op->getArg(0))));
      return;
    }
    // Operators use their tensors and let go of them, but for backward.
    const auto *Member = dyn_cast<CXXMemberCallExpr>(Call);
    if (torch::storageUse(Call, {}, Context).How != torch::Sharing::Unknown) {
      for (const Expr *Arg : Call->arguments())
        Operands.insert(torch::memoryRoot(Arg, Context));
      if (Member)
        Operands.insert(
            torch::memoryRoot(Member->getImplicitObjectArgument(), Context));
      return;
    }
    // Printing, comparing, asking for a property.
    if (Callee && torch::isTorchDecl(Callee) && !torch::keepsArguments(Call) &&
        !torch::mayHoldTensor(Call->getType()) &&
        (!Member || torch::isTensor(Member->getObjectType())))
      return;
    if (Callee && isInCv(Callee))
      return;
    // The object of a member operator is not passed on: `planes[0]`.
    unsigned First =
        isa<CXXOperatorCallExpr>(Call) && isa_and_nonnull<CXXMethodDecl>(Callee)
            ? 1
            : 0;
    const MemorySummary *Known = summaryOf(Callee);
    for (unsigned I = First; I < Call->getNumArgs(); ++I) {
      const unsigned Param = I - First;
      if (!Known || Param >= Callee->getNumParams() ||
          Known->Keeps.count(Param))
        sink(Call->getArg(I), Call->getArg(I)->getType(), nullptr);
      else if (Known->Operands.count(Param))
        Operands.insert(torch::memoryRoot(Call->getArg(I), Context));
    }
  }

  void visit(const CXXConstructExpr *Construct) {
    QualType T = Construct->getType();
    // Copies are judged by where they go.
    if (torch::isTensor(T) || torch::isArrayRef(T) ||
        Construct->getConstructor()->isCopyOrMoveConstructor() ||
        isInCv(Construct->getConstructor()))
      return;
    for (const Expr *Arg : Construct->arguments()) {
      sink(Arg, Arg->getType(), nullptr);
      for (const Expr *Element : cpp::listElements(Arg))
        sink(Element, Element->getType(), nullptr);
    }
  }

  /// Of a function that surely is the one that runs.
  const MemorySummary *summaryOf(const FunctionDecl *Callee) const {
    const auto *Method = dyn_cast_or_null<CXXMethodDecl>(Callee);
    if (!Callee || !Callees || (Method && Method->isVirtual()))
      return nullptr;
    const MemorySummary *Known = Callees(Callee);
    return Known && Known->available() ? Known : nullptr;
  }
  void leave(const Expr *E) {
    if (const auto *Var = dyn_cast_or_null<VarDecl>(rootOf(E))) {
      Leaves.insert(Var);
      ++Copied[Var];
    }
  }

  /// \p E goes to a place of type \p To, the variable \p Into if known.
  void sink(const Expr *E, QualType To, const VarDecl *Into) {
    if (torch::mayHoldTensor(To) && torch::mayHoldTensor(E->getType()))
      if (const VarDecl *Root = torch::memoryRoot(E, Context);
          Root && Root != Into)
        ++Copied[Root];
    // cv::Mat by value, and references that may be copied later.
    const Expr *Value = valueOf(E);
    if (holdsMat(To) && holdsMat(Value->getType()))
      if (const auto *Root = dyn_cast_or_null<VarDecl>(rootOf(Value));
          Root && Root != Into)
        ++Copied[Root];
  }

  const ASTContext &Context;
  MemorySummaries Callees;
};

} // namespace

Sharing::Sharing(const FunctionDecl *F, const ASTContext &Context,
                 MemorySummaries Callees) {
  if (!F)
    return;
  SharingFinder Found(Context, Callees);
  Found.lookAt(F);
  Copied = std::move(Found.Copied);
  Leaves = std::move(Found.Leaves);
  Operands = std::move(Found.Operands);
}

} // namespace libtorch_tidy::flow
