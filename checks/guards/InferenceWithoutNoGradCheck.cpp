//===- InferenceWithoutNoGradCheck.cpp ------------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/cpp/Calls.h"
#include "analysis/cpp/ProgramNames.h"
#include "analysis/torch/api/TorchTypes.h"
#include "checks/base/LibtorchCheck.h"
#include "checks/guards/Arbiter.h"
#include "fixits/FixIts.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "llvm/ADT/StringMap.h"

using namespace clang;

namespace libtorch_tidy {

using flow::GradMode;
using flow::Label;
using Scope = UnguardedPasses::Scope;

namespace {

/// docs/checks/libtorch-inference-without-no-grad.md says what it finds and
/// why.
class InferenceWithoutNoGradCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;

protected:
  void checkUnit(flow::UnitModel &Unit) override;

private:
  void reportScopes(llvm::MutableArrayRef<Scope> Scopes, ASTContext &Context);
  void reportMain(llvm::MutableArrayRef<Scope> Scopes, flow::UnitModel &Unit);
};

} // namespace

void InferenceWithoutNoGradCheck::checkUnit(flow::UnitModel &Unit) {
  std::vector<Scope> Found =
      Arbiter::decided(Unit, /*PassesAreReported=*/true).scopes();
  llvm::erase_if(Found, [](const Scope &S) {
    const bool IsCovered = flow::isCoveredByMain(S.Flow->function());
    if (IsCovered)
      silent(S.Forwards.front()->Site, InferenceWithoutNoGrad.InMain);
    return IsCovered;
  });
  if (Unit.program() && !Unit.program()->CoversInMain.empty()) {
    auto InMain =
        std::stable_partition(Found.begin(), Found.end(), [&](const Scope &S) {
          return !S.Guardable ||
                 flow::neighbourhoodOf(S.Guardable, *S.Flow, Unit) !=
                     Unit.scan().Main->getBody();
        });
    reportMain({&*InMain, size_t(Found.end() - InMain)}, Unit);
    Found.erase(InMain, Found.end());
  }
  // What one reader would guard at once is one finding.
  std::map<std::tuple<const Stmt *, Level, bool>, unsigned> Known;
  std::vector<llvm::SmallVector<Scope, 1>> Findings;
  for (Scope &S : Found) {
    if (S.Guardable) {
      auto [It, New] = Known.try_emplace(
          {flow::neighbourhoodOf(S.Guardable, *S.Flow, Unit,
                                 /*UpToMain=*/S.Tries != nullptr),
           S.strength(), S.IsKept},
          Findings.size());
      if (!New) {
        Findings[It->second].push_back(std::move(S));
        continue;
      }
    }
    Findings.emplace_back().push_back(std::move(S));
  }
  for (auto &Scopes : Findings)
    reportScopes(Scopes, Unit.context());
}

static std::string placeOf(const FunctionDecl *F) {
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  return Method && Method->getParent()->isLambda() ? "a lambda" : quoted(F);
}

/// Sorts what \p Scopes have, and them, by where they stand.
static void sortBySource(llvm::MutableArrayRef<Scope> Scopes,
                         const SourceManager &SM) {
  llvm::sort(Scopes, [&](const Scope &A, const Scope &B) {
    return SM.isBeforeInTranslationUnit(A.Forwards.front()->Site->getExprLoc(),
                                        B.Forwards.front()->Site->getExprLoc());
  });
}

/// A guard at the head of \p Block, which is in \p F.
static void addGuard(Finding &To, const CompoundStmt *Block,
                     const FunctionDecl *F) {
  const std::string Name = fixits::freeName("no_grad", F->getBody());
  To.fix(fixits::insertAtBlockHead(
      Block, (torch::spelling::NoGradGuard + " " + Name + ";").str(),
      F->getASTContext()));
}

static std::string messageFor(StringRef Runs, const FunctionDecl *In,
                              StringRef Where) {
  return (Runs + " with gradient mode on in " + placeOf(In) + ", but nothing " +
          Where +
          "back-propagates the result; its activations are kept as long as "
          "the result lives")
      .str();
}

/// What keeps the results of the forward passes of \p S from one iteration to
/// the next.
static void addCollectors(Finding &To, const Scope &S) {
  auto IsFrom = [&](const flow::LabelSet &Added) {
    for (flow::LabelId Id : Added)
      if (llvm::is_contained(S.Forwards, &S.Flow->label(Id)))
        return true;
    return false;
  };
  for (const auto &[Key, A] : S.Flow->accumulations()) {
    if (A.Mode != GradMode::On || A.Bounded || !A.Loop ||
        S.Flow->appliesLayers(A) || !IsFrom(A.Added.allLabels()))
      continue;
    To.note(A.Site, quoted(S.Flow->nameOf(A.Where)) +
                        " keeps the history of every iteration here");
  }
}

void InferenceWithoutNoGradCheck::reportScopes(
    llvm::MutableArrayRef<Scope> Scopes, ASTContext &Context) {
  sortBySource(Scopes, Context.getSourceManager());
  const Scope &Leads = Scopes.front();
  const Label &First = *Leads.Forwards.front();
  Finding F = Finding::at(First.Site)
                  .because(Leads.Why)
                  .says(messageFor(
                      UnguardedPasses::runs(First), Leads.Flow->function(),
                      !Leads.ToPredict && !Leads.IsKept   ? ""
                      : UnguardedPasses::isClosed(unit()) ? "in this program "
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

/// The name of \p F, quoted; of a constructor or an operator, that of its
/// class.
static std::string readableName(const FunctionDecl *F) {
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  return Method && !Method->getDeclName().isIdentifier()
             ? quoted(Method->getParent())
             : quoted(F);
}

/// The finding for all that one guard in main covers: its own \p Scopes, and
/// those of functions that it calls.
void InferenceWithoutNoGradCheck::reportMain(
    llvm::MutableArrayRef<Scope> Scopes, flow::UnitModel &Unit) {
  const FunctionDecl *Main = Unit.scan().Main;
  const SourceManager &SM = Unit.context().getSourceManager();
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
      Sites.push_back({L->Site->getSourceRange(), UnguardedPasses::runs(*L),
                       originStep(*L)});
  }
  llvm::StringMap<const flow::CallSite *> Calls;
  const std::vector<flow::CallSite> All = flow::callsIn(Main, Unit);
  for (const flow::CallSite &Call : All)
    if (Call.Mode == GradMode::On)
      Calls.try_emplace(cpp::usrOf(Call.Callee), &Call);
  for (const auto &[Callee, Forward] : Unit.program()->CoversInMain) {
    const flow::CallSite *Site = Calls.lookup(Callee);
    if (!Site)
      continue; // The guard is there: this tries the fix.
    Strength = std::min(Strength, Level(Forward.Strength));
    Sites.push_back(
        {Site->Call->getSourceRange(),
         readableName(Site->Callee) + " runs a module",
         Step{Site->Call->getExprLoc(),
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
                        "optimizer or trains a module: one guard covers all of "
                        "these");
  // The strongest of them is weak.
  if (Strength == Level::Advisory && !Scopes.empty())
    F.because(Scopes.front().Why);
  for (Site &S : Sites)
    F.note(std::move(S.Shown));
  addGuard(F, cast<CompoundStmt>(Main->getBody()), Main);
  report(F);
}

LIBTORCH_CHECK(InferenceWithoutNoGradCheck, InferenceWithoutNoGrad);

} // namespace libtorch_tidy
