//===- InferenceWithoutNoGradCheck.cpp ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Calls.h"
#include "analysis/cpp/ProgramNames.h"
#include "analysis/cpp/Text.h"
#include "checks/guards/Arbiter.h"
#include "fixits/FixIts.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "llvm/ADT/StringMap.h"

using namespace clang;

namespace libtorch_tidy {

using flow::GradMode;
using flow::Label;
using Scope = Arbiter::Scope;

namespace {

/// The name of \p F, quoted; of a constructor or an operator, that of its
/// class.
std::string readableName(const FunctionDecl *F) {
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  if (F->getLocation().isMacroID() && cpp::isTestCase(F))
    return "a test case"; // A macro made its name.
  if (!Method || Method->getDeclName().isIdentifier())
    return quoted(F);
  return Method->getParent()->isLambda() ? "a lambda"
                                         : quoted(Method->getParent());
}

/// As wide as what \p Unit sees: of a program it is more than a file.
StringRef inSight(const flow::UnitModel &Unit) {
  return Unit.program() ? "in this program " : "in this file ";
}

/// A guard at the head of \p Block, which is in \p F.
void addGuard(Finding &To, const CompoundStmt *Block, const FunctionDecl *F) {
  To.fix(fixits::insertAtBlockHead(
      Block, guardDeclaration("no_grad", F->getBody()), F->getASTContext()));
}

/// \p Where: as inSight() says, or empty. \p IsUntrained: nobody trains the
/// module, and others are trained.
std::string messageFor(StringRef Runs, const FunctionDecl *In, StringRef Where,
                       bool IsUntrained = false) {
  const std::string Head = ("inference without NoGradGuard: " + Runs + " in " +
                            readableName(In) + " and records an autograd graph")
                               .str();
  if (IsUntrained)
    return (llvm::Twine(Head) + ", although nothing " + Where +
            "trains its parameters; its activations stay in memory until "
            "backward() has made gradients that nothing reads; give it a block "
            "of its own, with a guard")
        .str();
  return (llvm::Twine(Head) + " that nothing " + Where +
          "back-propagates; its activations stay in memory as long as the "
          "result does")
      .str();
}

/// What keeps the results of the forward passes of \p S from one iteration to
/// the next.
void addCollectors(Finding &To, const Scope &S) {
  for (const auto &[Key, A] : S.Flow->accumulations()) {
    flow::LabelSet Added = A.Added.allLabels();
    if (A.Mode == GradMode::On && !A.Bounded && A.Loop &&
        !S.Flow->appliesLayers(A) &&
        llvm::any_of(S.Forwards, [&](const Label *L) {
          return Added.test(L - S.Flow->labels().begin());
        }))
      To.member({A.Site->getExprLoc(),
                 quoted(S.Flow->nameOf(A.Where)) +
                     " keeps the autograd graph of every iteration here"});
  }
}

/// The last guard that is ended before the first pass of \p S, in its scope.
void addEnded(Finding &To, const Scope &S) {
  const Expr *First = S.Forwards.front()->Site, *Last = nullptr;
  cpp::Body &In = cpp::Body::of(S.Flow->function());
  const SourceManager &SM = In.context().getSourceManager();
  for (const Expr *E : S.Flow->endedGuards())
    if (cpp::comesBefore(E, First, SM) &&
        In.isWithin(First, In.scopeOf(torch::guardChange(E)->Of)) &&
        (!Last || cpp::comesBefore(Last, E, SM)))
      Last = E;
  if (Last)
    To.note(Last, torch::guardChange(Last)->Begins
                      ? "the guard that this replaces ends after the new one "
                        "has begun, and switches gradients on again"
                      : "the guard ends here");
}

/// What keeps one of the results of \p S after the function returned.
void addKeepers(Finding &To, const Scope &S) {
  for (const Label &L : S.Flow->labels())
    if (L.K == Label::Carry && cpp::isAssignment(dyn_cast<CallExpr>(L.Site)) &&
        S.Flow->outlivesFunction(L.Where) && S.Flow->fieldOf(L.Where) &&
        !S.Flow->accumulations().count({L.Site, L.Where}) &&
        llvm::any_of(S.Forwards, [&](const Label *Pass) {
          return L.Assigned.test(Pass - S.Flow->labels().begin());
        }))
      To.member({L.Site->getExprLoc(),
                 quoted(S.Flow->nameOf(L.Where)) +
                     " keeps the result and its graph from here on"});
}

/// Says why \p S has no guard.
void addWhyNot(Finding &To, const Scope &S, flow::UnitModel &Unit) {
  const Expr *Pass = S.Forwards.front()->Site;
  const auto *Block =
      cpp::Body::of(S.Flow->function()).around<CompoundStmt>(Pass);
  const Expr *Needs =
      Block ? flow::needsHistory(Block, *S.Flow, Unit) : nullptr;
  if (!Needs) {
    if (const Expr *By = Block ? S.Flow->switchedAfter(Block) : nullptr)
      To.note(By,
              "no fix: this may leave another gradient mode, and the end of a "
              "guard would undo that");
    return;
  }
  const auto *Call = dyn_cast<CallExpr>(Needs);
  const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
  To.note(Needs, "no fix: a guard would also cover this, " +
                     (!flow::isUnseen(Needs, Unit) ? "which needs gradients"
                      : Callee ? "and what " + readableName(Callee) +
                                     " does is not in sight"
                               : "and what that runs is not in sight"));
}

/// docs/checks/libtorch-inference-without-no-grad.md says what it finds and
/// why.
class InferenceWithoutNoGradCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;

private:
  void checkUnit(flow::UnitModel &Unit) override {
    std::vector<Scope> Found =
        Arbiter::decided(Unit, /*PassesAreReported=*/true).scopes();
    llvm::erase_if(Found, [](const Scope &S) {
      const bool IsCovered = flow::isCoveredByMain(S.Flow->function());
      if (IsCovered)
        silent(S.Forwards.front()->Site, InferenceWithoutNoGrad.InMain);
      return IsCovered;
    });
    if (Unit.program() && !Unit.program()->CoversInMain.empty()) {
      auto InMain = std::stable_partition(
          Found.begin(), Found.end(), [&](const Scope &S) {
            return !S.Guardable ||
                   flow::neighbourhoodOf(S.Guardable, *S.Flow, Unit) !=
                       Unit.scan().Main->getBody();
          });
      reportMain({&*InMain, size_t(Found.end() - InMain)}, Unit);
      Found.erase(InMain, Found.end());
    }
    for (auto &Scopes : Arbiter::grouped(Found, Unit))
      reportScopes(Scopes);
  }

  void reportScopes(llvm::ArrayRef<Scope> Scopes) {
    const Scope &Leads = Scopes.front();
    const Label &First = *Leads.Forwards.front();
    Finding F = Finding::at(First.Site)
                    .because(Leads.Why)
                    .says(messageFor(
                        Arbiter::runs(First), Leads.Flow->function(),
                        Leads.ToPredict || Leads.IsKept ? inSight(unit()) : "",
                        Leads.IsUntrained));
    if (Leads.ToPredict && Leads.ToPredict->Shown)
      F.note(*Leads.ToPredict->Shown);
    // A last call that is optimized leaves no frame of its caller.
    if (Scopes.size() == 1 && Leads.Forwards.size() == 1 &&
        !cpp::Body::of(Leads.Flow->function()).around<ReturnStmt>(First.Site))
      F.Runs = First.Site->getSourceRange();
    const SourceLocation Useless = Arbiter::of(context()).uselessBefore(
        First.Site, Leads.Flow->function());
    if (Useless.isValid())
      F.note(Useless, "this guard ends before it");
    addEnded(F, Leads);
    for (const Scope &S : Scopes) {
      for (const Label *L : S.Forwards)
        if (L != &First)
          F.member(originStep(*L));
        else if (!L->From.empty()) // Otherwise the warning says it.
          F.note(originStep(*L));
      addCollectors(F, S);
      addKeepers(F, S);
      if (S.Guardable)
        addGuard(F, S.Guardable, S.Flow->function());
      else if (S.GuardFrom)
        F.fix(fixits::insertBeforeStatement(
            S.GuardFrom,
            guardDeclaration("no_grad", S.Flow->function()->getBody()),
            context()));
    }
    if (F.Fix.empty()) {
      F.because(InferenceWithoutNoGrad.NoBlock);
      addWhyNot(F, Leads, unit());
    }
    report(F);
  }

  /// What one guard in main covers: a pass, or a call of a function with some.
  struct SiteInMain {
    SourceRange Range;
    std::string Runs;
    Step Shown;
    Level Strength;
    bool IsCall = false;
  };

  /// Reports all that one guard in main covers: its own \p Scopes, and those of
  /// functions that it calls. What a NOLINT comment accepts stands for nothing
  /// else.
  void reportMain(llvm::MutableArrayRef<Scope> Scopes, flow::UnitModel &Unit) {
    const FunctionDecl *Main = Unit.scan().Main;
    const SourceManager &SM = context().getSourceManager();
    std::vector<SiteInMain> Sites;
    sortBySource(Scopes, SM);
    for (const Scope &S : Scopes)
      for (const Label *L : S.Forwards)
        Sites.push_back({L->Site->getSourceRange(), Arbiter::runs(*L),
                         originStep(*L), S.strength()});
    llvm::StringMap<flow::CallSite> Calls;
    for (const flow::CallSite &Call : flow::callsIn(Main, Unit))
      if (Call.Mode == GradMode::On)
        Calls.try_emplace(cpp::usrOf(Call.Callee), Call);
    for (const auto &[Callee, Forward] : Unit.program()->CoversInMain) {
      auto It = Calls.find(Callee);
      if (It == Calls.end())
        continue; // The guard is there: this tries the fix.
      const flow::CallSite &Call = It->second;
      Sites.push_back(
          {Call.Call->getSourceRange(),
           readableName(Call.Callee) + " runs a module",
           Step{Call.Call->getExprLoc(),
                "this leads to " + Forward.At + ", where " + Forward.Runs},
           Level(Forward.Strength), /*IsCall=*/true});
    }
    llvm::stable_sort(Sites, [&](const SiteInMain &A, const SiteInMain &B) {
      return SM.isBeforeInTranslationUnit(A.Shown.Loc, B.Shown.Loc);
    });
    const auto Open = std::stable_partition(
        Sites.begin(), Sites.end(), [&](const SiteInMain &S) {
          return isSuppressed(Arbiter::ReportsPasses, S.Shown.Loc, context());
        });
    for (auto Accepted = Sites.begin(); Accepted != Open; ++Accepted)
      reportInMain(*Accepted, Scopes, Main);
    if (Open != Sites.end())
      reportInMain(llvm::MutableArrayRef(&*Open, Sites.end() - Open), Scopes,
                   Main);
  }

  /// Reports \p Sites as one.
  void reportInMain(llvm::MutableArrayRef<SiteInMain> Sites,
                    llvm::ArrayRef<Scope> Scopes, const FunctionDecl *Main) {
    Level Strength = Level::Advisory;
    for (const SiteInMain &S : Sites)
      Strength = std::min(Strength, S.Strength);
    const SiteInMain &First = Sites.front();
    Finding F = Finding::at(First.Shown.Loc, First.Range)
                    .level(Strength)
                    .because(InferenceWithoutNoGrad.NothingTrains)
                    .says(messageFor(First.Runs, Main, "in this program "))
                    .note(First.Shown.Loc,
                          "nothing in this program back-propagates, makes an "
                          "optimizer or trains a module: one guard covers all "
                          "of these");
    // The strongest of them is weak.
    if (Strength == Level::Advisory && !Scopes.empty())
      F.because(Scopes.front().Why);
    for (SiteInMain &S : Sites)
      if (&S != &Sites.front())
        F.member(std::move(S.Shown));
      else if (S.IsCall)
        F.note(std::move(S.Shown));
    addGuard(F, cast<CompoundStmt>(Main->getBody()), Main);
    report(F);
  }
};

} // namespace

LIBTORCH_CHECK(InferenceWithoutNoGradCheck, InferenceWithoutNoGrad);

} // namespace libtorch_tidy
