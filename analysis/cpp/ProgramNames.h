//===- ProgramNames.h - Names that units share ---------------- -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_ANALYSIS_CPP_PROGRAMNAMES_H
#define LIBTORCH_TIDY_ANALYSIS_CPP_PROGRAMNAMES_H

#include "clang/AST/Decl.h"
#include <string>

namespace libtorch_tidy::cpp {

/// Can other units run \p D, at least as what a virtual method of theirs calls?
bool isKnownToOthers(const clang::NamedDecl *D);

/// The name of \p D in all units of a program. Empty when they do not share it.
std::string programName(const clang::NamedDecl *D);
/// The same of a field.
std::string programFieldName(const clang::FieldDecl *Field);

/// As programName(), for a function that others cannot call, too.
std::string usrOf(const clang::NamedDecl *D);

} // namespace libtorch_tidy::cpp

#endif // LIBTORCH_TIDY_ANALYSIS_CPP_PROGRAMNAMES_H
