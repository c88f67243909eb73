//===- UserCode.cpp - Which code is the user's ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/UserCode.h"
#include "analysis/cpp/Library.h"
#include "clang/AST/ASTContext.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::cpp {

bool isInstalledHeader(StringRef Path) {
  return Path.starts_with("/usr/include/") ||
         Path.starts_with("/usr/local/include/");
}

bool isUserCode(SourceLocation Loc, const SourceManager &SM) {
  Loc = SM.getExpansionLoc(Loc);
  if (Loc.isInvalid() || SM.isInSystemHeader(Loc))
    return false;
  if (SM.isInMainFile(Loc))
    return true;
  const StringRef Path = SM.getFilename(Loc);
  return !isInstalledHeader(Path) &&
         !library::isHeader(Path, SM.getFileManager().getVirtualFileSystem());
}

const FunctionDecl *userDefinition(const FunctionDecl *F) {
  const FunctionDecl *Definition = nullptr;
  return F && F->hasBody(Definition) && !Definition->isDependentContext() &&
                 isUserCode(Definition->getLocation(),
                            F->getASTContext().getSourceManager())
             ? Definition
             : nullptr;
}

} // namespace libtorch_tidy::cpp
