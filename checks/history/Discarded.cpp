//===- Discarded.cpp - Statements whose value nobody uses -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "checks/history/Discarded.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Text.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/UnitContext.h"
#include "analysis/torch/api/Effects.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/storage/Sharing.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/ASTLambda.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSwitch.h"
#include <map>

using namespace clang;

namespace libtorch_tidy::discarded {

bool isStdAccess(const CallExpr *Call) {
  const FunctionDecl *Callee = Call->getDirectCallee();
  const StringRef Name = cpp::nameOf(Callee);
  if (torch::isTorchDecl(Callee))
    return isa<CXXMethodDecl>(Callee) && Name == "value";
  return cpp::isStdDecl(Callee) &&
         llvm::StringSwitch<bool>(Name)
             .Cases("", "get", "at", "front", "back", "value", "size", true)
             .Default(false);
}

namespace {

/// The same, and other operators that lead to a part of their object.
bool leadsToPart(const CallExpr *Call) {
  const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Call);
  return Operator ? llvm::is_contained({OO_Subscript, OO_Star, OO_Arrow},
                                       Operator->getOperator())
                  : isStdAccess(Call);
}

/// What a body holds, read once for all calls in it.
struct BodyText {
  explicit BodyText(const Stmt *Body) : ReadsClock(cpp::readsClock(Body)) {
    cpp::forEach<Expr>(Body, [&](const Expr *E) {
      if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
        Uses[Ref->getDecl()].push_back(Ref);
      if (const auto *Lambda = dyn_cast<LambdaExpr>(E))
        for (const LambdaCapture &C : Lambda->captures())
          if (C.capturesVariable())
            Captured.insert(C.getCapturedVar());
    });
  }

  bool ReadsClock;
  llvm::DenseMap<const ValueDecl *, llvm::SmallVector<const DeclRefExpr *, 4>>
      Uses;
  llvm::SmallPtrSet<const ValueDecl *, 4> Captured;
};

const BodyText &textOf(const Stmt *Body, ASTContext &Context) {
  return cpp::ofUnit<std::map<const Stmt *, BodyText>>(Context)
      .try_emplace(Body, Body)
      .first->second;
}

/// An expression with the value of the one in it.
bool isWrapper(const Stmt *S) {
  return isa<ParenExpr, ExprWithCleanups, CXXBindTemporaryExpr,
             MaterializeTemporaryExpr>(S);
}

/// The whole expression that drops the value of \p E; null when it is used.
const Expr *wholeOf(const Expr *E, const cpp::Body &In) {
  while (const Stmt *Up = In.parentOf(E)) {
    const auto *Comma = dyn_cast<BinaryOperator>(Up);
    const bool IsComma = Comma && Comma->getOpcode() == BO_Comma;
    if (isWrapper(Up) || (IsComma && Comma->getRHS() == E)) {
      E = cast<Expr>(Up);
      continue;
    }
    if (const auto *Block = dyn_cast<CompoundStmt>(Up))
      // The last expression of a GNU statement expression is its value.
      return Block->body_back() == E &&
                     isa_and_nonnull<StmtExpr>(In.parentOf(Block))
                 ? nullptr
                 : E;
    const auto *If = dyn_cast<IfStmt>(Up);
    const auto *For = dyn_cast<ForStmt>(Up);
    const auto *Case = dyn_cast<SwitchCase>(Up);
    const bool IsStatement =
        IsComma || isa<LabelStmt>(Up) || cpp::bodyOf(Up) == E ||
        (If && (If->getThen() == E || If->getElse() == E)) ||
        (For && For->getCond() != E) || (Case && Case->getSubStmt() == E);
    return IsStatement ? E : nullptr;
  }
  return nullptr;
}

bool isLoopVariable(const ValueDecl *D, const CXXForRangeStmt *Range) {
  return cpp::wholeOf(D) == Range->getLoopVariable();
}

/// What \p Call, of a method or of what leads to a part, is a part or a view
/// of: net for net->parameters(), x for x.grad() and x[0]. Null where it may
/// compute something.
const Expr *wholeOf(const CallExpr *Call, flow::TensorWork &Amounts) {
  if (const Expr *Viewed = torch::viewedBy(Call))
    return Viewed;
  if (const Expr *Container = torch::containerOf(Call))
    return Container;
  const auto *Method = dyn_cast<CXXMemberCallExpr>(Call);
  const bool IsAccessor =
      Method &&
      (torch::isTorchDecl(Call->getDirectCallee()) || Call->isLValue()) &&
      Amounts.of(Call) == torch::Work::None;
  if (!IsAccessor && !leadsToPart(Call))
    return nullptr;
  return Method                   ? Method->getImplicitObjectArgument()
         : Call->getNumArgs() > 0 ? Call->getArg(0)
                                  : nullptr;
}

} // namespace

bool isOperand(const Expr *Call, ASTContext &Context) {
  const Stmt *S = Call;
  do {
    const DynTypedNodeList Parents = Context.getParents(*S);
    S = Parents.size() == 1 ? Parents[0].get<Stmt>() : nullptr;
  } while (S && isWrapper(S));
  const auto *Comma = dyn_cast_or_null<BinaryOperator>(S);
  return isa_and_nonnull<Expr>(S) && !(Comma && Comma->getOpcode() == BO_Comma);
}

Place::Place(const CallExpr *Call, const cpp::Body &In)
    : Discarded(wholeOf(Call, In)), In(In) {
  for (const Stmt *S = Discarded; S; S = In.parentOf(S))
    if (cpp::isLoop(S))
      Loops.push_back(S);
}

bool Place::runsForItsOwnSake(const ValueDecl *Of, const Expr *Tensor) const {
  const auto *Block = dyn_cast_or_null<CompoundStmt>(In.parentOf(Discarded));
  if (Block && isa_and_nonnull<CXXTryStmt>(In.parentOf(Block)))
    return true;
  if (Block && Block->size() != 1)
    return false;
  if (Block && Block == In.root())
    return isLambdaCallOperator(In.function());
  const Stmt *Around = Block ? static_cast<const Stmt *>(Block) : Discarded;
  if (Loops.empty() || In.parentOf(Around) != Loops.front() ||
      cpp::bodyOf(Loops.front()) != Around)
    return false;
  const auto *Range = dyn_cast<CXXForRangeStmt>(Loops.front());
  if (Range)
    return !Of || !isLoopVariable(Of, Range);
  const auto *Counted = dyn_cast<ForStmt>(Loops.front());
  return !Counted || !cpp::anyOf<DeclRefExpr>(
                         Counted->getInc(), [&](const DeclRefExpr *Counter) {
                           return cpp::mentions(Tensor, Counter->getDecl());
                         });
}

const CXXForRangeStmt *Place::loopOf(const ValueDecl *D) const {
  for (const Stmt *Loop : Loops)
    if (const auto *Range = dyn_cast<CXXForRangeStmt>(Loop);
        Range && isLoopVariable(D, Range))
      return Range;
  return nullptr;
}

bool Place::namesElements(const ValueDecl *D) const {
  const CXXForRangeStmt *Range = loopOf(D);
  return !Range || (Range->getLoopVariable()->getType()->isReferenceType() &&
                    isa<DeclRefExpr, MemberExpr>(
                        Range->getRangeInit()->IgnoreParenImpCasts()));
}

bool Place::isReadLater(const VarDecl *Var) const {
  const SourceManager &SM = In.context().getSourceManager();
  const Stmt *Loop = nullptr;
  for (const Stmt *Around : Loops)
    if (!cpp::isWithin(Var->getLocation(), Around, SM))
      Loop = Around;
  const BodyText &All = textOf(In.root(), In.context());
  auto Uses = All.Uses.find(Var);
  // The last one is the most likely to come later.
  return All.Captured.contains(Var) ||
         (Uses != All.Uses.end() &&
          llvm::any_of(llvm::reverse(Uses->second), [&](const Expr *Ref) {
            return !In.isWithin(Ref, Discarded) &&
                   (cpp::comesBefore(Discarded, Ref, SM) ||
                    (Loop && In.isWithin(Ref, Loop)));
          }));
}

bool isTimed(const CallExpr *Call, const cpp::Body &In) {
  for (const FunctionDecl *F = In.function(); F;
       F = dyn_cast_or_null<FunctionDecl>(F->getParentFunctionOrMethod()))
    if (F->hasBody() && textOf(F->getBody(), In.context()).ReadsClock &&
        (F != In.function() ||
         cpp::isTimed(Call, F->getBody(), In.context().getSourceManager())))
      return true;
  return false;
}

const ValueDecl *rootOf(const Expr *E, bool &IsMember,
                        flow::TensorWork &Amounts) {
  while ((E = cpp::stripImplicit(E))) {
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
      return Ref->getDecl();
    const auto *Call = dyn_cast<CallExpr>(E);
    if (auto Op = torch::asPureOp(Call)) {
      E = Op->Tensor;
      continue;
    }
    IsMember = true;
    const Expr *Whole = nullptr;
    if (const auto *Member = dyn_cast<MemberExpr>(E)) {
      if (isa<CXXThisExpr>(Member->getBase()->IgnoreParenImpCasts()))
        return Member->getMemberDecl();
      Whole = Member->getBase();
    } else if (const auto *Subscript = dyn_cast<ArraySubscriptExpr>(E)) {
      Whole = Subscript->getBase();
    } else if (const auto *Unary = dyn_cast<UnaryOperator>(E)) {
      Whole = Unary->getOpcode() == UO_Deref ? Unary->getSubExpr() : nullptr;
    } else if (Call) {
      Whole = wholeOf(Call, Amounts);
    }
    E = Whole;
  }
  return nullptr;
}

bool isRepeatable(const Expr *E) {
  E = E->IgnoreParenImpCasts();
  if (isa<DeclRefExpr, CXXThisExpr, IntegerLiteral>(E))
    return true;
  if (const auto *Member = dyn_cast<MemberExpr>(E))
    return isRepeatable(Member->getBase());
  if (const auto *Call = dyn_cast<CallExpr>(E))
    return isStdAccess(Call) && E->isLValue() && !isa<CXXMemberCallExpr>(E) &&
           llvm::all_of(Call->arguments(), isRepeatable);
  return false;
}

} // namespace libtorch_tidy::discarded
