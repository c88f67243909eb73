//===- ModeLeftOff.cpp - Gradient mode without a way back -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Body.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/ProgramNames.h"
#include "analysis/cpp/Text.h"
#include "analysis/cpp/UserCode.h"
#include "analysis/cpp/Walk.h"
#include "analysis/torch/api/OpFacts.h"
#include "checks/guards/IneffectiveGradGuard.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"

using namespace clang;

namespace libtorch_tidy {

using flow::FunctionFlow;
using flow::GradMode;
using flow::Label;

namespace {

class Search {
public:
  explicit Search(flow::UnitModel &Unit) : Unit(Unit) {}

  std::vector<ModeLeftOff> run() {
    Unit.forEachFlow([&](const FunctionFlow &Flow) { addReached(Flow); });
    Unit.forEachFlow([&](const FunctionFlow &Flow) { addLeft(Flow); });
    std::vector<ModeLeftOff> All;
    for (const auto &[By, Found] : Found)
      All.push_back(Found);
    const SourceManager &SM = Unit.context().getSourceManager();
    llvm::sort(All, [&](const ModeLeftOff &A, const ModeLeftOff &B) {
      return SM.isBeforeInTranslationUnit(A.By->getExprLoc(),
                                          B.By->getExprLoc());
    });
    return All;
  }

private:
  static constexpr unsigned MaxDepth = 8;

  /// The flow of the function that \p E calls, if it is one of the unit.
  const FunctionFlow *calleeOf(const Expr *E) {
    const auto Called = cpp::Call::of(E);
    const FunctionDecl *F =
        Called ? cpp::userDefinition(Called->Callee) : nullptr;
    const FunctionFlow *Flow = F ? Unit.flowOf(F) : nullptr;
    return Flow && Flow->available() ? Flow : nullptr;
  }

  /// Does \p S run tensor work, by itself or in what it calls?
  bool works(const Stmt *S) {
    const auto *Call = dyn_cast<CallExpr>(S);
    if (!Call || torch::setsGradMode(Call))
      return false;
    const torch::OpFacts *Facts = torch::opFacts(Call->getDirectCallee());
    return (Facts && !Facts->Metadata) || torch::asModuleCall(Call) ||
           Unit.work().of(Call) != torch::Work::None;
  }

  /// Is \p Flow there to leave the mode off: does no work run after that?
  bool isSetter(const FunctionFlow &Flow) {
    auto [It, New] = Setters.try_emplace(Flow.function(), false);
    if (New) {
      const bool Is = !cpp::Body::of(Flow.function())
                           .paths()
                           .leadsTo(Flow.leftOffBy(),
                                    [&](const Stmt *S) { return works(S); });
      return Setters[Flow.function()] = Is;
    }
    return It->second;
  }

  /// The call that \p By, in \p Flow, is or leads to.
  std::optional<ModeLeftOff> rootOf(const Expr *By, const FunctionFlow &Flow,
                                    unsigned Depth = MaxDepth) {
    const auto *Call = dyn_cast<CallExpr>(By);
    if (Call && torch::setsGradMode(Call))
      return ModeLeftOff{Call, &Flow};
    const FunctionFlow *Callee = Depth ? calleeOf(By) : nullptr;
    if (!Callee || !Callee->leftOffBy())
      return std::nullopt;
    if (!isSetter(*Callee))
      return rootOf(Callee->leftOffBy(), *Callee, Depth - 1);
    return Call ? std::optional(ModeLeftOff{Call, &Flow}) : std::nullopt;
  }

  /// Does \p F, or what it calls, switch gradients on, or set what it was
  /// given, before it has switched them off itself?
  bool switchesOn(const FunctionDecl *F, unsigned Depth = 3) {
    bool Off = false;
    return cpp::anyOf<VarDecl>(F->getBody(),
                               [](const VarDecl *Var) {
                                 return torch::guardOf(Var).value_or(
                                            GradMode::Off) != GradMode::Off;
                               }) ||
           cpp::anyOf<CallExpr>(F->getBody(), [&](const CallExpr *Call) {
             if (const auto Mode = torch::setsGradMode(Call)) {
               Off |= *Mode == GradMode::Off;
               return *Mode != GradMode::Off && !Off;
             }
             const FunctionDecl *Callee =
                 Depth ? cpp::userDefinition(Call->getDirectCallee()) : nullptr;
             return Callee && Callee != F && switchesOn(Callee, Depth - 1);
           });
  }

  bool trains(const FunctionFlow &Flow) {
    return Flow.trains() && !switchesOn(Flow.function());
  }

  /// A forward pass of \p Flow that backward call \p Back goes through, and
  /// that runs with the mode that a call before it has left off; null for none.
  const Expr *passOff(const CallExpr *Back, const FunctionFlow &Flow) {
    bool HasPass = false;
    for (const Label &L : Flow.labels())
      if (L.BackwardAt == Back && L.bringsGraph()) {
        HasPass = true;
        if (Flow.runsOff().count(L.Site))
          return L.Site;
      }
    if (HasPass)
      return nullptr;
    const Expr *By = Flow.runsOff().lookup(Back);
    for (const auto &[Run, Before] : Flow.runsOff()) {
      const auto *Call = dyn_cast<CallExpr>(Run);
      if (Before == By && torch::asModuleCall(Call) &&
          cpp::comesBefore(Call, Back, Unit.context().getSourceManager()) &&
          cpp::Body::of(Flow.function())
              .paths()
              .leadsTo(Call, [&](const Stmt *S) { return S == Back; }))
        return Run;
    }
    return nullptr;
  }

  /// What in \p Flow trains with gradients off.
  void addReached(const FunctionFlow &Flow) {
    for (const auto &[Run, By] : Flow.runsOff()) {
      const auto *Call = dyn_cast<CallExpr>(Run);
      const Expr *Trains = nullptr;
      if (torch::isBackward(Call))
        Trains = passOff(Call, Flow);
      else if (const FunctionFlow *Callee = calleeOf(Run);
               Callee && trains(*Callee))
        Trains = Run;
      const std::optional<ModeLeftOff> Root =
          Trains ? rootOf(By, Flow) : std::nullopt;
      if (!Root)
        continue;
      ModeLeftOff &To = Found.insert({Root->By, *Root}).first->second;
      if (!To.Trains) {
        To.Trains = Trains;
        To.Reached = By == Root->By ? nullptr : By;
      }
    }
  }

  /// May the mode that \p Flow leaves off last after what calls it? Nobody
  /// knows when no caller is in sight.
  bool lasts(const FunctionFlow &Flow, unsigned Depth = MaxDepth) {
    if (Flow.function()->isMain() || !Flow.leftOffBy() || !Depth)
      return false;
    const auto Callers = Unit.callersOf(Flow.function());
    return Callers.empty() ||
           llvm::any_of(Callers, [&](const flow::UnitModel::CallerOf &By) {
             return By.Caller != &Flow && lasts(*By.Caller, Depth - 1);
           });
  }

  /// Is \p F handed on, to a thread or to whoever calls it later?
  bool isHandedOn(const FunctionDecl *F) {
    return llvm::any_of(Unit.functions(), [&](const FunctionDecl *In) {
      return cpp::anyOf<DeclRefExpr>(In->getBody(), [&](const DeclRefExpr *E) {
        const auto *Function = dyn_cast<FunctionDecl>(E->getDecl());
        const auto *Call = dyn_cast_or_null<CallExpr>(
            Function && Function->getCanonicalDecl() == F->getCanonicalDecl()
                ? cpp::Body::of(In).userOf(E)
                : nullptr);
        return Function &&
               Function->getCanonicalDecl() == F->getCanonicalDecl() &&
               !(Call && cpp::stripImplicit(Call->getCallee()) == E);
      });
    });
  }

  /// Why the mode that \p Flow leaves off is not reported where nothing is
  /// seen to train after it; null when it is.
  const Reason *silenceOf(const FunctionFlow &Flow, const CallExpr *By) {
    const FunctionDecl *F = Flow.function();
    const auto *Method = dyn_cast<CXXMethodDecl>(F);
    if (cpp::isTestCase(F))
      return &IneffectiveGradGuard.TestCase;
    if (F->isMain() || isSetter(Flow))
      return &IneffectiveGradGuard.Lasts;
    // What runs it, and how long its thread lives, is not known of a lambda.
    if ((Method && Method->getParent()->isLambda()) || !lasts(Flow) ||
        isHandedOn(F))
      return &IneffectiveGradGuard.CallersRestore;
    bool IsSaved = false, IsSetBack = false, Switches = false, Trains = false;
    cpp::forEachCall(F->getBody(), [&](const CallExpr *Call) {
      IsSaved |= torch::readsGradMode(Call) &&
                 !cpp::declaredBy(cpp::Body::of(F).userOf(Call));
      const auto Mode = torch::setsGradMode(Call);
      IsSetBack |= Call != By && Mode && Mode != GradMode::Off;
    });
    Unit.forEachFlow([&](const FunctionFlow &Other) {
      const auto *Theirs = dyn_cast<CXXMethodDecl>(Other.function());
      // An object may be there to switch the mode for others.
      Trains |= trains(Other) &&
                (!isa<CXXConstructorDecl>(F) ||
                 (Theirs && Theirs->getParent() == Method->getParent()));
      Switches |= &Other != &Flow && !Other.trains() &&
                  switchesOn(Other.function(), /*Depth=*/0);
    });
    return !Trains ? &IneffectiveGradGuard.NothingTrains
           : IsSaved || (Switches && !IsSetBack)
               ? &IneffectiveGradGuard.SwitchedBack
               : nullptr;
  }

  void addLeft(const FunctionFlow &Flow) {
    const std::optional<ModeLeftOff> Root =
        Flow.leftOffBy() ? rootOf(Flow.leftOffBy(), Flow) : std::nullopt;
    if (!Root || Root->In != &Flow || Found.count(Root->By))
      return;
    if (const Reason *Why = silenceOf(Flow, Root->By))
      return silent(Root->By, *Why);
    Found.insert({Root->By, *Root});
  }

  flow::UnitModel &Unit;
  llvm::DenseMap<const FunctionDecl *, bool> Setters;
  llvm::MapVector<const CallExpr *, ModeLeftOff> Found;
};

} // namespace

std::vector<ModeLeftOff> modesLeftOff(flow::UnitModel &Unit) {
  return Search(Unit).run();
}

} // namespace libtorch_tidy
