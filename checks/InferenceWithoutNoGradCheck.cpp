//===- InferenceWithoutNoGradCheck.cpp ------------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/LibtorchCheck.h"
#include "checks/code/Lines.h"
#include "checks/code/Std.h"
#include "checks/code/StoredArguments.h"
#include "checks/code/Tests.h"
#include "checks/code/Walk.h"
#include "checks/flow/Callers.h"
#include "checks/flow/GuardScopes.h"
#include "checks/llvm/Compat.h"
#include "checks/torch/Calls.h"
#include "checks/torch/Modules.h"
#include "checks/torch/OpFacts.h"
#include "checks/torch/Spelling.h"
#include "checks/torch/TorchTypes.h"
#include "fixits/FixIts.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

using namespace clang;

namespace libtorch_tidy {

using flow::FunctionFlow;
using flow::GradMode;
using flow::Label;

namespace {

/// What says that a forward pass is there to predict, although its result
/// leaves the function.
struct Evidence {
  Level Strength;
  std::optional<Step> Shown;
};

/// Calls that one guard covers.
struct Scope {
  const FunctionFlow *Flow;
  const CompoundStmt *Guardable; ///< The block for the guard; null for none.
  Level Strength = Level::Likely;
  bool IsKept = false; ///< In what a parameter names.
  bool IsTrial = false;
  std::optional<Evidence> ToPredict;
  llvm::SmallVector<const Label *, 4> Forwards;
};

/// docs/checks/libtorch-inference-without-no-grad.md says what it finds and
/// why.
class InferenceWithoutNoGradCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;

protected:
  void checkUnit(flow::UnitModel &Unit) override;
  void checkFunction(const flow::FunctionFlow &Flow,
                     flow::UnitModel &Unit) override;

private:
  /// Where the forward pass that a label stands for is reported.
  enum class Reported { Nowhere, Here, Inside };
  Reported reportedAt(const Label &L, const FunctionFlow &Flow,
                      flow::UnitModel &Unit);
  std::optional<Evidence> evidenceOf(const Label &L, const FunctionFlow &Flow,
                                     flow::UnitModel &Unit);
  std::optional<Evidence> evidenceInUnit(const Label &L,
                                         const FunctionFlow &Flow,
                                         flow::UnitModel &Unit);
  bool isReportedByCallers(const FunctionDecl *F, flow::UnitModel &Unit);
  bool isReportedInside(const Label &L, flow::UnitModel &Unit);
  bool reportsItsResults(const FunctionFlow &Callee, flow::UnitModel &Unit);
  void reportScopes(llvm::MutableArrayRef<Scope> Scopes, ASTContext &Context);
  void noteScope(Scope &S, flow::UnitModel &Unit);
  void reportMain(llvm::MutableArrayRef<Scope> Scopes, flow::UnitModel &Unit);

  std::vector<Scope> Found; ///< In source order of their functions.
  /// What reportsItsResults() says of a function; false while it is asked,
  /// which ends recursion.
  llvm::DenseMap<const FunctionDecl *, bool> Settled;
};

} // namespace

/// The block that a finding is reported for: one report covers all forwards
/// that the same guard would cover.
static const Stmt *scopeOf(const Stmt *Site, const CompoundStmt *Guardable,
                           const FunctionFlow &Flow) {
  if (Guardable)
    return Guardable;
  const Stmt *S = Site;
  while (S && !isa<CompoundStmt>(S))
    S = Flow.parentOf(S);
  return S;
}

/// Is only the shape of the tensor, or of the elements of the tuple, that \p E
/// makes ever read?
static bool isOnlyShapeRead(const Expr *E, const code::Body &In) {
  const Stmt *User = In.userOf(E);
  if (const auto *Member = dyn_cast_or_null<MemberExpr>(User))
    User = In.parentOf(Member);
  if (const auto *Call = dyn_cast_or_null<CallExpr>(User)) {
    if (const torch::OpFacts *Facts = torch::opFacts(Call->getDirectCallee());
        Facts && Facts->Metadata)
      return true;
    return (code::isStdCall(Call, "get") || torch::readsTensor(Call)) &&
           isOnlyShapeRead(Call, In);
  }
  const auto *Declared = dyn_cast_or_null<DeclStmt>(User);
  const auto *Var = Declared && Declared->isSingleDecl()
                        ? dyn_cast<VarDecl>(Declared->getSingleDecl())
                        : nullptr;
  return Var && code::mentions(In.root(), Var) &&
         !code::anyOf<DeclRefExpr>(In.root(), [&](const DeclRefExpr *Ref) {
           return Ref->getDecl() == Var &&
                  (isa_and_nonnull<DeclStmt>(In.userOf(Ref)) ||
                   !isOnlyShapeRead(Ref, In));
         });
}

/// A forward pass that shows whether it works, once: in a test case, or in a
/// function that is given no data, and reads nothing but shapes of the result.
static bool isTrial(const Label &L, const FunctionFlow &Flow) {
  const FunctionDecl *F = Flow.function();
  const bool HasNoData =
      F->isMain() || (F->param_empty() && !isa<CXXMethodDecl>(F));
  return code::isTestCase(F) ||
         (HasNoData && isOnlyShapeRead(L.Site, code::Body::of(F)));
}

/// Does \p L stand for a call that runs a module of which this function gets
/// a tensor?
static bool handsTensorOut(const Label &L) {
  const auto *Call = dyn_cast<CallExpr>(L.Site);
  if (L.K != Label::Helper || !Call || torch::mayHoldTensor(Call->getType()))
    return true;
  // void predict(const Tensor &x, Tensor &out). What an object keeps for
  // itself is a matter of its class.
  const FunctionDecl *Callee = Call->getDirectCallee();
  return Callee &&
         llvm::any_of(Callee->parameters(), [](const ParmVarDecl *Param) {
           QualType T = Param->getType();
           QualType To = T->isReferenceType() ? T.getNonReferenceType()
                                              : T->getPointeeType();
           return !To.isNull() && !To.isConstQualified() &&
                  torch::mayHoldTensor(To) && !torch::isModule(To);
         });
}

/// Is the forward pass of call \p L reported in the function that is called?
bool InferenceWithoutNoGradCheck::isReportedInside(const Label &L,
                                                   flow::UnitModel &Unit) {
  const auto *Call = dyn_cast<CallExpr>(L.Site);
  const FunctionFlow *Callee = L.K == Label::Helper && Call
                                   ? Unit.flowOf(Call->getDirectCallee())
                                   : nullptr;
  if (!Callee || !Callee->available())
    return false;
  if (Callee->isAbroad())
    return Callee->reportsResultsAbroad();
  auto [It, New] = Settled.try_emplace(Callee->function(), false);
  if (!New)
    return It->second;
  const bool Result = reportsItsResults(*Callee, Unit);
  Settled[Callee->function()] = Result;
  return Result;
}

/// Is every forward pass whose result \p Callee hands out reported there?
bool InferenceWithoutNoGradCheck::reportsItsResults(const FunctionFlow &Callee,
                                                    flow::UnitModel &Unit) {
  bool Any = false;
  for (const Label &Inner : Callee.labels()) {
    if (!Inner.bringsGraph() ||
        !(Inner.Consumers & (Label::Returned | Label::Stored)))
      continue; // It does not leave the function.
    if (reportedAt(Inner, Callee, Unit) == Reported::Nowhere)
      return false;
    Any = true;
  }
  return Any;
}

bool InferenceWithoutNoGradCheck::isReportedByCallers(const FunctionDecl *F,
                                                      flow::UnitModel &Unit) {
  return flow::anyCallOf(F, Unit,
                         [&](const Label &L, const FunctionFlow &Caller) {
                           return reportedAt(L, Caller, Unit) == Reported::Here;
                         });
}

/// May \p F be called from code that this unit does not show?
static bool isEntryPoint(const FunctionDecl *F) {
  return F->isExternallyVisible() && F->getAccess() != AS_private;
}

/// The eval() before \p Forward of \p Module that a train() after it takes
/// back: what runs between them is not for training.
static const CallExpr *evalAround(const Expr *Forward, const ValueDecl *Module,
                                  const code::Body &In) {
  const SourceManager &SM = In.context().getSourceManager();
  const CallExpr *Eval = nullptr;
  bool IsTakenBack = false;
  code::forEachCall(In.root(), [&](const CallExpr *Call) {
    if (torch::moduleNamed(torch::objectOf(Call)) != Module)
      return;
    if (torch::isModuleEval(Call) && code::comesBefore(Call, Forward, SM))
      Eval = Call;
    IsTakenBack |=
        torch::isModuleTrain(Call) && code::comesBefore(Forward, Call, SM);
  });
  return IsTakenBack ? Eval : nullptr;
}

/// Is the whole program known, with its main?
static bool isClosed(const flow::UnitModel &Unit) {
  return Unit.program() && Unit.program()->Closed;
}

/// Is \p F the forward() or an operator of its class?
static bool isForward(const FunctionDecl *F) {
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  return Method &&
         (Method->isOverloadedOperator() ||
          (Method->getIdentifier() && Method->getName() == "forward"));
}

/// The variable or field whose module \p L runs; null for any other.
static const ValueDecl *moduleRunBy(const Label &L, const FunctionFlow &Flow) {
  const std::optional<torch::ModuleCall> M =
      L.K == Label::Forward ? torch::asModuleCall(L.Site) : std::nullopt;
  return M && M->Module
             ? torch::moduleNamed(
                   code::Body::of(Flow.function()).originOf(M->Module))
             : nullptr;
}

/// Does a constructor leave what it is given in \p Field?
static bool isGivenToConstructor(const FieldDecl *Field) {
  const auto *Class = dyn_cast<CXXRecordDecl>(Field->getParent());
  return Class &&
         llvm::any_of(Class->ctors(), [&](const CXXConstructorDecl *Ctor) {
           return llvm::any_of(code::storedArguments(Ctor),
                               [&](const auto &S) { return S.Field == Field; });
         });
}

/// Does the C++ module that \p L runs come from callers that this unit does not
/// show? They may have a guard, as a loop that evaluates has.
static bool isLentByOthers(const Label &L, const FunctionFlow &Flow,
                           flow::UnitModel &Unit) {
  const FunctionDecl *F = Flow.function();
  const ValueDecl *Module = moduleRunBy(L, Flow);
  if (!Module || !torch::isModule(Module->getType().getNonReferenceType()) ||
      torch::isScriptModule(Module->getType().getNonReferenceType()) ||
      Unit.program() || F->isMain() || !isEntryPoint(F) ||
      !Unit.callersOf(F).empty() || Unit.moduleRoles().evalOf(Module))
    return false;
  if (const auto *Field = dyn_cast<FieldDecl>(Module))
    return isGivenToConstructor(Field);
  return isa<ParmVarDecl>(Module) && Module->getDeclContext() == F;
}

/// Does \p F make of its class what a module is: a tensor goes into its
/// forward(), and a tensor comes out?
static bool standsForModule(const FunctionDecl *F) {
  return isForward(F) && torch::mayHoldTensor(F->getReturnType()) &&
         llvm::any_of(F->parameters(), [](const ParmVarDecl *Param) {
           return torch::mayHoldTensor(Param->getType().getNonReferenceType());
         });
}

/// The evidence for forward pass \p L, whose result goes where this unit does
/// not show what becomes of it. Callers come first where all of them are shown.
std::optional<Evidence> InferenceWithoutNoGradCheck::evidenceOf(
    const Label &L, const FunctionFlow &Flow, flow::UnitModel &Unit) {
  std::optional<Evidence> E = evidenceInUnit(L, Flow, Unit);
  // Whoever runs a module decides on gradient mode, and so for a class that is
  // used like one. Its callers are in other files.
  if (E && !isClosed(Unit) && standsForModule(Flow.function()) &&
      llvm::all_of(Unit.callersOf(Flow.function()), [](const auto &C) {
        return standsForModule(C.Caller->function());
      }))
    E->Strength = Level::Advisory;
  return E;
}

/// What evidenceOf() says before it asks who calls the function.
std::optional<Evidence> InferenceWithoutNoGradCheck::evidenceInUnit(
    const Label &L, const FunctionFlow &Flow, flow::UnitModel &Unit) {
  const std::optional<torch::ModuleCall> M =
      L.K == Label::Forward && !(L.Consumers & Label::Backward)
          ? torch::asModuleCall(L.Site)
          : std::nullopt;
  if (!M || Flow.trains() ||
      (!isEntryPoint(Flow.function()) &&
       isReportedByCallers(Flow.function(), Unit)))
    return std::nullopt;
  const flow::ModuleRoles &Roles = Unit.moduleRoles();
  if (Roles.trains() && flow::anyCallerTrains(Flow.function(), Unit))
    return std::nullopt;
  code::Body &In = code::Body::of(Flow.function());
  if (M->Module)
    for (const Expr *Name : {M->Module, In.originOf(M->Module)})
      if (const ValueDecl *Module = torch::moduleNamed(Name)) {
        if (const CallExpr *Eval = Roles.trains()
                                       ? evalAround(L.Site, Module, In)
                                       : Roles.evalOf(Module))
          return Evidence{Level::Likely,
                          Step{Eval->getExprLoc(),
                               "'" + Module->getNameAsString() +
                                   "' is put in evaluation mode here, which "
                                   "leaves gradients on"}};
        const std::string Elsewhere =
            Roles.trains() ? "" : Roles.evalElsewhere(Module);
        if (!Elsewhere.empty())
          return Evidence{Level::Likely,
                          Step{Module->getLocation(),
                               "'" + Module->getNameAsString() +
                                   "' is put in evaluation mode at " +
                                   Elsewhere + ", which leaves gradients on"}};
      }
  if (isClosed(Unit) && !Roles.trains())
    return Evidence{Level::Likely,
                    Step{L.Site->getExprLoc(),
                         "nothing in this program back-propagates, makes an "
                         "optimizer or trains a module"}};
  if (!M->Script || Roles.trains())
    return std::nullopt;
  if (const CallExpr *Load = Roles.scriptLoad())
    return Evidence{Level::Likely,
                    Step{Load->getExprLoc(),
                         "a TorchScript module is loaded here, and nothing in "
                         "this file trains one"}};
  return Evidence{Level::Advisory, std::nullopt};
}

/// Reported is a module whose result nobody back-propagates.
InferenceWithoutNoGradCheck::Reported InferenceWithoutNoGradCheck::reportedAt(
    const Label &L, const FunctionFlow &Flow, flow::UnitModel &Unit) {
  if (!L.bringsGraph() || L.Mode != GradMode::On)
    return Reported::Nowhere;
  if (!handsTensorOut(L) || isReportedInside(L, Unit))
    return Reported::Inside;
  // Kept for somebody whom this unit does not show.
  if ((Unit.consumersOf(L, Flow) & ~Label::Computed) &&
      (Unit.consumersHere(L, Flow) & ~Label::Computed) &&
      !evidenceOf(L, Flow, Unit))
    return Reported::Nowhere;
  return code::isExpectedToThrow(L.Site, Unit.context()) ? Reported::Nowhere
                                                         : Reported::Here;
}

void InferenceWithoutNoGradCheck::checkFunction(const FunctionFlow &Flow,
                                                flow::UnitModel &Unit) {
  bool IsLayer = false;
  if (const auto *Method = dyn_cast<CXXMethodDecl>(Flow.function());
      Method && torch::isModule(compat::recordType(Method->getParent()))) {
    // A layer leaves the choice to whoever runs it.
    if (isForward(Method))
      return;
    IsLayer = true;
  }

  llvm::SmallVector<const Label *, 4> Forwards;
  std::optional<Evidence> ToPredict;
  for (const Label &L : Flow.labels()) {
    if (!L.bringsGraph())
      continue;
    const unsigned Consumers = Unit.consumersOf(L, Flow);
    if (IsLayer && (Consumers & Label::Returned))
      return; // So does a method that hands history on.
    if (reportedAt(L, Flow, Unit) != Reported::Here ||
        Unit.isToBeGuarded(L.Site, Flow))
      continue;
    Forwards.push_back(&L);
    if (!ToPredict && (Unit.consumersHere(L, Flow) & ~Label::Computed))
      ToPredict = evidenceOf(L, Flow, Unit);
  }
  // A method of a module may be one of a step of training, which is elsewhere.
  const bool MayTrain =
      IsLayer && (!isClosed(Unit) || Unit.moduleRoles().trains());
  llvm::MapVector<const Stmt *, Scope> Scopes;
  for (const Label *L : Forwards) {
    const unsigned Consumers = Unit.consumersOf(*L, Flow);
    // Where nothing trains, nothing needs the history of the whole function.
    const CompoundStmt *Guardable =
        ToPredict || (IsLayer && !MayTrain)
            ? dyn_cast<CompoundStmt>(Flow.function()->getBody())
            : flow::guardableBlock(L->Site, Flow, Unit);
    Scope &S = Scopes[scopeOf(L->Site, Guardable, Flow)];
    S.Flow = &Flow;
    S.Guardable = Guardable;
    S.ToPredict = ToPredict;
    S.Forwards.push_back(L);
    S.IsKept |= (Consumers & ~Label::Computed) != 0;
    const bool Tries = isTrial(*L, Flow);
    S.IsTrial |= Tries;
    if (MayTrain || (Consumers && !ToPredict) || Tries ||
        isLentByOthers(*L, Flow, Unit))
      S.Strength = Level::Advisory;
    else if (ToPredict)
      S.Strength = ToPredict->Strength;
  }
  if (Scopes.empty() || Unit.isCalledOnlyGuarded(Flow.function()))
    return;
  for (auto &[Block, S] : Scopes)
    Found.push_back(std::move(S));
}

void InferenceWithoutNoGradCheck::checkUnit(flow::UnitModel &Unit) {
  LibtorchCheck::checkUnit(Unit);
  if (isClosed(Unit))
    for (Scope &S : Found)
      noteScope(S, Unit);
  llvm::erase_if(Found, [](const Scope &S) {
    return flow::isCoveredByMain(S.Flow->function());
  });
  if (Unit.program() && !Unit.program()->CoversInMain.empty()) {
    auto InMain =
        std::stable_partition(Found.begin(), Found.end(), [&](const Scope &S) {
          return !S.Guardable ||
                 flow::neighbourhoodOf(S.Guardable, *S.Flow, Unit) !=
                     Unit.main()->getBody();
        });
    reportMain({&*InMain, size_t(Found.end() - InMain)}, Unit);
    Found.erase(InMain, Found.end());
  }
  // What one reader would guard at once is one finding.
  std::map<std::tuple<const Stmt *, Level, bool>, unsigned> Known;
  std::vector<llvm::SmallVector<Scope, 1>> Findings;
  for (Scope &S : Found) {
    if (S.Guardable) {
      auto [It, New] =
          Known.try_emplace({flow::neighbourhoodOf(S.Guardable, *S.Flow, Unit,
                                                   /*UpToMain=*/S.IsTrial),
                             S.Strength, S.IsKept},
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
  Found.clear();
  for (const FunctionDecl *F : Unit.functions())
    if (const FunctionFlow *Flow = Unit.flowOf(F);
        Flow && Flow->available() && reportsItsResults(*Flow, Unit))
      Unit.noteReportsResults(F);
  Settled.clear();
}

/// What runs where \p L arises.
static std::string runs(const Label &L) {
  const std::string Module = torch::calledModule(L.Site);
  if (!Module.empty())
    return "'" + Module + "' runs";
  const auto *Call = dyn_cast<CallExpr>(L.Site);
  const llvm::StringRef Helper =
      L.K == Label::Helper && Call ? torch::calleeName(Call) : "";
  return Helper.empty() ? "a module runs"
                        : ("'" + Helper + "' runs a module").str();
}

static std::string placeOf(const FunctionDecl *F) {
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  return Method && Method->getParent()->isLambda()
             ? "a lambda"
             : "'" + F->getNameAsString() + "'";
}

/// Sorts what \p Scopes have, and them, by where they stand.
static void sortBySource(llvm::MutableArrayRef<Scope> Scopes,
                         const SourceManager &SM) {
  auto ComesBefore = [&](const Label *A, const Label *B) {
    return SM.isBeforeInTranslationUnit(A->Site->getExprLoc(),
                                        B->Site->getExprLoc());
  };
  for (Scope &S : Scopes)
    llvm::sort(S.Forwards, ComesBefore);
  llvm::sort(Scopes, [&](const Scope &A, const Scope &B) {
    return ComesBefore(A.Forwards.front(), B.Forwards.front());
  });
}

/// A guard at the head of \p Block, which is in \p F.
static void addGuard(Finding &To, const CompoundStmt *Block,
                     const FunctionDecl *F) {
  const std::string Name = fixits::freeName("no_grad", F->getBody());
  llvm::append_range(
      To.Fix,
      fixits::insertAtBlockHead(
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

void InferenceWithoutNoGradCheck::reportScopes(
    llvm::MutableArrayRef<Scope> Scopes, ASTContext &Context) {
  sortBySource(Scopes, Context.getSourceManager());
  const Label &First = *Scopes.front().Forwards.front();
  const std::optional<Evidence> &ToPredict = Scopes.front().ToPredict;
  Finding F;
  F.Loc = First.Site->getExprLoc();
  F.Highlight = First.Site->getSourceRange();
  F.Strength = Scopes.front().Strength;
  F.Message = messageFor(runs(First), Scopes.front().Flow->function(),
                         !ToPredict && !Scopes.front().IsKept ? ""
                         : isClosed(unit()) ? "in this program "
                                            : "in this file ");
  if (ToPredict && ToPredict->Shown)
    F.Steps.push_back(*ToPredict->Shown);
  for (const Scope &S : Scopes) {
    for (const Label *L : S.Forwards)
      F.Steps.push_back(originStep(*L));
    if (S.Guardable)
      addGuard(F, S.Guardable, S.Flow->function());
  }
  report(F);
}

/// Says that \p S is reported, for the link to find what one guard in main
/// covers.
void InferenceWithoutNoGradCheck::noteScope(Scope &S, flow::UnitModel &Unit) {
  const SourceManager &SM = Unit.context().getSourceManager();
  sortBySource(S, SM);
  const Label &First = *S.Forwards.front();
  Unit.noteForward({flow::usrOf(S.Flow->function()),
                    code::lineOf(First.Site->getExprLoc(), SM), runs(First),
                    unsigned(S.Strength)});
}

/// The name of \p F; of a constructor or an operator, that of its class.
static std::string readableName(const FunctionDecl *F) {
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  return Method && !Method->getDeclName().isIdentifier()
             ? Method->getParent()->getNameAsString()
             : F->getNameAsString();
}

/// The finding for all that one guard in main covers: its own \p Scopes, and
/// those of functions that it calls.
void InferenceWithoutNoGradCheck::reportMain(
    llvm::MutableArrayRef<Scope> Scopes, flow::UnitModel &Unit) {
  const FunctionDecl *Main = Unit.main();
  const SourceManager &SM = Unit.context().getSourceManager();
  struct Site {
    SourceRange Range;
    std::string Runs;
    Step Shown;
  };
  std::vector<Site> Sites;
  Finding F;
  F.Strength = Level::Advisory;
  sortBySource(Scopes, SM);
  for (const Scope &S : Scopes) {
    F.Strength = std::min(F.Strength, S.Strength);
    for (const Label *L : S.Forwards)
      Sites.push_back({L->Site->getSourceRange(), runs(*L), originStep(*L)});
  }
  llvm::StringMap<const flow::CallSite *> Calls;
  const std::vector<flow::CallSite> All = flow::callsIn(Main, Unit);
  for (const flow::CallSite &Call : All)
    if (Call.Mode == GradMode::On)
      Calls.try_emplace(flow::usrOf(Call.Callee), &Call);
  for (const auto &[Callee, Forward] : Unit.program()->CoversInMain) {
    const flow::CallSite *Site = Calls.lookup(Callee);
    if (!Site)
      continue; // The guard is there: this tries the fix.
    F.Strength = std::min(F.Strength, Level(Forward.Strength));
    Sites.push_back(
        {Site->Call->getSourceRange(),
         "'" + readableName(Site->Callee) + "' runs a module",
         Step{Site->Call->getExprLoc(),
              "this leads to " + Forward.At + ", where " + Forward.Runs}});
  }
  if (Sites.empty())
    return;
  llvm::stable_sort(Sites, [&](const Site &A, const Site &B) {
    return SM.isBeforeInTranslationUnit(A.Shown.Loc, B.Shown.Loc);
  });
  F.Loc = Sites.front().Shown.Loc;
  F.Highlight = Sites.front().Range;
  F.Message = messageFor(Sites.front().Runs, Main, "in this program ");
  F.Steps.push_back(
      {F.Loc, "nothing in this program back-propagates, makes an optimizer or "
              "trains a module: one guard covers all of these"});
  for (Site &S : Sites)
    F.Steps.push_back(std::move(S.Shown));
  addGuard(F, cast<CompoundStmt>(Main->getBody()), Main);
  report(F);
}

LIBTORCH_CHECK(InferenceWithoutNoGradCheck);

} // namespace libtorch_tidy
