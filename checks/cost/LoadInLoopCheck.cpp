//===- LoadInLoopCheck.cpp ------------------------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/cpp/Body.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Loops.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Tests.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/Walk.h"
#include "analysis/cpp/Writes.h"
#include "analysis/flow/unit/Callers.h"
#include "analysis/flow/unit/UnitModel.h"
#include "analysis/torch/api/Conventions.h"
#include "analysis/torch/api/Factories.h"
#include "analysis/torch/modules/Modules.h"
#include "checks/base/LibtorchCheck.h"
#include "clang/AST/ASTContext.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace libtorch_tidy {

namespace {

/// docs/checks/libtorch-load-in-loop.md says what it finds and why.
class LoadInLoopCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;

private:
  void checkUnit(flow::UnitModel &Unit) override;
  using Arguments = llvm::ArrayRef<const Expr *>;
  void checkLoad(const Expr *Load, Arguments From, cpp::Body &In,
                 flow::UnitModel &Unit);
  void reportLoad(const Expr *Load, const VarDecl *Model, const Stmt *Loop,
                  const CallExpr *Through);
  void reportEachCall(const Expr *Load, const VarDecl *Model,
                      const FunctionDecl *F);
  void checkMoves(cpp::Body &In, flow::UnitModel &Unit);
};

/// Does \p Call run in each round of \p Loop, of which there may be many?
bool runsEachRound(const Expr *Call, const Stmt *Loop, const cpp::Body &In) {
  const Stmt *Rounds = cpp::bodyOf(Loop);
  if (cpp::runsFewTimes(Loop, In.context()) || !In.isWithin(Call, Rounds))
    return false;
  for (const Stmt *S = In.parentOf(Call); S && S != Loop; S = In.parentOf(S))
    if (!isa<CompoundStmt, DeclStmt, Expr>(S) ||
        isa<LambdaExpr, AbstractConditionalOperator>(S))
      return false;
  // for (;;) { ...; return x; }
  return llvm::none_of(Rounds->children(), [](const Stmt *S) {
    return isa_and_nonnull<BreakStmt, ReturnStmt>(S);
  });
}

/// Are \p Arguments the same each time \p Within runs: constants, names that
/// nothing in \p Within changes?
bool isSameEachTime(llvm::ArrayRef<const Expr *> Arguments, const Stmt *Within,
                    cpp::Body &In) {
  const SourceManager &SM = In.context().getSourceManager();
  auto Changes = [&](const ValueDecl *D) {
    return cpp::isWithin(D->getLocation(), Within, SM) ||
           llvm::any_of(In.writesTo(D), [&](const cpp::Write &W) {
             return In.isWithin(W.Where, Within);
           });
  };
  return llvm::none_of(Arguments, [&](const Expr *Argument) {
    return cpp::anyOf<Expr>(Argument, [&](const Expr *E) {
      if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
        const auto *Var = dyn_cast<VarDecl>(Ref->getDecl());
        return Var &&
               ((isa<ParmVarDecl>(Var) && Within == In.root()) || Changes(Var));
      }
      if (const auto *Member = dyn_cast<MemberExpr>(E)) {
        const auto *Field = dyn_cast<FieldDecl>(Member->getMemberDecl());
        return Field && Changes(Field);
      }
      const auto *Inner = dyn_cast<CallExpr>(E);
      return Inner && !cpp::isStdDecl(Inner->getDirectCallee());
    });
  });
}

/// Is \p Model set up and run, and nothing else: nobody keeps it, changes it or
/// measures how long that takes?
bool isOnlyRun(const VarDecl *Model, const cpp::Body &In) {
  bool Runs = false, Other = false;
  cpp::forEach<DeclRefExpr>(In.root(), [&](const DeclRefExpr *Ref) {
    if (Ref->getDecl() != Model)
      return;
    const CallExpr *User = In.callOn(Ref);
    if (!User || cpp::receiverOf(User) != Ref) {
      Other = true;
      return;
    }
    const CallExpr *Method = In.callOn(User); // model.get_method("f")(x)
    if (torch::asModuleCall(User) || (Method && torch::asModuleCall(Method)))
      Runs = true;
    else // model.eval();
      Other |= isa_and_nonnull<Expr, DeclStmt>(In.userOf(User));
  });
  return Runs && !Other && !cpp::readsClock(In.root());
}

/// The local variable that is given what \p Load loads, and nothing else.
const VarDecl *holderOf(const Expr *Load, cpp::Body &In) {
  const Stmt *User = In.userOf(Load);
  if (const VarDecl *Var = cpp::declaredBy(User))
    return !Var->isStaticLocal() ? Var : nullptr;
  // Module model; try { model = torch::jit::load(file); } ...
  const auto *Assignment = dyn_cast_or_null<CXXOperatorCallExpr>(User);
  const auto *Ref =
      Assignment && Assignment->isAssignmentOp()
          ? dyn_cast<DeclRefExpr>(cpp::peel(Assignment->getArg(0)))
          : nullptr;
  const auto *Var = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  if (!Var || isa<ParmVarDecl>(Var) || !In.isOwn(Var))
    return nullptr;
  // A method may change it, but nothing else gives it a module.
  unsigned Given = llvm::count_if(In.writesTo(Var), [](const cpp::Write &W) {
    return W.Kind == cpp::WriteKind::Assigned;
  });
  return Given == 1 ? Var : nullptr;
}

/// Is \p F called for one piece of data after the other, as far as the unit
/// shows: it is given something, and no single call stands outside of loops?
bool isCalledAgain(const FunctionDecl *F, const cpp::Body &In,
                   const flow::UnitModel &Unit) {
  if (F->isMain() || cpp::isTestCase(F) || isa<CXXConstructorDecl>(F) ||
      flow::callsOf(F, Unit).size() == 1)
    return false;
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  if (Method && Method->getParent()->isLambda())
    return false;
  return llvm::any_of(F->parameters(), [&](const ParmVarDecl *P) {
    return cpp::mentions(In.root(), P);
  });
}

/// A module that is moved to a device, run there and moved back to the CPU.
struct RoundTrip {
  cpp::Object Module;
  const CallExpr *There = nullptr, *Run = nullptr, *Back = nullptr;
};

/// The only one of the function. Where several modules are moved, one may make
/// room for the other; a module that is saved is wanted on the CPU; and one
/// that runs many times in between was worth the way.
std::optional<RoundTrip> roundTripIn(const cpp::Body &In) {
  std::optional<RoundTrip> Trip;
  bool IsOther = false;
  cpp::forEachCall(In.root(), [&](const CallExpr *Call) {
    IsOther |= cpp::calleeName(Call) == "save";
    if (auto Move = torch::asModuleMove(Call)) {
      auto Module = cpp::objectOf(Move->Module, In.root());
      if (!Trip && Module && !Module->isThis() && !Move->ToCpu)
        Trip = RoundTrip{*Module, Call};
      else if (Trip && !Trip->Back && Module == Trip->Module && Move->ToCpu)
        Trip->Back = Call;
      else
        IsOther = true;
    } else if (auto Run = torch::asModuleCall(Call); Run && Run->Module) {
      if (!Trip || Trip->Back ||
          !(cpp::objectOf(Run->Module, In.root()) == Trip->Module))
        return;
      Trip->Run = Call;
      IsOther |= In.loopAround(Call) != In.loopAround(Trip->There);
    }
  });
  if (!Trip || IsOther || !Trip->Run || !Trip->Back ||
      !isa_and_nonnull<CompoundStmt>(In.outerOf(Trip->There)) ||
      In.outerOf(Trip->There) != In.outerOf(Trip->Back))
    return std::nullopt;
  return Trip;
}

} // namespace

void LoadInLoopCheck::checkUnit(flow::UnitModel &Unit) {
  for (const FunctionDecl *F : Unit.functions()) {
    cpp::Body &In = cpp::Body::of(F);
    checkMoves(In, Unit);
    cpp::forEach<Expr>(
        In.root(),
        [&](const Expr *E) {
          const auto *Call = dyn_cast<CallExpr>(E);
          if (!Call && !isa<CXXConstructExpr>(E))
            return;
          if (Call && torch::loadsModule(Call) &&
              torch::isScriptModule(Call->getType()))
            checkLoad(E, {Call->getArgs(), Call->getNumArgs()}, In, Unit);
          else if (Arguments From = torch::loadsCompiledModel(E); !From.empty())
            checkLoad(E, From, In, Unit);
        },
        cpp::Lambdas::Made);
  }
}

void LoadInLoopCheck::checkLoad(const Expr *Load, Arguments From, cpp::Body &In,
                                flow::UnitModel &Unit) {
  const VarDecl *Model = holderOf(Load, In);
  if (!Model || !isOnlyRun(Model, In))
    return;
  if (const Stmt *Loop = In.loopAround(Load)) {
    if (runsEachRound(Load, Loop, In) && isSameEachTime(From, Loop, In))
      reportLoad(Load, Model, Loop, /*Through=*/nullptr);
    return;
  }
  if (!isSameEachTime(From, In.root(), In))
    return;
  for (const flow::WrittenCall &C : flow::callsOf(In.function(), Unit)) {
    const cpp::Body &Caller = cpp::Body::of(C.In);
    const Stmt *Loop = Caller.loopAround(C.Call);
    if (Loop && runsEachRound(C.Call, Loop, Caller))
      return reportLoad(Load, Model, Loop, C.Call);
  }
  bool IsConditional = In.around<IfStmt>(Load) || In.around<SwitchStmt>(Load);
  if (!IsConditional && isCalledAgain(In.function(), In, Unit))
    reportEachCall(Load, Model, In.function());
}

void LoadInLoopCheck::reportLoad(const Expr *Load, const VarDecl *Model,
                                 const Stmt *Loop, const CallExpr *Through) {
  Finding F;
  F.Loc = Load->Stmt::getBeginLoc();
  F.Highlight = Load->getSourceRange();
  F.Message = "'" + Model->getNameAsString() +
              "' is loaded from the same file in each iteration, and all its "
              "parameters are allocated anew; load it once";
  F.Steps.push_back({Loop->getBeginLoc(), Through
                                              ? "this loop runs it again"
                                              : "load it before this loop"});
  if (Through)
    F.Steps.push_back({Through->Stmt::getBeginLoc(),
                       "'" + Through->getDirectCallee()->getNameAsString() +
                           "' is called here, and loads it each time"});
  report(F);
}

void LoadInLoopCheck::reportEachCall(const Expr *Load, const VarDecl *Model,
                                     const FunctionDecl *F) {
  Finding Found;
  Found.Loc = Load->Stmt::getBeginLoc();
  Found.Highlight = Load->getSourceRange();
  Found.Strength = Level::Advisory;
  Found.Message = "'" + Model->getNameAsString() +
                  "' is loaded from the same file by each call of '" +
                  F->getNameAsString() +
                  "', and all its parameters are allocated anew; load it once "
                  "and keep it";
  report(Found);
}

void LoadInLoopCheck::checkMoves(cpp::Body &In, flow::UnitModel &Unit) {
  std::optional<RoundTrip> Trip = roundTripIn(In);
  if (!Trip || cpp::readsClock(In.root()))
    return;
  const auto *Root = dyn_cast_or_null<VarDecl>(Trip->Module.Root);
  bool IsLocal = Root && !isa<ParmVarDecl>(Root) && Root->hasLocalStorage();
  const Stmt *Loop = In.loopAround(Trip->There);
  if (Loop ? !runsEachRound(Trip->There, Loop, In) ||
                 (IsLocal && In.isWithin(In.scopeOf(Root), Loop))
           : IsLocal || !isCalledAgain(In.function(), In, Unit))
    return;
  const std::string Name = "'" + Trip->Module.name() + "'";
  Finding F;
  F.Loc = Trip->There->Stmt::getBeginLoc();
  F.Highlight = Trip->There->getSourceRange();
  F.Strength = Level::Advisory;
  F.Message =
      Name + " is moved to a device and back to the CPU " +
      (Loop ? "in each iteration"
            : "by each call of '" + In.function()->getNameAsString() + "'") +
      ", and all its parameters are allocated and copied each time; move it "
      "once and keep it there";
  F.Steps.push_back({Trip->Run->Stmt::getBeginLoc(), "it is run here"});
  F.Steps.push_back(
      {Trip->Back->Stmt::getBeginLoc(), "it is moved back to the CPU here"});
  report(F);
}

LIBTORCH_CHECK(LoadInLoopCheck, NoReasons);

} // namespace libtorch_tidy
