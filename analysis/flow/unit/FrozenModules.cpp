//===- FrozenModules.cpp - Modules whose parameters are frozen ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Callables.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/ProgramNames.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/UserCode.h"
#include "analysis/flow/unit/UnitModel.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Autograd.h"

using namespace clang;

namespace libtorch_tidy::flow {

namespace {

/// Whose tensor a chain of calls and variables begins with.
struct TensorOwner {
  /// The module whose parameters() are asked for, or a parameter of a function,
  /// whose caller knows more; null for others.
  const ValueDecl *Module = nullptr;
  /// It may be a parameter of any module.
  bool IsUnknown = false;
  /// How many loops over layers are between the two.
  unsigned Loops = 0;
};

TensorOwner modelOf(const ValueDecl *Layer);

/// Of \p E: of `p` in `for (auto &p : net->parameters())`, of params[i]; the
/// whole module where a loop over its layers is around.
TensorOwner ownerOf(const Expr *E) {
  for (unsigned Steps = 0; E && Steps < cpp::MaxChase; ++Steps) {
    E = cpp::stripPointers(E);
    if (const auto *Construct = dyn_cast_or_null<CXXConstructExpr>(E)) {
      E = Construct->getNumArgs() ? Construct->getArg(0) : nullptr;
    } else if (const auto *Call = dyn_cast_or_null<CallExpr>(E)) {
      if (torch::isParametersCall(Call))
        return modelOf(torch::moduleNamed(cpp::receiverOf(Call)));
      if (torch::listsLayers(Call)) {
        TensorOwner Of = modelOf(torch::moduleNamed(cpp::receiverOf(Call)));
        ++Of.Loops;
        return Of;
      }
      const bool LeadsOn = isa<CXXMemberCallExpr, CXXOperatorCallExpr>(Call) ||
                           cpp::does(Call, cpp::Std::Iterator | cpp::Std::Same);
      if (!LeadsOn || Call->getNumArgs() + bool(cpp::calledOn(Call)) == 0)
        return {};
      E = isa<CXXMemberCallExpr>(Call) ? cpp::calledOn(Call) : Call->getArg(0);
    } else if (const VarDecl *Var = cpp::variableOf(E)) {
      if (isa<ParmVarDecl>(Var))
        return {Var};
      E = Var->getInit();
    } else {
      return {nullptr, E != nullptr};
    }
  }
  return {};
}

/// The module over whose layers a loop runs with \p Layer, `child` in
/// `for (auto &child : net->children())`; \p Layer itself for others.
TensorOwner modelOf(const ValueDecl *Layer) {
  const auto *Var = dyn_cast_or_null<VarDecl>(Layer);
  if (Var && Var->isCXXForRangeDecl())
    if (const TensorOwner Whole = ownerOf(Var->getInit()); Whole.Loops)
      return Whole;
  return {Layer};
}

constexpr unsigned MaxDepth = 2; // Helpers of helpers.

/// The variable that \p Call, a freeze call, is assigned to. The module that it
/// is given keeps its parameters.
const ValueDecl *frozenBy(const CallExpr *Call, const cpp::Body &In) {
  for (const Stmt *S = Call; S && !isa<CompoundStmt>(S); S = In.parentOf(S)) {
    if (isa<DeclStmt>(S))
      return In.initializedBy(S, Call);
    const auto *Assign = dyn_cast<CallExpr>(S);
    if (cpp::isAssignment(Assign))
      return torch::moduleNamed(Assign->getArg(0));
  }
  return nullptr;
}

/// Can \p Helper, called with \p Call in \p F, freeze a module of \p F's?
bool reachesModules(const FunctionDecl *Helper, const CallExpr *Call,
                    const FunctionDecl *F) {
  return llvm::any_of(Helper->parameters(),
                      [](const ParmVarDecl *Param) {
                        return torch::isModule(Param->getType()) ||
                               torch::mayHoldTensor(
                                   Param->getType().getNonReferenceType());
                      }) ||
         (isa<CXXMethodDecl>(F) && isa<CXXMethodDecl>(Helper) &&
          !cpp::receiverOf(Call));
}

/// The constructors that do not copy or move, their definitions where these are
/// in this unit.
llvm::SmallVector<const FunctionDecl *, 2>
constructorsOf(const CXXRecordDecl *R) {
  llvm::SmallVector<const FunctionDecl *, 2> Found;
  for (const CXXConstructorDecl *Ctor : R->ctors()) {
    if (Ctor->isCopyOrMoveConstructor() || !Ctor->isUserProvided() ||
        Ctor->isDelegatingConstructor())
      continue;
    const FunctionDecl *Definition = nullptr;
    Found.push_back(Ctor->hasBody(Definition) ? Definition : Ctor);
  }
  return Found;
}

/// Does \p F, or what it calls, switch gradients off and not on?
bool endsGradients(const FunctionDecl *F, unsigned Depth) {
  bool Off = false, On = false;
  cpp::forEachCall(F->getBody(), [&](const CallExpr *Call) {
    if (std::optional<torch::GradMode> Mode = torch::setsGradMode(Call)) {
      Off |= *Mode == torch::GradMode::Off;
      On |= *Mode == torch::GradMode::On;
    } else if (const FunctionDecl *Helper =
                   Depth ? cpp::userDefinition(Call->getDirectCallee())
                         : nullptr;
               Helper && Helper != F) {
      Off |= endsGradients(Helper, Depth - 1);
    }
  });
  return Off && !On;
}

} // namespace

void FrozenModules::Switched::note(const Stmt *By, const ValueDecl *Module,
                                   bool IsOff) {
  (IsOff ? Off : On).insert(Module);
  At[By].push_back({Module, IsOff});
}

/// Does \p Call return a module that is frozen, by LibTorch or by a function of
/// this unit?
bool FrozenModules::returnsFrozen(const CallExpr *Call, unsigned Depth) {
  if (torch::isFreezeCall(Call))
    return true;
  const FunctionDecl *Helper =
      Depth && Call && torch::isModule(Call->getType())
          ? cpp::userDefinition(Call->getDirectCallee())
          : nullptr;
  if (!Helper)
    return false;
  bool Returns = false;
  return !cpp::anyOf<ReturnStmt>(
             Helper->getBody(),
             [&](const ReturnStmt *Return) {
               Returns = true;
               const Expr *E = cpp::stripPointers(
                   cpp::Body::of(Helper).originOf(Return->getRetValue()));
               const Switched &There = switchedIn(Helper, Depth - 1);
               const ValueDecl *D = torch::moduleNamed(E);
               return !returnsFrozen(dyn_cast_or_null<CallExpr>(E),
                                     Depth - 1) &&
                      (!D || !There.Off.contains(D) || There.On.contains(D));
             },
             cpp::Lambdas::Skipped) &&
         Returns;
}

/// Adds what the callee of \p Call, in \p F, switches, in terms of \p F.
void FrozenModules::addHelper(const CallExpr *Call, const FunctionDecl *F,
                              unsigned Depth, Switched &To) {
  const FunctionDecl *Helper =
      Depth ? cpp::userDefinition(Call->getDirectCallee()) : nullptr;
  if (!Helper || Helper == F || !reachesModules(Helper, Call, F))
    return;
  auto Given = [&](unsigned Index) -> const Expr * {
    const auto Args = cpp::Call(Call).Args;
    return Index < Args.size() ? Args[Index] : nullptr;
  };
  auto Ours = [&](const ValueDecl *Theirs) -> const ValueDecl * {
    const auto *Param = dyn_cast<ParmVarDecl>(Theirs);
    if (Param && Param->getDeclContext() == Helper) {
      const Expr *Arg = Given(Param->getFunctionScopeIndex());
      const ValueDecl *Owner = Arg ? ownerOf(Arg).Module : nullptr;
      return Owner || !Arg ? Owner : torch::moduleNamed(Arg);
    }
    // A field of the same object.
    return isa<FieldDecl>(Theirs) && !cpp::receiverOf(Call) ? Theirs : nullptr;
  };
  const Switched &There = switchedIn(Helper, Depth - 1);
  for (const ValueDecl *Theirs : There.Off)
    if (const ValueDecl *D = Ours(Theirs); D && !There.On.contains(Theirs))
      To.note(Call, D, /*IsOff=*/true);
  for (const ValueDecl *Theirs : There.On)
    if (const ValueDecl *D = Ours(Theirs))
      To.note(Call, D, /*IsOff=*/false);
  for (const auto &[Theirs, Index] : There.Asked)
    if (const ValueDecl *D = Ours(Theirs))
      noteSet(Call, D, Given(Index), To);
}

/// At \p By, the parameters of \p Module are set to what \p Value says.
void FrozenModules::noteSet(const Stmt *By, const ValueDecl *Module,
                            const Expr *Value, Switched &To) {
  const torch::Flag Set = Value ? torch::flagOf(Value, Module->getASTContext())
                                : torch::Flag::Unknown;
  const auto *Param = dyn_cast_or_null<ParmVarDecl>(cpp::variableOf(Value));
  if (Set == torch::Flag::Unknown && Param)
    To.Asked.push_back({Module, Param->getFunctionScopeIndex()});
  else
    To.note(By, Module, Set == torch::Flag::False);
}

/// `on` in p.requires_grad_(on); null where nothing is written.
static const Expr *valueSetBy(const CallExpr *Setter) {
  return Setter->getNumArgs() ? Setter->getArg(0) : nullptr;
}

/// Is \p Condition the same in each round of the loop around it: does it call
/// nothing, and is no variable in it of the loop, or written in \p In?
static bool isDecidedBefore(const Expr *Condition, const cpp::Body &In) {
  const Stmt *Loop = In.loopAround(Condition);
  cpp::Body &Whole = cpp::Body::of(In.function());
  return !cpp::anyOf<CallExpr>(Condition, [](const CallExpr *) {
    return true;
  }) && !cpp::anyOf<DeclRefExpr>(Condition, [&](const DeclRefExpr *Ref) {
    const ValueDecl *D = Ref->getDecl();
    return !Whole.writesTo(D).empty() ||
           (Loop && cpp::isWithin(D->getLocation(), Loop,
                                  In.context().getSourceManager()));
  });
}

/// Adds \p Call, which lets \p Tensor require gradients or not, as \p Value
/// says, if that is written.
void FrozenModules::addSetter(const CallExpr *Call, const Expr *Tensor,
                              torch::Flag Set, const Expr *Value,
                              const cpp::Body &In, Switched &To) {
  const bool IsOff = Set == torch::Flag::False;
  // A layer whose weight is frozen keeps no input for its bias.
  if (const ValueDecl *Layer =
          torch::moduleOfWeight(cpp::stripPointers(Tensor))) {
    if (IsOff && In.around<IfStmt>(Call))
      To.At[Call].push_back({Layer, true});
    else
      To.note(Call, Layer, IsOff);
    return;
  }
  // for (auto &p : net->parameters()) p.requires_grad_(false);
  const TensorOwner Owner = ownerOf(Tensor);
  bool All = true, OnSomePaths = false;
  auto LoopAround = [&](const Stmt *S) {
    while ((S = In.parentOf(S)) && !cpp::isLoop(S)) {
      const auto *If = dyn_cast<IfStmt>(S);
      if (If && isDecidedBefore(If->getCond(), In))
        OnSomePaths = true;
      else
        All &= !isa<IfStmt, SwitchStmt, AbstractConditionalOperator>(S);
    }
    return S;
  };
  const Stmt *Loop = LoopAround(Call);
  for (unsigned I = 0; Loop && I < Owner.Loops; ++I)
    Loop = LoopAround(Loop); // Over the layers.
  To.OnOthers |= !IsOff && Owner.IsUnknown;
  if (!Owner.Module ||
      (isa<ParmVarDecl>(Owner.Module) &&
       torch::isTensor(Owner.Module->getType().getNonReferenceType())))
    return;
  const Stmt *By = Call; // Before the first round.
  if (const auto *Range = dyn_cast_or_null<CXXForRangeStmt>(Loop))
    By = Range->getRangeStmt();
  else if (const auto *For = dyn_cast_or_null<ForStmt>(Loop))
    By = For->getCond() ? cpp::stripImplicit(For->getCond()) : nullptr;
  else if (const auto *While = dyn_cast_or_null<WhileStmt>(Loop))
    By = cpp::stripImplicit(While->getCond());
  if (Loop && All && By && IsOff && OnSomePaths)
    To.At[By].push_back({Owner.Module, true, /*Perhaps=*/true});
  else if (Loop && All && By && !OnSomePaths &&
           (IsOff || Set == torch::Flag::Unknown))
    IsOff ? To.note(By, Owner.Module, true)
          : noteSet(By, Owner.Module, Value, To);
  else if (!IsOff)
    To.note(Call, Owner.Module, false);
}

/// Adds \p Call, which may make a module that is frozen.
void FrozenModules::addFreeze(const CallExpr *Call, const cpp::Body &In,
                              unsigned Depth, Switched &To) {
  if (const Expr *Module = torch::frozenInPlaceBy(Call)) {
    if (const ValueDecl *D = torch::moduleNamed(Module))
      To.note(Call, D, true);
  } else if (returnsFrozen(Call, Depth)) {
    if (const ValueDecl *Result = frozenBy(Call, In))
      To.note(Call, Result, true);
  } else if (cpp::isAssignment(Call)) {
    // Another module, or a copy of one.
    const Expr *Left = cpp::stripPointers(Call->getArg(0));
    const Expr *Right = cpp::stripPointers(Call->getArg(1));
    if (torch::isModule(Left->getType()) &&
        isa<DeclRefExpr, MemberExpr>(Left) &&
        !returnsFrozen(dyn_cast_or_null<CallExpr>(Right), Depth))
      if (const ValueDecl *D = torch::moduleNamed(Left))
        To.At[Call].push_back({D, false});
  }
}

/// The last call in \p F that lets \p Param, a tensor, require gradients or
/// surely not; null where there is none.
static const CallExpr *setterIn(const FunctionDecl *F,
                                const ParmVarDecl *Param) {
  const cpp::Body &In = cpp::Body::of(F);
  const CallExpr *Last = nullptr;
  cpp::forEachCall(In.root(), [&](const CallExpr *Setter) {
    const std::optional<torch::Flag> Set = torch::switchesLeaf(Setter);
    if (Set && ownerOf(cpp::calledOn(Setter)).Module == Param &&
        !(*Set == torch::Flag::False && In.around<IfStmt>(Setter)))
      Last = Setter;
  });
  return Last;
}

/// Adds \p Call of a function that lets a tensor require gradients or not.
void FrozenModules::addTensorHelper(const CallExpr *Call, const cpp::Body &In,
                                    Switched &To) {
  const cpp::Call C(Call);
  const FunctionDecl *Helper = cpp::userDefinition(C.Callee);
  if (!Helper)
    return;
  for (const auto &[Param, Arg] : llvm::zip(Helper->parameters(), C.Args)) {
    if (!torch::isTensor(Param->getType().getNonReferenceType()) ||
        (!ownerOf(Arg).Module &&
         !torch::moduleOfWeight(cpp::stripPointers(Arg))))
      continue;
    const CallExpr *Setter = setterIn(Helper, Param);
    if (!Setter)
      continue;
    torch::Flag Set = *torch::switchesLeaf(Setter);
    const auto *Asked =
        dyn_cast_or_null<ParmVarDecl>(cpp::variableOf(valueSetBy(Setter)));
    const Expr *Value = Asked && Asked->getFunctionScopeIndex() < C.Args.size()
                            ? C.Args[Asked->getFunctionScopeIndex()]
                            : nullptr;
    if (Value)
      Set = torch::flagOf(Value, Helper->getASTContext());
    addSetter(Call, Arg, Set, Value, In, To);
  }
}

/// Adds \p Call when it runs a function for each parameter, or layer, of a
/// module: std::for_each(ps.begin(), ps.end(), f), net->apply(f).
void FrozenModules::addEach(const CallExpr *Call, unsigned Depth,
                            Switched &To) {
  const bool IsApply = torch::callsTorch(Call, "apply");
  if (!Depth || !Call->getNumArgs() ||
      !(IsApply || cpp::does(Call, cpp::Std::Run)))
    return;
  const ValueDecl *Owner =
      IsApply ? modelOf(torch::moduleNamed(cpp::receiverOf(Call))).Module
              : ownerOf(Call->getArg(0)).Module;
  if (!Owner)
    return;
  const Expr *Each = cpp::writtenArguments(Call).back();
  const FunctionDecl *F = cpp::functionOf(Each);
  if (!F || F->param_empty())
    return addPattern(Call, Owner, cpp::patternOf(Each), To);
  const ParmVarDecl *Param = F->parameters().back();
  if (torch::isModule(Param->getType())) {
    const Switched &There = switchedIn(F, Depth - 1);
    if (There.Off.contains(Param) || There.On.contains(Param))
      To.note(Call, Owner, !There.On.contains(Param));
    return;
  }
  if (const CallExpr *Setter = setterIn(F, Param))
    To.note(Call, Owner, torch::switchesLeaf(Setter) == torch::Flag::False);
}

/// Adds \p Call, which runs a generic lambda, \p Pattern (may be null), for
/// what \p Owner has.
void FrozenModules::addPattern(const CallExpr *Call, const ValueDecl *Owner,
                               const FunctionDecl *Pattern, Switched &To) {
  if (!Pattern)
    return;
  const cpp::Body &In = cpp::Body::of(Pattern);
  std::optional<torch::Flag> Last;
  cpp::forEachCall(In.root(), [&](const CallExpr *Setter) {
    const auto Set = torch::maySwitchLeaf(Setter, Pattern->getASTContext());
    if (Set && !(*Set == torch::Flag::False && In.around<IfStmt>(Setter)))
      Last = Set;
  });
  if (Last)
    To.note(Call, Owner, *Last == torch::Flag::False);
}

const FrozenModules::Switched &FrozenModules::switchedIn(const FunctionDecl *F,
                                                         unsigned Depth) {
  if (auto It = Known.find({F, Depth}); It != Known.end())
    return It->second;
  const cpp::Body &In = cpp::Body::of(F);
  Switched Found;
  if (const auto *Ctor = dyn_cast<CXXConstructorDecl>(F))
    for (const CXXCtorInitializer *Init : Ctor->inits())
      if (const auto *Call =
              dyn_cast<CallExpr>(cpp::stripImplicit(Init->getInit()));
          Call && Init->getMember() && returnsFrozen(Call, Depth))
        Found.note(Call, Init->getMember(), true);
  cpp::forEach<CallExpr>(
      In.root(),
      [&](const CallExpr *Call) {
        addHelper(Call, F, Depth, Found);
        addFreeze(Call, In, Depth, Found);
        addEach(Call, Depth, Found);
        if (std::optional<torch::Flag> Set = torch::switchesLeaf(Call))
          addSetter(Call, cpp::calledOn(Call), *Set, valueSetBy(Call), In,
                    Found);
        if (Depth)
          addTensorHelper(Call, In, Found);
      },
      cpp::Lambdas::Skipped);
  return Known[{F, Depth}] = std::move(Found);
}

const FrozenModules::Switches &
FrozenModules::switchesOf(const FunctionDecl *F) {
  return switchedIn(F, MaxDepth).At;
}

const FrozenModules::Modules &FrozenModules::thawedIn(const FunctionDecl *F) {
  return switchedIn(F, MaxDepth).On;
}

/// The summary of \p F from another unit; null when there is none.
static const FunctionSummary *abroad(const FunctionDecl *F) {
  const FunctionFacts *Said = factsElsewhere(F);
  return Said && Said->Flow ? &*Said->Flow : nullptr;
}

bool FrozenModules::letsTrain(const FunctionDecl *F) {
  return cpp::anyOf<CallExpr>(F->getBody(), [](const CallExpr *Call) {
    std::optional<torch::Flag> Set = torch::setsRequiresGrad(Call);
    return Set && *Set != torch::Flag::False;
  });
}

FrozenModules::Modules FrozenModules::in(const FunctionDecl *F) {
  const Switched &Found = switchedIn(F, MaxDepth);
  Modules Off = Found.Off;
  for (const ValueDecl *Name : Found.On)
    Off.erase(Name);
  return Off;
}

const FrozenModules::Modules &
FrozenModules::byConstructors(const CXXRecordDecl *R) {
  auto [It, New] = OfClasses.try_emplace(R);
  Modules &Frozen = It->second;
  if (!New)
    return Frozen;
  bool First = true;
  for (const FunctionDecl *Ctor : constructorsOf(R)) {
    Modules Here;
    if (Ctor->hasBody() && !Ctor->isDependentContext())
      Here = in(Ctor);
    else if (const FunctionSummary *Said = abroad(Ctor))
      for (const FieldDecl *Field : R->fields())
        if (llvm::is_contained(Said->Frozen, cpp::programFieldName(Field)))
          Here.insert(Field);
    Modules Both;
    for (const ValueDecl *D : Here)
      if (isa<FieldDecl>(D) && (First || Frozen.contains(D)))
        Both.insert(D);
    Frozen = std::move(Both);
    First = false;
  }
  // Another method may let them train again.
  for (const CXXMethodDecl *Method : R->methods()) {
    const FunctionDecl *Definition = nullptr;
    if (Frozen.empty() || isa<CXXConstructorDecl>(Method))
      continue;
    if (!Method->hasBody(Definition) || Definition->isDependentContext()) {
      const FunctionSummary *Said = abroad(Method);
      if (Definition ? letsTrain(Definition) : Said && Said->LetsTrain)
        Frozen.clear();
      continue;
    }
    const Switched &There = switchedIn(Definition, MaxDepth);
    if (There.OnOthers)
      Frozen.clear();
    for (const ValueDecl *D : There.On)
      Frozen.erase(D);
  }
  return Frozen;
}

torch::Parameters FrozenModules::parametersOf(QualType T) {
  const torch::Parameters Here = torch::parametersOf(T);
  const CXXRecordDecl *R =
      T.isNull() ? nullptr : cpp::recordOf(cpp::finalPointee(T));
  if (Here != torch::Parameters::Unknown || !R || !R->hasDefinition() ||
      !torch::isModuleClass(R))
    return Here;
  for (const FunctionDecl *Ctor : constructorsOf(R->getDefinition()))
    if (const FunctionSummary *Said = abroad(Ctor); Said && Said->HasParameters)
      return torch::Parameters::Some;
  return Here;
}

bool FrozenModules::constructorsEndGradients(const CXXRecordDecl *R) {
  auto [It, New] = EndGradients.try_emplace(R, false);
  if (!New)
    return It->second;
  bool Any = false;
  for (const FunctionDecl *Ctor : constructorsOf(R)) {
    if (Ctor->hasBody() && !Ctor->isDependentContext())
      Any |= endsGradients(Ctor, MaxDepth);
    else if (const FunctionSummary *Said = abroad(Ctor))
      Any |=
          static_cast<torch::GradMode>(Said->ExitMode) == torch::GradMode::Off;
    else
      return false; // It may switch them on.
  }
  return It->second = Any;
}

bool FrozenModules::isSetFrozen(const FieldDecl *Field) {
  return Field && !torch::isTorchDecl(Field) &&
         llvm::any_of(cpp::valuesOf(Field).Given, [&](const Expr *Value) {
           return returnsFrozen(
               dyn_cast_or_null<CallExpr>(cpp::stripImplicit(Value)), MaxDepth);
         });
}

} // namespace libtorch_tidy::flow
