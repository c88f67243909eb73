//===- Compat.h - One source for several LLVMs ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What Clang calls differently from version to version, under one name. The
// checks are written for Clang 19 and compile with 16 to 22; this is the only
// header of theirs that asks which version it is (test/infra/compat.test).
// Before adding to it, look for a form that all versions have.
//
// What compiles and means something else: in newer versions getBeginLoc() and
// getEndLoc() of class CallExpr are wrong for a call of an operator. Those of
// class Stmt are right in all, hence Call->Stmt::getBeginLoc().
//
// It stands below all layers and knows none of them.
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_CPP_COMPAT_H
#define LIBTORCH_TIDY_ANALYSIS_CPP_COMPAT_H

#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include "clang/Basic/LangOptions.h"
#include "clang/Basic/Version.h"

namespace libtorch_tidy::compat {

/// The type of class \p R without sugar.
inline clang::QualType recordType(const clang::RecordDecl *R) {
#if CLANG_VERSION_MAJOR >= 22 // Types of tags have one function.
  return R->getASTContext().getCanonicalTagType(R);
#else
  return R->getASTContext().getRecordType(R);
#endif
}

/// Is \p F declared with `= 0`?
inline bool isPureVirtual(const clang::FunctionDecl *F) {
#if CLANG_VERSION_MAJOR >= 18 // isPure() before.
  return F->isPureVirtual();
#else
  return F->isPure();
#endif
}

/// Is \p Field padding, as in `int : 3;`?
inline bool isUnnamedBitField(const clang::FieldDecl *Field) {
#if CLANG_VERSION_MAJOR >= 19 // Spelt isUnnamedBitfield() before.
  return Field->isUnnamedBitField();
#else
  return Field->isUnnamedBitfield();
#endif
}

/// Is the language C++23 or newer?
inline bool isCPlusPlus23(const clang::LangOptions &Language) {
#if CLANG_VERSION_MAJOR >= 17 // "2b", before the standard had its year.
  return Language.CPlusPlus23;
#else
  return Language.CPlusPlus2b;
#endif
}

} // namespace libtorch_tidy::compat

#endif // LIBTORCH_TIDY_ANALYSIS_CPP_COMPAT_H
