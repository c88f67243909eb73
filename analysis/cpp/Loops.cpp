//===- Loops.cpp - What the shape of a loop shows -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Loops.h"
#include "analysis/cpp/Body.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Library.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/Walk.h"
#include "analysis/cpp/Writes.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "llvm/ADT/STLExtras.h"
#include <optional>

using namespace clang;

namespace libtorch_tidy::cpp {

static constexpr int64_t Few = 4;

bool isLoop(const Stmt *S) {
  return isa_and_nonnull<ForStmt, CXXForRangeStmt, WhileStmt, DoStmt>(S);
}

const Stmt *bodyOf(const Stmt *Loop) {
  if (const auto *For = dyn_cast<ForStmt>(Loop))
    return For->getBody();
  if (const auto *While = dyn_cast<WhileStmt>(Loop))
    return While->getBody();
  if (const auto *Do = dyn_cast<DoStmt>(Loop))
    return Do->getBody();
  if (const auto *Range = dyn_cast<CXXForRangeStmt>(Loop))
    return Range->getBody();
  return nullptr;
}

bool runsOnce(const Stmt *Loop, const Stmt *Part) {
  if (const auto *For = dyn_cast<ForStmt>(Loop))
    return Part == For->getInit();
  const auto *Range = dyn_cast<CXXForRangeStmt>(Loop);
  return Range && Part != Range->getBody();
}

bool tellsFirstRound(const Expr *Condition) {
  Condition = stripImplicit(Condition);
  while (const auto *Not = dyn_cast<UnaryOperator>(Condition)) {
    if (Not->getOpcode() != UO_LNot)
      return false;
    Condition = stripImplicit(Not->getSubExpr());
  }
  if (const auto *Call = dyn_cast<CXXMemberCallExpr>(Condition))
    return library::asksIfEmpty(Call);
  if (const auto *Compare = dyn_cast<BinaryOperator>(Condition)) {
    const auto *Zero =
        dyn_cast<IntegerLiteral>(stripImplicit(Compare->getRHS()));
    if (!Compare->isComparisonOp() || !Zero || Zero->getValue() != 0)
      return false;
    Condition = stripImplicit(Compare->getLHS());
  }
  return isa<DeclRefExpr, MemberExpr>(Condition);
}

/// Does every round of \p Loop step \p Counter by one, and nothing else write
/// it?
static bool countsRounds(const VarDecl *Counter, const Stmt *Loop) {
  const auto Writes = writesTo(Counter, Loop);
  const auto *Step =
      Writes.size() == 1 ? dyn_cast<UnaryOperator>(Writes[0].Where) : nullptr;
  if (!Step || !Step->isIncrementDecrementOp())
    return false;
  if (const auto *For = dyn_cast<ForStmt>(Loop); For && For->getInc() == Step)
    return true;
  const auto *Block = dyn_cast_or_null<CompoundStmt>(bodyOf(Loop));
  return Block && llvm::is_contained(Block->body(), Step) &&
         !anyOf<ContinueStmt>(Block, [](const ContinueStmt *) { return true; });
}

bool holdsInOneRound(const Expr *Condition, const Stmt *Loop) {
  const auto *Compare =
      dyn_cast_or_null<BinaryOperator>(stripImplicit(Condition));
  if (!Compare)
    return false;
  if (Compare->getOpcode() == BO_LAnd)
    return holdsInOneRound(Compare->getLHS(), Loop) ||
           holdsInOneRound(Compare->getRHS(), Loop);
  if (Compare->getOpcode() != BO_EQ)
    return false;
  // What the counter is compared with is the same in all rounds.
  auto IsOfCounter = [&](const Expr *Side, const Expr *Other) {
    if (const auto *Sum = dyn_cast_or_null<BinaryOperator>(stripImplicit(Side));
        Sum && Sum->isAdditiveOp() &&
        isa<IntegerLiteral>(stripImplicit(Sum->getRHS())))
      Side = Sum->getLHS();
    const VarDecl *Counter = variableOf(Side);
    return Counter && countsRounds(Counter, Loop) &&
           !anyOf<DeclRefExpr>(Other, [&](const DeclRefExpr *Ref) {
             return isa<VarDecl>(Ref->getDecl()) &&
                    !writesTo(Ref->getDecl(), Loop).empty();
           });
  };
  return IsOfCounter(Compare->getLHS(), Compare->getRHS()) ||
         IsOfCounter(Compare->getRHS(), Compare->getLHS());
}

/// The length of an array, a std::array or a braced list.
static std::optional<int64_t> constantLength(const Expr *Range,
                                             const ASTContext &Context) {
  if (!Range)
    return std::nullopt;
  if (const ConstantArrayType *Array =
          Context.getAsConstantArrayType(Range->getType()))
    return Array->getSize().getLimitedValue();
  const auto *R = dyn_cast_or_null<ClassTemplateSpecializationDecl>(
      recordOf(Range->getType()));
  if (isStdClass(R, {"array"}) && R->getTemplateArgs().size() == 2 &&
      R->getTemplateArgs()[1].getKind() == TemplateArgument::Integral)
    return R->getTemplateArgs()[1].getAsIntegral().getExtValue();
  if (isStdClass(R, {"initializer_list"}) &&
      isa<CXXStdInitializerListExpr, InitListExpr>(peel(Range)))
    return listElements(Range).size();
  return std::nullopt;
}

/// The length of the longest of \p Lists, or with \p OfElements of the lists in
/// them; nullopt where one is no braced list.
static std::optional<size_t> longestOf(llvm::ArrayRef<const Expr *> Lists,
                                       bool OfElements) {
  size_t Longest = 0;
  for (const Expr *List : Lists) {
    const auto Elements = listElements(List);
    if (Elements.empty() || (Elements.size() == 1 && Elements[0] == peel(List)))
      return std::nullopt;
    std::optional<size_t> Length =
        OfElements ? longestOf(Elements, false) : Elements.size();
    if (!Length)
      return std::nullopt;
    Longest = std::max(Longest, *Length);
  }
  return Longest;
}

/// What variable or field \p D is given.
static Values valuesOf(const ValueDecl *D) {
  if (const auto *Field = dyn_cast<FieldDecl>(D))
    return valuesOf(Field);
  Values Found;
  const auto *Var = dyn_cast<VarDecl>(D);
  const auto *F = Var ? dyn_cast<FunctionDecl>(Var->getDeclContext()) : nullptr;
  if (F && F->hasBody())
    return Body::of(F).valuesOf(Var);
  Found.Complete = Var && Var->getInit() && Var->getType().isConstQualified();
  if (Found.Complete)
    Found.Given.push_back(Var->getInit());
  return Found;
}

/// The longest of the braced lists that \p Container is given, where it is
/// given nothing else: a variable or a field of `*this`, or an element of one,
/// as in `ratios_[i]`.
static std::optional<int64_t> longestList(const Expr *Container) {
  Container = stripImplicit(Container);
  const auto *Subscript = dyn_cast_or_null<CXXOperatorCallExpr>(Container);
  const bool IsElement = Subscript && Subscript->getOperator() == OO_Subscript;
  if (IsElement)
    Container = stripImplicit(Subscript->getArg(0));
  const ValueDecl *D = variableOf(Container);
  const auto *Member = dyn_cast_or_null<MemberExpr>(Container);
  if (Member && isa<CXXThisExpr>(stripImplicit(Member->getBase())))
    D = Member->getMemberDecl();
  if (!D || !isStdClass(D->getType(), {"vector", "initializer_list"}))
    return std::nullopt;
  const Values All = valuesOf(D);
  if (!All.Complete || All.Given.empty())
    return std::nullopt;
  return longestOf(All.Given, IsElement);
}

bool runsFewTimes(const Stmt *Loop, const ASTContext &Context) {
  if (const auto *Range = dyn_cast_or_null<CXXForRangeStmt>(Loop)) {
    std::optional<int64_t> Length =
        constantLength(Range->getRangeInit(), Context);
    if (!Length)
      Length = longestList(Range->getRangeInit());
    return Length && *Length <= Few;
  }
  const auto *For = dyn_cast_or_null<ForStmt>(Loop);
  const auto *Condition =
      For ? dyn_cast_or_null<BinaryOperator>(For->getCond()) : nullptr;
  if (!Condition)
    return false;
  // i < 3, or int i = 3; i > 0
  const Expr *Most = nullptr;
  switch (Condition->getOpcode()) {
  case BO_LT:
  case BO_LE:
    Most = Condition->getRHS();
    break;
  case BO_NE:
    if (const auto *Step = dyn_cast_or_null<UnaryOperator>(For->getInc());
        Step && Step->isIncrementOp())
      Most = Condition->getRHS();
    break;
  case BO_GT:
  case BO_GE: {
    const VarDecl *Counter = declaredBy(For->getInit());
    Most = Counter ? Counter->getInit() : nullptr;
    break;
  }
  default:
    break;
  }
  std::optional<int64_t> Bound = constantInt(Most, Context);
  if (const auto *Size = // i < ratios.size()
      dyn_cast_or_null<CXXMemberCallExpr>(stripImplicit(Most));
      !Bound && Size && does(Size, Std::Size))
    Bound = longestList(Size->getImplicitObjectArgument());
  return Bound && *Bound >= 0 && *Bound <= Few;
}

} // namespace libtorch_tidy::cpp
