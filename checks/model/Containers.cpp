//===- Containers.cpp - What methods of containers do ---------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/code/Std.h"
#include "checks/model/Interpreter.h"
#include "checks/torch/Calls.h"
#include "checks/torch/ModuleApi.h"

using namespace clang;
using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

namespace libtorch_tidy::model {

static bool isMap(const CXXRecordDecl *R) {
  return code::isStdClass(R, {"map", "unordered_map"});
}

/// at(), count() and [] of a map, find() and count() of a set. Null for other
/// methods.
Cell Interpreter::lookUp(const CallExpr *E, const Cell &Object,
                         ArrayRef<Cell> Arguments) {
  const auto *Method = cast<CXXMethodDecl>(E->getDirectCallee());
  const StringRef Name = torch::calleeName(E);
  std::vector<Cell> &Elements = Object->Elements;
  const bool IsCount = Name == "count" || Name == "contains";
  Cell Unknown;
  if (Arguments.empty())
    return nullptr;
  if (code::isStdClass(Method->getParent(), {"set", "unordered_set"}) &&
      (Name == "find" || IsCount)) {
    const std::optional<size_t> Place =
        placeOf(Arguments.front(), Elements, E, Unknown);
    if (!Place)
      return Unknown;
    return IsCount ? integer(*Place < Elements.size())
                   : iteratorAt(Object, static_cast<int64_t>(*Place));
  }
  if (!isMap(Method->getParent()) ||
      !(IsCount || Name == "at" ||
        Method->getOverloadedOperator() == OO_Subscript))
    return nullptr;
  const SourceLocation At = E->Stmt::getBeginLoc();
  for (const Cell &Pair : Elements)
    if (Pair->What == Value::List && Pair->Elements.size() == 2) {
      const Cell Equal = arithmetic(BO_EQ, Pair->Elements[0], Arguments.front(),
                                    Context.BoolTy, E);
      if (!truth(Equal))
        return Equal;
      if (*truth(Equal))
        return IsCount ? integer(1) : Pair->Elements[1];
    }
  if (IsCount)
    return integer(0);
  if (Name == "at") {
    fail(At, "'at' finds no such element, and throws");
    return unknown(At, "");
  }
  const Cell New = newElement(typeArgument(Method->getParent(), 1), At);
  Elements.push_back(listOf({copyOf(Arguments.front()), New}));
  return New;
}

/// slice() or vec() of a list; null for other methods, and where the bounds are
/// not known.
static Cell partOf(const CXXMethodDecl *Method, ArrayRef<Cell> Elements,
                   ArrayRef<Cell> Arguments) {
  const std::optional<torch::Part> Part = torch::partOfArray(Method);
  if (!Part || !llvm::all_of(Arguments, [](const Cell &Given) {
        return Given->What == Value::Integer && Given->Number >= 0;
      }))
    return nullptr;
  const size_t From = *Part == torch::Part::Slice && !Arguments.empty()
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
Cell Interpreter::addElement(const CallExpr *E, const Cell &Object,
                             ArrayRef<Cell> Arguments) {
  const SourceLocation At = E->Stmt::getBeginLoc();
  std::vector<Cell> &Elements = Object->Elements;
  if (Elements.size() >= MaxElements) {
    limit(At, "a container has more than " + Twine(MaxElements) + " elements");
    return Object;
  }
  const QualType Type =
      typeArgument(cast<CXXMethodDecl>(E->getDirectCallee())->getParent(), 0);
  const CXXRecordDecl *R =
      definitionOf(Type.isNull() ? nullptr : Type->getAsCXXRecordDecl());
  Cell New;
  if (R && torch::calleeName(E) == "emplace_back")
    New = makeObject(R, Arguments, {}, nullptr, At);
  else if (Arguments.size() == 1)
    New = Type.isNull() ? Arguments.front() : convert(Arguments.front(), Type);
  else
    New = unknown(At, "an element");
  Elements.push_back(copyOf(New));
  return Elements.back();
}

Cell Interpreter::callList(const CallExpr *E, const Cell &Object,
                           ArrayRef<Cell> Arguments) {
  const SourceLocation At = E->Stmt::getBeginLoc();
  const StringRef Name = torch::calleeName(E);
  std::vector<Cell> &Elements = Object->Elements;
  const auto *Method = cast<CXXMethodDecl>(E->getDirectCallee());
  if (Cell Found = lookUp(E, Object, Arguments))
    return Found;
  if (Cell Part = partOf(Method, Elements, Arguments))
    return Part;
  if (Method->getOverloadedOperator() == OO_Subscript || Name == "at")
    return Arguments.empty() ? Object : element(Object, Arguments.front(), E);
  if (Cell Place = boundOf(Name, Object))
    return Place;
  if (Name == "empty")
    return integer(Elements.empty());
  if (Name == "front" || Name == "back") {
    if (Elements.empty())
      return unknown(At, "an element of an empty container");
    return Name == "front" ? Elements.front() : Elements.back();
  }
  if (const std::optional<unsigned> Part = torch::partOfItem(Method))
    return Elements.size() == 2 ? Elements[*Part] : unknown(At, "an element");
  if (Name == "data" || Name == "vec" || Name == "reserve" ||
      Name == "shrink_to_fit")
    return Object;
  if (Name == "push_back" || Name == "emplace_back")
    return addElement(E, Object, Arguments);
  if (Name == "pop_back") {
    if (!Elements.empty())
      Elements.pop_back();
    return Object;
  }
  if (Name == "clear") {
    Elements.clear();
    return Object;
  }
  if (Name == "resize" && !Arguments.empty() &&
      Arguments.front()->What == Value::Integer &&
      Arguments.front()->Number >= 0 &&
      static_cast<uint64_t>(Arguments.front()->Number) <= MaxElements) {
    const QualType Type = typeArgument(Method->getParent(), 0);
    const size_t Size = Arguments.front()->Number;
    Elements.resize(std::min(Elements.size(), Size));
    while (Elements.size() < Size && step(At))
      Elements.push_back(Arguments.size() > 1 ? copyOf(Arguments[1])
                                              : newElement(Type, At));
    return Object;
  }
  if (!isMap(Method->getParent()))
    if (Cell Changed = changeList(Name, Object, Arguments))
      return Changed;
  // Whatever else a method does to the container.
  const Cell Nothing = unknown(At, "what '" + Name + "' gives");
  if (!Method->isConst() && !code::isElementAccess(Name) && Name != "rbegin" &&
      Name != "rend")
    *Object = *unknown(At, "a container after '" + Name + "'");
  return Nothing;
}

} // namespace libtorch_tidy::model
