//===- Containers.cpp - Containers, and places in them --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/bytes/interpret/Interpreter.h"
#include "analysis/cpp/Std.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;
using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

namespace libtorch_tidy::bytes {

//===----------------------------------------------------------------------===//
// Iterators
//===----------------------------------------------------------------------===//

Cell iteratorAt(const Cell &Container, int64_t Index, bool IsReverse) {
  const Cell Result = valueOf(Value::Iterator, &Value::Target, Container);
  Result->Number = Index;
  Result->IsReverse = IsReverse;
  return Result;
}

Cell boundOf(StringRef Name, const Cell &List) {
  const auto Size = static_cast<int64_t>(List->Elements.size());
  return llvm::StringSwitch<Cell>(Name)
      .Cases("begin", "cbegin", iteratorAt(List, 0))
      .Cases("end", "cend", iteratorAt(List, Size))
      .Cases("rbegin", "crbegin", iteratorAt(List, Size - 1, true))
      .Cases("rend", "crend", iteratorAt(List, -1, true))
      .Case("size", integer(Size))
      .Default(nullptr);
}

std::optional<std::vector<Cell>> elementsBetween(const Cell &First,
                                                 const Cell &Last) {
  if (!isIterator(First) || !isIterator(Last) ||
      First->Target != Last->Target || First->IsReverse != Last->IsReverse)
    return std::nullopt;
  const Cell &Container = First->Target;
  const bool IsReverse = First->IsReverse;
  const int64_t From = IsReverse ? Last->Number + 1 : First->Number,
                To = IsReverse ? First->Number + 1 : Last->Number;
  if (Container->What != Value::List || From < 0 || From > To ||
      static_cast<uint64_t>(To) > Container->Elements.size())
    return std::nullopt;
  const auto Begin = Container->Elements.begin();
  std::vector<Cell> Result(Begin + From, Begin + To);
  if (IsReverse)
    std::reverse(Result.begin(), Result.end());
  return Result;
}

Cell iteratorArithmetic(Interpreter &VM, BinaryOperatorKind Op, const Cell &A,
                        const Cell &B, const Expr *E) {
  const Cell Nothing = unknown(E->getExprLoc(), "the result of an operator");
  if (isIterator(A) && isIterator(B)) {
    if (A->Target != B->Target || A->IsReverse != B->IsReverse)
      return Nothing;
    const auto PlaceIn = [](const Cell &It) {
      return integer(It->IsReverse ? -It->Number : It->Number);
    };
    return arithmetic(VM, Op, PlaceIn(A), PlaceIn(B), E->getType(), E);
  }
  const Cell &Place = isIterator(A) ? A : B, &By = isIterator(A) ? B : A;
  int64_t Index = 0;
  if (By->What != Value::Integer || (Op != BO_Add && Op != BO_Sub) ||
      (Op == BO_Sub && !isIterator(A)) ||
      ((Op == BO_Add) != Place->IsReverse
           ? llvm::AddOverflow(Place->Number, By->Number, Index)
           : llvm::SubOverflow(Place->Number, By->Number, Index)))
    return Nothing;
  return iteratorAt(Place->Target, Index, Place->IsReverse);
}

Cell iteratorOperator(const LibraryCall &C) {
  const auto Here = integer(C.Object->Number);
  switch (C.F->getOverloadedOperator()) {
  case OO_Star:
  case OO_Arrow:
    if (const Cell &Of = C.Object->Target; Of->What == Value::Module)
      if (const auto I = indexIn(Here, elementCount(*Of->Held)))
        return elementOf(*Of->Held, *I);
    return element(C.Object->Target, Here, C.E);
  case OO_Subscript:
    return C.Arguments.empty()
               ? Cell()
               : element(C.Object->Target,
                         arithmetic(C.VM, C.Object->IsReverse ? BO_Sub : BO_Add,
                                    Here, C.Arguments[0], C.VM.Context.LongTy,
                                    C.E),
                         C.E);
  case OO_PlusPlus:
  case OO_MinusMinus: {
    const Cell Before = C.VM.copyOf(C.Object);
    const Cell &In = C.Object->Target;
    if (const auto I = indexIn(Here, In->Elements.size());
        I && In->Name == BatchesOfLoader)
      In->Elements[*I] = valueOf(Value::Null);
    C.Object->Number +=
        (C.F->getOverloadedOperator() == OO_PlusPlus) != C.Object->IsReverse
            ? 1
            : -1;
    // The second form has an argument that nobody reads.
    return C.Arguments.empty() ? C.Object : Before;
  }
  case OO_PlusEqual:
  case OO_MinusEqual:
    if (C.Arguments.size() != 1)
      return {};
    C.VM.store(C.Object,
               iteratorArithmetic(C.VM,
                                  C.F->getOverloadedOperator() == OO_PlusEqual
                                      ? BO_Add
                                      : BO_Sub,
                                  C.Object, C.Arguments[0], C.E));
    return C.Object;
  default:
    return {};
  }
}

/// Of two texts or integers, which searches mostly compare.
static std::optional<bool> areSame(const Value &A, const Value &B) {
  if (A.What != B.What)
    return std::nullopt;
  if (A.What == Value::Text)
    return A.Name == B.Name;
  if (A.What == Value::Integer)
    return A.Number == B.Number;
  return std::nullopt;
}

std::optional<size_t> placeOf(Interpreter &VM, const Cell &What,
                              ArrayRef<Cell> Among, const Expr *E,
                              Cell &Unknown,
                              const Cell &(*KeyOf)(const Cell &)) {
  size_t Place = 0;
  for (; Place < Among.size(); ++Place) {
    if (Place % ComparisonsPerStep == 0 && !VM.step(E->getExprLoc())) {
      Unknown = unknown(E->getExprLoc(), "");
      return std::nullopt;
    }
    const Cell &Key = KeyOf ? KeyOf(Among[Place]) : Among[Place];
    if (const std::optional<bool> Same = areSame(*Key, *What)) {
      if (*Same)
        break;
      continue;
    }
    Unknown = arithmetic(VM, BO_EQ, Key, What, VM.Context.BoolTy, E);
    const std::optional<bool> IsIt = truth(Unknown);
    if (!IsIt)
      return std::nullopt;
    if (*IsIt)
      break;
  }
  return Place;
}

//===----------------------------------------------------------------------===//
// An element
//===----------------------------------------------------------------------===//

/// Are \p A and \p B the same but for what tensors have in them?
static bool isAlike(const Cell &A, const Cell &B) {
  if (A->What != B->What || A->Elements.size() != B->Elements.size())
    return false;
  if (A->What == Value::Tensor) {
    const TensorShape &X = A->Handle->Shape, &Y = B->Handle->Shape;
    return X.Defined == Y.Defined && X.Sizes == Y.Sizes && X.bytes() &&
           X.bytes() == Y.bytes();
  }
  for (size_t I = 0; I < A->Elements.size(); ++I)
    if (!isAlike(A->Elements[I], B->Elements[I]))
      return false;
  for (const auto &[Field, Member] : A->Members) {
    const auto Other = B->Members.find(Field);
    if (Other == B->Members.end())
      return false;
    // Of what differs, the user may not know which it is.
    if (!isAlike(Member, Other->second) && Member->What == Value::Tensor)
      return false;
  }
  return A->What == Value::Record || A->What == Value::List;
}

/// An element of \p List, whichever it is, of those that are alike; null where
/// they are not.
static Cell anyElement(const Value &List) {
  if (List.What != Value::List || List.Elements.empty())
    return nullptr;
  const Cell &First = List.Elements.front();
  if (!llvm::all_of(List.Elements,
                    [&](const Cell &Each) { return isAlike(First, Each); }))
    return nullptr;
  const Cell Result = cell(*First);
  // Numbers may be others.
  for (auto &[Field, Member] : Result->Members)
    if (Member->What != Value::Tensor)
      Member = unknown(Field->getLocation(), "'" + Field->getName() + "'");
  return Result;
}

Cell element(const Cell &Of, const Cell &Index, const Expr *E) {
  const Cell Object = targetOf(Of);
  const Cell Nothing = unknown(E->getExprLoc(), "an element of a container");
  if (Object->What == Value::Unknown) {
    // It is not called what the whole is.
    const Cell Part = cell(*Object);
    Part->Name.clear();
    return Part;
  }
  if (Index->What == Value::Unknown) {
    const Cell Any = anyElement(*Object);
    return Any ? Any : Index;
  }
  if (Object->What == Value::Module) {
    const ModuleInstance &M = *Object->Held;
    if (const std::optional<size_t> I = indexIn(Index, elementCount(M));
        I && !M.IsIncomplete)
      return isParameterContainer(M.ClassName)
                 ? tensorValue(M.Parameters[*I].Handle)
                 : moduleValue(M.Children[*I].Module);
    if (Index->What == Value::Text)
      for (const auto &[Name, Element] : elementsOf(M))
        if (Name == Index->Name)
          return Element;
    return Nothing;
  }
  if (Object->What == Value::Text)
    if (const std::optional<size_t> I = indexIn(Index, Object->Name.size()))
      return integer(Object->Name[*I]);
  if (Object->What == Value::List)
    if (const std::optional<size_t> I = indexIn(Index, Object->Elements.size()))
      return Object->Elements[*I];
  return Nothing;
}

//===----------------------------------------------------------------------===//
// Methods
//===----------------------------------------------------------------------===//

static const CXXRecordDecl *classOf(const LibraryCall &C) {
  return cast<CXXMethodDecl>(C.F)->getParent();
}

static bool isMap(const LibraryCall &C) {
  return cpp::isStdClass(classOf(C), {"map", "unordered_map"});
}

static bool isSet(const LibraryCall &C) {
  return cpp::isStdClass(classOf(C), {"set", "unordered_set"});
}

/// Where a new element goes: in a hash table of GCC's library, to the front,
/// unless its bucket has one.
static size_t placeOfNew(const LibraryCall &C) {
  return cpp::isStdClass(classOf(C), {"unordered_map", "unordered_set"})
             ? 0
             : C.Object->Elements.size();
}

/// Adds \p New there; returns its place.
static size_t addNew(const LibraryCall &C, Cell New) {
  const size_t Place = placeOfNew(C);
  std::vector<Cell> &Elements = C.Object->Elements;
  Elements.insert(Elements.begin() + static_cast<int64_t>(Place),
                  std::move(New));
  return Place;
}

/// The place of the first argument among the elements of a set or the keys of a
/// map; their number if it is not there. Absent if a comparison is unknown.
static std::optional<size_t> keyPlace(const LibraryCall &C, Cell &Unknown) {
  auto KeyOf = [](const Cell &Pair) -> const Cell & {
    return Pair->What == Value::List && Pair->Elements.size() == 2
               ? Pair->Elements[0]
               : Pair;
  };
  return placeOf(C.VM, C.Arguments.front(), C.Object->Elements, C.E, Unknown,
                 isMap(C) ? +KeyOf : nullptr);
}

/// count() and contains() of a map or a set.
static Cell countOf(const LibraryCall &C) {
  if (!isMap(C) && !isSet(C))
    return nullptr;
  Cell Unknown;
  const std::optional<size_t> Place = keyPlace(C, Unknown);
  return Place ? integer(*Place < C.Object->Elements.size()) : Unknown;
}

static Cell findKey(const LibraryCall &C) {
  if (!isMap(C) && !isSet(C))
    return nullptr;
  Cell Unknown;
  const std::optional<size_t> Place = keyPlace(C, Unknown);
  return Place ? iteratorAt(C.Object, static_cast<int64_t>(*Place)) : Unknown;
}

/// [] and at().
static Cell elementAt(const LibraryCall &C) {
  if (C.Arguments.empty())
    return C.Object;
  const Cell &Key = C.Arguments.front();
  if (!isMap(C)) {
    // Which of them it is, is not known: all are looked at.
    if (Key->What == Value::Unknown &&
        !C.VM.step(C.At, C.Object->Elements.size() / ComparisonsPerStep))
      return unknown(C.At, "");
    return element(C.Object, Key, C.E);
  }
  Cell Unknown;
  const std::optional<size_t> Place = keyPlace(C, Unknown);
  if (!Place)
    return Unknown;
  if (*Place < C.Object->Elements.size())
    return element(C.Object->Elements[*Place], integer(1), C.E);
  if (!C.F->getOverloadedOperator()) {
    C.VM.throws(C.At, "'at' finds no such element");
    return unknown(C.At, "");
  }
  const Cell New = newElement(C.VM, typeArgument(classOf(C), 1), C.At);
  addNew(C, listOf({C.VM.copyOf(Key), New}));
  return New;
}

/// emplace(key, ...) and its like of a map: the value is made of the rest.
static Cell emplaceInMap(const LibraryCall &C) {
  if (C.Arguments.size() < 2)
    return nullptr;
  Cell Unknown;
  std::optional<size_t> Place = isMap(C) ? keyPlace(C, Unknown) : std::nullopt;
  if (!Place)
    return nullptr;
  std::vector<Cell> &Elements = C.Object->Elements;
  const bool IsNew = *Place == Elements.size();
  if (IsNew && Elements.size() >= MaxElements)
    return nullptr;
  if (IsNew || C.Name == "insert_or_assign") {
    const QualType Type = typeArgument(classOf(C), 1);
    const CXXRecordDecl *R =
        C.VM.definitionOf(Type.isNull() ? nullptr : Type->getAsCXXRecordDecl());
    const ArrayRef<Cell> Of = C.Arguments.drop_front();
    const Cell Made = R ? makeObject(C.VM, R, Of, {}, nullptr, C.At)
                      : Of.size() == 1 ? convert(C.VM, Of.front(), Type)
                                       : unknown(C.At, "an element");
    const Cell New =
        listOf({C.VM.copyOf(C.Arguments.front()), C.VM.copyOf(Made)});
    if (IsNew)
      Place = addNew(C, New);
    else
      Elements[*Place] = New;
  }
  return listOf(
      {iteratorAt(C.Object, static_cast<int64_t>(*Place)), integer(IsNew)});
}

/// insert() and emplace() of one element of a set, or of a pair.
static Cell insertOne(const LibraryCall &C) {
  const Cell &Given = C.Arguments.front();
  if (isMap(C) && Given->What == Value::List && Given->Elements.size() == 2)
    return emplaceInMap({C.VM, C.E, C.F, C.Object, Given->Elements, C.At,
                         C.Name, C.Nothing, C.OnModule});
  Cell Unknown;
  std::optional<size_t> Place = isSet(C) ? keyPlace(C, Unknown) : std::nullopt;
  if (!Place)
    return nullptr;
  const bool IsNew = *Place == C.Object->Elements.size();
  if (IsNew)
    Place = addNew(C, C.VM.copyOf(Given));
  return listOf(
      {iteratorAt(C.Object, static_cast<int64_t>(*Place)), integer(IsNew)});
}

/// front() and back().
template <bool IsFirst> static Cell end(const LibraryCall &C) {
  const std::vector<Cell> &Elements = C.Object->Elements;
  return Elements.empty() ? unknown(C.At, "an element of an empty container")
         : IsFirst        ? Elements.front()
                          : Elements.back();
}

/// slice() or vec() of an ArrayRef; null for other methods, and where the
/// bounds are not known.
static Cell partOf(const LibraryCall &C) {
  if (!isArrayRef(classOf(C)) || (C.Name != "slice" && C.Name != "vec") ||
      !llvm::all_of(C.Arguments, [](const Cell &Given) {
        return Given->What == Value::Integer && Given->Number >= 0;
      }))
    return nullptr;
  const ArrayRef<Cell> Elements = C.Object->Elements;
  const size_t From =
      C.Name == "slice" && !C.Arguments.empty() ? C.Arguments[0]->Number : 0;
  const size_t Count = C.Arguments.size() > 1
                           ? static_cast<size_t>(C.Arguments[1]->Number)
                           : Elements.size();
  return listOf(Elements.drop_front(std::min(From, Elements.size()))
                    .take_front(Count)
                    .vec());
}

/// push_back(), and emplace_back(), which makes an element of its arguments.
template <bool Makes> static Cell addElement(const LibraryCall &C) {
  std::vector<Cell> &Elements = C.Object->Elements;
  if (Elements.size() >= MaxElements) {
    C.VM.limit(C.At,
               "a container has more than " + Twine(MaxElements) + " elements");
    return C.Object;
  }
  const QualType Type = typeArgument(classOf(C), 0);
  const CXXRecordDecl *R =
      C.VM.definitionOf(Type.isNull() ? nullptr : Type->getAsCXXRecordDecl());
  Cell New;
  if (R && Makes)
    New = makeObject(C.VM, R, C.Arguments, {}, nullptr, C.At);
  else if (C.Arguments.size() == 1)
    New = Type.isNull() ? C.Arguments.front()
                        : convert(C.VM, C.Arguments.front(), Type);
  else
    New = unknown(C.At, "an element");
  Elements.push_back(C.VM.copyOf(New));
  return Elements.back();
}

static Cell popBack(const LibraryCall &C) {
  if (!C.Object->Elements.empty())
    C.Object->Elements.pop_back();
  return C.Object;
}

static Cell popFront(const LibraryCall &C) {
  std::vector<Cell> &Elements = C.Object->Elements;
  if (!Elements.empty())
    Elements.erase(Elements.begin());
  return C.Object;
}

static Cell clear(const LibraryCall &C) {
  C.Object->Elements.clear();
  return C.Object;
}

static Cell resize(const LibraryCall &C) {
  std::vector<Cell> &Elements = C.Object->Elements;
  const std::optional<size_t> Size =
      indexIn(C.Arguments.front(), MaxElements + 1);
  if (!Size)
    return nullptr;
  Elements.resize(std::min(Elements.size(), *Size));
  const QualType Type = typeArgument(classOf(C), 0);
  while (Elements.size() < *Size && C.VM.step(C.At))
    Elements.push_back(C.Arguments.size() > 1 ? C.VM.copyOf(C.Arguments[1])
                                              : newElement(C.VM, Type, C.At));
  return C.Object;
}

/// Is argument \p I a place in the container, which is no map?
static bool isHere(const LibraryCall &C, unsigned I) {
  const Cell &V = C.Arguments[I];
  return !isMap(C) && isIterator(V) && V->Target == C.Object &&
         V->Number >= 0 &&
         static_cast<uint64_t>(V->Number) <= C.Object->Elements.size();
}

/// assign(first, last).
static Cell assignRange(const LibraryCall &C) {
  const std::optional<std::vector<Cell>> New =
      isMap(C) ? std::nullopt : elementsBetween(C.Arguments[0], C.Arguments[1]);
  if (!New)
    return nullptr;
  C.Object->Elements = C.VM.copiesOf(*New);
  return C.Object;
}

/// insert(element), insert(place, element) and insert(place, first, last).
static Cell insert(const LibraryCall &C) {
  if (C.Arguments.size() == 1)
    return insertOne(C);
  std::vector<Cell> &Elements = C.Object->Elements;
  std::optional<std::vector<Cell>> New{{C.Arguments[1]}};
  if (C.Arguments.size() == 3)
    New = elementsBetween(C.Arguments[1], C.Arguments[2]);
  if (!isHere(C, 0) || !New || Elements.size() + New->size() > MaxElements)
    return nullptr;
  *New = C.VM.copiesOf(*New);
  Elements.insert(Elements.begin() + C.Arguments[0]->Number, New->begin(),
                  New->end());
  return C.Arguments[0];
}

/// erase(place) and erase(first, last).
static Cell erase(const LibraryCall &C) {
  std::vector<Cell> &Elements = C.Object->Elements;
  if (!isHere(C, 0) || (C.Arguments.size() == 2 && !isHere(C, 1)))
    return nullptr;
  const int64_t From = C.Arguments[0]->Number;
  const int64_t To =
      C.Arguments.size() == 1 ? From + 1 : C.Arguments[1]->Number;
  if (To < From || static_cast<uint64_t>(To) > Elements.size())
    return nullptr;
  Elements.erase(Elements.begin() + From, Elements.begin() + To);
  return C.Arguments[0];
}

static const CallRule ListRules[] = {
    {"count contains", countOf, 1},
    {"find", findKey, 1},
    {"at", elementAt},
    {"begin cbegin end cend rbegin crbegin rend crend size",
     [](auto &C) { return boundOf(C.Name, C.Object); }},
    {"empty", [](auto &C) { return integer(C.Object->Elements.empty()); }},
    {"front", end<true>},
    {"back", end<false>},
    {"data vec reserve shrink_to_fit", [](auto &C) { return C.Object; }},
    {"push_back", addElement<false>},
    {"emplace_back", addElement<true>},
    {"pop_back", popBack},
    {"pop_front", popFront},
    {"clear", clear},
    {"resize", resize, 1},
    {"assign", assignRange, 2, 2},
    {"emplace try_emplace insert_or_assign",
     [](auto &C) {
       return C.Arguments.size() == 1 ? insertOne(C) : emplaceInMap(C);
     },
     1},
    {"insert", insert, 1, 3},
    {"erase", erase, 1, 2},
};

Cell callList(const LibraryCall &C) {
  const std::vector<Cell> &Elements = C.Object->Elements;
  const auto *Method = cast<CXXMethodDecl>(C.F);
  if (Cell Part = partOf(C))
    return Part;
  if (Method->getOverloadedOperator() == OO_Subscript)
    return elementAt(C);
  if (const std::optional<unsigned> Part = partOfItem(Method))
    return Elements.size() == 2 ? Elements[*Part] : unknown(C.At, "an element");
  if (Cell Result = byRule(ListRules, C))
    return Result;
  // Whatever else a method does to the container.
  const Cell Nothing = unknown(C.At, "what '" + C.Name + "' gives");
  if (!Method->isConst() && !cpp::does(C.E, cpp::Std::Access))
    *C.Object = *unknown(C.At, "a container after '" + C.Name + "'");
  return Nothing;
}

} // namespace libtorch_tidy::bytes
