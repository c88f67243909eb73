//===- Iterators.cpp - Places in containers -------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/bytes/interpret/Interpreter.h"

using namespace clang;
using llvm::ArrayRef;
using llvm::StringRef;

namespace libtorch_tidy::bytes {

Cell iteratorAt(const Cell &Container, int64_t Index) {
  Value V;
  V.What = Value::Iterator;
  V.Target = Container;
  V.Number = Index;
  return cell(std::move(V));
}

Cell boundOf(StringRef Name, const Cell &List) {
  const auto Size = static_cast<int64_t>(List->Elements.size());
  if (Name == "begin" || Name == "cbegin")
    return iteratorAt(List, 0);
  if (Name == "end" || Name == "cend")
    return iteratorAt(List, Size);
  return Name == "size" ? integer(Size) : nullptr;
}

static bool isIterator(const Cell &V) { return V->What == Value::Iterator; }

std::optional<std::vector<Cell>> elementsBetween(const Cell &First,
                                                 const Cell &Last) {
  if (!isIterator(First) || !isIterator(Last) || First->Target != Last->Target)
    return std::nullopt;
  const Cell &Container = First->Target;
  if (Container->What != Value::List || First->Number < 0 ||
      First->Number > Last->Number ||
      static_cast<uint64_t>(Last->Number) > Container->Elements.size())
    return std::nullopt;
  const auto Begin = Container->Elements.begin();
  return std::vector<Cell>(Begin + First->Number, Begin + Last->Number);
}

/// `it + 2`, `last - first`, `it != last`.
Cell Interpreter::iteratorArithmetic(BinaryOperatorKind Op, const Cell &A,
                                     const Cell &B, const Expr *E) {
  const Cell Nothing = unknown(E->getExprLoc(), "the result of an operator");
  if (isIterator(A) && isIterator(B)) {
    if (A->Target != B->Target)
      return Nothing;
    return arithmetic(Op, integer(A->Number), integer(B->Number), E->getType(),
                      E);
  }
  const Cell &Place = isIterator(A) ? A : B, &By = isIterator(A) ? B : A;
  int64_t Index = 0;
  if (By->What != Value::Integer ||
      (Op == BO_Add ? llvm::AddOverflow(Place->Number, By->Number, Index)
                    : Op != BO_Sub || !isIterator(A) ||
                          llvm::SubOverflow(Place->Number, By->Number, Index)))
    return Nothing;
  return iteratorAt(Place->Target, Index);
}

/// An operator of the iterator \p Object; null when it is another function.
Cell Interpreter::iteratorOperator(const LibraryCall &C) {
  const auto Here = integer(C.Object->Number);
  switch (C.F->getOverloadedOperator()) {
  case OO_Star:
  case OO_Arrow:
    return element(C.Object->Target, Here, C.E);
  case OO_Subscript:
    return C.Arguments.empty()
               ? Cell()
               : element(C.Object->Target,
                         arithmetic(BO_Add, Here, C.Arguments[0],
                                    Context.LongTy, C.E),
                         C.E);
  case OO_PlusPlus:
  case OO_MinusMinus: {
    const Cell Before = copyOf(C.Object);
    C.Object->Number += C.F->getOverloadedOperator() == OO_PlusPlus ? 1 : -1;
    // The second form has an argument that nobody reads.
    return C.Arguments.empty() ? C.Object : Before;
  }
  case OO_PlusEqual:
  case OO_MinusEqual:
    if (C.Arguments.size() != 1)
      return {};
    store(C.Object,
          iteratorArithmetic(
              C.F->getOverloadedOperator() == OO_PlusEqual ? BO_Add : BO_Sub,
              C.Object, C.Arguments[0], C.E));
    return C.Object;
  default:
    return {};
  }
}

/// The place of the first of the most, or of the least, of some values. Absent
/// when one of them is \p Unknown.
std::optional<size_t> Interpreter::bestOf(ArrayRef<Cell> Of, bool IsMost,
                                          const Expr *E, Cell &Unknown) {
  size_t Best = 0;
  for (size_t I = 1; I < Of.size(); ++I) {
    Unknown = arithmetic(BO_LT, Of[IsMost ? Best : I], Of[IsMost ? I : Best],
                         Context.BoolTy, E);
    const std::optional<bool> IsBetter = truth(Unknown);
    if (!IsBetter)
      return std::nullopt;
    Best = *IsBetter ? I : Best;
  }
  return Best;
}

/// The place of the first of \p Among that is equal to \p What; their number
/// when there is none. Absent when one of them is \p Unknown.
std::optional<size_t> Interpreter::placeOf(const Cell &What,
                                           ArrayRef<Cell> Among, const Expr *E,
                                           Cell &Unknown) {
  size_t Place = 0;
  for (; Place < Among.size(); ++Place) {
    Unknown = arithmetic(BO_EQ, Among[Place], What, Context.BoolTy, E);
    const std::optional<bool> IsIt = truth(Unknown);
    if (!IsIt)
      return std::nullopt;
    if (*IsIt)
      break;
  }
  return Place;
}

/// A function of the standard library that is given iterators; null when it is
/// not one of those that are followed.
Cell Interpreter::callAlgorithm(const LibraryCall &C) {
  if (C.Arguments.empty() || !isIterator(C.Arguments[0]))
    return {};
  const Cell &First = C.Arguments[0];
  const size_t Count = C.Arguments.size();
  if ((C.Name == "next" || C.Name == "prev") && Count <= 2)
    return iteratorArithmetic(C.Name == "next" ? BO_Add : BO_Sub, First,
                              Count == 2 ? C.Arguments[1] : integer(1), C.E);
  if (C.Name == "advance" && Count == 2) {
    store(First, iteratorArithmetic(BO_Add, First, C.Arguments[1], C.E));
    return First;
  }
  if (C.Name == "distance" && Count == 2)
    return iteratorArithmetic(BO_Sub, C.Arguments[1], First, C.E);

  std::optional<std::vector<Cell>> Range;
  if (Count >= 2)
    Range = elementsBetween(First, C.Arguments[1]);
  if (!Range)
    return {};
  if (C.Name == "accumulate" && Count == 3) {
    Cell Sum = C.Arguments[2];
    for (const Cell &Element : *Range)
      Sum = arithmetic(BO_Add, Sum, Element, C.F->getReturnType(), C.E);
    return Sum;
  }
  if (C.Name == "reverse" && Count == 2) {
    const auto Begin = First->Target->Elements.begin();
    std::reverse(Begin + First->Number, Begin + C.Arguments[1]->Number);
    return First;
  }
  if (C.Name == "fill" && Count == 3) {
    for (const Cell &Element : *Range)
      store(Element, C.Arguments[2]);
    return First;
  }
  if (C.Name == "iota" && Count == 3 &&
      C.Arguments[2]->What == Value::Integer) {
    int64_t Next = C.Arguments[2]->Number;
    for (const Cell &Element : *Range)
      store(Element, integer(Next++));
    return First;
  }
  auto Here = [&](size_t Place) {
    return iteratorAt(First->Target,
                      First->Number + static_cast<int64_t>(Place));
  };
  Cell Unknown;
  if ((C.Name == "max_element" || C.Name == "min_element") && Count == 2) {
    const std::optional<size_t> Best =
        bestOf(*Range, C.Name == "max_element", C.E, Unknown);
    return Best ? Here(*Best) : nullptr;
  }
  if (C.Name == "find" && Count == 3) {
    const std::optional<size_t> Place =
        placeOf(C.Arguments[2], *Range, C.E, Unknown);
    return Place ? Here(*Place) : nullptr;
  }
  return {};
}

/// insert(), erase() and assign() of the container \p Object; null when they
/// are given something that is not followed.
Cell Interpreter::changeList(const LibraryCall &C) {
  auto IsHere = [&](const Cell &V) {
    return isIterator(V) && V->Target == C.Object && V->Number >= 0 &&
           static_cast<uint64_t>(V->Number) <= C.Object->Elements.size();
  };
  std::vector<Cell> &Elements = C.Object->Elements;
  if (C.Name == "assign" && C.Arguments.size() == 2) {
    std::optional<std::vector<Cell>> New =
        elementsBetween(C.Arguments[0], C.Arguments[1]);
    if (!New)
      return {};
    Elements = copiesOf(*New);
    return C.Object;
  }
  if (C.Arguments.empty() || !IsHere(C.Arguments[0]))
    return {};
  const auto At = Elements.begin() + C.Arguments[0]->Number;
  if (C.Name == "insert" && C.Arguments.size() == 2) {
    if (Elements.size() >= MaxElements)
      return {};
    Elements.insert(At, copyOf(C.Arguments[1]));
    return C.Arguments[0];
  }
  if (C.Name == "insert" && C.Arguments.size() == 3) {
    std::optional<std::vector<Cell>> New =
        elementsBetween(C.Arguments[1], C.Arguments[2]);
    if (!New || Elements.size() + New->size() > MaxElements)
      return {};
    *New = copiesOf(*New);
    Elements.insert(At, New->begin(), New->end());
    return C.Arguments[0];
  }
  if (C.Name == "erase") {
    const int64_t End = C.Arguments.size() == 1  ? C.Arguments[0]->Number + 1
                        : IsHere(C.Arguments[1]) ? C.Arguments[1]->Number
                                                 : -1;
    if (End < C.Arguments[0]->Number ||
        static_cast<uint64_t>(End) > Elements.size())
      return {};
    Elements.erase(At, Elements.begin() + End);
    return C.Arguments[0];
  }
  return {};
}

} // namespace libtorch_tidy::bytes
