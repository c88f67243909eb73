//===- Places.cpp - What places hold, and which one a name leads to -------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/flow/history/Interpreter.h"
#include "analysis/torch/api/TorchTypes.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace libtorch_tidy::flow {

using cpp::Std;

PlaceId Interpreter::rootPlace(const VarDecl *V) {
  auto [It, New] = RootIds.try_emplace(V, Out->Places.size());
  if (New)
    Out->Places.push_back({V, std::nullopt, std::nullopt});
  return It->second;
}

PlaceId Interpreter::partPlace(PlaceId Base, Selector Part) {
  auto [It, New] = PartIds.try_emplace({Base, Part}, Out->Places.size());
  if (New)
    Out->Places.push_back({nullptr, Base, Part});
  return It->second;
}

/// Does the place hold something before the function assigns to it?
bool Interpreter::hasEntryValue(PlaceId P) const {
  const VarDecl *Root = Out->rootOf(P);
  if (!Root || Root->isStaticLocal())
    return true;
  return !Out->declarationOf(Root);
}

Value Interpreter::readWhole(const State &At, PlaceId P) {
  for (std::optional<PlaceId> Q = P; Q; Q = Out->Places[*Q].Parent)
    if (auto It = At.Held.find(*Q); It != At.Held.end())
      return It->second;
  return hasEntryValue(P) ? Value::of(label(Label::Entry, nullptr, P))
                          : Value();
}

Value Interpreter::read(PlaceId P) {
  Value V = readWhole(S, P);
  // Parts that were assigned apart, deepest first so that they nest.
  for (const auto &[Q, Held] : S.Held) {
    if (Q == P || !Out->isPartOf(Q, P))
      continue;
    llvm::SmallVector<Selector, 4> Path;
    for (PlaceId Step = Q; Step != P; Step = *Out->Places[Step].Parent)
      Path.push_back(*Out->Places[Step].Part);
    Value *Into = &V;
    while (!Path.empty()) {
      Selector Part = Path.pop_back_val();
      Into->setPart(Part, Path.empty() ? Held : Into->part(Part));
      for (auto &[Own, Inner] : Into->Parts)
        if (Own == Part)
          Into = &Inner;
    }
  }
  return V;
}

void Interpreter::write(PlaceId P, const Value &V, bool Strong) {
  if (!Strong) {
    Value Joined = read(P);
    Joined.join(V);
    write(P, Joined, true);
    return;
  }
  for (auto It = S.Held.begin(); It != S.Held.end();)
    It = It->first != P && Out->isPartOf(It->first, P) ? S.Held.erase(It)
                                                       : std::next(It);
  Value Whole;
  Whole.Labels = V.Labels;
  Whole.Unknown = V.Unknown;
  S.Held[P] = std::move(Whole);
  for (const auto &[Part, Inner] : V.Parts)
    write(partPlace(P, Part), Inner, true);
}

std::optional<Interpreter::Target> Interpreter::placeOfVar(const VarDecl *V) {
  if (auto It = Aliases.find(V); It != Aliases.end())
    return It->second;
  return Target{rootPlace(V)};
}

/// A name of a part: `auto [a, b] = pair`.
std::optional<Interpreter::Target>
Interpreter::placeOfBinding(const BindingDecl *Binding) {
  const auto *Whole =
      dyn_cast_or_null<DecompositionDecl>(Binding->getDecomposedDecl());
  if (!Whole)
    return std::nullopt;
  std::optional<Target> Base = placeOfVar(Whole);
  const auto *Member = dyn_cast_or_null<MemberExpr>(Binding->getBinding());
  const auto *Field =
      Member ? dyn_cast<FieldDecl>(Member->getMemberDecl()) : nullptr;
  for (unsigned I = 0; I < Whole->bindings().size(); ++I)
    if (Whole->bindings()[I] == Binding)
      return Target{partPlace(Base->P, Field ? Selector::field(Field)
                                             : Selector::element(I)),
                    Base->Element};
  return std::nullopt;
}

/// std::pair is a tuple of two.
Selector Interpreter::selectorOf(const FieldDecl *Field) {
  return cpp::isStdClass(dyn_cast<CXXRecordDecl>(Field->getParent()),
                         cpp::StdClass::Tuple)
             ? Selector::element(Field->getName() == "second")
             : Selector::field(Field);
}

std::optional<Interpreter::Target>
Interpreter::placeOfMember(const MemberExpr *Member) {
  if (const auto *Static = dyn_cast<VarDecl>(Member->getMemberDecl()))
    return placeOfVar(Static);
  const auto *Field = dyn_cast<FieldDecl>(Member->getMemberDecl());
  std::optional<Target> Base = placeOf(Member->getBase());
  if (!Field || !Base)
    return std::nullopt;
  return Target{partPlace(Base->P, selectorOf(Field)), Base->Element};
}

std::optional<Interpreter::Target> Interpreter::elementOf(const Expr *Whole) {
  std::optional<Target> Base = placeOf(Whole);
  if (Base)
    Base->Element = true;
  return Base;
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
    if (Op->getNumArgs() == 1)
      return placeOf(Op->getArg(0));
    return std::nullopt;
  case OO_Subscript:
    // A tensor's subscript is a new handle, not a place.
    if (torch::isTensor(Op->getArg(0)->getType()))
      return std::nullopt;
    return elementOf(Op->getArg(0));
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
    if (cpp::does(Call, Std::Access))
      return elementOf(Object);
    if (cpp::does(Call, Std::Target))
      return placeOf(Object);
    return std::nullopt;
  }
  if (Call->getNumArgs() == 0)
    return std::nullopt;
  if (cpp::does(Call, Std::Same | Std::Iterator))
    return placeOf(Call->getArg(0));
  if (!cpp::does(Call, Std::Part))
    return std::nullopt;
  std::optional<Target> Base = placeOf(Call->getArg(0));
  std::optional<unsigned> Index = tupleIndex(Callee);
  if (!Base || !Index)
    return std::nullopt;
  return Target{partPlace(Base->P, Selector::element(*Index)), Base->Element};
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
  if (const auto *Member = dyn_cast<MemberExpr>(E))
    return placeOfMember(Member);
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

} // namespace libtorch_tidy::flow
