//===- Types.h - What values of a type own ----------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_CODE_TYPES_H
#define LIBTORCH_TIDY_CHECKS_CODE_TYPES_H

#include "clang/AST/DeclCXX.h"
#include "clang/AST/Type.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace libtorch_tidy::code {

/// How a value of a type is tied to what it leads to.
enum class Owner : unsigned char {
  None,   ///< Pointers, references, views and weak pointers; a null type.
  Shared, ///< Tensor, ModuleHolder, AnyModule, std::shared_ptr,
          ///< c10::intrusive_ptr: others may own the same object.
  Alone,  ///< All other values: what they hold is theirs.
};
Owner ownerKind(clang::QualType T);

inline bool isSharedOwner(clang::QualType T) {
  return ownerKind(T) == Owner::Shared;
}

/// Does a field of type \p T own what it leads to? Not a container of
/// pointers, either.
bool isOwningType(clang::QualType T);

/// std::function or std::move_only_function.
bool isFunctionObject(clang::QualType T);
/// One, or a standard container of them.
bool holdsFunctions(clang::QualType T);

/// std::vector, std::map and similar classes, which own their elements.
bool isContainer(const clang::CXXRecordDecl *R);

/// The iterator of a std::vector or std::string, where it is a class:
/// __normal_iterator in libstdc++.
bool isIterator(clang::QualType T);

/// The field of \p R, or of a base, whose qualified name is \p Name; null when
/// this unit does not know it.
const clang::FieldDecl *fieldNamed(const clang::CXXRecordDecl *R,
                                   llvm::StringRef Name);

/// Calls \p Visit for the types that template class \p R is made of, those in
/// packs included.
void forEachArgument(const clang::CXXRecordDecl *R,
                     llvm::function_ref<void(clang::QualType)> Visit);

} // namespace libtorch_tidy::code

#endif // LIBTORCH_TIDY_CHECKS_CODE_TYPES_H
