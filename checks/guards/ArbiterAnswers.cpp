//===- ArbiterAnswers.cpp - What was decided about passes ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Compat.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/ProgramNames.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Text.h"
#include "analysis/cpp/UnitContext.h"
#include "analysis/cpp/Walk.h"
#include "analysis/torch/api/OpFacts.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/GradGuards.h"
#include "analysis/torch/modules/Kept.h"
#include "analysis/torch/modules/Modules.h"
#include "checks/guards/Arbiter.h"
#include "fixits/FixIts.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <utility>

using namespace clang;

namespace libtorch_tidy {

using flow::FunctionFlow;
using flow::GradMode;
using flow::Label;

std::string Arbiter::runs(const Label &L) {
  const std::string Module = torch::calledModule(L.Site);
  if (!Module.empty())
    return quoted(Module) + " runs";
  const auto *Call = dyn_cast<CallExpr>(L.Site);
  llvm::StringRef Helper =
      L.K == Label::Helper && Call ? cpp::calleeName(Call) : "";
  // A lambda, function object or pointer goes by the name of its variable.
  if (const Expr *Object = Call ? cpp::calledOn(Call) : nullptr;
      L.K == Label::Helper && Call && Helper.empty())
    Helper = cpp::nameOf(cpp::variableOf(
        cpp::stripPointers(Object ? Object : Call->getCallee())));
  return Helper.empty() ? "a module runs" : quoted(Helper) + " runs a module";
}

void sortBySource(llvm::MutableArrayRef<Arbiter::Scope> Scopes,
                  const SourceManager &SM) {
  llvm::sort(Scopes, [&](const Arbiter::Scope &A, const Arbiter::Scope &B) {
    return SM.isBeforeInTranslationUnit(A.Forwards.front()->Site->getExprLoc(),
                                        B.Forwards.front()->Site->getExprLoc());
  });
}

std::vector<llvm::SmallVector<Arbiter::Scope, 1>>
Arbiter::grouped(llvm::ArrayRef<Scope> Scopes, flow::UnitModel &Unit) {
  using Key = std::tuple<const void *, Level, bool>;
  llvm::MapVector<Key, llvm::SmallVector<Scope, 1>, std::map<Key, unsigned>>
      ByPlace;
  for (const Scope &S : Scopes) {
    const void *Place = S.Forwards.front();
    if (S.Guardable)
      Place = flow::neighbourhoodOf(S.Guardable, *S.Flow, Unit,
                                    /*UpToMain=*/S.Tries != nullptr);
    ByPlace[{Place, S.strength(), S.IsKept}].push_back(S);
  }
  std::vector<llvm::SmallVector<Scope, 1>> Result;
  for (auto &[Place, Group] : ByPlace) {
    sortBySource(Group, Unit.context().getSourceManager());
    Result.push_back(std::move(Group));
  }
  return Result;
}

void Arbiter::sortPasses(llvm::SmallVectorImpl<const Label *> &Passes,
                         const SourceManager &SM) {
  llvm::stable_sort(Passes, [&](const Label *A, const Label *B) {
    return SM.isBeforeInTranslationUnit(A->Site->getExprLoc(),
                                        B->Site->getExprLoc());
  });
}

std::vector<Arbiter::Scope> Arbiter::joined(std::vector<Scope> Scopes,
                                            const SourceManager &SM) {
  llvm::DenseMap<const Stmt *, Scope *> ByBlock;
  for (Scope &S : Scopes)
    if (S.GuardFrom)
      ByBlock[S.Flow->parentOf(S.GuardFrom)] = &S;
  auto CoveredBy = [&](const Scope &S) {
    const Expr *First = S.Forwards.front()->Site;
    Scope *By = nullptr;
    for (const Stmt *Block = First; Block; Block = S.Flow->parentOf(Block))
      if (Scope *Outer = ByBlock.lookup(Block);
          Outer && Outer != &S && Outer->strength() <= S.strength() &&
          !cpp::comesBefore(First, Outer->GuardFrom, SM))
        By = Outer;
    return By;
  };
  for (Scope &S : Scopes)
    if (Scope *By = CoveredBy(S)) {
      By->Forwards.append(S.Forwards);
      By->IsKept |= S.IsKept;
      S.Forwards.clear();
    }
  llvm::erase_if(Scopes, [](const Scope &S) { return S.Forwards.empty(); });
  for (Scope &S : Scopes)
    sortPasses(S.Forwards, SM);
  return Scopes;
}

const Arbiter &Arbiter::decided(flow::UnitModel &Unit, bool PassesAreReported) {
  Arbiter &Here = of(Unit.context());
  if (std::exchange(Here.IsDecided, true) || !PassesAreReported)
    return Here;
  Here.Unit = &Unit;
  Here.Trained.emplace(Unit);
  Unit.forEachFlow([&](const FunctionFlow &Flow) { Here.decideOn(Flow); });
  for (const auto &Group : grouped(Here.Scopes, Unit))
    if (isSuppressed(ReportsPasses,
                     Group.front().Forwards.front()->Site->getExprLoc(),
                     Unit.context()))
      for (const Scope &S : Group)
        for (const Label *L : S.Forwards)
          Here.ScopeOf.erase(L);
  return Here;
}

Arbiter::Fed Arbiter::fedTo(const Label &L, const FunctionFlow &Flow,
                            llvm::SmallPtrSetImpl<const Label *> &Asked) {
  Fed Most = L.Unseen ? Fed::Perhaps : Fed::Nothing;
  for (flow::LabelId Id : L.Assigned) {
    const Label &From = Flow.label(Id);
    const bool RunsUntrained =
        From.K == Label::Forward && isUntrained(From, Flow);
    if (From.K == Label::Entry)
      Most = std::max(Most, Fed::Perhaps);
    else if (From.K != Label::Carry && !RunsUntrained)
      return Fed::History;
    else if (Asked.insert(&From).second)
      Most = std::max(Most, fedTo(From, Flow, Asked));
  }
  return Most;
}

bool Arbiter::isUntrained(const Label &L, const FunctionFlow &Flow) {
  auto [It, New] = Untrained.try_emplace(&L, false);
  const std::optional<torch::ModuleCall> M =
      New ? torch::asModuleCall(L.Site) : std::nullopt;
  if (!M || !M->Module || M->Script)
    return It->second;
  const auto Names =
      torch::modulesNamed(M->Module, cpp::Body::of(Flow.function()));
  return It->second =
             !Names.empty() && llvm::none_of(Names, [&](const ValueDecl *Name) {
               return Trained->mayTrain(Name);
             });
}

bool Arbiter::trainsModule(const FunctionFlow &Flow) {
  auto [It, New] = TrainModules.try_emplace(&Flow, false);
  if (New)
    It->second = llvm::any_of(Flow.labels(), [&](const Label &L) {
      return L.bringsGraph() && (L.Consumers & Label::Backward) &&
             !(L.K == Label::Forward && isUntrained(L, Flow));
    });
  return It->second;
}

const Reason *Arbiter::untrained(const Label &L, const FunctionFlow &Flow) {
  if (L.K != Label::Forward || !(L.Consumers & Label::Backward) ||
      !Flow.trains() || !isUntrained(L, Flow) || !trainsModule(Flow))
    return nullptr;
  llvm::SmallPtrSet<const Label *, 4> Asked = {&L};
  switch (fedTo(L, Flow, Asked)) {
  case Fed::Nothing:
    return &InferenceWithoutNoGrad.Untrained;
  case Fed::Perhaps:
    return &InferenceWithoutNoGrad.UntrainedInput;
  case Fed::History:
    break;
  }
  return nullptr;
}

void Arbiter::guard(const CompoundStmt *Block, const Stmt *Statement) {
  assert(!IsDecided && "only matches bring candidates");
  Guards.try_emplace(Block, Statement);
}

/// Is the forward pass of call \p L reported in the function that is called?
bool Arbiter::isReportedInside(const Label &L, const FunctionFlow &Flow) {
  const auto *Call = dyn_cast<CallExpr>(L.Site);
  if (L.K != Label::Helper || !Call || !Call->getDirectCallee())
    return false;
  auto Targets = Unit->targetsOf(cpp::Call(Call));
  if (cpp::isStdCall(Call,
                     cpp::Std::Run)) { // The function object that it runs.
    for (const flow::CallSite &Site : Flow.calls())
      if (const FunctionFlow *Run =
              Site.Call == Call ? Unit->flowOf(Site.Callee) : nullptr)
        Targets.Seen.push_back(Run);
    Targets.AreAll = !Targets.Seen.empty();
  }
  return Targets.AreAll &&
         llvm::all_of(Targets.Seen, [&](const FunctionFlow *Callee) {
           if (Callee->isAbroad())
             return Callee->reportsResultsAbroad();
           auto [It, New] = Settled.try_emplace(Callee->function(), false);
           if (!New)
             return It->second;
           return Settled[Callee->function()] = reportsItsResults(*Callee);
         });
}

/// Is every forward pass whose result \p Callee hands out reported there?
bool Arbiter::reportsItsResults(const FunctionFlow &Callee) {
  bool Any = false;
  for (const Label &Inner : Callee.labels()) {
    if (!Inner.bringsGraph() ||
        !(Inner.Consumers & (Label::Returned | Label::Stored)))
      continue; // It does not leave the function.
    if (const Reason *Why = silenceOf(Inner, Callee);
        Why && Why != &InferenceWithoutNoGrad.Inside)
      return false;
    Any = true;
  }
  return Any;
}

flow::ReportedPasses Arbiter::reported() {
  flow::ReportedPasses Reported;
  if (!Unit)
    return Reported;
  Unit->forEachFlow([&](const FunctionFlow &Flow) {
    if (reportsItsResults(Flow))
      Reported.Results.insert(Flow.function());
  });
  if (!isClosed(*Unit))
    return Reported;
  const SourceManager &SM = Unit->context().getSourceManager();
  for (const Scope &S : Scopes) {
    const Label &First = *S.Forwards.front();
    Reported.Forwards.insert({cpp::usrOf(S.Flow->function()),
                              cpp::lineOf(First.Site->getExprLoc(), SM),
                              runs(First), unsigned(S.strength())});
  }
  return Reported;
}

bool Arbiter::isToBeGuarded(const Stmt *Site, const FunctionFlow &Flow) const {
  if (Guards.empty())
    return false;
  const Stmt *Child = Site;
  while (const Stmt *Parent = Flow.parentOf(Child)) {
    const auto *Block = dyn_cast<CompoundStmt>(Parent);
    const Stmt *Guard = Block ? Guards.lookup(Block) : nullptr;
    if (Guard) {
      const auto At = llvm::find(Block->body(), Guard);
      if (std::find(At, Block->body_end(), Child) != Block->body_end())
        return true;
    }
    Child = Parent;
  }
  return false;
}

SourceLocation Arbiter::uselessBefore(const Expr *Site,
                                      const FunctionDecl *Function) const {
  SourceLocation Last;
  auto It = Useless.find(Function);
  const SourceManager &SM = Function->getASTContext().getSourceManager();
  if (It != Useless.end())
    for (SourceLocation Guard : It->second)
      if (SM.isBeforeInTranslationUnit(Guard, Site->getExprLoc()) &&
          (Last.isInvalid() || SM.isBeforeInTranslationUnit(Last, Guard)))
        Last = Guard;
  return Last;
}

const Arbiter::Scope *Arbiter::findingOf(const Label &L, Level Weakest) const {
  auto It = ScopeOf.find(&L);
  return It == ScopeOf.end() || Scopes[It->second].strength() > Weakest
             ? nullptr
             : &Scopes[It->second];
}

std::string guardDeclaration(llvm::StringRef Wish, const Stmt *In) {
  return (torch::spelling::NoGradGuard + " " + fixits::freeName(Wish, In) + ";")
      .str();
}

} // namespace libtorch_tidy
