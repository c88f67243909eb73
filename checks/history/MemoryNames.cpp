//===- MemoryNames.cpp - Which variables own which memory -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "checks/history/MemoryNames.h"
#include "analysis/cpp/Callables.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/UserCode.h"
#include "analysis/torch/api/Conventions.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/storage/Owners.h"
#include "analysis/torch/storage/Sharing.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;

namespace libtorch_tidy {

using cpp::Std;

const MemoryNames &MemoryNames::of(const FunctionDecl *F, flow::UnitModel &Unit,
                                   MemoryNamesOf &Known) {
  auto [It, New] = Known.try_emplace(F);
  if (!New)
    return *It->second;
  std::unique_ptr<MemoryNames> Made(new MemoryNames(F, Unit, Known));
  return *(Known[F] = std::move(Made));
}

MemoryNames::MemoryNames(const FunctionDecl *F, flow::UnitModel &Unit,
                         MemoryNamesOf &Known)
    : In(cpp::Body::of(F)), Unit(Unit), Known(Known) {
  collect();
}

std::optional<unsigned> MemoryNames::indexOf(const ValueDecl *D) const {
  auto It = D ? Indices.find(cpp::wholeOf(D)) : Indices.end();
  return It == Indices.end() ? std::nullopt : std::optional(It->second);
}

void MemoryNames::collect() {
  auto Add = [&](const VarDecl *Var) {
    const QualType T = isa<ParmVarDecl>(Var)
                           ? Var->getType().getNonReferenceType()
                           : Var->getType();
    if ((!isa<ParmVarDecl>(Var) && !In.isOwn(Var)) || torch::isModule(T) ||
        !torch::ownsTensors(T))
      return;
    Indices[Var] = Vars.size();
    Leaders.push_back(Vars.size());
    Vars.push_back(Var);
  };
  for (const ParmVarDecl *Param : In.function()->parameters())
    Add(Param);
  cpp::forEach<VarDecl>(In.root(), Add, cpp::Lambdas::Made);
  Held.assign(Vars.size(), Holder::None);
  Shared = Held;
  FromCaller.assign(Vars.size(), false);
  Seen.assign(Vars.size(), false);
  Given.resize(Vars.size());
  Drops.resize(Vars.size());
  Loops.resize(Vars.size());
  for (unsigned Var = 0; Var < Vars.size(); ++Var) {
    const bool IsParam = isa<ParmVarDecl>(Vars[Var]);
    Starts.push_back({nullptr, IsParam ? nullptr : Vars[Var]->getInit(), true});
    addWrites(Var);
  }
  collectMentions();
  Amounts.resize(Vars.size());
  for (auto Part : {&MemoryNames::measure, &MemoryNames::findSizes})
    for (unsigned Var = 0; Var < Vars.size(); ++Var) {
      (this->*Part)(Starts[Var]);
      for (Gift &New : Given[Var])
        (this->*Part)(New);
    }
  group();
  IsKnown = true;
  cpp::forEach<ReturnStmt>(
      In.root(),
      [&](const ReturnStmt *Return) {
        const Expr *Value = Return->getRetValue();
        if (!Value)
          return;
        Result.join(sourceOf(Value));
        ResultSize = std::max(ResultSize, amountOf(Value, 0));
      },
      cpp::Lambdas::Skipped);
}

void MemoryNames::collectMentions() {
  // A reference is declared before it is used: it has its variable by then.
  cpp::forEach<DeclRefExpr>(
      In.root(),
      [&](const DeclRefExpr *Ref) {
        std::optional<unsigned> Var = indexOf(Ref->getDecl());
        if (!Var)
          return;
        Mention M{Ref, *Var,
                  Overwritten.count(Ref) ? Use::Overwritten : Use::Read};
        Followed = &M;
        if (M.How == Use::Read && !isa_and_nonnull<LambdaExpr>(In.userOf(Ref)))
          follow(Ref, *Var, &M);
        Mentions.push_back(M);
      },
      cpp::Lambdas::Made);
  collectCaptures();
  llvm::DenseMap<std::pair<const Stmt *, unsigned>, Gift *> ByPlace;
  for (unsigned Var = 0; Var < Vars.size(); ++Var)
    for (Gift &New : Given[Var])
      ByPlace[{New.Where, Var}] = &New;
  for (const Flow &F : Flows) {
    Gift *Into = F.Where ? nullptr : &Starts[F.To];
    for (const Stmt *S = F.Where; S && !Into; S = In.parentOf(S))
      Into = ByPlace.lookup({S, F.To});
    if (Into)
      Into->From.push_back(F.From);
    else
      holds(F.From, Holder::Other);
  }
}

/// How the body of \p Lambda uses \p Var; nullopt where something may hold it
/// afterwards.
std::optional<MemoryNames::Use> MemoryNames::useIn(const LambdaExpr *Lambda,
                                                   unsigned Var) {
  const Holder Before = std::exchange(Held[Var], Holder::None);
  const Holder Sharing = Shared[Var];
  const size_t Known = Flows.size();
  Use How = Use::Number;
  bool Keeps = false;
  cpp::forEach<DeclRefExpr>(Lambda->getBody(), [&](const DeclRefExpr *Ref) {
    if (indexOf(Ref->getDecl()) != Var)
      return;
    Mention M{Ref, Var, Use::Read};
    Followed = &M;
    follow(Ref, Var, &M);
    Keeps |= M.Stores != Mention::Kept::Nothing ||
             In.around<LambdaExpr>(Ref) != Lambda;
    How = std::min(How, M.How);
  });
  Keeps |= Held[Var] != Holder::None || Flows.size() > Known;
  Flows.resize(Known);
  Held[Var] = Before;
  Shared[Var] = Sharing;
  return Keeps ? std::nullopt : std::optional(How);
}

/// A lambda that only runs here, and holds nothing of its own longer than that,
/// reads what it captures where it runs. Others hold it.
void MemoryNames::collectCaptures() {
  cpp::forEach<LambdaExpr>(In.root(), [&](const LambdaExpr *Lambda) {
    auto Runs =
        In.around<LambdaExpr>(Lambda) ? std::nullopt : cpp::runsOf(Lambda, In);
    const bool AtOnce = Runs && *Runs == ArrayRef<const Expr *>(Lambda);
    for (const LambdaCapture &Capture : Lambda->captures()) {
      if (!Capture.capturesVariable())
        continue;
      const std::optional<unsigned> Var = indexOf(Capture.getCapturedVar());
      if (!Var)
        continue;
      const bool Borrows =
          Runs && (AtOnce || Capture.getCaptureKind() == LCK_ByRef);
      const std::optional<Use> How =
          Borrows ? useIn(Lambda, *Var) : std::nullopt;
      if (!How)
        holds(*Var, Holder::Lambda);
      else
        for (const Expr *Run : *Runs)
          Mentions.push_back({Run, *Var, *How});
    }
  });
  const SourceManager &SM = In.context().getSourceManager();
  llvm::stable_sort(Mentions, [&](const Mention &A, const Mention &B) {
    return SM.isBeforeInTranslationUnit(A.Ref->getExprLoc(),
                                        B.Ref->getExprLoc());
  });
}

/// Makes the groups of variables that may own the same memory.
void MemoryNames::group() {
  for (unsigned Var = 0; Var < Vars.size(); ++Var) {
    Group &G = Groups[leader(Var)];
    G.Vars.push_back(Var);
    G.Else = std::max(G.Else, Held[Var]);
    G.Unseen = G.Unseen || Seen[Var];
    G.Size = std::max(G.Size, amountOf(Var));
    if (const auto *Param = dyn_cast<ParmVarDecl>(Vars[Var])) {
      const unsigned I = Param->getFunctionScopeIndex();
      G.From.Foreign |= FromCaller[Var] && I > 63;
      G.From.Params |= FromCaller[Var] && I < 64 ? uint64_t(1) << I : 0;
    } else if (const Expr *Init = Vars[Var]->getInit()) {
      G.From.join(sourceOf(Init));
    }
    for (const Gift &New : Given[Var])
      G.From.join(New.Value ? sourceOf(New.Value) : MemorySource{true});
  }
}

/// Is \p S a statement of the function's outermost block?
static bool alwaysRuns(const Stmt *S, const cpp::Body &In) {
  while (S && isa<Expr>(S) && isa_and_nonnull<Expr>(In.parentOf(S)))
    S = In.parentOf(S);
  return S && In.parentOf(S) == In.root();
}

/// Does the library take by \p E what it could write to and only hands on?
static bool onlyHandsOn(const Expr *E) {
  if (const auto *Construct = dyn_cast<CXXConstructExpr>(E))
    return cpp::isOfLibrary(Construct->getConstructor());
  const auto *Call = dyn_cast<CallExpr>(E);
  return Call && !cpp::does(Call, Std::Swap | Std::Exchange | Std::Write) &&
         (torch::asModuleCall(Call) ||
          cpp::isOfLibrary(Call->getDirectCallee()));
}

void MemoryNames::addWrites(unsigned Var) {
  bool Replaced = false;
  for (const cpp::Write &W : In.writesTo(Vars[Var])) {
    if (W.InLambda ||
        (W.Kind == cpp::WriteKind::Escaped && !onlyHandsOn(W.Where)))
      holds(Var, Holder::Other);
    if (W.Overwritten)
      Overwritten.insert(W.Overwritten);
    if (W.Kind == cpp::WriteKind::Released)
      Drops[Var].push_back(W.Where);
    if (W.Kind != cpp::WriteKind::Assigned)
      continue;
    const auto *Op = dyn_cast<CallExpr>(W.Where);
    const Expr *Value = W.Value                      ? W.Value
                        : Op && Op->getNumArgs() > 1 ? Op->getArg(1)
                                                     : nullptr;
    Given[Var].push_back({W.Where, Value, /*Whole=*/true});
    Replaced |= alwaysRuns(W.Where, In) && Value &&
                !torch::viewedBy(dyn_cast<CallExpr>(cpp::stripImplicit(Value)));
  }
  // What the caller gave is gone where the function always replaces it.
  FromCaller[Var] = isa<ParmVarDecl>(Vars[Var]) && !Replaced;
}

} // namespace libtorch_tidy
