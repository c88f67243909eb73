//===- Sharing.cpp - Whose memory somebody else may hold ------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/flow/memory/Sharing.h"
#include "analysis/cpp/Call.h"
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

  void visit(const CallExpr *E) {
    using F = SharingFinder;
    static const CallRule<F, Done> Rules[] = {
        {ofStd(Std::Move | Std::Swap | Std::Exchange | Std::Refer),
         &F::leaveArguments},
        {ofStd(Std::Forward | Std::Part), &F::nothing},
        {givesUp, &F::leaveObject},
        {cpp::isAssignment, &F::assigned},
        {&F::isOperator, &F::operate},
        {onlyLooks, &F::nothing},
        {anyCall, &F::passed},
    };
    firstOf(Rules, *this, Call(E));
  }

  static bool givesUp(const Call &C) {
    return isa<CXXMemberCallExpr>(C.E) && C.does(Std::Swap | Std::Release);
  }
  bool isOperator(const Call &C) {
    return torch::storageUse(C.expr(), {}, Context).How !=
           torch::Sharing::Unknown;
  }
  /// Printing, comparing, asking for a property.
  static bool onlyLooks(const Call &C) {
    const auto *Member = dyn_cast<CXXMemberCallExpr>(C.E);
    return (C.Of == Whose::Library && !torch::keepsArguments(C.expr()) &&
            !torch::mayHoldTensor(C.E->getType()) &&
            (!Member || torch::isTensor(Member->getObjectType()))) ||
           (C.Callee && isInCv(C.Callee));
  }

  Done nothing(const Call &) { return {}; }
  Done leaveArguments(const Call &C) {
    for (const Expr *Arg : C.expr()->arguments())
      leave(Arg);
    return {};
  }
  void leaveObject(const Call &C) {
    leave(C.Object);
    leaveArguments(C);
  }
  /// `t[i] = x` copies the elements.
  Done assigned(const Call &C) {
    const Expr *To = C.expr()->getArg(0);
    if (!torch::isTensor(To->getType()) || To->isLValue())
      sink(C.expr()->getArg(1), To->getType(),
           dyn_cast_or_null<VarDecl>(rootOf(To)));
    return {};
  }
  /// Operators use their tensors and let go of them, but for backward.
  Done operate(const Call &C) {
    for (const Expr *Arg : C.expr()->arguments())
      Operands.insert(torch::memoryRoot(Arg, Context));
    if (isa<CXXMemberCallExpr>(C.E))
      Operands.insert(torch::memoryRoot(C.Object, Context));
    return {};
  }
  Done passed(const Call &C) {
    const MemorySummary *Known = summaryOf(C.Callee);
    for (unsigned I = 0; I < C.Args.size(); ++I) {
      const Expr *Arg = C.Args[I];
      if (!Known || I >= C.Callee->getNumParams() || Known->Keeps.count(I))
        sink(Arg, Arg->getType(), nullptr);
      else if (Known->Operands.count(I))
        Operands.insert(torch::memoryRoot(Arg, Context));
    }
    return {};
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
