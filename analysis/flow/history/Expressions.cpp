//===- Expressions.cpp - Places and values of expressions -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Callables.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/UserCode.h"
#include "analysis/flow/history/Interpreter.h"
#include "analysis/torch/api/TorchTypes.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace libtorch_tidy::flow {

using cpp::Std;

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

PlaceId Interpreter::rootPlace(const VarDecl *V) {
  auto [It, New] = RootIds.try_emplace(V, Out->Places.size());
  if (New)
    Out->Places.push_back({V, std::nullopt, std::nullopt});
  return It->second;
}

/// Of a class whose objects hold more of its objects, two levels are told
/// apart: a third is what holds it.
bool Interpreter::isToldApart(PlaceId Base, Selector Part) const {
  constexpr unsigned MostSteps = 12;
  unsigned Levels = 0, Steps = 0;
  for (std::optional<PlaceId> P = Base; P; P = Out->Places[*P].Parent, ++Steps)
    if (const Place &At = Out->Places[*P]; At.Part && At.Part->Field)
      Levels +=
          Part.Field && At.Part->Field->getParent() == Part.Field->getParent();
  return Levels < 2 && Steps <= MostSteps;
}

PlaceId Interpreter::partPlace(PlaceId Base, Selector Part) {
  if (const auto It = PartIds.find({Base, Part}); It != PartIds.end())
    return It->second;
  if (!isToldApart(Base, Part))
    return Base;
  const PlaceId New = Out->Places.size();
  PartIds[{Base, Part}] = New;
  Out->Places.push_back({nullptr, Base, Part});
  PartsOf[Base].push_back(New);
  return New;
}

/// Does the place hold something before the function assigns to it?
bool Interpreter::hasEntryValue(PlaceId P) const {
  const VarDecl *Root = Out->rootOf(P);
  return !Root || Root->isStaticLocal() || !Out->declarationOf(Root);
}

Value Interpreter::readWhole(const State &At, PlaceId P) {
  for (std::optional<PlaceId> Q = P; Q; Q = Out->Places[*Q].Parent)
    if (auto It = At.Held.find(*Q); It != At.Held.end())
      return It->second;
  if (!hasEntryValue(P))
    return {};
  Value V = Value::of(label(Label::Entry, nullptr, P));
  if (const FieldDecl *Field = Out->fieldOf(P))
    if (const Expr *Leaf = Unit.leafOf(Field))
      arise(label(Label::Leaf, Leaf, P), V);
  return V;
}

/// What \p Held has for \p P, with the parts that are places of their own.
Value Interpreter::withParts(const std::map<PlaceId, Value> &Held, PlaceId P,
                             Value V) const {
  forEachPart(P, [&](PlaceId Q) {
    const auto Apart = Held.find(Q);
    if (Apart == Held.end())
      return;
    llvm::SmallVector<Selector, 4> Path;
    for (PlaceId Step = Q; Step != P; Step = *Out->Places[Step].Parent)
      Path.push_back(*Out->Places[Step].Part);
    Value *Into = &V;
    while (Path.size() > 1)
      Into = &Into->apart(Path.pop_back_val());
    Into->setPart(Path.front(), Apart->second);
  });
  return V;
}

Value Interpreter::read(PlaceId P) {
  return withParts(S.Held, P, readWhole(S, P));
}

void Interpreter::write(PlaceId P, const Value &V, bool Strong) {
  if (!Strong) {
    Value Joined = read(P);
    Joined.join(V);
    write(P, Joined, true);
    return;
  }
  forEachPart(P, [&](PlaceId Part) { S.Held.erase(Part); });
  S.Held[P] = {V.Labels, V.Unknown, {}};
  Written.push_back(P);
  for (const auto &[Part, Inner] : V.Parts)
    if (const PlaceId Q = partPlace(P, Part); Q != P)
      write(Q, Inner, true);
    else
      S.Held[P].join(Inner.flat());
}

Interpreter::Target Interpreter::placeOfVar(const VarDecl *V) {
  auto It = Aliases.find(V);
  return It != Aliases.end() ? It->second : Target{rootPlace(V)};
}

std::optional<Interpreter::Target>
Interpreter::partOf(std::optional<Target> Whole, Selector Part) {
  if (Whole) {
    const PlaceId P = partPlace(Whole->P, Part);
    Whole->Element |= P == Whole->P;
    Whole->P = P;
  }
  return Whole;
}

/// A name of a part: `auto [a, b] = pair`.
std::optional<Interpreter::Target>
Interpreter::placeOfBinding(const BindingDecl *Binding) {
  const auto *Whole =
      dyn_cast_or_null<DecompositionDecl>(Binding->getDecomposedDecl());
  if (!Whole)
    return std::nullopt;
  const Target Base = placeOfVar(Whole);
  const auto *Member = dyn_cast_or_null<MemberExpr>(Binding->getBinding());
  const auto *Field =
      Member ? dyn_cast<FieldDecl>(Member->getMemberDecl()) : nullptr;
  for (unsigned I = 0; I < Whole->bindings().size(); ++I)
    if (Whole->bindings()[I] == Binding)
      return partOf(Base,
                    Field ? Selector::field(Field) : Selector::element(I));
  return std::nullopt;
}

/// std::pair is a tuple of two.
static Selector selectorOf(const FieldDecl *Field) {
  return cpp::isStdClass(dyn_cast<CXXRecordDecl>(Field->getParent()),
                         cpp::StdClass::Tuple)
             ? Selector::element(Field->getName() == "second")
             : Selector::field(Field);
}

std::optional<Interpreter::Target> Interpreter::elementOf(const Expr *Whole) {
  std::optional<Target> Base = placeOf(Whole);
  if (Base)
    Base->Element = true;
  return Base;
}

/// The value of a pair among the elements of a map, to which a key leads.
std::optional<Interpreter::Target>
Interpreter::mappedValueOf(const Expr *Whole) {
  const std::optional<Target> Element = elementOf(Whole);
  return cpp::isStdClass(
             cpp::finalPointee(Whole->getType().getNonReferenceType()),
             cpp::StdClass::Map)
             ? partOf(Element, Selector::element(1))
             : Element;
}

std::optional<Interpreter::Target>
Interpreter::placeOfOperator(const CXXOperatorCallExpr *Op) {
  switch (Op->getOperator()) {
  case OO_Arrow:
  case OO_PlusPlus:
  case OO_MinusMinus:
  case OO_Equal: // (a = b) is a
    return placeOf(Op->getArg(0));
  case OO_Star:
    return Op->getNumArgs() == 1 ? placeOf(Op->getArg(0)) : std::nullopt;
  case OO_Subscript:
    // A tensor's subscript is a new handle, not a place.
    return torch::isTensor(Op->getArg(0)->getType())
               ? std::nullopt
               : mappedValueOf(Op->getArg(0));
  default:
    return std::nullopt;
  }
}

/// What a call of the standard library leads to.
std::optional<Interpreter::Target>
Interpreter::placeOfCall(const CallExpr *Call) {
  const FunctionDecl *Callee = Call->getDirectCallee();
  if (!Callee || !cpp::isStdDecl(Callee))
    return std::nullopt;
  if (const auto *MemberCall = dyn_cast<CXXMemberCallExpr>(Call)) {
    const Expr *Object = MemberCall->getImplicitObjectArgument();
    return cpp::does(Call, Std::Element)  ? mappedValueOf(Object)
           : cpp::does(Call, Std::Access) ? elementOf(Object)
           : cpp::does(Call, Std::Target) ? placeOf(Object)
                                          : std::nullopt;
  }
  if (Call->getNumArgs() == 0)
    return std::nullopt;
  if (cpp::does(Call, Std::Same | Std::Iterator | Std::Inserter))
    return placeOf(Call->getArg(0));
  if (!cpp::does(Call, Std::Part))
    return std::nullopt;
  const std::optional<Target> Base = placeOf(Call->getArg(0));
  const std::optional<unsigned> Index = tupleIndex(Callee);
  return Index ? partOf(Base, Selector::element(*Index)) : std::nullopt;
}

std::optional<Interpreter::Target> Interpreter::placeOf(const Expr *E) {
  E = cpp::stripImplicit(E);
  if (isa<CXXThisExpr>(E))
    return Target{rootPlace(nullptr)};
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
    if (const auto *V = dyn_cast<VarDecl>(Ref->getDecl()))
      return placeOfVar(V);
    if (const auto *Binding = dyn_cast<BindingDecl>(Ref->getDecl()))
      return placeOfBinding(Binding);
    return std::nullopt;
  }
  if (const auto *Member = dyn_cast<MemberExpr>(E)) {
    if (const auto *Static = dyn_cast<VarDecl>(Member->getMemberDecl()))
      return placeOfVar(Static);
    const std::optional<Target> Base = placeOf(Member->getBase());
    const auto *Field = dyn_cast<FieldDecl>(Member->getMemberDecl());
    return Field ? partOf(Base, selectorOf(Field)) : std::nullopt;
  }
  if (const auto *Unary = dyn_cast<UnaryOperator>(E)) {
    const UnaryOperatorKind Kind = Unary->getOpcode();
    if (Kind == UO_Deref || Kind == UO_AddrOf ||
        UnaryOperator::isIncrementDecrementOp(Kind))
      return placeOf(Unary->getSubExpr());
    return std::nullopt;
  }
  if (const auto *Subscript = dyn_cast<ArraySubscriptExpr>(E))
    return elementOf(Subscript->getBase());
  if (const auto *Op = dyn_cast<CXXOperatorCallExpr>(E))
    return placeOfOperator(Op);
  if (const auto *Call = dyn_cast<CallExpr>(E))
    return placeOfCall(Call);
  return std::nullopt;
}

std::optional<unsigned> Interpreter::tupleIndex(const FunctionDecl *Get) {
  const TemplateArgumentList *Args = Get->getTemplateSpecializationArgs();
  if (!Args || Args->size() == 0 ||
      Args->get(0).getKind() != TemplateArgument::Integral)
    return std::nullopt;
  return Args->get(0).getAsIntegral().getZExtValue();
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

bool Interpreter::mayCarry(QualType T) {
  return !T->isVoidType() && torch::mayHoldTensor(T);
}

Value Interpreter::evalAll(ArrayRef<const Expr *> Exprs) {
  Value All;
  for (const Expr *E : Exprs)
    All.join(eval(E).flat());
  return All;
}

Value Interpreter::eval(const Expr *E) {
  if (!E || E->isTypeDependent())
    return {};
  E = cpp::peel(E);
  Value V = evalPeeled(E);
  FunctionFlow::Carried &Recorded = Out->Recorded[E];
  if (Recorded != FunctionFlow::Carried::Seen)
    Recorded = std::max(Recorded, recorded(V));
  return V;
}

FunctionFlow::Carried Interpreter::recorded(const Value &V) const {
  using Carried = FunctionFlow::Carried;
  if (S.Mode == GradMode::Off)
    return Carried::Nothing;
  const LabelSet All = V.allLabels();
  if (All.empty() && !V.Unknown)
    return Carried::Nothing;
  return !V.anyUnknown() &&
                 llvm::all_of(All,
                              [&](LabelId L) {
                                return Out->Labels[L].K == Label::Entry;
                              })
             ? Carried::Entry
             : Carried::Seen;
}

Value Interpreter::evalPeeled(const Expr *E) {
  if (const auto *Call = dyn_cast<CallExpr>(E)) {
    if (auto It = Evaluated.find(E); It != Evaluated.end())
      return It->second;
    Value V = evalCall(Call);
    return Evaluated[E] = mayCarry(E->getType()) ? V : Value();
  }
  if (const auto *Construct = dyn_cast<CXXConstructExpr>(E))
    return evalConstruct(Construct);
  if (const auto *List = dyn_cast<InitListExpr>(E))
    return evalInitList(List);
  if (const auto *Lambda = dyn_cast<LambdaExpr>(E))
    return evalLambda(Lambda);
  if (isa<DeclRefExpr, MemberExpr, CXXThisExpr, ArraySubscriptExpr>(E)) {
    if (const auto *Member = dyn_cast<MemberExpr>(E);
        Member && !placeOf(E)) // a field of a temporary
      if (const auto *Field = dyn_cast<FieldDecl>(Member->getMemberDecl())) {
        Value Base = eval(Member->getBase());
        return mayCarry(E->getType()) ? Base.part(selectorOf(Field)) : Value();
      }
    if (!mayCarry(E->getType()))
      return {};
    std::optional<Target> P = placeOf(E);
    return P ? read(P->P) : Value();
  }
  if (const auto *Conditional = dyn_cast<AbstractConditionalOperator>(E)) {
    eval(Conditional->getCond());
    Value V = eval(Conditional->getTrueExpr());
    V.join(eval(Conditional->getFalseExpr()));
    return V;
  }
  if (const auto *Binary = dyn_cast<BinaryOperator>(E)) {
    if (Binary->getOpcode() == BO_Assign)
      return assignment(E, Binary->getLHS(), Binary->getRHS());
    eval(Binary->getLHS());
    Value V = eval(Binary->getRHS());
    return Binary->getOpcode() == BO_Comma ? V : Value();
  }
  if (const auto *Unary = dyn_cast<UnaryOperator>(E)) {
    if (std::optional<Target> P = placeOf(E))
      return mayCarry(E->getType()) ? read(P->P) : Value();
    return eval(Unary->getSubExpr());
  }
  Value All;
  for (const Stmt *Child : E->children())
    if (const auto *Part = dyn_cast_or_null<Expr>(Child))
      All.join(eval(Part).flat());
  return mayCarry(E->getType()) ? All : Value();
}

Value Interpreter::evalConstruct(const CXXConstructExpr *E) {
  const CXXConstructorDecl *Ctor = E->getConstructor();
  if (Ctor->isCopyOrMoveConstructor() && E->getNumArgs() >= 1)
    return eval(E->getArg(0));
  const llvm::SmallVector<const Expr *, 4> Args(E->arguments());
  const CXXRecordDecl *R = Ctor->getParent();
  // A thread or function object made of a lambda: its effects were counted
  // where the lambda stands.
  const bool IsUser =
      cpp::isUserCode(R->getLocation(), Context.getSourceManager());
  Value All;
  if (!IsUser && cpp::isStdClass(R, cpp::StdClass::Tuple) && Args.size() > 1) {
    for (unsigned I = 0; I < Args.size(); ++I)
      All.setPart(Selector::element(I), eval(Args[I]));
    return All;
  }
  // User constructors: what goes in may come out of any field.
  bool Unseen = IsUser && Ctor->isUserProvided() && !Ctor->hasBody() &&
                !torch::isModule(E->getType());
  for (const Expr *Arg : Args) {
    Value V = eval(Arg).flat();
    // Into an object that carries it on: what becomes of that is seen.
    if (Unseen)
      handOver(V, mayCarry(E->getType()) ? Label::Computed : Label::Escaped, E);
    All.join(V);
  }
  noteConstructor(E);
  if (Unseen && mayCarry(E->getType()))
    All.Unknown = true;
  return mayCarry(E->getType()) ? All : Value();
}

/// What the constructor that \p E runs does besides making its object.
void Interpreter::noteConstructor(const Expr *E) {
  const CXXConstructorDecl *Ctor = cpp::constructorRunBy(E);
  if (!Ctor || !Ctor->isUserProvided())
    return;
  const FunctionFlow *Flow = Unit.flowOf(Ctor);
  const bool IsKnown = Flow && Flow->available();
  if (!IsKnown) {
    UnseenCalls[E] = siteAt(E, Ctor);
    return;
  }
  noteCall(E, Ctor);
  if (Flow->trains())
    trainsAt(E);
  const CXXRecordDecl *R = Ctor->getParent();
  if (torch::guardOf(R))
    return; // A guard ends with the object that holds it.
  const CXXDestructorDecl *Dtor = R->getDestructor();
  const bool MayEnd =
      Flow->exitMode() != GradMode::On && Dtor && Dtor->isUserProvided();
  SwitchesIfThrown |= Flow->switchesIfThrown();
  switchMode(E, MayEnd ? GradMode::Unknown : Flow->exitMode(),
             Flow->exitFromOff(), !MayEnd && Flow->leftOffBy());
}

Value Interpreter::evalInitList(const InitListExpr *E) {
  if (const InitListExpr *Semantic = E->getSemanticForm())
    E = Semantic;
  const CXXRecordDecl *R = cpp::recordOf(E->getType());
  if (R && R->isAggregate() && !R->isInStdNamespace()) {
    Value All;
    unsigned I = R->getNumBases();
    for (const FieldDecl *Field : R->fields()) {
      if (I >= E->getNumInits())
        break;
      Value V = eval(E->getInit(I++));
      if (mayCarry(Field->getType()))
        All.setPart(Selector::field(Field), std::move(V));
    }
    return All;
  }
  return evalAll(E->inits());
}

/// The lambda may run any time from here on, so what it does to captured
/// variables is done here, once; what it does to its parameters is not known.
Value Interpreter::evalLambda(const LambdaExpr *E) {
  for (const Expr *Capture : E->capture_inits())
    eval(Capture);
  const CXXMethodDecl *Body = E->getCallOperator();
  const FunctionFlow *Flow = Body ? Unit.flowOf(Body) : nullptr;
  if (!Flow || !Flow->available())
    return {};
  cpp::Call C(E, Body, nullptr, {});
  C.OnThis = true;
  const Switches Before = S;
  evalUserCall(C, *Flow, std::nullopt, false);
  static_cast<Switches &>(S) = Before;
  SwitchesIfThrown = false;
  return {};
}

//===----------------------------------------------------------------------===//
// Assignment
//===----------------------------------------------------------------------===//

std::optional<Interpreter::Target> Interpreter::inPlaceTarget(const Expr *E) {
  if (std::optional<Target> P = placeOf(E))
    return P;
  // Views share storage and history with what they are of.
  const auto *Call = dyn_cast<CallExpr>(cpp::stripImplicit(E));
  if (!Call)
    return std::nullopt;
  const auto *Op = dyn_cast<CXXOperatorCallExpr>(Call);
  const bool IsSubscript = Op && Op->getOperator() == OO_Subscript;
  const torch::OpFacts *Facts = torch::opFacts(Call->getDirectCallee());
  if (!IsSubscript && !(Facts && (Facts->mayShare() || Facts->InPlace)))
    return std::nullopt;
  E = Op ? Op->getArg(0) : cpp::receiverOf(Call);
  if (!E && Call->getNumArgs())
    E = Call->getArg(0);
  return E ? inPlaceTarget(E) : std::nullopt;
}

void Interpreter::assignTo(const Expr *Site, const Expr *To, const Value &V,
                           const Expr *Addend) {
  To = cpp::stripImplicit(To);
  // std::tie(a, b) = ...
  if (const auto *Tie = dyn_cast<CallExpr>(To);
      Tie && cpp::isStdCall(Tie, cpp::Std::Tie)) {
    for (unsigned I = 0; I < Tie->getNumArgs(); ++I)
      assignTo(Site, Tie->getArg(I), V.part(Selector::element(I)), nullptr);
    return;
  }
  if (std::optional<Target> P = placeOf(To)) {
    assign(Site, *P, V, Accumulation::Rebind, Addend);
    return;
  }
  // Into something without a name: a getter's result, a global's element.
  eval(To);
  consume(V, Label::Escaped, Site);
}

Value Interpreter::assignment(const Expr *Site, const Expr *To,
                              const Expr *From) {
  Value V = eval(From);
  if (mayCarry(To->getType()))
    assignTo(Site, To, V, From);
  else
    eval(To);
  return V;
}

} // namespace libtorch_tidy::flow
