//===- MemoryFlows.cpp - Where memory goes, and where it comes from -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/UserCode.h"
#include "analysis/torch/api/Conventions.h"
#include "analysis/torch/api/OpFacts.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/storage/Sharing.h"
#include "checks/history/MemoryNames.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;

namespace libtorch_tidy {

using cpp::Std;

//===----------------------------------------------------------------------===//
// Where the memory goes
//===----------------------------------------------------------------------===//

void MemoryNames::stores(unsigned Var, const Expr *Value) {
  Held[Var] = Holder::Other;
  const bool IsPart = torch::isTensor(Value->getType()) &&
                      torch::hasTensorParts(Vars[Var]->getType());
  Followed->Stores = std::max(Followed->Stores, IsPart ? Mention::Kept::Part
                                                       : Mention::Kept::All);
}

void MemoryNames::goesTo(const Expr *To, const Expr *Value, unsigned Var) {
  To = cpp::stripImplicit(To);
  if (cpp::isStdCall(To, Std::Tie)) {
    for (const Expr *Arg : cast<CallExpr>(To)->arguments())
      goesTo(Arg, Value, Var);
    return;
  }
  const std::optional<unsigned> Into = indexOf(cpp::variableOf(wholeValue(To)));
  if (!Into)
    return stores(Var, Value);
  unite(Var, *Into);
  Flows.push_back({Followed->Ref, Var, *Into});
}

void MemoryNames::initialises(const Stmt *Declared, const Expr *E,
                              unsigned Var) {
  const VarDecl *Named = In.initializedBy(Declared, E);
  if (!Named)
    return;
  if (Named->isImplicit()) { // The range of a range-for.
    const auto *For = dyn_cast_or_null<CXXForRangeStmt>(In.parentOf(Declared));
    if (!For)
      return holds(Var, Holder::Other);
    Loops[Var].push_back(For);
    Named = For->getLoopVariable();
  }
  const std::optional<unsigned> Into = indexOf(Named);
  if (Into == Var)
    return;
  if (Into) {
    unite(Var, *Into);
    Flows.push_back({nullptr, Var, *Into});
  } else if (Named->getType()->isReferenceType() ||
             cpp::leadsToElements(Named->getType()) ||
             (Named->hasLocalStorage() && In.around<LambdaExpr>(Declared)))
    Indices[Named] = Var; // Another name; a lambda's own ends with its run.
  else if (torch::mayHoldTensor(Named->getType()))
    holds(Var, Holder::Other);
}

void MemoryNames::follow(const Expr *E, unsigned Var, Mention *M) {
  for (unsigned Steps = 0; E && Steps < 32; ++Steps) {
    const Stmt *User = In.userOf(E);
    if (isa_and_nonnull<DeclStmt>(User))
      return initialises(User, E, Var);
    if (isa_and_nonnull<ReturnStmt>(User))
      return holds(Var, Holder::Returned);
    const auto *Outer = dyn_cast_or_null<Expr>(User);
    if (!Outer)
      return;
    if (const auto *Member = dyn_cast<MemberExpr>(Outer)) {
      if (const auto *Call =
              dyn_cast_or_null<CXXMemberCallExpr>(In.parentOf(Member));
          Call && isa<CXXMethodDecl>(Member->getMemberDecl()))
        E = followCall(E, Call, Var, M);
      else if (torch::mayHoldTensor(Member->getType()))
        E = Member;
      else
        return;
    } else if (const auto *Call = dyn_cast<CallExpr>(Outer)) {
      E = followCall(E, Call, Var, M);
    } else if (const auto *Choice = dyn_cast<ConditionalOperator>(Outer)) {
      if (In.isWithin(E, Choice->getCond()))
        return;
      E = Outer;
    } else if (isa<CXXConstructExpr, InitListExpr, CXXStdInitializerListExpr,
                   CastExpr>(Outer)) {
      if (!torch::mayHoldTensor(Outer->getType()) &&
          isa<CXXConstructExpr>(Outer))
        return;
      E = Outer;
    } else if (isa<BinaryOperator>(Outer) ||
               !torch::mayHoldTensor(Outer->getType())) {
      if (const auto *Op = dyn_cast<UnaryOperator>(Outer);
          Op && Op->getOpcode() == UO_AddrOf)
        holds(Var, Holder::Other);
      return;
    } else {
      return holds(Var,
                   isa<LambdaExpr>(Outer) ? Holder::Lambda : Holder::Other);
    }
  }
}

/// What of a tuple that is made at the call of std::get \p Get is taken; null
/// when \p Tuple is made elsewhere.
static const Expr *partOf(const CallExpr *Get, const Expr *Tuple) {
  const auto *Made = dyn_cast<CallExpr>(cpp::stripImplicit(Tuple));
  const FunctionDecl *Callee = Get->getDirectCallee();
  const TemplateArgumentList *Args =
      Callee ? Callee->getTemplateSpecializationArgs() : nullptr;
  if (!Made || !cpp::isStdCall(Made, Std::Tuple) || !Args || !Args->size() ||
      Args->get(0).getKind() != TemplateArgument::Integral)
    return nullptr;
  const uint64_t I = Args->get(0).getAsIntegral().getZExtValue();
  return I < Made->getNumArgs() ? Made->getArg(I) : nullptr;
}

/// Null: it goes no further. Else what holds the memory, too.
const Expr *MemoryNames::followCall(const Expr *E, const CallExpr *Call,
                                    unsigned Var, Mention *M) {
  if (torch::isMetadataAccess(Call)) {
    if (M->Ref == cpp::stripImplicit(E))
      M->How = Use::Number;
    return nullptr;
  }
  if (cpp::isAssignment(Call) || cpp::asInsertion(Call))
    return followInto(E, Call, Var);
  if (const Expr *Container = torch::containerOf(Call)) {
    const Expr *Part = partOf(Call, Container);
    return !Part || In.isWithin(M->Ref, Part) ? Call : nullptr;
  }
  if (std::optional<const Expr *> Next = followElements(Call, Var))
    return *Next;
  if (cpp::isStdCall(Call, Std::Tuple | Std::Forward) ||
      (cpp::isStdCall(Call, Std::Same) && Call->getNumArgs() == 1))
    return Call;
  const auto *Op = dyn_cast<CXXOperatorCallExpr>(Call);
  if (Op && Op->getOperator() == OO_Subscript &&
      !torch::isTensor(Op->getArg(0)->getType()))
    return Call;
  if (std::optional<torch::ModuleCall> Module = torch::asModuleCall(Call)) {
    if (!Module->Script && Module->Module &&
        torch::parametersOf(Module->Module->getType()) ==
            torch::Parameters::None)
      return Call;
    if (Module->Body)
      return followUserCall(E, Call, Var);
    return nullptr;
  }
  if (const torch::OpFacts *Facts = torch::opFacts(Call)) {
    if (Facts->KeepsArguments || Facts->Shares == torch::Sharing::Unknown) {
      if (torch::mayHoldTensor(Call->getType()) || Facts->KeepsArguments)
        holds(Var, Holder::Other);
      return nullptr;
    }
    const Expr *Object = cpp::calledOn(Call);
    if (!Object && Call->getNumArgs() > 0)
      Object = Call->getArg(0);
    const bool IsObject = Object && In.isWithin(E, Object);
    return IsObject && Facts->Shares != torch::Sharing::None ? Call : nullptr;
  }
  if (cpp::does(Call, Std::Size | Std::Reserve | Std::Clear | Std::Reset))
    return nullptr;
  return followUserCall(E, Call, Var);
}

/// Does \p Arg lead to no tensors but those of \p Var, and run nothing?
bool MemoryNames::isOnlyOf(const Expr *Arg, unsigned Var) const {
  const QualType T = Arg->getType().getNonReferenceType();
  if (!torch::mayHoldTensor(T))
    return T->isArithmeticType() || T->isEnumeralType() ||
           (cpp::isStdDecl(cpp::recordOf(T)) && !cpp::isFunctionObject(T));
  return !cpp::anyOf<Expr>(Arg, [&](const Expr *Part) {
    const auto *Ref = dyn_cast<DeclRefExpr>(Part);
    return Ref ? torch::mayHoldTensor(Ref->getType()) &&
                     !isa<FunctionDecl>(Ref->getDecl()) &&
                     indexOf(Ref->getDecl()) != Var
               : isa<LambdaExpr, CXXThisExpr>(Part);
  });
}

/// May \p Call, which takes an element out of \p Var, be what takes them all
/// out, as it runs in a loop that puts none in?
bool MemoryNames::mayEmpty(const CallExpr *Call, unsigned Var) const {
  const Stmt *Loop = In.loopAround(Call);
  const Stmt *Scope = In.scopeOf(Vars[Var]);
  return Loop && (!Scope || In.isWithin(Loop, Scope)) &&
         !cpp::anyOf<CallExpr>(Loop, [&](const CallExpr *Other) {
           const auto Put = cpp::asInsertion(Other);
           return Put && indexOf(cpp::rootOf(Put->Into)) == Var;
         });
}

/// What a call of the standard library that only concerns the elements of \p
/// Var goes on to: null for none, and the call for an iterator; nullopt for
/// other calls.
std::optional<const Expr *> MemoryNames::followElements(const CallExpr *Call,
                                                        unsigned Var) {
  const bool Leads = cpp::leadsToElements(Call->getType());
  if (cpp::Call(Call).Of != cpp::Whose::Std ||
      (!Leads && torch::mayHoldTensor(Call->getType())) ||
      cpp::does(Call, Std::Swap | Std::Exchange | Std::Write | Std::Inserter) ||
      !llvm::all_of(Call->arguments(),
                    [&](const Expr *Arg) { return isOnlyOf(Arg, Var); }) ||
      (cpp::calledOn(Call) && !isOnlyOf(cpp::calledOn(Call), Var)))
    return std::nullopt;
  if (cpp::does(Call, Std::Remove) && mayEmpty(Call, Var))
    holds(Var, Holder::Other);
  if (cpp::does(Call, Std::Resize) &&
      cpp::constantInt(Call->getArg(0), In.context()) == 0)
    Drops[Var].push_back(Call);
  return Leads ? Call : nullptr;
}

const Expr *MemoryNames::followInto(const Expr *E, const CallExpr *Call,
                                    unsigned Var) {
  if (std::optional<cpp::Insertion> Put = cpp::asInsertion(Call)) {
    if (In.isWithin(E, Put->Into))
      Given[Var].push_back({Call, Put->value(), /*Whole=*/false});
    else
      goesTo(Put->Into, E, Var);
    return nullptr;
  }
  const Expr *To = Call->getArg(0), *Value = Call->getArg(1);
  if (cpp::leadsToElements(To->getType())) {
    if (!isOnlyOf(To, Var) || !isOnlyOf(Value, Var))
      holds(Var, Holder::Other);
    return nullptr;
  }
  if (In.isWithin(E, To)) {
    // A part is given something, or the elements of a tensor are written.
    if (!torch::isTensor(To->getType()) || To->isLValue())
      Given[Var].push_back({Call, Value, /*Whole=*/false});
  } else if (!torch::isTensor(To->getType()) || To->isLValue()) {
    goesTo(To, E, Var);
  }
  return nullptr;
}

const Expr *MemoryNames::followUserCall(const Expr *E, const CallExpr *Call,
                                        unsigned Var) {
  const cpp::Call C(Call);
  const std::optional<torch::ModuleCall> Module = torch::asModuleCall(Call);
  const FunctionDecl *Callee = Module ? Module->Body : C.Callee;
  const bool Gives = torch::mayHoldTensor(Call->getType());
  if (C.Of == cpp::Whose::Library && !Module) {
    // Printing, saving, comparing.
    if (Gives || torch::keepsArguments(Call))
      holds(Var, Holder::Other);
    return nullptr;
  }
  if (C.Of == cpp::Whose::Std || !Callee) {
    if (Gives || !isa<CXXOperatorCallExpr>(Call) || C.op() == OO_Call)
      holds(Var, Holder::Other);
    return nullptr;
  }
  llvm::ArrayRef<const Expr *> Args = C.Args;
  if (Module)
    Args = Module->Inputs;
  const MemoryNames *There = namesIn(Callee);
  for (unsigned I = 0; I < Args.size(); ++I) {
    if (!In.isWithin(E, Args[I]))
      continue;
    if (There) {
      if (There->keeps(I))
        stores(Var, Args[I]);
      return Gives && (There->Result.Params >> I & 1) ? Call : nullptr;
    }
    if (Gives || C.Object)
      stores(Var, Args[I]);
    else
      Seen[Var] = true;
    return nullptr;
  }
  holds(Var, Holder::Other); // A method of what holds it.
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Where the memory comes from
//===----------------------------------------------------------------------===//

const MemoryNames *MemoryNames::namesIn(const FunctionDecl *Callee) const {
  const FunctionDecl *Defined = cpp::userDefinition(Callee);
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(Defined);
  if (!Defined || (Method && Method->isVirtual() &&
                   !torch::isModule(Method->getThisType())))
    return nullptr;
  auto It = Known.find(Defined);
  return It != Known.end() ? It->second.get() : &of(Defined, Unit, Known);
}

bool MemoryNames::keeps(unsigned Param) const {
  const FunctionDecl *F = In.function();
  if (Param >= F->getNumParams())
    return true;
  const ParmVarDecl *Var = F->getParamDecl(Param);
  const std::optional<unsigned> I = indexOf(Var);
  return I ? groupOf(*I).Else > Holder::Returned
           : torch::mayHoldTensor(Var->getType());
}

MemorySource MemoryNames::all(llvm::ArrayRef<const Expr *> Parts,
                              unsigned Depth) const {
  MemorySource From;
  for (const Expr *Part : Parts)
    if (torch::mayHoldTensor(Part->getType()))
      From.join(sourceOf(Part, Depth));
  return From;
}

MemorySource MemoryNames::sourceOf(const Expr *E, unsigned Depth) const {
  E = cpp::stripImplicit(E);
  if (!E || ++Depth > cpp::MaxChase)
    return {true};
  if (!torch::mayHoldTensor(E->getType()) && !isa<InitListExpr>(E))
    return {};
  if (cpp::isEmptyValue(E))
    return {};
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
    const std::optional<unsigned> Var = indexOf(Ref->getDecl());
    // While the groups are made, their members say the same.
    if (!Var || !IsKnown)
      return {!Var};
    MemorySource From = groupOf(*Var).From;
    From.Foreign |= groupOf(*Var).Else > Holder::Returned;
    return From;
  }
  if (const auto *Member = dyn_cast<MemberExpr>(E))
    return sourceOf(Member->getBase(), Depth);
  if (const auto *Choice = dyn_cast<ConditionalOperator>(E)) {
    MemorySource From = sourceOf(Choice->getTrueExpr(), Depth);
    From.join(sourceOf(Choice->getFalseExpr(), Depth));
    return From;
  }
  if (const auto *Construct = dyn_cast<CXXConstructExpr>(E))
    return all(llvm::SmallVector<const Expr *, 4>(Construct->arguments()),
               Depth);
  if (const auto *List = dyn_cast<CXXStdInitializerListExpr>(E))
    return sourceOf(List->getSubExpr(), Depth);
  if (const auto *List = dyn_cast<InitListExpr>(E))
    return all(List->inits(), Depth);
  const auto *Call = dyn_cast<CallExpr>(E);
  return Call ? sourceOfCall(Call, Depth) : MemorySource{true};
}

MemorySource MemoryNames::sourceOfCall(const CallExpr *Call,
                                       unsigned Depth) const {
  constexpr MemorySource Made{false, 0, true};
  if (const Expr *Container = elementsOf(Call)) {
    const Expr *Part = partOf(Call, Container);
    return sourceOf(Part ? Part : Container, Depth);
  }
  if (cpp::isStdCall(Call, Std::Tuple))
    return all(llvm::SmallVector<const Expr *, 4>(Call->arguments()), Depth);
  if (std::optional<torch::ModuleCall> M = torch::asModuleCall(Call)) {
    if (M->Body)
      return sourceOfResult(Call, M->Body, M->Inputs, Depth);
    if (M->Script || M->Compiled || !M->Module ||
        torch::parametersOf(M->Module->getType()) != torch::Parameters::None)
      return Made;
    return all(M->Inputs, Depth);
  }
  if (const torch::OpFacts *Facts = torch::opFacts(Call)) {
    if (torch::wrapsMemory(Call))
      return {}; // Nobody's tensor lets go of it.
    if (Facts->Shares == torch::Sharing::None || Facts->Factory)
      return Made;
    const Expr *Object = cpp::calledOn(Call);
    if (!Object && Call->getNumArgs() > 0)
      Object = Call->getArg(0);
    if (!Object || Facts->Shares == torch::Sharing::Unknown)
      return {true};
    return sourceOf(Object, Depth);
  }
  const cpp::Call C(Call);
  return sourceOfResult(Call, C.Callee, C.Args, Depth);
}

MemorySource MemoryNames::sourceOfResult(const CallExpr *Call,
                                         const FunctionDecl *Callee,
                                         llvm::ArrayRef<const Expr *> Args,
                                         unsigned Depth) const {
  const MemoryNames *There = namesIn(Callee);
  if (!There || Call->isLValue())
    return {true};
  MemorySource From = There->Result;
  // What may be an argument is counted as that.
  From.Fresh &= !From.Foreign && !From.Params;
  From.Params = 0;
  for (unsigned I = 0; I < 64; ++I)
    if (There->Result.Params >> I & 1) {
      if (I >= Args.size())
        return {true};
      From.join(sourceOf(Args[I], Depth));
    }
  return From;
}

} // namespace libtorch_tidy
