//===- UnreachedThreads.cpp - Threads that a guard does not reach ---------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/guards/UnreachedThreads.h"
#include "analysis/cpp/Body.h"
#include "analysis/cpp/Callables.h"
#include "analysis/cpp/Walk.h"
#include "analysis/flow/unit/UnitModel.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Autograd.h"
#include "analysis/torch/autograd/GradGuards.h"
#include "analysis/torch/modules/Modules.h"
#include "fixits/FixIts.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/StmtOpenMP.h"

using namespace clang;

namespace libtorch_tidy {

/// The guard that is in effect where \p S stands, as far as its own function
/// shows: a variable of a block around it. Null when none is, or when something
/// else switches gradient mode in between.
static const VarDecl *guardOver(const Stmt *S, const cpp::Body &In) {
  const Stmt *Child = S;
  while (const Stmt *Parent = In.parentOf(Child)) {
    if (const auto *Block = dyn_cast<CompoundStmt>(Parent)) {
      const VarDecl *Last = nullptr;
      for (const Stmt *Before : Block->body()) {
        if (Before == Child)
          break;
        if (cpp::anyOf<CallExpr>(Before, [](const CallExpr *Call) {
              return torch::setsGradMode(Call).has_value();
            }))
          return nullptr;
        if (const auto *Declaration = dyn_cast<DeclStmt>(Before))
          for (const Decl *D : Declaration->decls())
            if (const auto *Var = dyn_cast<VarDecl>(D);
                Var && torch::guardOf(Var))
              Last = Var;
      }
      if (Last)
        return torch::guardOf(Last) == torch::GradMode::Off &&
                       torch::isGuardType(Last->getType()) &&
                       !Last->isStaticLocal()
                   ? Last
                   : nullptr;
    }
    Child = Parent;
  }
  return nullptr;
}

/// Are some parameters of function \p In frozen? Then a forward need not build
/// a graph.
static bool freezesModules(const cpp::Body &In) {
  return cpp::anyOf<CallExpr>(In.root(), [](const CallExpr *Call) {
    return torch::isFreezeCall(Call) ||
           torch::setsRequiresGrad(Call) == torch::Flag::False;
  });
}

/// The first guard that \p Body declares; null for none.
static const VarDecl *guardIn(const Stmt *Body) {
  return cpp::findFirst<VarDecl>(
      Body, [](const VarDecl *Var) { return torch::guardOf(Var).has_value(); },
      cpp::Lambdas::Skipped);
}

static void addGuard(Finding &To, const CompoundStmt *Block,
                     const ASTContext &Context) {
  To.fix(
      fixits::insertAtBlockHead(Block,
                                (torch::spelling::NoGradGuard + " " +
                                 fixits::freeName("no_grad_guard", Block) + ";")
                                    .str(),
                                Context));
}

static Finding worded(const cpp::ThreadStart &Start, const VarDecl *Guard,
                      const flow::UnguardedForward &Forward,
                      const ASTContext &Context) {
  const bool IsParallel = Start.How == cpp::ThreadStart::Parallel;
  Finding F =
      Finding::at(Start.At)
          .says("guard " + quoted(Guard) +
                (IsParallel
                     ? " reaches only the part of this range that the calling "
                       "thread takes: in other threads the forward pass runs "
                       "with gradients on"
                     : " does not reach the thread started here: gradient mode "
                       "belongs to a thread, and the forward pass in this one "
                       "runs with gradients on"))
          .note(Guard, "the guard is for this thread");
  if (IsParallel)
    F.because(IneffectiveGradGuard.ParallelFor);
  if (Forward.Site)
    F.note(Forward.Site, "the forward pass of the other thread is here");
  else
    F.note(Start.At,
           "the forward pass of the other thread is at " + Forward.At);
  if (!Start.Lambda)
    return F.because(IneffectiveGradGuard.NamedBody, Start.Body);
  addGuard(F, Start.Lambda->getCompoundStmtBody(), Context);
  return F;
}

std::optional<Finding> unreachedThread(const Expr *E, ASTContext &Context) {
  std::optional<cpp::ThreadStart> Start = cpp::asThreadStart(E);
  if (!Start)
    return std::nullopt;
  const cpp::Body *In = cpp::Body::around(E, Context);
  const VarDecl *Guard = In ? guardOver(E, *In) : nullptr;
  if (!Guard)
    return std::nullopt;
  flow::UnitModel &Unit = flow::UnitModel::of(Context);
  const flow::FunctionFlow *Flow = Unit.flowOf(Start->Body);
  if (!Flow || !Flow->available())
    return std::nullopt;
  const std::optional<flow::UnguardedForward> Forward =
      flow::unguardedForward(*Flow, Unit);
  if (Forward && Flow->trains())
    silent(E, IneffectiveGradGuard.Trains);
  else if (Forward && freezesModules(*In))
    silent(E, IneffectiveGradGuard.Freezes);
  else if (Forward)
    return worded(*Start, Guard, *Forward, Context);
  else if (asksWhy() && guardIn(Start->Body->getBody()))
    silent(E, IneffectiveGradGuard.Guarded, guardIn(Start->Body->getBody()));
  return std::nullopt;
}

std::optional<Finding> unreachedThread(const OMPExecutableDirective *Region,
                                       ASTContext &Context) {
  if (!isOpenMPParallelDirective(Region->getDirectiveKind()) ||
      isOpenMPTargetExecutionDirective(Region->getDirectiveKind()))
    return std::nullopt;
  const cpp::Body *In = cpp::Body::around(Region, Context);
  const VarDecl *Guard = In ? guardOver(Region, *In) : nullptr;
  if (!Guard)
    return std::nullopt;
  // The flow of the function takes the region for its own thread's code, and
  // so for guarded: a guard of the region's own must be looked for by hand.
  const Stmt *Body = Region->getInnermostCapturedStmt()->getCapturedStmt();
  auto FirstCall = [&](llvm::function_ref<bool(const CallExpr *)> IsGoal) {
    return cpp::findFirst<CallExpr>(Body, IsGoal, cpp::Lambdas::Skipped);
  };
  const CallExpr *Forward = FirstCall([](const CallExpr *Call) {
    std::optional<torch::ModuleCall> M = torch::asModuleCall(Call);
    return M && M->Module &&
           (M->Script || torch::parametersOf(M->Module->getType()) ==
                             torch::Parameters::Some);
  });
  if (!Forward)
    return std::nullopt;
  const SourceLocation At = Region->getBeginLoc();
  const Reason *Silence = nullptr;
  if (guardIn(Body) || FirstCall([](const CallExpr *Call) {
        return torch::setsGradMode(Call).has_value();
      }))
    Silence = &IneffectiveGradGuard.Guarded;
  else if (FirstCall(torch::isBackward))
    Silence = &IneffectiveGradGuard.Trains;
  else if (freezesModules(*In))
    Silence = &IneffectiveGradGuard.Freezes;
  if (Silence) {
    silent(At, *Silence);
    return std::nullopt;
  }
  Finding F =
      Finding::at(At)
          .says("guard " + quoted(Guard) +
                " does not reach the other threads of this parallel region: "
                "gradient mode belongs to a thread, and their forward pass "
                "runs with gradients on")
          .note(Guard, "the guard is for this thread")
          .note(Forward, "all threads run the forward pass here");
  // The statement that each thread runs: the region, or the body of its loop.
  if (isa<ForStmt, CXXForRangeStmt>(Body))
    Body = cpp::bodyOf(Body);
  if (const auto *Block = dyn_cast<CompoundStmt>(Body))
    addGuard(F, Block, Context);
  return F;
}

} // namespace libtorch_tidy
