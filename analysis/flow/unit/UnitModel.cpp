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
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/PointerIntPair.h"
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

std::vector<const StridedRead *> UnitModel::stridedReads() {
  std::vector<const StridedRead *> Reads;
  for (const FunctionDecl *F : functions())
    if (memoryOf(F))
      for (const StridedRead &Read : Memories.find(definitionOf(F))->Strided)
        Reads.push_back(&Read);
  return Reads;
}

/// Does \p F get a pointer as an argument, or capture one?
static bool getsPointer(const FunctionDecl *F) {
  const auto IsPointer = [](const ValueDecl *D) {
    return D->getType()->isPointerType();
  };
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  return llvm::any_of(F->parameters(), IsPointer) ||
         (Method && Method->getParent()->isLambda() &&
          llvm::any_of(
              Method->getParent()->captures(), [&](const LambdaCapture &C) {
                return C.capturesVariable() && IsPointer(C.getCapturedVar());
              }));
}

const MemorySummary *UnitModel::memoryOf(const FunctionDecl *F) {
  const FunctionDecl *Definition = definitionOf(F);
  if (!Definition) {
    const FunctionFacts *Said = F ? factsElsewhere(F) : nullptr;
    return Said && Said->Memory ? &*Said->Memory : nullptr;
  }
  if (const MemoryOf *Known = Memories.find(Definition))
    return Known;
  // A function that knows nothing of tensors may still free a buffer, or read
  // one.
  if (!concernsTensors(Definition) && !getsPointer(Definition))
    return Memories.set(Definition, std::make_unique<MemoryOf>());
  const MemoryOf *Made =
      Memories.make(Definition, std::make_unique<MemoryOf>(), [&] {
        const cpp::Activity Here(Definition);
        return std::make_unique<MemoryOf>(analyseMemory(
            Definition, [&](const FunctionDecl *F) { return memoryOf(F); },
            [&](const FieldDecl *Field) -> const cpp::Values & {
              return valuesOf(Field);
            }));
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
  const CXXMethodDecl *Run = Method ? cpp::overrideRunBy(C.expr()) : nullptr;
  if (Method && !Run) {
    addOverriders(Method, Found);
    Found.AreAll &= !Found.Seen.empty();
    return Found;
  }
  const FunctionFlow *Flow = flowOf(Run ? Run : C.Callee);
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
  for (const VarDecl *Var : Scan.Globals)
    cpp::forEach<Expr>(Var->getInit(), [&](const Expr *E) {
      const auto *Named =
          dyn_cast_or_null<VarDecl>(E->getReferencedDeclOfCallee());
      if (Named && Named->getCanonicalDecl() != Var->getCanonicalDecl())
        NamedByGlobals.insert(Named->getCanonicalDecl());
    });
  forEachFlow([&](const FunctionFlow &Flow) {
    for (const CallSite &Call : Flow.calls())
      Callers[Call.Callee->getCanonicalDecl()].push_back(
          {&Flow, Call.Mode, Call.OnAnyway, Call.UnderInference});
    for (const Label &L : Flow.labels()) {
      if (L.K == Label::Relay)
        Relays[{L.Callee, L.Where}].push_back({&Flow, &L});
      if (L.K == Label::Entry &&
          (L.Consumers & (Label::Backward | Label::Returned | Label::Escaped)))
        noteConsumed(L.Where, Flow);
    }
  });
}

void UnitModel::noteConsumed(PlaceId P, const FunctionFlow &Flow) {
  if (const FieldDecl *Field = Flow.fieldOf(P))
    ConsumedFields.insert(Field->getCanonicalDecl());
  if (const VarDecl *Root = Flow.rootOf(P); Root && Root->hasGlobalStorage())
    ConsumedGlobals.insert(Root->getCanonicalDecl());
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

bool UnitModel::isCalledOnlyGuarded(const FunctionDecl *F, bool OnAnyway) {
  collectCallers();
  // Go up the calls with gradient mode on: each way must end at a call with the
  // mode off, or, from where somebody has switched it on, under an
  // InferenceMode. In a cycle without callers nothing switches it off, either.
  using Asked = llvm::PointerIntPair<const FunctionDecl *, 1, bool>;
  llvm::SmallDenseSet<Asked, 8> Seen;
  llvm::SmallVector<Asked, 8> Work{{F, OnAnyway}};
  bool IsSwitchedOff = false;
  while (!Work.empty()) {
    OnAnyway = Work.back().getInt();
    F = Work.pop_back_val().getPointer()->getCanonicalDecl();
    if (!Seen.insert({F, OnAnyway}).second)
      continue;
    // It knows all calls of the program, including those of this unit.
    if (Whole)
      if (auto It = Whole->CalledGuarded.find(cpp::programName(F));
          It != Whole->CalledGuarded.end()) {
        if (!It->second || OnAnyway)
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
      if (OnAnyway ? C.UnderInference : C.Mode != GradMode::On)
        IsSwitchedOff = true;
      else
        Work.push_back({C.Caller->function(), OnAnyway || C.OnAnyway});
  }
  return IsSwitchedOff;
}

bool UnitModel::isFieldConsumed(const FieldDecl *Field) {
  collectCallers();
  return ConsumedFields.count(Field->getCanonicalDecl()) ||
         fieldElsewhere(Field).IsConsumed || errors().mayUse(Field);
}

bool UnitModel::isConsumed(PlaceId P, const FunctionFlow &Flow) {
  const FieldDecl *Field = Flow.fieldOf(P);
  const VarDecl *Root = Flow.rootOf(P);
  if (Field && isFieldConsumed(Field))
    return true;
  collectCallers();
  return Root && Root->hasGlobalStorage() &&
         (ConsumedGlobals.count(Root->getCanonicalDecl()) ||
          errors().mayUse(Root));
}

bool UnitModel::isLeftInCaller(PlaceId P, const FunctionFlow &Flow) {
  const VarDecl *Root = Flow.rootOf(P);
  const auto *Outer =
      Root ? dyn_cast<FunctionDecl>(Root->getDeclContext()) : nullptr;
  if (!Outer || Outer == Flow.function() || !Root->hasLocalStorage() ||
      !cpp::Body::of(Flow.function()).repeatedBy())
    return false;
  bool IsRun = false;
  return !anyCallOf(Flow.function(), *this,
                    [&](const Label &Left, const FunctionFlow &Caller) {
                      IsRun = true;
                      return Caller.function() != Outer ||
                             (consumersOf(Left, Caller) & ~Label::Computed);
                    }) &&
         IsRun;
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
    const VarDecl *Root = Flow.rootOf(P);
    const bool IsSeen =
        (Field && seesAllUses(Field)) || (Root && seesAllUses(Root));
    return (IsSeen && !isConsumed(P, Flow)) || isLeftInCaller(P, Flow);
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

const cpp::Values &UnitModel::valuesOf(const FieldDecl *Field) {
  auto [It, New] = Given.try_emplace(Field);
  if (New) {
    It->second = cpp::valuesOf(Field);
    It->second.Complete &= !Scan.calls().SetFields.contains(Field) &&
                           seesAllUses(Field, /*Alone=*/true);
  }
  return It->second;
}

const Expr *UnitModel::leafOf(const FieldDecl *Field) {
  auto [It, New] = Leaves.try_emplace(Field, nullptr);
  if (!New || !torch::isTensor(Field->getType()) || Scan.calls().FreezesLeaves)
    return It->second;
  const auto *Class = dyn_cast<CXXRecordDecl>(Field->getParent());
  if (!Class || torch::isModule(compat::recordType(Class)) ||
      !valuesOf(Field).Complete)
    return nullptr;
  const cpp::Values &Values = valuesOf(Field);
  if (Values.Given.empty() || !llvm::all_of(Values.Given, torch::isMadeLeaf))
    return nullptr;
  return It->second = Values.Given.front();
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

bool UnitModel::seesAllUses(const VarDecl *Var) {
  collectCallers();
  return Var->hasGlobalStorage() && !Var->isStaticLocal() &&
         !Var->isExternallyVisible() &&
         !NamedByGlobals.count(Var->getCanonicalDecl());
}

} // namespace libtorch_tidy::flow
