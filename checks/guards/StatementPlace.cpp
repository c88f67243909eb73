//===- StatementPlace.cpp - Where a statement stands --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "checks/guards/StatementPlace.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/ParentMapContext.h"

using namespace clang;

namespace libtorch_tidy {

const Stmt *parentOf(const Stmt *S, ASTContext &Context) {
  DynTypedNodeList Parents = Context.getParents(*S);
  return Parents.empty() ? nullptr : Parents[0].get<Stmt>();
}

std::optional<StatementPlace> placeOf(const Stmt *S, ASTContext &Context) {
  DynTypedNodeList Parents = Context.getParents(*S);
  if (Parents.empty())
    return std::nullopt;
  StatementPlace P{S, Parents[0], Parents[0].get<CompoundStmt>()};
  const auto *If = Parents[0].get<IfStmt>();
  const auto *Case = Parents[0].get<SwitchCase>();
  const bool IsStatement =
      P.Block ? !P.isLast() || // The value of a statement expression.
                    !isa_and_nonnull<StmtExpr>(parentOf(P.Block, Context))
      : If ? If->getThen() == S || If->getElse() == S
           : (Case && Case->getSubStmt() == S) ||
                 Parents[0].get<LabelStmt>() != nullptr;
  return IsStatement ? std::optional(P) : std::nullopt;
}
std::optional<StatementPlace> placeOf(const Decl *D, ASTContext &Context) {
  DynTypedNodeList Parents = Context.getParents(*D);
  const auto *Statement =
      Parents.size() == 1 ? Parents[0].get<DeclStmt>() : nullptr;
  return Statement ? placeOf(Statement, Context) : std::nullopt;
}

} // namespace libtorch_tidy
