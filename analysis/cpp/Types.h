//===- Types.h - What values of a type own ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_ANALYSIS_CPP_TYPES_H
#define LIBTORCH_TIDY_ANALYSIS_CPP_TYPES_H

#include "clang/AST/DeclCXX.h"
#include "clang/AST/Type.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace libtorch_tidy::cpp {

/// So deep in namespaces, classes and functions are only lambdas in lambdas of
/// users, never the declarations of a library.
inline constexpr unsigned MaxContexts = 32;

/// True when \p D is declared in namespace std or GNU's extension of it, at any
/// depth: members of std::vector are. Null is allowed: after a fatal error a
/// type may have no class.
bool isStdDecl(const clang::Decl *D);

/// Does \p Matches hold for a type argument of \p R, if that is of a class
/// template? Packs are looked into. False for null.
bool anyTypeArgument(const clang::CXXRecordDecl *R,
                     llvm::function_ref<bool(clang::QualType)> Matches);

/// Argument \p I of the class template that \p R is made of, if it is a type; a
/// null type otherwise, and for null.
clang::QualType typeArgument(const clang::CXXRecordDecl *R, unsigned I);
inline clang::QualType firstArgument(const clang::CXXRecordDecl *R) {
  return typeArgument(R, 0);
}

/// Is \p D declared by the standard library or by the library that the analysis
/// is for (see Library.h)? False for null.
bool isOfLibrary(const clang::Decl *D);

/// Is \p R called \p QualifiedName? Inline and anonymous namespaces are looked
/// through; no string is built.
bool isNamed(const clang::NamedDecl *R, llvm::StringRef QualifiedName);

/// Is \p R, or a base, called \p QualifiedName, a literal? False for null.
bool isOrDerivesFrom(const clang::CXXRecordDecl *R,
                     llvm::StringRef QualifiedName);

/// The same for the class that \p T is, without references; false for others.
bool isOrDerivesFrom(clang::QualType T, llvm::StringRef QualifiedName);
/// The same for one of \p QualifiedNames.
bool isOrDerivesFrom(const clang::CXXRecordDecl *R,
                     llvm::ArrayRef<llvm::StringRef> QualifiedNames);
bool isOrDerivesFrom(clang::QualType T,
                     llvm::ArrayRef<llvm::StringRef> QualifiedNames);

/// \p T without references, sugar and qualifiers, as a class; null otherwise.
const clang::CXXRecordDecl *recordOf(clang::QualType T);

/// What \p T points to when it is a pointer, std::unique_ptr, std::shared_ptr
/// or a pointer class of the library; a null type otherwise.
clang::QualType pointeeOf(clang::QualType T);

/// Is \p Matches true of one of the classes that \p R derives from, directly or
/// not? Each is asked once, those without a definition, too.
bool anyBase(const clang::CXXRecordDecl *R,
             llvm::function_ref<bool(const clang::CXXRecordDecl *)> Matches);

/// Is \p Matches true of the type of a direct base or of a field of \p R, asked
/// in that order? False for null and where \p R has no definition.
bool anyPart(const clang::CXXRecordDecl *R,
             llvm::function_ref<bool(clang::QualType)> Matches);

/// What \p T points to in the end, through pointers to pointers: \p T itself
/// when it is not a pointer (see pointeeOf). Null for a class that is a pointer
/// to itself, as `struct P : std::shared_ptr<P> {};` is.
clang::QualType finalPointee(clang::QualType T);

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
/// An iterator of whatever container, also one that runs backwards. Not what
/// inserts into one or moves out of it, and no pointer.
bool leadsToElements(clang::QualType T);

/// The first field of \p R, or else of a base, that \p Is; null if none is, or
/// this unit does not know \p R.
const clang::FieldDecl *
findField(const clang::CXXRecordDecl *R,
          llvm::function_ref<bool(const clang::FieldDecl *)> Is);

/// The field of \p R, or of a base, whose qualified name is \p Name; null when
/// this unit does not know it.
const clang::FieldDecl *fieldNamed(const clang::CXXRecordDecl *R,
                                   llvm::StringRef Name);

/// Calls \p Visit for the types that template class \p R is made of, those in
/// packs included.
void forEachArgument(const clang::CXXRecordDecl *R,
                     llvm::function_ref<void(clang::QualType)> Visit);

} // namespace libtorch_tidy::cpp

#endif // LIBTORCH_TIDY_ANALYSIS_CPP_TYPES_H
