//===- Library.h - What a library adds to C++ ----------------- -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What C++ by itself does not say about the classes and functions of the
/// library that the analysis is for. Declared here, where it is asked, and
/// defined by the layer that knows the library (torch/api/Library.cpp), so that
/// this folder names none of it.

#ifndef LIBTORCH_TIDY_ANALYSIS_CPP_LIBRARY_H
#define LIBTORCH_TIDY_ANALYSIS_CPP_LIBRARY_H

#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/VirtualFileSystem.h"

namespace libtorch_tidy::cpp::library {

/// Is \p D declared by the library? False for null.
bool declares(const clang::Decl *D);
/// Is \p Path, absolute or relative, a header of the library?
bool isHeader(llvm::StringRef Path, llvm::vfs::FileSystem &FS);

/// A value that others compute with: its operators and methods make new ones,
/// no parts of it.
bool isValue(clang::QualType T);
/// An object that others hold by pointers and handles, or such a handle.
bool isObject(clang::QualType T);
/// A smart pointer or handle whose first template argument is what it points
/// to.
bool isPointer(const clang::CXXRecordDecl *R);
/// A handle whose copies share one object.
bool isSharedHandle(clang::QualType T);
/// A class that refers to something without owning it.
bool isReference(clang::QualType T);

/// Does \p Method change its object, whatever its signature says?
bool changesObject(const clang::CXXMethodDecl *Method);
/// Is the result of \p Call its object, or its first argument, itself?
bool returnsItsObject(const clang::CallExpr *Call);
/// Is the result of \p Call, a method call, something that its object holds?
bool returnsAPart(const clang::CallExpr *Call);
/// Does \p Call ask whether its object holds anything?
bool asksIfEmpty(const clang::CallExpr *Call);
/// A call that runs its last argument in several threads, its own among them.
bool isParallelFor(const clang::CallExpr *Call);

} // namespace libtorch_tidy::cpp::library

#endif // LIBTORCH_TIDY_ANALYSIS_CPP_LIBRARY_H
