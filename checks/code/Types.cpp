//===- Types.cpp - What values of a type own ------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/code/Types.h"
#include "checks/code/Std.h"
#include "checks/torch/Owners.h"
#include "checks/torch/TorchTypes.h"
#include "clang/AST/DeclTemplate.h"

using namespace clang;

namespace libtorch_tidy::code {

Owner ownerKind(QualType T) {
  if (T.isNull() || T->isPointerType() || T->isMemberPointerType() ||
      isStdClass(T, {"weak_ptr", "reference_wrapper", "span"}) ||
      torch::isReferenceClass(T))
    return Owner::None;
  return isStdClass(T, {"shared_ptr"}) || torch::isSharedHandle(T)
             ? Owner::Shared
             : Owner::Alone;
}

bool isOwningType(QualType T) {
  if (T.isNull() || T->isReferenceType() || ownerKind(T) == Owner::None)
    return false;
  const CXXRecordDecl *R = torch::recordOf(T);
  bool Owns = true;
  if (R && (torch::isStdDecl(R) || torch::isTorchDecl(R)))
    forEachArgument(
        R, [&](QualType Arg) { Owns &= ownerKind(Arg) != Owner::None; });
  return Owns;
}

bool isFunctionObject(QualType T) {
  return isStdClass(T, {"function", "move_only_function"});
}

bool holdsFunctions(QualType T) {
  const CXXRecordDecl *R = torch::recordOf(T);
  bool Holds = isFunctionObject(T);
  if (R && torch::isStdDecl(R))
    forEachArgument(R, [&](QualType Arg) { Holds |= isFunctionObject(Arg); });
  return Holds;
}

bool isIterator(QualType T) {
  const CXXRecordDecl *R = torch::recordOf(T);
  return R && R->getIdentifier() && R->getName() == "__normal_iterator";
}

bool isContainer(const CXXRecordDecl *R) {
  return isStdClass(R, {"vector", "deque", "list", "forward_list", "map",
                        "multimap", "unordered_map", "unordered_multimap",
                        "set", "multiset", "unordered_set", "valarray"});
}

void forEachArgument(const CXXRecordDecl *R,
                     llvm::function_ref<void(QualType)> Visit) {
  const auto *Spec = dyn_cast_or_null<ClassTemplateSpecializationDecl>(R);
  if (!Spec)
    return;
  for (const TemplateArgument &Arg : Spec->getTemplateArgs().asArray()) {
    if (Arg.getKind() == TemplateArgument::Type)
      Visit(Arg.getAsType());
    else if (Arg.getKind() == TemplateArgument::Pack)
      for (const TemplateArgument &Inner : Arg.pack_elements())
        if (Inner.getKind() == TemplateArgument::Type)
          Visit(Inner.getAsType());
  }
}

const FieldDecl *fieldNamed(const CXXRecordDecl *R, llvm::StringRef Name) {
  R = R ? R->getDefinition() : nullptr;
  if (!R)
    return nullptr;
  for (const FieldDecl *Field : R->fields())
    if (Field->getIdentifier() && Name.ends_with(Field->getName()) &&
        Field->getQualifiedNameAsString() == Name)
      return Field;
  for (const CXXBaseSpecifier &Base : R->bases())
    if (const FieldDecl *Field =
            fieldNamed(Base.getType()->getAsCXXRecordDecl(), Name))
      return Field;
  return nullptr;
}

} // namespace libtorch_tidy::code
