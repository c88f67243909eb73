//===- ProgramNames.cpp - Names that units share --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/ProgramNames.h"
#include "clang/AST/DeclCXX.h"
#include "clang/Index/USRGeneration.h"
#include "llvm/ADT/SmallString.h"

using namespace clang;

namespace libtorch_tidy::cpp {

std::string usrOf(const NamedDecl *D) {
  llvm::SmallString<128> Name;
  if (index::generateUSRForDecl(D, Name))
    return {};
  return Name.str().str();
}

bool isKnownToOthers(const NamedDecl *D) {
  const auto *Method = dyn_cast<CXXMethodDecl>(D);
  return D->isExternallyVisible() ||
         (Method && llvm::any_of(Method->overridden_methods(),
                                 [](const CXXMethodDecl *Base) {
                                   return isKnownToOthers(Base);
                                 }));
}

std::string programName(const NamedDecl *D) {
  return isKnownToOthers(D) ? usrOf(D) : std::string();
}

std::string programFieldName(const FieldDecl *Field) {
  return Field->getQualifiedNameAsString();
}

} // namespace libtorch_tidy::cpp
