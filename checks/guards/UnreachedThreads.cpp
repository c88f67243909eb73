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
#include "analysis/torch/autograd/Autograd.h"
#include "analysis/torch/autograd/GradGuards.h"
#include "analysis/torch/modules/Modules.h"
#include "checks/guards/Arbiter.h"
#include "fixits/FixIts.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/StmtOpenMP.h"

using namespace clang;

namespace libtorch_tidy {

/// The guard that is in effect where \p S stands, as far as its own function
/// shows: a variable of a block around it. Null when none is, or when something
/// else switches gradient mode in between.
static const VarDecl *guardOver(const Stmt *S, const cpp::Body &In) {
  const SourceManager &SM = In.context().getSourceManager();
  const VarDecl *Guard = nullptr;
  cpp::forEach<VarDecl>(
      In.root(),
      [&](const VarDecl *Var) {
        const Stmt *Declaration = In.declarationOf(Var);
        if (isa_and_nonnull<DeclStmt>(Declaration) && torch::guardOf(Var) &&
            cpp::comesBefore(Declaration, S, SM) &&
            In.isWithin(S, In.scopeOf(Var)))
          Guard = Var;
      },
      cpp::Lambdas::Skipped);
  return Guard && torch::guardOf(Guard) == torch::GradMode::Off &&
                 torch::isGuardType(Guard->getType()) &&
                 !Guard->isStaticLocal() &&
                 !cpp::anyOf<CallExpr>(In.scopeOf(Guard),
                                       [&](const CallExpr *Call) {
                                         return torch::setsGradMode(Call) &&
                                                cpp::comesBefore(Call, S, SM);
                                       })
             ? Guard
             : nullptr;
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
  To.fix(fixits::insertAtBlockHead(
      Block, guardDeclaration("no_grad_guard", Block), Context));
}

static std::optional<Finding> ofThread(const cpp::ThreadStart &Start,
                                       const VarDecl *Guard,
                                       const cpp::Body &In) {
  flow::UnitModel &Unit = flow::UnitModel::of(In.context());
  const flow::FunctionFlow *Flow = Unit.flowOf(Start.Body);
  if (!Flow || !Flow->available())
    return std::nullopt;
  const auto Forward = flow::unguardedForward(*Flow, Unit);
  const VarDecl *Own =
      !Forward && asksWhy() ? guardIn(Start.Body->getBody()) : nullptr;
  if (Own)
    silent(Start.At, IneffectiveGradGuard.Guarded, Own);
  else if (Forward && Flow->trains())
    silent(Start.At, IneffectiveGradGuard.Trains);
  else if (Forward && freezesModules(In))
    silent(Start.At, IneffectiveGradGuard.Freezes);
  else if (Forward) {
    const bool IsParallel = Start.How == cpp::ThreadStart::Parallel;
    Finding F =
        Finding::at(Start.At)
            .says("guard " + quoted(Guard) +
                  (IsParallel
                       ? " reaches only the part of this range that the "
                         "calling thread takes: in other threads the forward "
                         "pass runs with gradients on"
                       : " does not reach the thread started here: gradient "
                         "mode belongs to a thread, and the forward pass in "
                         "this one runs with gradients on"))
            .note(Guard, "the guard is for this thread")
            .note(Forward->Site ? Forward->Site : Start.At,
                  "the forward pass of the other thread is " +
                      (Forward->Site ? "here" : "at " + Forward->At));
    if (IsParallel)
      F.because(IneffectiveGradGuard.ParallelFor);
    if (Start.Lambda)
      addGuard(F, Start.Lambda->getCompoundStmtBody(), In.context());
    else
      F.because(IneffectiveGradGuard.NamedBody, Start.Body);
    return F;
  }
  return std::nullopt;
}

static std::optional<Finding> ofRegion(const OMPExecutableDirective *Region,
                                       const VarDecl *Guard,
                                       const cpp::Body &In) {
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
  else if (freezesModules(In))
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
    addGuard(F, Block, In.context());
  return F;
}

std::optional<Finding> unreachedThread(const Stmt *S, ASTContext &Context) {
  const auto *Region = dyn_cast<OMPExecutableDirective>(S);
  const std::optional<cpp::ThreadStart> Start =
      Region ? std::nullopt : cpp::asThreadStart(cast<Expr>(S));
  if (Region ? !isOpenMPParallelDirective(Region->getDirectiveKind()) ||
                   isOpenMPTargetExecutionDirective(Region->getDirectiveKind())
             : !Start)
    return std::nullopt;
  const cpp::Body *In = cpp::Body::around(S, Context);
  const VarDecl *Guard = In ? guardOver(S, *In) : nullptr;
  if (!Guard)
    return std::nullopt;
  return Region ? ofRegion(Region, Guard, *In) : ofThread(*Start, Guard, *In);
}

} // namespace libtorch_tidy
