//===- InferenceWithoutNoGradCheck.cpp ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Calls.h"
#include "analysis/cpp/ProgramNames.h"
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
  return Method && !Method->getDeclName().isIdentifier()
             ? quoted(Method->getParent())
             : quoted(F);
}

/// Sorts \p Scopes by where their first forward passes stand.
void sortBySource(llvm::MutableArrayRef<Scope> Scopes,
                  const SourceManager &SM) {
  llvm::sort(Scopes, [&](const Scope &A, const Scope &B) {
    return SM.isBeforeInTranslationUnit(A.Forwards.front()->Site->getExprLoc(),
                                        B.Forwards.front()->Site->getExprLoc());
  });
}

/// A guard at the head of \p Block, which is in \p F.
void addGuard(Finding &To, const CompoundStmt *Block, const FunctionDecl *F) {
  To.fix(fixits::insertAtBlockHead(
      Block, guardDeclaration("no_grad", F->getBody()), F->getASTContext()));
}

std::string messageFor(StringRef Runs, const FunctionDecl *In,
                       StringRef Where) {
  const auto *Method = dyn_cast<CXXMethodDecl>(In);
  return (Runs + " with gradient mode on in " +
          (Method && Method->getParent()->isLambda() ? "a lambda"
                                                     : quoted(In)) +
          ", but nothing " + Where +
          "back-propagates the result; its activations are kept as long as "
          "the result lives")
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
      To.note(A.Site, quoted(S.Flow->nameOf(A.Where)) +
                          " keeps the history of every iteration here");
  }
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
    // What one reader would guard at once is one finding.
    using Key = std::tuple<const void *, Level, bool>;
    llvm::MapVector<Key, llvm::SmallVector<Scope, 1>, std::map<Key, unsigned>>
        Findings;
    for (Scope &S : Found) {
      const void *Place = S.Forwards.front();
      if (S.Guardable)
        Place = flow::neighbourhoodOf(S.Guardable, *S.Flow, Unit,
                                      /*UpToMain=*/S.Tries != nullptr);
      Findings[{Place, S.strength(), S.IsKept}].push_back(std::move(S));
    }
    for (auto &[Place, Scopes] : Findings)
      reportScopes(Scopes);
  }

  void reportScopes(llvm::MutableArrayRef<Scope> Scopes) {
    sortBySource(Scopes, context().getSourceManager());
    const Scope &Leads = Scopes.front();
    const Label &First = *Leads.Forwards.front();
    Finding F =
        Finding::at(First.Site)
            .because(Leads.Why)
            .says(messageFor(Arbiter::runs(First), Leads.Flow->function(),
                             !Leads.ToPredict && !Leads.IsKept ? ""
                             : Arbiter::isClosed(unit()) ? "in this program "
                                                         : "in this file "));
    if (Leads.ToPredict && Leads.ToPredict->Shown)
      F.note(*Leads.ToPredict->Shown);
    for (const Scope &S : Scopes) {
      for (const Label *L : S.Forwards)
        F.note(originStep(*L));
      addCollectors(F, S);
      if (S.Guardable)
        addGuard(F, S.Guardable, S.Flow->function());
    }
    if (F.Fix.empty())
      F.because(InferenceWithoutNoGrad.NoBlock);
    report(F);
  }

  /// Reports all that one guard in main covers: its own \p Scopes, and those of
  /// functions that it calls.
  void reportMain(llvm::MutableArrayRef<Scope> Scopes, flow::UnitModel &Unit) {
    const FunctionDecl *Main = Unit.scan().Main;
    const SourceManager &SM = context().getSourceManager();
    struct Site {
      SourceRange Range;
      std::string Runs;
      Step Shown;
    };
    std::vector<Site> Sites;
    Level Strength = Level::Advisory;
    sortBySource(Scopes, SM);
    for (const Scope &S : Scopes) {
      Strength = std::min(Strength, S.strength());
      for (const Label *L : S.Forwards)
        Sites.push_back(
            {L->Site->getSourceRange(), Arbiter::runs(*L), originStep(*L)});
    }
    llvm::StringMap<flow::CallSite> Calls;
    for (const flow::CallSite &Call : flow::callsIn(Main, Unit))
      if (Call.Mode == GradMode::On)
        Calls.try_emplace(cpp::usrOf(Call.Callee), Call);
    for (const auto &[Callee, Forward] : Unit.program()->CoversInMain) {
      auto It = Calls.find(Callee);
      if (It == Calls.end())
        continue; // The guard is there: this tries the fix.
      const flow::CallSite &Call = It->second;
      Strength = std::min(Strength, Level(Forward.Strength));
      Sites.push_back(
          {Call.Call->getSourceRange(),
           readableName(Call.Callee) + " runs a module",
           Step{Call.Call->getExprLoc(),
                "this leads to " + Forward.At + ", where " + Forward.Runs}});
    }
    if (Sites.empty())
      return;
    llvm::stable_sort(Sites, [&](const Site &A, const Site &B) {
      return SM.isBeforeInTranslationUnit(A.Shown.Loc, B.Shown.Loc);
    });
    const Site &First = Sites.front();
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
    for (Site &S : Sites)
      F.note(std::move(S.Shown));
    addGuard(F, cast<CompoundStmt>(Main->getBody()), Main);
    report(F);
  }
};

} // namespace

LIBTORCH_CHECK(InferenceWithoutNoGradCheck, InferenceWithoutNoGrad);

} // namespace libtorch_tidy
