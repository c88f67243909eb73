//===- Reached.cpp - What a run of the program shows of a finding ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Body.h"
#include "analysis/cpp/Walk.h"
#include "analysis/torch/api/OpFacts.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/modules/Modules.h"
#include "checks/base/Finding.h"

using namespace clang;

namespace libtorch_tidy {

/// Does \p E make a tensor or a node whenever it runs?
static bool makes(const Expr *E) {
  if (torch::asModuleCall(E))
    return true;
  const torch::OpFacts *Facts = torch::opFacts(dyn_cast<CallExpr>(E));
  return Facts && torch::isTensor(E->getType()) &&
         Facts->Shares == torch::Sharing::None && !Facts->InPlace;
}

/// What makes something in \p S each time that \p S runs; null for nothing. The
/// last call of a function may leave no frame of it, so a `return` does
/// not count.
static const Stmt *makerIn(const Stmt *S) {
  if (!S ||
      isa<ReturnStmt, LambdaExpr, AbstractConditionalOperator, IfStmt, ForStmt,
          WhileStmt, DoStmt, CXXForRangeStmt, SwitchStmt, SwitchCase,
          CXXTryStmt, CompoundStmt, UnaryExprOrTypeTraitExpr, CXXTypeidExpr>(S))
    return nullptr;
  if (const auto *E = dyn_cast<Expr>(S); E && makes(E))
    return S;
  const auto *Either = dyn_cast<BinaryOperator>(S);
  for (const Stmt *Child : S->children())
    if (const Stmt *Found = makerIn(Child))
      return Found;
    else if (Either && Either->isLogicalOp())
      return nullptr; // The right side may not run.
  return nullptr;
}

/// The same of what has run in block \p In before its statement \p S.
static const Stmt *makerBefore(const CompoundStmt *In, const Stmt *S) {
  const Stmt *Last = nullptr;
  for (const Stmt *Each : In->body()) {
    if (Each == S)
      break;
    if (isa<SwitchCase, LabelStmt>(Each))
      Last = nullptr; // It can be entered here.
    else if (const Stmt *Maker = makerIn(Each))
      Last = Maker;
  }
  return Last;
}

/// May control leave \p S other than at its end?
static bool jumps(const Stmt *S) {
  return cpp::anyOf<Stmt>(S, [](const Stmt *Each) {
    return isa<ReturnStmt, CoreturnStmt, BreakStmt, ContinueStmt, GotoStmt,
               CXXThrowExpr>(Each);
  });
}

/// The same of what runs after it.
static const Stmt *makerAfter(const CompoundStmt *In, const Stmt *S) {
  bool IsAfter = false;
  for (const Stmt *Each : In->body()) {
    if (IsAfter && jumps(Each))
      break;
    if (const Stmt *Maker = IsAfter ? makerIn(Each) : nullptr)
      return Maker;
    IsAfter |= Each == S;
  }
  return nullptr;
}

Finding &Finding::runsWith(const Stmt *S, ASTContext &Context) {
  const cpp::Body *Around = cpp::Body::around(S, Context);
  if (!Around)
    return *this;
  // What ran before a loop may have done so before the run was watched.
  const Stmt *Loop = Around->loopAround(S);
  if (!Loop && Around->function()->isMain())
    return *this;
  const Stmt *Maker = makerIn(S);
  bool IsInnermost = true;
  for (const Stmt *P = Around->parentOf(S);
       !Maker && P && P != Loop && !isa<LambdaExpr, SwitchStmt>(P);
       S = P, P = Around->parentOf(P)) {
    if (const auto *Block = dyn_cast<CompoundStmt>(P)) {
      Maker = makerBefore(Block, S);
      // What comes after an outer block, a jump in this one may skip.
      if (!Maker && IsInnermost)
        Maker = makerAfter(Block, S);
      IsInnermost = false;
    } else if (isa<DeclStmt, Expr>(P))
      Maker = makerIn(P);
  }
  if (Maker)
    Runs = Maker->getSourceRange();
  return *this;
}

} // namespace libtorch_tidy
