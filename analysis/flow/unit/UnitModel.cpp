//===- UnitModel.cpp - The flow model of a translation unit ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/flow/unit/UnitModel.h"
#include "analysis/cpp/Activity.h"
#include "analysis/cpp/Callables.h"
#include "analysis/cpp/Compat.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/ProgramNames.h"
#include "analysis/cpp/Text.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/UnitContext.h"
#include "analysis/cpp/UserCode.h"
#include "analysis/cpp/Walk.h"
#include "analysis/flow/history/Interpreter.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Autograd.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include <chrono>

using namespace clang;

namespace libtorch_tidy::flow {

UnitModel &UnitModel::of(ASTContext &Context) {
  return cpp::ofUnit<UnitModel>(Context);
}

UnitModel::UnitModel(ASTContext &Context)
    : Context(Context), Whole(ProgramFacts::of(Context)), Scan(Context) {}

const FunctionDecl *UnitModel::definitionOf(const FunctionDecl *F) const {
  const FunctionDecl *Definition = cpp::userDefinition(F);
  return Definition && !errors().touch(Definition) ? Definition : nullptr;
}

bool UnitModel::staysFrozen(const FieldDecl *Field) {
  const auto *Class = dyn_cast<CXXRecordDecl>(Field->getParent());
  if (!Class || torch::isTorchDecl(Class) ||
      !Frozen.byConstructors(Class).contains(Field))
    return false;
  if (!Thawed) {
    Thawed.emplace();
    for (const FunctionDecl *F : functions())
      for (const ValueDecl *D : Frozen.thawedIn(F))
        Thawed->insert(D);
  }
  return !Thawed->contains(Field);
}

llvm::ArrayRef<Dangling> UnitModel::dangling() {
  if (!Danglings) {
    Danglings.emplace();
    auto Callees = [&](const FunctionDecl *F) { return memoryOf(F); };
    for (const VarDecl *Var : Scan.Globals)
      llvm::append_range(*Danglings, findDangling(Var, Callees));
    for (const FunctionDecl *F : functions())
      if (memoryOf(F))
        llvm::append_range(*Danglings,
                           Memories.find(definitionOf(F))->Danglings);
  }
  return *Danglings;
}

const MemorySummary *UnitModel::memoryOf(const FunctionDecl *F) {
  const FunctionDecl *Definition = definitionOf(F);
  if (!Definition) {
    const FunctionFacts *Said = F ? factsElsewhere(F) : nullptr;
    return Said && Said->Memory ? &*Said->Memory : nullptr;
  }
  if (const MemoryOf *Known = Memories.find(Definition))
    return Known;
  // A function that knows nothing of tensors may still free a buffer.
  if (!concernsTensors(Definition) &&
      llvm::none_of(Definition->parameters(), [](const ParmVarDecl *Param) {
        return Param->getType()->isPointerType();
      }))
    return Memories.set(Definition, std::make_unique<MemoryOf>());
  const MemoryOf *Made =
      Memories.make(Definition, std::make_unique<MemoryOf>(), [&] {
        const cpp::Activity Here(Definition);
        return std::make_unique<MemoryOf>(analyseMemory(
            Definition, [&](const FunctionDecl *F) { return memoryOf(F); }));
      });
  if (!Made->available())
    Cost::giveUp(Definition);
  return Made;
}

const FunctionFlow *UnitModel::flowOf(const FunctionDecl *F) {
  const FunctionDecl *Definition = definitionOf(F);
  if (!Definition)
    return flowAbroad(F);
  if (const FunctionFlow *Known = Flows.find(Definition))
    return Known;

  Cost &Spent = Cost::of(Context);
  if (!concernsTensors(Definition)) {
    ++Spent.Skipped;
    return Flows.set(Definition, FunctionFlow::nothing(Definition));
  }
  const auto Begin = std::chrono::steady_clock::now();
  const FunctionFlow *Flow =
      Flows.make(Definition, FunctionFlow::nothing(Definition), [&] {
        ++Spent.Functions;
        const cpp::Activity Here(Definition);
        return Interpreter(*this, Definition).run();
      });
  if (!Flow->available())
    Cost::giveUp(Definition);
  if (!Flows.busy())
    Spent.Seconds +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - Begin)
            .count();
  return Flow;
}

void UnitModel::forEachFlow(llvm::function_ref<void(const FunctionFlow &)> Do) {
  for (const FunctionDecl *F : functions())
    if (const FunctionFlow *Flow = flowOf(F); Flow && Flow->available())
      Do(*Flow);
}

/// The flow of \p F, whose body is in another unit of the program.
const FunctionFlow *UnitModel::flowAbroad(const FunctionDecl *F) {
  if (!Whole || !F || F->hasBody())
    return nullptr;
  F = F->getCanonicalDecl();
  if (const FunctionFlow *Known = Flows.find(F))
    return Known;
  const FunctionFacts *Said = factsElsewhere(F);
  return Said && Said->Flow ? Flows.set(F, FunctionFlow::abroad(F, *Said->Flow))
                            : nullptr;
}

/// Adds what overrides \p Method to \p To.
void UnitModel::addOverriders(const CXXMethodDecl *Method, Targets &To) {
  llvm::SmallSetVector<const CXXMethodDecl *, 4> All;
  All.insert(Method->getCanonicalDecl());
  for (size_t I = 0; I < All.size(); ++I)
    if (auto It = Scan.Overriders.find(All[I]); It != Scan.Overriders.end())
      All.insert(It->second.begin(), It->second.end());
  std::set<std::string> Here;
  for (const CXXMethodDecl *M : All) {
    Here.insert(cpp::programName(M));
    const FunctionFlow *Flow =
        compat::isPureVirtual(M) && !M->hasBody() ? nullptr : flowOf(M);
    if (Flow && Flow->available())
      To.Seen.push_back(Flow);
    else
      To.AreAll &= compat::isPureVirtual(M);
  }
  if (!Whole || !Whole->Closed) {
    // Only a class of the main file has no heirs elsewhere.
    const SourceManager &SM = Context.getSourceManager();
    To.AreAll &=
        SM.isInMainFile(SM.getExpansionLoc(Method->getParent()->getLocation()));
    return;
  }
  auto Elsewhere = Whole->Overriders.find(cpp::programName(Method));
  if (Elsewhere == Whole->Overriders.end())
    return;
  for (llvm::StringRef Name : Elsewhere->second) {
    if (Here.count(Name.str()))
      continue;
    auto Said = Whole->Functions.find(Name.str());
    if (Said == Whole->Functions.end() || !Said->second.Flow) {
      To.AreAll = false;
      continue;
    }
    auto &Flow = OverridersAbroad[{Method->getCanonicalDecl(), Name}];
    if (!Flow)
      Flow = FunctionFlow::abroad(Method, *Said->second.Flow);
    To.Seen.push_back(Flow.get());
  }
}

UnitModel::Targets UnitModel::targetsOf(const cpp::Call &C) {
  Targets Found;
  const CXXMethodDecl *Method =
      C.expr() && C.Callee == C.expr()->getDirectCallee()
          ? cpp::virtuallyCalled(C.expr())
          : nullptr;
  if (Method) {
    addOverriders(Method, Found);
    Found.AreAll &= !Found.Seen.empty();
    return Found;
  }
  const FunctionFlow *Flow = flowOf(C.Callee);
  Found.AreAll = Flow && Flow->available();
  if (Found.AreAll)
    Found.Seen.push_back(Flow);
  return Found;
}

/// Does the body of \p F name anything of LibTorch, or a type that can hold its
/// tensors? Adds the functions that it names to \p Callees until then.
static bool namesTensors(const FunctionDecl *F,
                         llvm::SmallVectorImpl<const FunctionDecl *> &Callees) {
  llvm::SmallPtrSet<const Type *, 16> Seen;
  auto IsConcerned = [&](const Expr *E) {
    const FunctionDecl *Named = nullptr;
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
      Named = dyn_cast<FunctionDecl>(Ref->getDecl());
    else if (const auto *Member = dyn_cast<MemberExpr>(E))
      Named = dyn_cast<FunctionDecl>(Member->getMemberDecl());
    else if (const auto *Construct = dyn_cast<CXXConstructExpr>(E))
      Named = Construct->getConstructor();
    if (Named) {
      Callees.push_back(Named);
      if (torch::isTorchDecl(Named))
        return true;
    }
    QualType T = E->getType();
    // Scalars hold nothing; what makes them may still be a call of LibTorch.
    return !T.isNull() && (!T->isScalarType() || T->isAnyPointerType()) &&
           Seen.insert(T.getCanonicalType().getTypePtr()).second &&
           (torch::mayHoldTensor(T) || torch::isModule(T) ||
            torch::isTorchDecl(cpp::recordOf(T)));
  };
  cpp::Way Everything;
  Everything.Implicit = true;
  if (const auto *Ctor = dyn_cast<CXXConstructorDecl>(F))
    for (const CXXCtorInitializer *Init : Ctor->inits())
      if (cpp::anyOf<Expr>(Init->getInit(), IsConcerned, Everything))
        return true;
  return llvm::any_of(F->parameters(),
                      [](const ParmVarDecl *Param) {
                        return torch::mayHoldTensor(Param->getType()) ||
                               torch::isModule(Param->getType());
                      }) ||
         cpp::anyOf<Expr>(F->getBody(), IsConcerned, Everything);
}

/// Can \p F, or what it calls in this unit, have to do with tensors or
/// gradient mode? Header libraries bring thousands of functions that have not.
bool UnitModel::concernsTensors(const FunctionDecl *F) {
  llvm::SmallVector<const FunctionDecl *, 16> Work{F};
  llvm::SmallPtrSet<const FunctionDecl *, 16> Visited{F};
  while (!Work.empty()) {
    const FunctionDecl *Next = Work.pop_back_val();
    if (auto It = Concerned.find(Next); It != Concerned.end()) {
      if (It->second)
        return Concerned[F] = true;
      continue;
    }
    llvm::SmallVector<const FunctionDecl *, 8> Callees;
    if (namesTensors(Next, Callees)) {
      Concerned[Next] = true;
      return Concerned[F] = true;
    }
    for (size_t I = 0; I < Callees.size(); ++I) {
      const FunctionDecl *Callee = Callees[I], *Definition = nullptr;
      if (const auto *Method = dyn_cast<CXXMethodDecl>(Callee))
        if (auto It = Scan.Overriders.find(Method->getCanonicalDecl());
            It != Scan.Overriders.end())
          Callees.append(It->second.begin(), It->second.end());
      if (const FunctionFlow *There = flowAbroad(Callee);
          There && (There->trains() || There->exitMode() != GradMode::On ||
                    There->exitFromOff() != GradMode::Off))
        return Concerned[F] = true;
      if (Callee->hasBody(Definition) && Visited.insert(Definition).second &&
          cpp::isUserCode(Definition->getLocation(),
                          Context.getSourceManager()))
        Work.push_back(Definition);
    }
  }
  // Nothing that F reaches is concerned.
  for (const FunctionDecl *Reached : Visited)
    Concerned[Reached] = false;
  return false;
}

void UnitModel::collectCallers() {
  if (HasCallers)
    return;
  HasCallers = true;
  forEachFlow([&](const FunctionFlow &Flow) {
    for (const CallSite &Call : Flow.calls())
      Callers[Call.Callee->getCanonicalDecl()].push_back(
          {&Flow, Call.Mode, Call.OnAnyway});
    for (const Label &L : Flow.labels()) {
      if (L.K == Label::Relay)
        Relays[{L.Callee, L.Where}].push_back({&Flow, &L});
      if (L.K == Label::Entry &&
          (L.Consumers & (Label::Backward | Label::Returned | Label::Escaped)))
        if (const FieldDecl *Field = Flow.fieldOf(L.Where))
          ConsumedFields.insert(Field->getCanonicalDecl());
    }
  });
}

ArrayRef<UnitModel::RelayedTo> UnitModel::relaysOf(const FunctionDecl *F,
                                                   LabelId Carry) {
  collectCallers();
  auto It = Relays.find({F, Carry});
  if (It == Relays.end())
    return {};
  return It->second;
}

ArrayRef<UnitModel::CallerOf> UnitModel::callersOf(const FunctionDecl *F) {
  collectCallers();
  auto It = Callers.find(F->getCanonicalDecl());
  if (It == Callers.end())
    return {};
  return It->second;
}

bool UnitModel::isCalledOnlyGuarded(const FunctionDecl *F) {
  collectCallers();
  // Go up the calls with gradient mode on: each way must end at a call with the
  // mode off. In a cycle without callers nothing switches it off, either.
  llvm::SmallPtrSet<const FunctionDecl *, 8> Seen;
  llvm::SmallVector<const FunctionDecl *, 8> Work{F};
  bool IsSwitchedOff = false;
  while (!Work.empty()) {
    F = Work.pop_back_val()->getCanonicalDecl();
    if (!Seen.insert(F).second)
      continue;
    // It knows all calls of the program, including those of this unit.
    if (Whole)
      if (auto It = Whole->CalledGuarded.find(cpp::programName(F));
          It != Whole->CalledGuarded.end()) {
        if (!It->second)
          return false;
        IsSwitchedOff = true;
        continue;
      }
    // Code that does not compile may be a guarded caller: silence is better
    // than a guess.
    if (errors().mayUse(F)) {
      IsSwitchedOff = true;
      continue;
    }
    const ArrayRef<CallerOf> By = callersOf(F);
    if (By.empty())
      return false;
    for (const CallerOf &C : By)
      if (C.OnAnyway)
        return false;
      else if (C.Mode != GradMode::On)
        IsSwitchedOff = true;
      else
        Work.push_back(C.Caller->function());
  }
  return IsSwitchedOff;
}

bool UnitModel::isFieldConsumed(const FieldDecl *Field) {
  collectCallers();
  return ConsumedFields.count(Field->getCanonicalDecl()) ||
         fieldElsewhere(Field).IsConsumed || errors().mayUse(Field);
}

unsigned UnitModel::consumersOf(const Label &L, const FunctionFlow &Flow) {
  if (L.K == Label::Carry && L.Consumers == Label::Returned) {
    ArrayRef<RelayedTo> Calls =
        relaysOf(Flow.function(), &L - Flow.labels().data());
    unsigned ByCallers =
        Calls.empty() || errors().mayUse(Flow.function()) ? L.Consumers : 0;
    for (const RelayedTo &R : Calls)
      ByCallers |= consumersOf(*R.Relay, *R.Caller);
    return ByCallers;
  }
  if (L.Consumers != Label::Stored)
    return L.Consumers;
  bool Unused = llvm::all_of(L.StoredIn, [&](PlaceId P) {
    const FieldDecl *Field = Flow.fieldOf(P);
    return Field && seesAllUses(Field) && !isFieldConsumed(Field);
  });
  return Unused ? 0 : L.Consumers;
}

unsigned UnitModel::consumersHere(const Label &L, const FunctionFlow &Flow) {
  const unsigned All = consumersOf(L, Flow);
  if (!(All & Label::Stored) || (All & Label::Returned) || L.StoredIn.empty())
    return All;
  bool Unused = llvm::all_of(L.StoredIn, [&](PlaceId P) {
    const FieldDecl *Field = Flow.fieldOf(P);
    const auto *Param = dyn_cast_or_null<ParmVarDecl>(Flow.rootOf(P));
    return Field && Param && !torch::isModule(Param->getType()) &&
           !isFieldConsumed(Field);
  });
  return Unused ? All & ~unsigned(Label::Stored) : All;
}

bool UnitModel::seesAllUses(const FieldDecl *Field, bool Alone) {
  const ProgramFacts *Whole = Alone ? nullptr : this->Whole;
  const auto *R = dyn_cast<CXXRecordDecl>(Field->getParent());
  if (!R)
    return false;
  const SourceManager &SM = Context.getSourceManager();
  if (SM.isInMainFile(SM.getExpansionLoc(R->getLocation())))
    return true;
  if (Field->getAccess() == AS_public && !(Whole && Whole->Closed))
    return false;
  return llvm::all_of(R->methods(), [&](const CXXMethodDecl *Method) {
    return !Method->isUserProvided() || Method->hasBody() ||
           compat::isPureVirtual(Method) ||
           (Whole && Whole->Defined.count(cpp::programName(Method)));
  });
}

//===----------------------------------------------------------------------===//
// Who calls a function
//===----------------------------------------------------------------------===//

llvm::SmallVector<WrittenCall, 4> callsOf(const FunctionDecl *Callee,
                                          const UnitModel &Unit) {
  llvm::SmallVector<WrittenCall, 4> Found;
  for (const FunctionDecl *In : Unit.functions())
    cpp::forEach<CallExpr>(In->getBody(), [&](const CallExpr *Call) {
      const FunctionDecl *F = Call->getDirectCallee();
      if (F && F->getCanonicalDecl() == Callee->getCanonicalDecl())
        Found.push_back({Call, In});
    });
  return Found;
}

std::vector<CallSite> callsIn(const FunctionDecl *F, UnitModel &Unit) {
  std::vector<CallSite> Found;
  const FunctionFlow *Flow = Unit.flowOf(F);
  if (Flow && Flow->available() && Unit.concernsTensors(F)) {
    llvm::append_range(Found, Flow->calls());
    llvm::append_range(Found, Flow->unseenCalls());
    llvm::erase_if(Found, [](const CallSite &Site) { return !Site.Callee; });
    return Found;
  }
  cpp::forEach<Expr>(F->getBody(), [&](const Expr *E) {
    const auto *Call = dyn_cast<CallExpr>(E);
    const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
    for (const FunctionDecl *Runs :
         {Callee, static_cast<const FunctionDecl *>(cpp::constructorRunBy(E))})
      if (Runs)
        Found.push_back({E, Runs, GradMode::On});
  });
  return Found;
}

bool anyCallOf(
    const FunctionDecl *F, UnitModel &Unit,
    llvm::function_ref<bool(const Label &, const FunctionFlow &Caller)> IsIt) {
  return llvm::any_of(Unit.callersOf(F), [&](const auto &C) {
    // Also through an override or a function object.
    llvm::SmallPtrSet<const Expr *, 4> Sites;
    for (const CallSite &Site : C.Caller->calls())
      if (Site.Callee->getCanonicalDecl() == F->getCanonicalDecl())
        Sites.insert(Site.Call);
    return llvm::any_of(C.Caller->labels(), [&](const Label &L) {
      return L.K == Label::Helper && Sites.contains(L.Site) &&
             IsIt(L, *C.Caller);
    });
  });
}

bool anyCallerTrains(const FunctionDecl *F, UnitModel &Unit) {
  return anyCallOf(F, Unit, [](const Label &Result, const FunctionFlow &) {
    return (Result.Consumers & Label::Backward) != 0;
  });
}

std::optional<UnguardedForward>
unguardedForward(const FunctionFlow &Flow, UnitModel &Unit, unsigned Depth) {
  if (Flow.isAbroad()) {
    const FunctionFacts *Said = factsElsewhere(Flow.function());
    if (!Said || Said->Forward.empty())
      return std::nullopt;
    return UnguardedForward{nullptr, Said->Forward};
  }
  const SourceManager &SM = Unit.context().getSourceManager();
  const Expr *First = nullptr;
  for (const Label &L : Flow.labels())
    if (L.Site && L.bringsGraph() && L.Mode == GradMode::On &&
        (!First || SM.isBeforeInTranslationUnit(L.Site->getExprLoc(),
                                                First->getExprLoc())))
      First = L.Site;
  if (First)
    return UnguardedForward{First, cpp::lineOf(First->getExprLoc(), SM)};
  if (Depth > 0)
    for (const CallSite &Call : Flow.calls()) {
      const FunctionFlow *Callee =
          Call.Mode == GradMode::On ? Unit.flowOf(Call.Callee) : nullptr;
      if (!Callee || !Callee->available())
        continue;
      if (auto Found = unguardedForward(*Callee, Unit, Depth - 1))
        return Found;
    }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Where one guard does
//===----------------------------------------------------------------------===//

bool isUnseen(const Expr *Training, UnitModel &Unit) {
  const auto *Call = dyn_cast<CallExpr>(Training);
  const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
  return Call &&
         (!Callee || (!torch::isTorchDecl(Callee) && !Unit.flowOf(Callee)));
}

const Expr *needsHistory(const Stmt *S, const FunctionFlow &Flow,
                         UnitModel &Unit, bool OnlySeen) {
  for (const Expr *Training : Flow.trainingSites())
    if (Flow.isWithin(Training, S) && !(OnlySeen && isUnseen(Training, Unit)))
      return Training;
  for (const Label &L : Flow.labels())
    if (L.Site && (L.Arises || (!OnlySeen && L.K == Label::Carry)) &&
        Flow.isWithin(L.Site, S) &&
        (Unit.consumersOf(L, Flow) & ~Label::Computed))
      return L.Site;
  return nullptr;
}

const CompoundStmt *guardableBlock(const Stmt *Site, const FunctionFlow &Flow,
                                   UnitModel &Unit, bool OnlySeen) {
  const CompoundStmt *Best = nullptr;
  for (const Stmt *S = Site; S; S = Flow.parentOf(S))
    if (const auto *Block = dyn_cast<CompoundStmt>(S)) {
      if (needsHistory(Block, Flow, Unit, OnlySeen))
        break;
      Best = Block;
    }
  return Best;
}

/// Is \p Training a backward() through a graph of which no source is seen, as
/// of one above a local leaf?
static bool walksUnknown(const Expr *Training, const FunctionFlow &Flow) {
  return torch::isBackward(dyn_cast<CallExpr>(Training)) &&
         llvm::none_of(Flow.labels(), [&](const Label &L) {
           if (L.K != Label::Spent || L.Site != Training)
             return false;
           bool Shown = false;
           for (LabelId Id : L.Assigned) {
             // What is computed from a leaf has no label of its own.
             if (Flow.label(Id).K == Label::Leaf)
               return false;
             Shown |= Flow.label(Id).bringsHistory();
           }
           return Shown;
         });
}

bool isSeenToTrain(const Stmt *S, const FunctionFlow &Flow, UnitModel &Unit) {
  const SourceManager &SM = Unit.context().getSourceManager();
  return llvm::any_of(Flow.trainingSites(),
                      [&](const Expr *Training) {
                        return !isUnseen(Training, Unit) &&
                               (Flow.isWithin(Training, S) ||
                                (cpp::comesBefore(S, Training, SM) &&
                                 walksUnknown(Training, Flow)));
                      }) ||
         llvm::any_of(Flow.labels(), [&](const Label &L) {
           if (!L.Site || !L.Arises || !Flow.isWithin(L.Site, S))
             return false;
           const unsigned Consumers = Unit.consumersOf(L, Flow);
           return (Consumers & Label::Backward) ||
                  ((Consumers & Label::Returned) &&
                   anyCallerTrains(Flow.function(), Unit));
         });
}

/// The expression that makes \p F, the call operator of a lambda, in
/// \p Around, where it is run: called, or handed to a function of this unit.
/// Null for others.
static const LambdaExpr *lambdaRunIn(const cpp::Body &Around,
                                     const FunctionDecl *F, UnitModel &Unit) {
  const auto *Lambda =
      cpp::findFirst<LambdaExpr>(Around.root(), [&](const LambdaExpr *E) {
        return E->getCallOperator() == F;
      });
  if (!Lambda)
    return nullptr;
  auto IsRun = [&](const Expr *E) {
    const auto *Call = dyn_cast_or_null<CallExpr>(Around.userOf(E));
    const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
    return Callee && Unit.flowOf(Callee);
  };
  if (IsRun(Lambda))
    return Lambda;
  const VarDecl *Var = cpp::declaredBy(Around.userOf(Lambda));
  const bool AlwaysRun =
      Var && cpp::mentions(Around.root(), Var) &&
      !cpp::anyOf<DeclRefExpr>(Around.root(), [&](const DeclRefExpr *Ref) {
        return Ref->getDecl() == Var && !IsRun(Ref);
      });
  return AlwaysRun ? Lambda : nullptr;
}

/// Where \p F is run by the function around it, a lambda's, or by the unit's
/// main. Null when neither runs it.
static const Expr *runInOuter(const FunctionDecl *F, const FunctionDecl *&Outer,
                              UnitModel &Unit, bool UpToMain) {
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  if (Method && Method->getParent()->isLambda()) {
    Outer = dyn_cast_or_null<FunctionDecl>(
        Method->getParent()->getParentFunctionOrMethod());
    const FunctionFlow *Flow = Outer ? Unit.flowOf(Outer) : nullptr;
    return Flow && Flow->available()
               ? lambdaRunIn(cpp::Body::of(Flow->function()), Method, Unit)
               : nullptr;
  }
  Outer = UpToMain ? Unit.scan().Main : nullptr;
  if (!Outer || Outer == F)
    return nullptr;
  return cpp::findFirst<CallExpr>(
      Outer->getBody(),
      [&](const CallExpr *Call) {
        const FunctionDecl *Callee = Call->getDirectCallee();
        return Callee && Callee->getCanonicalDecl() == F->getCanonicalDecl();
      },
      cpp::Lambdas::Made);
}

const Stmt *neighbourhoodOf(const CompoundStmt *Guardable,
                            const FunctionFlow &Of, UnitModel &Unit,
                            bool UpToMain) {
  const FunctionFlow *Flow = &Of;
  // Calls that cannot be seen may train: the edits stay away from them, but
  // they part no finding from its like.
  const CompoundStmt *Block = guardableBlock(Guardable, *Flow, Unit, true);
  while (Block && Block == Flow->function()->getBody()) {
    const FunctionDecl *Outer = nullptr;
    const Expr *Run = runInOuter(Flow->function(), Outer, Unit, UpToMain);
    const FunctionFlow *OuterFlow = Run ? Unit.flowOf(Outer) : nullptr;
    if (!OuterFlow || !OuterFlow->available())
      break;
    const CompoundStmt *Around = guardableBlock(Run, *OuterFlow, Unit, true);
    if (!Around)
      break;
    Block = Around;
    Flow = OuterFlow;
  }
  return Block ? Block : Guardable;
}

} // namespace libtorch_tidy::flow
