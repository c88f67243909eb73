//===- LoadInLoopCheck.cpp ------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Body.h"
#include "analysis/cpp/Callables.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Loops.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Text.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/Walk.h"
#include "analysis/cpp/Writes.h"
#include "analysis/flow/unit/UnitModel.h"
#include "analysis/torch/api/Factories.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/modules/Modules.h"
#include "checks/base/LibtorchCheck.h"
#include "clang/AST/ASTContext.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace clang;

namespace libtorch_tidy {

namespace {

constexpr struct LoadInLoopReasons {
  Reason EachCall{"each-call", Effect::Advice,
                  "No loop of this file repeats the load: it is in a function "
                  "that gets data and is called in several places, or in none "
                  "of this file, so that each call loads the model."};
  Reason Moved{"moved-back", Effect::Advice,
               "The model is not loaded, but moved to a device, run there, and "
               "moved back to the CPU."};
  Reason OtherUse{"used-otherwise", Effect::Silent,
                  "The model is kept, passed on or changed: one for each "
                  "thread or device."};
  Reason Timed{"timed-code", Effect::Silent,
               "The function reads a clock before it and after it, and uses "
               "what it read before: it is measured."};
  Reason FewRounds{"few-rounds", Effect::Silent,
                   "The loop runs a constant number of times, four at most."};
  Reason Conditional{"under-condition", Effect::Silent,
                     "It is under a condition (the file has changed), or in a "
                     "`try` block of a loop (until it is there)."};
  Reason LeavesLoop{"leaves-loop", Effect::Silent,
                    "The loop is left at the end of its first round."};
  Reason OtherFile{"other-file", Effect::Silent,
                   "It is another file each time, one that a function of yours "
                   "names, or a stream."};
  Reason CalledOnce{"called-once", Effect::Silent,
                    "The function is `main`, a constructor, a lambda or a test "
                    "case, reads no argument, or is called in one place "
                    "outside of loops."};
  Reason OtherMoved{"other-module-moved", Effect::Silent,
                    "The function moves several modules, of which one may make "
                    "room for the other, saves one, or runs it in a loop "
                    "between the moves."};
} LoadInLoop{};

/// docs/checks/libtorch-load-in-loop.md says what it finds and why.
class LoadInLoopCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;

private:
  void checkUnit(flow::UnitModel &Unit) override;
};

/// Does \p Call run each time that \p Within does, a loop or the whole body of
/// the function: is it under no condition, and in no try block?
bool runsEachTime(const Expr *Call, const Stmt *Within, const cpp::Body &In) {
  for (const Stmt *S = In.parentOf(Call); S && S != Within; S = In.parentOf(S))
    if (!isa<CompoundStmt, DeclStmt, ReturnStmt, Expr>(S) ||
        isa<LambdaExpr, AbstractConditionalOperator>(S))
      return false;
  return true;
}

/// Why \p Call does not run in each of many rounds of \p Loop; null when it
/// does.
const Reason *whyNotEachRound(const Expr *Call, const Stmt *Loop,
                              const cpp::Body &In) {
  const Stmt *Rounds = cpp::roundsOf(Loop);
  if (cpp::runsFewTimes(Loop, In.context()))
    return &LoadInLoop.FewRounds;
  if (!In.isWithin(Call, Rounds) || !runsEachTime(Call, Loop, In) ||
      (cpp::isLoop(Loop) && In.around<ReturnStmt>(Call)))
    return &LoadInLoop.Conditional;
  // for (;;) { ...; return x; }
  for (const Stmt *S : Rounds->children())
    if (cpp::isLoop(Loop) && isa_and_nonnull<BreakStmt, ReturnStmt>(S))
      return &LoadInLoop.LeavesLoop;
  return nullptr;
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
      const ValueDecl *D = nullptr;
      if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
        D = dyn_cast<VarDecl>(Ref->getDecl());
      else if (const auto *Member = dyn_cast<MemberExpr>(E))
        D = dyn_cast<FieldDecl>(Member->getMemberDecl());
      if (D)
        return (isa<ParmVarDecl>(D) && Within == In.root()) || Changes(D);
      const auto *Inner = dyn_cast<CallExpr>(E);
      return Inner && !cpp::isStdDecl(Inner->getDirectCallee());
    });
  });
}

/// Is \p Model, which \p Load loads, run? \p Other is set to a use that neither
/// does that nor sets it up.
bool isRun(const VarDecl *Model, const Expr *Load, const cpp::Body &In,
           const DeclRefExpr *&Other) {
  bool Runs = false;
  cpp::forEach<DeclRefExpr>(In.root(), [&](const DeclRefExpr *Ref) {
    if (Ref->getDecl() != Model || In.isWithin(Ref, Load))
      return;
    const CallExpr *User = In.callOn(Ref);
    if (User && cpp::Call(User).op() == OO_Arrow)
      User = In.callOn(User);
    const bool IsMethod = User && cpp::receiverOf(User) == Ref;
    const CallExpr *Method = IsMethod ? In.callOn(User) : nullptr;
    // model.get_method("f")(x)
    if (IsMethod &&
        (torch::asModuleCall(User) || (Method && torch::asModuleCall(Method))))
      Runs = true;
    else if (!IsMethod || isa_and_nonnull<Expr, DeclStmt>(In.userOf(User)))
      Other = Ref; // Not model.eval();
  });
  return Runs;
}

/// The module that \p Call, a torch::load(module, file), fills; null for
/// others.
const Expr *filledBy(const CallExpr *Call) {
  return Call && torch::loadsModule(Call) && Call->getNumArgs() > 1 &&
                 torch::isModule(Call->getArg(0)->getType())
             ? cpp::stripPointers(Call->getArg(0))
             : nullptr;
}

/// The local variable that is given what \p Load loads, and nothing else.
const VarDecl *holderOf(const Expr *Load, cpp::Body &In) {
  if (const Expr *Filled = filledBy(dyn_cast<CallExpr>(Load))) {
    const VarDecl *Var = cpp::variableOf(Filled);
    return Var && !isa<ParmVarDecl>(Var) && !Var->isStaticLocal() &&
                   In.isOwn(Var)
               ? Var
               : nullptr;
  }
  const Stmt *User = In.userOf(Load);
  if (const VarDecl *Var = cpp::declaredBy(User))
    return !Var->isStaticLocal() ? Var : nullptr;
  // Module model; try { model = torch::jit::load(file); } ...
  const auto *Assignment = dyn_cast_or_null<CallExpr>(User);
  const VarDecl *Var = cpp::isAssignment(Assignment)
                           ? cpp::variableOf(Assignment->getArg(0))
                           : nullptr;
  if (!Var || isa<ParmVarDecl>(Var) || !In.isOwn(Var))
    return nullptr;
  // A method may change it, but nothing else gives it a module.
  unsigned Given = llvm::count_if(In.writesTo(Var), [](const cpp::Write &W) {
    return W.Kind == cpp::WriteKind::Assigned;
  });
  return Given == 1 ? Var : nullptr;
}

bool isTimed(const Expr *E, const cpp::Body &In) {
  return cpp::isTimed(E, In.root(), In.context().getSourceManager());
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

using Arguments = llvm::ArrayRef<const Expr *>;

/// A loop, and the calls that lead from it to a function: one in the loop, one
/// in the function that it calls, and so on.
struct LoopingCalls {
  const Stmt *Loop = nullptr; ///< Null for none.
  llvm::SmallVector<const CallExpr *, 2> Way = {};
};

/// The first loop of the unit that runs \p F in each of many rounds, through
/// any number of calls that are under no condition.
LoopingCalls loopCalling(const FunctionDecl *F, const flow::UnitModel &Unit,
                         llvm::SmallPtrSetImpl<const FunctionDecl *> &Seen) {
  if (!Seen.insert(F->getCanonicalDecl()).second)
    return {};
  const auto Calls = flow::callsOf(F, Unit);
  for (const flow::WrittenCall &C : Calls) {
    const cpp::Body &Caller = cpp::Body::of(C.In);
    const Stmt *Loop = Caller.loopAround(C.Call);
    if (Loop && !whyNotEachRound(C.Call, Loop, Caller))
      return {Loop, {C.Call}};
  }
  for (const flow::WrittenCall &C : Calls) {
    const cpp::Body &Caller = cpp::Body::of(C.In);
    if (Caller.loopAround(C.Call) ||
        !runsEachTime(C.Call, Caller.root(), Caller))
      continue;
    LoopingCalls Found = loopCalling(C.In, Unit, Seen);
    if (!Found.Loop)
      continue;
    Found.Way.push_back(C.Call);
    return Found;
  }
  return {};
}

/// Is a member that the file's name \p From is made of set in \p Loop, or in a
/// function that leads from there to the load?
bool isSetOnTheWay(llvm::ArrayRef<const Expr *> From,
                   const LoopingCalls &Through, ASTContext &Context) {
  llvm::SmallVector<const Stmt *, 4> Around = {Through.Loop};
  for (const CallExpr *Call : llvm::ArrayRef(Through.Way).drop_front())
    Around.push_back(cpp::Body::around(Call, Context)->root());
  return llvm::any_of(From, [&](const Expr *Name) {
    return cpp::anyOf<MemberExpr>(Name, [&](const MemberExpr *Part) {
      auto IsSet = [&](const CallExpr *Call) {
        const auto *To =
            cpp::isAssignment(Call)
                ? dyn_cast<MemberExpr>(Call->getArg(0)->IgnoreParenImpCasts())
                : nullptr;
        return To && To->getMemberDecl() == Part->getMemberDecl();
      };
      return llvm::any_of(Around, [&](const Stmt *S) {
        return cpp::anyOf<CallExpr>(S, IsSet);
      });
    });
  });
}

/// A model that is loaded again and again.
struct RepeatedLoad {
  const Expr *Load;
  const VarDecl *Model;
  const FunctionDecl *In;
  LoopingCalls Through; ///< No loop: each call of In loads it. No calls: In has
                        ///< the loop.
};

/// None where \p Load loads no model that the function runs.
std::optional<RepeatedLoad> decide(const Expr *Load, Arguments From,
                                   cpp::Body &In, flow::UnitModel &Unit) {
  const VarDecl *Model = holderOf(Load, In);
  const DeclRefExpr *Other = nullptr;
  if (!Model || !isRun(Model, Load, In, Other))
    return std::nullopt;
  const Stmt *Loop = In.loopAround(Load);
  // torch::load() of one that is there before resets it, perhaps on purpose.
  if (Loop && filledBy(dyn_cast<CallExpr>(Load)) &&
      !In.isWithin(In.scopeOf(Model), Loop))
    return std::nullopt;
  RepeatedLoad Result = {Load, Model, In.function(), {Loop}};
  const Reason *Why = Other               ? &LoadInLoop.OtherUse
                      : isTimed(Load, In) ? &LoadInLoop.Timed
                      : Loop              ? whyNotEachRound(Load, Loop, In)
                                          : nullptr;
  if (!Why && !isSameEachTime(From, Loop ? Loop : In.root(), In))
    Why = &LoadInLoop.OtherFile;
  if (!Why && !Loop && runsEachTime(Load, In.root(), In)) {
    llvm::SmallPtrSet<const FunctionDecl *, 8> Seen;
    Result.Through = loopCalling(In.function(), Unit, Seen);
    if (Result.Through.Loop &&
        isSetOnTheWay(From, Result.Through, In.context()))
      Why = &LoadInLoop.OtherFile;
  }
  if (!Why && !Result.Through.Loop)
    Why = In.around<IfStmt>(Load) || In.around<SwitchStmt>(Load)
              ? &LoadInLoop.Conditional
          : !isCalledAgain(In.function(), In, Unit) ? &LoadInLoop.CalledOnce
                                                    : nullptr;
  if (!Why)
    return Result;
  silent(Load->Stmt::getBeginLoc(), *Why, "",
         Other ? Other->getLocation() : SourceLocation());
  return std::nullopt;
}

Finding worded(const RepeatedLoad &L) {
  const auto &[Loop, Way] = L.Through;
  Finding F = Finding::from(L.Load).says(
      "repeated loading: " + quoted(L.Model) +
      " is loaded from the same file " +
      (Loop ? "in each iteration" : "by each call of " + quoted(L.In)) +
      ", and all its parameters are allocated again; load it once" +
      (Loop ? "" : " and keep it"));
  if (!Loop)
    return F.because(LoadInLoop.EachCall, L.In);
  const FunctionDecl *Around = Way.empty() ? L.In : nullptr;
  F.note(Around ? cpp::startOf(Loop, cpp::Body::of(Around))
                : Loop->getBeginLoc(),
         Way.empty() ? "load it before this loop" : "this loop runs it again");
  for (const CallExpr *Call : Way)
    F.note(Call->Stmt::getBeginLoc(),
           quoted(Call->getDirectCallee()) +
               (Call == Way.back() ? " is called here, and loads it each time"
                                   : " is called here"));
  return F;
}

/// A module that is moved to a device, run there and moved back to the CPU.
struct RoundTrip {
  cpp::Object Module;
  const FunctionDecl *In;
  const Stmt *Loop; ///< Around it, or null.
  const CallExpr *There;
  const CallExpr *Run = nullptr, *Back = nullptr;
};

/// The first round trip of the function, of a module that outlives the loop or
/// the function. Not where it is not the only one: where several modules are
/// moved, one may make room for the other; a module that is saved is wanted on
/// the CPU; and one that runs many times in between was worth the way.
std::optional<RoundTrip> decide(cpp::Body &In, flow::UnitModel &Unit) {
  std::optional<RoundTrip> Trip;
  bool IsOther = false;
  cpp::forEachCall(In.root(), [&](const CallExpr *Call) {
    IsOther |= cpp::calleeName(Call) == "save";
    if (auto Move = torch::asModuleMove(Call)) {
      auto Module = cpp::objectOf(Move->Module, In.root());
      if (!Trip && Module && !Module->isThis() && !Move->ToCpu)
        Trip = RoundTrip{*Module, In.function(), In.loopAround(Call), Call};
      else if (Trip && !Trip->Back && Module == Trip->Module && Move->ToCpu)
        Trip->Back = Call;
      else
        IsOther = true;
    } else if (auto Run = torch::asModuleCall(Call); Run && Run->Module) {
      if (!Trip || Trip->Back ||
          !(cpp::objectOf(Run->Module, In.root()) == Trip->Module))
        return;
      Trip->Run = Call;
      IsOther |= In.loopAround(Call) != Trip->Loop;
    }
  });
  if (!Trip || !Trip->Run || !Trip->Back)
    return std::nullopt;
  const auto *Root = dyn_cast_or_null<VarDecl>(Trip->Module.Root);
  if (Root && !isa<ParmVarDecl>(Root) && Root->hasLocalStorage() &&
      (!Trip->Loop || In.isWithin(In.scopeOf(Root), Trip->Loop)))
    return std::nullopt;
  const Stmt *Block = In.outerOf(Trip->There);
  const Reason *Why =
      IsOther ? &LoadInLoop.OtherMoved
      : !isa_and_nonnull<CompoundStmt>(Block) || Block != In.outerOf(Trip->Back)
          ? &LoadInLoop.Conditional
      : isTimed(Trip->Run, In) ? &LoadInLoop.Timed
      : Trip->Loop             ? whyNotEachRound(Trip->There, Trip->Loop, In)
      : isCalledAgain(In.function(), In, Unit) ? nullptr
                                               : &LoadInLoop.CalledOnce;
  if (!Why)
    return Trip;
  silent(Trip->There->Stmt::getBeginLoc(), *Why);
  return std::nullopt;
}

Finding worded(const RoundTrip &Trip) {
  return Finding::from(Trip.There)
      .because(LoadInLoop.Moved)
      .says("repeated copying: " + quoted(Trip.Module.name()) +
            " is moved to a device and back to the CPU " +
            (Trip.Loop ? "in each iteration"
                       : "by each call of " + quoted(Trip.In)) +
            ", and all its parameters are allocated and copied each time; move "
            "it once and keep it there")
      .note(Trip.Run->Stmt::getBeginLoc(), "it is run here")
      .note(Trip.Back->Stmt::getBeginLoc(), "it is moved back to the CPU here");
}

} // namespace

void LoadInLoopCheck::checkUnit(flow::UnitModel &Unit) {
  for (const FunctionDecl *F : Unit.functions()) {
    cpp::Body &In = cpp::Body::of(F);
    if (auto Trip = decide(In, Unit))
      report(worded(*Trip));
    cpp::forEach<Expr>(
        In.root(),
        [&](const Expr *E) {
          const auto *Call = dyn_cast<CallExpr>(E);
          if (!Call && !isa<CXXConstructExpr>(E))
            return;
          const bool Fills = filledBy(Call);
          const Arguments From =
              Fills || (Call && torch::loadsModule(Call) &&
                        torch::isScriptModule(Call->getType()))
                  ? Arguments(Call->getArgs(), Call->getNumArgs())
                        .drop_front(Fills)
                  : torch::loadsCompiledModel(E);
          if (!From.empty())
            if (auto Load = decide(E, From, In, Unit))
              report(worded(*Load));
        },
        cpp::Lambdas::Made);
  }
}

LIBTORCH_CHECK(LoadInLoopCheck, LoadInLoop);

} // namespace libtorch_tidy
