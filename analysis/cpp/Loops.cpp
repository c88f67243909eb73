//===- Loops.cpp - What the shape of a loop shows -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Loops.h"
#include "analysis/cpp/Body.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Library.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/UnitContext.h"
#include "analysis/cpp/UserCode.h"
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

const Stmt *roundsOf(const Stmt *Loop) {
  return isLoop(Loop) ? bodyOf(Loop) : Loop;
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

/// Is \p E asked for its value in a condition of \p Loop, or given to a
/// variable that may be? An element that it leads to is another value.
static bool mayDecide(const Expr *E, const Stmt *Loop, const Body &In) {
  const Stmt *User = In.userOf(E);
  const auto *Op = dyn_cast_or_null<CXXOperatorCallExpr>(User);
  const bool IsElement =
      Op && (Op->getOperator() == OO_Subscript ||
             Op->getOperator() == OO_Star || Op->getOperator() == OO_Arrow);
  if (IsElement || isa_and_nonnull<ArraySubscriptExpr>(User) ||
      does(dyn_cast_or_null<CXXMemberCallExpr>(User), Std::Element))
    return false;
  for (const Stmt *S = E, *Around = In.parentOf(S); S != Loop && Around;
       S = Around, Around = In.parentOf(S)) {
    const auto *If = dyn_cast<IfStmt>(Around);
    const auto *Choice = dyn_cast<ConditionalOperator>(Around);
    const auto *Logic = dyn_cast<BinaryOperator>(Around);
    if ((If && If->getCond() == S) || (Choice && Choice->getCond() == S) ||
        (Logic && Logic->isLogicalOp()) || isa<DeclStmt>(Around) ||
        (isa<SwitchStmt, WhileStmt, DoStmt, ForStmt>(Around) &&
         Around != Loop && !isa<CompoundStmt>(S)))
      return true;
  }
  return false;
}

static const ForStmt *findLoopCountedBy(const VarDecl *Var) {
  const auto *F = dyn_cast<FunctionDecl>(Var->getDeclContext());
  if (!F || !F->hasBody())
    return nullptr;
  Body &In = Body::of(F);
  const Stmt *Declared = In.declarationOf(Var);
  const auto *For =
      Declared ? dyn_cast_or_null<ForStmt>(In.parentOf(Declared)) : nullptr;
  if (!For || For->getInit() != Declared || !For->getInc())
    return nullptr;
  // ++ of an iterator is a call.
  auto IsStep = [&](const Expr *E) {
    const auto *Unary = dyn_cast<UnaryOperator>(E);
    const auto *Op = dyn_cast<CXXOperatorCallExpr>(E);
    return (Unary && Unary->isIncrementOp() &&
            variableOf(Unary->getSubExpr()) == Var) ||
           (Op && Op->getOperator() == OO_PlusPlus &&
            variableOf(Op->getArg(0)) == Var);
  };
  const Expr *Step = peel(For->getInc());
  const bool Steps =
      IsStep(Step) && llvm::all_of(In.writesTo(Var), [&](const Write &W) {
        return W.Where == Step && !W.InLambda;
      });
  return Steps && !anyOf<Expr>(For->getBody(),
                               [&](const Expr *E) {
                                 const auto *Ref = dyn_cast<DeclRefExpr>(E);
                                 return IsStep(E) ||
                                        (Ref && Ref->getDecl() == Var &&
                                         mayDecide(Ref, For, In));
                               })
             ? For
             : nullptr;
}

namespace {
struct CountedLoops : llvm::DenseMap<const VarDecl *, const ForStmt *> {};
} // namespace

const ForStmt *loopCountedBy(const VarDecl *Var) {
  auto [Known, New] =
      ofUnit<CountedLoops>(Var->getASTContext()).try_emplace(Var, nullptr);
  return New ? Known->second = findLoopCountedBy(Var) : Known->second;
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

std::optional<int64_t> constantLength(const Expr *Range,
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

bool hasFewElements(const Expr *Range, const ASTContext &Context) {
  std::optional<int64_t> Length = constantLength(Range, Context);
  if (!Length)
    Length = longestList(Range);
  return Length && *Length <= Few;
}

bool runsFewTimes(const Stmt *Loop, const ASTContext &Context) {
  if (const auto *Range = dyn_cast_or_null<CXXForRangeStmt>(Loop))
    return hasFewElements(Range->getRangeInit(), Context);
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

/// Is \p T a type of keys, so that a variable of it changes only when it is
/// written?
static bool isKey(QualType T) {
  T = T.getNonReferenceType();
  if (T->isPointerType())
    return T->getPointeeType()->isAnyCharacterType();
  return T->isIntegralOrEnumerationType() ||
         isStdClass(T, {"basic_string", "basic_string_view", "pair", "tuple"});
}

/// Has \p T a few values?
static bool isSmallType(QualType T, const ASTContext &Context) {
  T = T.getNonReferenceType();
  return T->isEnumeralType() || T->isBooleanType() ||
         (T->isIntegerType() && Context.getTypeSize(T) == 8);
}

namespace {

class FewValues {
public:
  FewValues(Body &In, const Stmt *Loop) : In(In), Loop(Loop) {}
  bool has(const Expr *E, unsigned Depth = 0);

private:
  template <typename Range> bool haveAll(const Range &Parts, unsigned Depth) {
    return llvm::all_of(Parts,
                        [&](const Expr *Part) { return has(Part, Depth); });
  }
  bool hasVariable(const VarDecl *Var, unsigned Depth);
  bool hasCounter(const VarDecl *Var, unsigned Depth);
  bool hasCall(const CallExpr *Call, unsigned Depth);
  bool returnsThem(const FunctionDecl *F, unsigned Depth);

  Body &In;
  const Stmt *Loop;
  llvm::DenseMap<const VarDecl *, bool> Known;
};

} // namespace

/// The variable of a loop that takes few rounds, or goes through a list of
/// constants.
bool FewValues::hasCounter(const VarDecl *Var, unsigned Depth) {
  const Stmt *Around = In.declarationOf(Var);
  Around = Around ? In.parentOf(Around) : nullptr;
  if (isa_and_nonnull<ForStmt>(Around))
    return runsFewTimes(Around, In.context());
  const auto *Range = dyn_cast_or_null<CXXForRangeStmt>(Around);
  if (!Range)
    return false;
  const Expr *List = In.originOf(Range->getRangeInit());
  const VarDecl *Table = variableOf(List);
  if (Table && Table->getType().isConstQualified() && Table->getInit())
    List = Table->getInit();
  const auto Elements = listElements(List);
  return !Elements.empty() && Elements.front() != peel(List) &&
         haveAll(Elements, Depth);
}

bool FewValues::hasVariable(const VarDecl *Var, unsigned Depth) {
  if (!Var || !isKey(Var->getType()))
    return false;
  if (Var->hasGlobalStorage())
    return Var->getType().isConstQualified();
  auto [It, New] = Known.try_emplace(Var, false);
  if (!New)
    return It->second;
  const bool IsOwn = In.isOwn(Var) ||
                     (isa<ParmVarDecl>(Var) &&
                      Var->getType().getNonReferenceType().isConstQualified());
  const Stmt *Declared = In.declarationOf(Var);
  bool Few = Loop && IsOwn && !(Declared && In.isWithin(Declared, Loop)) &&
             llvm::none_of(In.writesTo(Var), [&](const Write &W) {
               return W.InLambda || In.isWithin(W.Where, Loop);
             });
  if (!Few && !isa<ParmVarDecl>(Var)) {
    const Values All = In.valuesOf(Var);
    Few = hasCounter(Var, Depth) ||
          (All.Complete && !All.Given.empty() && haveAll(All.Given, Depth));
  }
  return Known[Var] = Few;
}

/// Does \p F return few values, whatever it is given?
bool FewValues::returnsThem(const FunctionDecl *F, unsigned Depth) {
  if (Depth > 3)
    return false;
  Body &There = Body::of(F);
  bool Any = false, All = true;
  FewValues Inner(There, nullptr);
  forEach<ReturnStmt>(
      There.root(),
      [&](const ReturnStmt *Return) {
        Any = true;
        All = All && Return->getRetValue() &&
              Inner.has(Return->getRetValue(), Depth);
      },
      Lambdas::Skipped);
  return Any && All;
}

bool FewValues::hasCall(const CallExpr *Call, unsigned Depth) {
  const cpp::Call C(Call);
  if (const FunctionDecl *F = userDefinition(C.Callee))
    return returnsThem(F, Depth);
  // A function of the library that makes a string or number of others.
  return (C.Of == Whose::Std || isa<CXXOperatorCallExpr>(Call)) &&
         isKey(Call->getType()) && Call->getNumArgs() > 0 &&
         (!C.Object || has(C.Object, Depth)) &&
         haveAll(writtenArguments(Call), Depth);
}

bool FewValues::has(const Expr *E, unsigned Depth) {
  if (!E || ++Depth > MaxChase)
    return false;
  if (isSmallType(E->getType(), In.context()))
    return true;
  E = stripImplicit(E);
  if (isSmallType(E->getType(), In.context()) || isEmptyValue(E) ||
      isa<StringLiteral>(E) || constantInt(E, In.context()))
    return true;
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
    return hasVariable(dyn_cast<VarDecl>(wholeOf(Ref->getDecl())), Depth);
  if (const auto *Member = dyn_cast<MemberExpr>(E))
    return isa<CXXThisExpr>(stripImplicit(Member->getBase())) &&
           isKey(Member->getType()) &&
           Member->getMemberDecl()->getType().isConstQualified();
  if (const auto *Choice = dyn_cast<ConditionalOperator>(E))
    return has(Choice->getTrueExpr(), Depth) &&
           has(Choice->getFalseExpr(), Depth);
  if (const auto *Cast = dyn_cast<CastExpr>(E))
    return has(Cast->getSubExpr(), Depth);
  if (const auto *Unary = dyn_cast<UnaryOperator>(E))
    return Unary->isArithmeticOp() && has(Unary->getSubExpr(), Depth);
  if (const auto *Op = dyn_cast<BinaryOperator>(E)) {
    const bool Left = has(Op->getLHS(), Depth),
               Right = has(Op->getRHS(), Depth);
    // `i % n`, `i % ring.size()`
    return (Left && Right) ||
           (Op->getOpcode() == BO_Rem &&
            (Right || isStdCall(stripImplicit(Op->getRHS()), Std::Size))) ||
           ((Left || Right) && Op->getOpcode() == BO_And);
  }
  if (const auto *Construct = dyn_cast<CXXConstructExpr>(E))
    return isKey(E->getType()) && Construct->getNumArgs() > 0 &&
           llvm::all_of(Construct->arguments(), [&](const Expr *Arg) {
             return isa<CXXDefaultArgExpr>(Arg) || has(Arg, Depth);
           });
  if (const auto *List = dyn_cast<InitListExpr>(E))
    return haveAll(List->inits(), Depth);
  const auto *Call = dyn_cast<CallExpr>(E);
  return Call && hasCall(Call, Depth);
}

bool hasFewValues(const Expr *Key, Body &In, const Stmt *Loop) {
  return FewValues(In, Loop).has(Key);
}

} // namespace libtorch_tidy::cpp
