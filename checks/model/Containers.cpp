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

Cell Interpreter::callList(const CallExpr *E, StringRef Name,
                           const Cell &Object, ArrayRef<Cell> Arguments) {
  const SourceLocation At = E->Stmt::getBeginLoc();
  std::vector<Cell> &Elements = Object->Elements;
  const auto *Method = cast<CXXMethodDecl>(E->getDirectCallee());
  const bool IsMap =
      code::isStdClass(Method->getParent(), {"map", "unordered_map"});
  if (IsMap && !Arguments.empty() &&
      (Name == "at" || Name == "count" || Name == "contains" ||
       Method->getOverloadedOperator() == OO_Subscript)) {
    for (const Cell &Pair : Elements)
      if (Pair->What == Value::List && Pair->Elements.size() == 2) {
        const Cell Equal = arithmetic(BO_EQ, Pair->Elements[0],
                                      Arguments.front(), Context.BoolTy, E);
        if (!truth(Equal))
          return Equal;
        if (*truth(Equal))
          return Name == "count" || Name == "contains" ? integer(1)
                                                       : Pair->Elements[1];
      }
    if (Name == "count" || Name == "contains")
      return integer(0);
    if (Name == "at") {
      fail(At, "'at' finds no such element, and throws");
      return unknown(At, "");
    }
    const Cell New = newElement(typeArgument(Method->getParent(), 1), At);
    Elements.push_back(listOf({copyOf(Arguments.front()), New}));
    return New;
  }
  if (code::isStdClass(Method->getParent(), {"set", "unordered_set"}) &&
      !Arguments.empty() &&
      (Name == "find" || Name == "count" || Name == "contains")) {
    size_t Place = 0;
    for (; Place < Elements.size(); ++Place) {
      const Cell Equal = arithmetic(BO_EQ, Elements[Place], Arguments.front(),
                                    Context.BoolTy, E);
      if (!truth(Equal))
        return Equal;
      if (*truth(Equal))
        break;
    }
    return Name == "find" ? iteratorAt(Object, static_cast<int64_t>(Place))
                          : integer(Place < Elements.size());
  }
  if (const std::optional<torch::Part> Part = torch::partOfArray(Method);
      Part && llvm::all_of(Arguments, [](const Cell &Given) {
        return Given->What == Value::Integer && Given->Number >= 0;
      })) {
    const size_t From = std::min<size_t>(
        Elements.size(), *Part == torch::Part::Slice && !Arguments.empty()
                             ? Arguments[0]->Number
                             : 0);
    const size_t Count = Arguments.size() > 1
                             ? static_cast<size_t>(Arguments[1]->Number)
                             : Elements.size();
    return listOf({Elements.begin() + From,
                   Elements.begin() + std::min(Elements.size(), From + Count)});
  }
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
  if (Name == "data" || Name == "vec")
    return Object;
  if (Name == "reserve" || Name == "shrink_to_fit")
    return Object;
  if (Name == "push_back" || Name == "emplace_back") {
    if (Elements.size() >= MaxElements) {
      limit(At,
            "a container has more than " + Twine(MaxElements) + " elements");
      return Object;
    }
    const QualType Contained = typeArgument(Method->getParent(), 0);
    const CXXRecordDecl *R = definitionOf(
        Contained.isNull() ? nullptr : Contained->getAsCXXRecordDecl());
    Cell New;
    if (Name == "emplace_back" && R)
      New = makeObject(R, Arguments, {}, nullptr, At);
    else if (Arguments.size() == 1)
      New = Contained.isNull() ? Arguments.front()
                               : convert(Arguments.front(), Contained);
    else
      New = unknown(At, "an element");
    Elements.push_back(copyOf(New));
    return Elements.back();
  }
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
  if (!IsMap)
    if (Cell Changed = changeList(Name, Object, Arguments))
      return Changed;
  // Whatever else a method does to the container.
  const Cell Nothing = unknown(At, "what '" + torch::calleeName(E) + "' gives");
  if (!Method->isConst() && !code::isElementAccess(Name) && Name != "rbegin" &&
      Name != "rend")
    *Object = *unknown(At, "a container after '" + torch::calleeName(E) + "'");
  return Nothing;
}

} // namespace libtorch_tidy::model
