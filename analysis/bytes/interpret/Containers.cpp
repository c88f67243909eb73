//===- Containers.cpp - What methods of containers do ---------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/bytes/interpret/Interpreter.h"
#include "analysis/bytes/library/ModuleApi.h"
#include "analysis/cpp/Std.h"

using namespace clang;
using llvm::ArrayRef;
using llvm::Twine;

namespace libtorch_tidy::bytes {

static bool isMap(const CXXRecordDecl *R) {
  return cpp::isStdClass(R, {"map", "unordered_map"});
}

/// at(), count() and [] of a map, find() and count() of a set. Null for other
/// methods.
Cell Interpreter::lookUp(const LibraryCall &C) {
  const auto *Method = cast<CXXMethodDecl>(C.F);
  std::vector<Cell> &Elements = C.Object->Elements;
  const bool IsCount = C.Name == "count" || C.Name == "contains";
  Cell Unknown;
  if (C.Arguments.empty())
    return nullptr;
  if (cpp::isStdClass(Method->getParent(), {"set", "unordered_set"}) &&
      (C.Name == "find" || IsCount)) {
    const std::optional<size_t> Place =
        placeOf(C.Arguments.front(), Elements, C.E, Unknown);
    if (!Place)
      return Unknown;
    return IsCount ? integer(*Place < Elements.size())
                   : iteratorAt(C.Object, static_cast<int64_t>(*Place));
  }
  if (!isMap(Method->getParent()) ||
      !(IsCount || C.Name == "at" ||
        Method->getOverloadedOperator() == OO_Subscript))
    return nullptr;
  for (const Cell &Pair : Elements)
    if (Pair->What == Value::List && Pair->Elements.size() == 2) {
      const Cell Equal = arithmetic(BO_EQ, Pair->Elements[0],
                                    C.Arguments.front(), Context.BoolTy, C.E);
      if (!truth(Equal))
        return Equal;
      if (*truth(Equal))
        return IsCount ? integer(1) : Pair->Elements[1];
    }
  if (IsCount)
    return integer(0);
  if (C.Name == "at") {
    fail(C.At, "'at' finds no such element, and throws");
    return unknown(C.At, "");
  }
  const Cell New = newElement(typeArgument(Method->getParent(), 1), C.At);
  Elements.push_back(listOf({copyOf(C.Arguments.front()), New}));
  return New;
}

/// slice() or vec() of a list; null for other methods, and where the bounds are
/// not known.
static Cell partOf(const CXXMethodDecl *Method, ArrayRef<Cell> Elements,
                   ArrayRef<Cell> Arguments) {
  const std::optional<ArrayPart> Part = partOfArray(Method);
  if (!Part || !llvm::all_of(Arguments, [](const Cell &Given) {
        return Given->What == Value::Integer && Given->Number >= 0;
      }))
    return nullptr;
  const size_t From = *Part == ArrayPart::Slice && !Arguments.empty()
                          ? Arguments[0]->Number
                          : 0;
  const size_t Count = Arguments.size() > 1
                           ? static_cast<size_t>(Arguments[1]->Number)
                           : Elements.size();
  return listOf(Elements.drop_front(std::min(From, Elements.size()))
                    .take_front(Count)
                    .vec());
}

/// push_back() or emplace_back().
Cell Interpreter::addElement(const LibraryCall &C) {
  std::vector<Cell> &Elements = C.Object->Elements;
  if (Elements.size() >= MaxElements) {
    limit(C.At,
          "a container has more than " + Twine(MaxElements) + " elements");
    return C.Object;
  }
  const QualType Type = typeArgument(cast<CXXMethodDecl>(C.F)->getParent(), 0);
  const CXXRecordDecl *R =
      definitionOf(Type.isNull() ? nullptr : Type->getAsCXXRecordDecl());
  Cell New;
  if (R && C.Name == "emplace_back")
    New = makeObject(R, C.Arguments, {}, nullptr, C.At);
  else if (C.Arguments.size() == 1)
    New = Type.isNull() ? C.Arguments.front()
                        : convert(C.Arguments.front(), Type);
  else
    New = unknown(C.At, "an element");
  Elements.push_back(copyOf(New));
  return Elements.back();
}

Cell Interpreter::callList(const LibraryCall &C) {
  std::vector<Cell> &Elements = C.Object->Elements;
  const auto *Method = cast<CXXMethodDecl>(C.F);
  if (Cell Found = lookUp(C))
    return Found;
  if (Cell Part = partOf(Method, Elements, C.Arguments))
    return Part;
  if (Method->getOverloadedOperator() == OO_Subscript || C.Name == "at")
    return C.Arguments.empty() ? C.Object
                               : element(C.Object, C.Arguments.front(), C.E);
  if (Cell Place = boundOf(C.Name, C.Object))
    return Place;
  if (C.Name == "empty")
    return integer(Elements.empty());
  if (C.Name == "front" || C.Name == "back") {
    if (Elements.empty())
      return unknown(C.At, "an element of an empty container");
    return C.Name == "front" ? Elements.front() : Elements.back();
  }
  if (const std::optional<unsigned> Part = partOfItem(Method))
    return Elements.size() == 2 ? Elements[*Part] : unknown(C.At, "an element");
  if (C.Name == "data" || C.Name == "vec" || C.Name == "reserve" ||
      C.Name == "shrink_to_fit")
    return C.Object;
  if (C.Name == "push_back" || C.Name == "emplace_back")
    return addElement(C);
  if (C.Name == "pop_back") {
    if (!Elements.empty())
      Elements.pop_back();
    return C.Object;
  }
  if (C.Name == "clear") {
    Elements.clear();
    return C.Object;
  }
  const std::optional<size_t> Size =
      C.Name == "resize" && !C.Arguments.empty()
          ? indexIn(C.Arguments.front(), MaxElements + 1)
          : std::nullopt;
  if (Size) {
    Elements.resize(std::min(Elements.size(), *Size));
    const QualType Type = typeArgument(Method->getParent(), 0);
    while (Elements.size() < *Size && step(C.At))
      Elements.push_back(C.Arguments.size() > 1 ? copyOf(C.Arguments[1])
                                                : newElement(Type, C.At));
    return C.Object;
  }
  if (!isMap(Method->getParent()))
    if (Cell Changed = changeList(C))
      return Changed;
  // Whatever else a method does to the container.
  const Cell Nothing = unknown(C.At, "what '" + C.Name + "' gives");
  if (!Method->isConst() && !cpp::isElementAccess(C.Name) &&
      C.Name != "rbegin" && C.Name != "rend")
    *C.Object = *unknown(C.At, "a container after '" + C.Name + "'");
  return Nothing;
}

} // namespace libtorch_tidy::bytes
