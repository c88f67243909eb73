//===- IneffectiveGradGuardCheck.h ------------------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_INEFFECTIVEGRADGUARDCHECK_H
#define LIBTORCH_TIDY_CHECKS_INEFFECTIVEGRADGUARDCHECK_H

#include "checks/LibtorchCheck.h"
#include "checks/flow/UnitModel.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtOpenMP.h"
#include "llvm/ADT/StringSet.h"

namespace libtorch_tidy {

/// docs/checks/libtorch-ineffective-grad-guard.md says what it finds and why.
class IneffectiveGradGuardCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;
  void registerMatchers(clang::ast_matchers::MatchFinder *Finder) override;
  void
  check(const clang::ast_matchers::MatchFinder::MatchResult &Result) override;

private:
  void checkUnnamed(const clang::CXXConstructExpr *Guard,
                    clang::ASTContext &Context);
  void checkVexingParse(const clang::FunctionDecl *F,
                        clang::ASTContext &Context);
  void checkVariable(const clang::VarDecl *Guard, clang::ASTContext &Context);
  /// Code that other threads run, started under a guard.
  void checkThread(const clang::Expr *Start, clang::ASTContext &Context);
  void checkParallelRegion(const clang::OMPExecutableDirective *Region,
                           clang::ASTContext &Context);
  std::string nameFor(clang::QualType T, const clang::FunctionDecl *In);

  std::shared_ptr<flow::UnitModel> Unit;
  /// Names that fixes have given by function, as one function may need several.
  llvm::DenseMap<clang::SourceLocation, llvm::StringSet<>> Given;
  /// Unnamed guards that have been looked at.
  llvm::DenseSet<clang::SourceLocation> Seen;
};

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_INEFFECTIVEGRADGUARDCHECK_H
