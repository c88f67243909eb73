//===- Reached.cpp - What a run of the program shows of a finding ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Body.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Walk.h"
#include "analysis/torch/api/OpFacts.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/modules/Modules.h"
#include "checks/base/Finding.h"

using namespace clang;

namespace libtorch_tidy {

/// May control leave \p S other than at its end?
static bool jumps(const Stmt *S) {
  return cpp::anyOf<Stmt>(S, [](const Stmt *Each) {
    return isa<ReturnStmt, CoreturnStmt, BreakStmt, ContinueStmt, GotoStmt,
               CXXThrowExpr>(Each);
  });
}

static const Stmt *makerIn(const Stmt *S, unsigned Depth = 0);

/// Does each constructor of \p Class, a module's, make a tensor?
static bool constructorsMake(const CXXRecordDecl *Class, unsigned Depth) {
  constexpr unsigned MaxDepth = 8;
  auto Makes = [&](const CXXConstructorDecl *Each) {
    const FunctionDecl *Definition = nullptr;
    if (!Each->hasBody(Definition))
      return false;
    const auto *Own = cast<CXXConstructorDecl>(Definition);
    for (const CXXCtorInitializer *Init : Own->inits())
      if (makerIn(Init->getInit(), Depth))
        return true;
    // A function-try-block has no statement of its own.
    for (const Stmt *S : Own->getBody()->children()) {
      if (makerIn(S, Depth))
        return true;
      if (S && jumps(S))
        break;
    }
    return false;
  };
  unsigned Count = 0;
  for (const CXXConstructorDecl *Each : Class->ctors()) {
    if (Each->isCopyOrMoveConstructor() || Each->isDeleted())
      continue;
    if (Depth > MaxDepth || !Makes(Each))
      return false;
    ++Count;
  }
  return Count > 0;
}

/// The class of the module that \p E makes; null for others.
static const CXXRecordDecl *moduleMadeBy(const Expr *E) {
  const auto *Construct = dyn_cast<CXXConstructExpr>(E);
  const QualType T = E->getType();
  if (!Construct)
    return cpp::isStdCall(E, cpp::Std::Make) && torch::isModule(T)
               ? torch::heldClass(T)
               : nullptr;
  const CXXConstructorDecl *By = Construct->getConstructor();
  if (By->isCopyOrMoveConstructor() ||
      !(torch::isModuleHolder(By->getParent()) ||
        torch::isModuleClass(By->getParent())))
    return nullptr;
  // A holder of what is there, or of nothing.
  if (torch::isModuleHolder(By->getParent()) && Construct->getNumArgs() == 1)
    if (const QualType Given = Construct->getArg(0)->getType();
        Given->isNullPtrType() || torch::isModule(Given))
      return nullptr;
  return torch::heldClass(T);
}

/// Does \p E make a tensor or a node whenever it runs?
static bool makes(const Expr *E, unsigned Depth) {
  if (torch::asModuleCall(E))
    return true;
  const torch::OpFacts *Facts = torch::opFacts(dyn_cast<CallExpr>(E));
  if (Facts && torch::isTensor(E->getType()) &&
      Facts->Shares == torch::Sharing::None && !Facts->InPlace)
    return true;
  const CXXRecordDecl *Class = moduleMadeBy(E);
  if (!Class || !Class->hasDefinition())
    return false;
  return torch::isTorchDecl(Class)
             ? torch::parametersOf(E->getType()) == torch::Parameters::Some
             : constructorsMake(Class->getDefinition(), Depth + 1);
}

/// What makes something in \p S each time that \p S runs; null for nothing. The
/// last call of a function may leave no frame of it, so a `return` does
/// not count.
static const Stmt *makerIn(const Stmt *S, unsigned Depth) {
  if (!S ||
      isa<ReturnStmt, LambdaExpr, AbstractConditionalOperator, IfStmt, ForStmt,
          WhileStmt, DoStmt, CXXForRangeStmt, SwitchStmt, SwitchCase,
          CXXTryStmt, CompoundStmt, UnaryExprOrTypeTraitExpr, CXXTypeidExpr>(S))
    return nullptr;
  if (const auto *E = dyn_cast<Expr>(S); E && makes(E, Depth))
    return S;
  if (const auto *Default = dyn_cast<CXXDefaultInitExpr>(S))
    return makerIn(Default->getExpr(), Depth);
  const auto *Either = dyn_cast<BinaryOperator>(S);
  for (const Stmt *Child : S->children())
    if (const Stmt *Found = makerIn(Child, Depth))
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
