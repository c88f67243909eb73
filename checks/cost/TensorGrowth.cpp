//===- TensorGrowth.cpp - Tensors that a loop regrows ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "checks/cost/TensorGrowth.h"
#include "analysis/cpp/Body.h"
#include "analysis/cpp/Callables.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Compat.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/UnitContext.h"
#include "analysis/flow/memory/Places.h"
#include "analysis/torch/api/Conventions.h"
#include "analysis/torch/api/Effects.h"
#include "analysis/torch/api/OpFacts.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/modules/Modules.h"
#include "analysis/torch/storage/Sharing.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/StmtCXX.h"
#include <map>

using namespace clang;

namespace libtorch_tidy {

namespace {

/// The variable or field at the bottom of \p E, the name of an object; null for
/// what is computed. Adds the variables that choose an element on the way.
const ValueDecl *bottomOf(const Expr *E,
                          llvm::SmallVectorImpl<const VarDecl *> &Indices) {
  while ((E = cpp::stripImplicit(E))) {
    const Expr *Index = nullptr;
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
      return dyn_cast<VarDecl>(Ref->getDecl());
    if (const auto *Member = dyn_cast<MemberExpr>(E)) {
      const auto *Field = dyn_cast<FieldDecl>(Member->getMemberDecl());
      E = cpp::stripImplicit(Member->getBase());
      if (!Field || isa<CXXThisExpr>(E))
        return Field;
    } else if (const auto *Array = dyn_cast<ArraySubscriptExpr>(E)) {
      E = Array->getBase();
      Index = Array->getIdx();
    } else {
      const auto *Op = dyn_cast<CXXOperatorCallExpr>(E);
      if (!Op ||
          (Op->getOperator() != OO_Arrow && Op->getOperator() != OO_Subscript))
        return nullptr;
      E = Op->getArg(0);
      Index = Op->getNumArgs() == 2 ? Op->getArg(1) : nullptr;
    }
    if (!Index || isa<IntegerLiteral, StringLiteral>(cpp::stripImplicit(Index)))
      continue;
    const VarDecl *Var = cpp::variableOf(Index);
    if (!Var)
      return nullptr;
    Indices.push_back(Var);
  }
  return nullptr;
}

bool isSameNode(const Expr *A, const Expr *B) {
  return cpp::stripImplicit(A) == cpp::stripImplicit(B);
}

/// `t = value` for a tensor variable; not the write into a slot, t[i] = x.
const CXXOperatorCallExpr *asAssignment(const Stmt *S) {
  const auto *E = dyn_cast_or_null<Expr>(S);
  const auto *Op = dyn_cast_or_null<CXXOperatorCallExpr>(cpp::peel(E));
  const auto *Method =
      cpp::isAssignment(Op)
          ? dyn_cast_or_null<CXXMethodDecl>(Op->getDirectCallee())
          : nullptr;
  return Method && Method->getRefQualifier() != RQ_RValue &&
                 torch::isTensor(Op->getArg(0)->getType())
             ? Op
             : nullptr;
}

const CallExpr *concatenationUnder(const Expr *E) {
  while (const auto *Call = dyn_cast_or_null<CallExpr>(cpp::stripImplicit(E))) {
    if (torch::asConcatenation(Call))
      return Call;
    E = torch::sameShapeObject(Call);
  }
  return nullptr;
}

/// What \p Assign assigns, also over the initial value of a variable.
const Expr *assignedBy(const CXXOperatorCallExpr *Assign) {
  const VarDecl *Var = cpp::variableOf(Assign->getArg(1));
  return cpp::stripImplicit(Var ? Var->getInit() : Assign->getArg(1));
}

/// The concatenation whose elements \p Assign assigns, also in one arm of
/// `all = i == 0 ? x : torch::cat({all, x})`; null when it assigns something
/// else.
const CallExpr *concatenationIn(const CXXOperatorCallExpr *Assign) {
  const Expr *E = assignedBy(Assign);
  const auto *Choice = dyn_cast_or_null<ConditionalOperator>(E);
  const CallExpr *Cat =
      Choice ? concatenationUnder(Choice->getTrueExpr()) : nullptr;
  return Cat ? Cat : concatenationUnder(Choice ? Choice->getFalseExpr() : E);
}

bool isPushOnto(const CallExpr *Call, const ValueDecl *List) {
  auto Added = cpp::asInsertion(Call);
  return Added && Added->AtEnd && Added->Given.size() == 1 &&
         cpp::rootOf(Added->Into) == List;
}

/// The growth of variables, and of other names, over loops of the unit: many
/// calls can grow the same tensor in the same loop.
using KnownGrowths = std::map<std::pair<const Stmt *, const void *>,
                              std::optional<TensorGrowth>>;

class GrowthFinder {
public:
  GrowthFinder(const CallExpr *Cat, ASTContext &Context)
      : Cat(Cat), Context(Context), In(cpp::Body::around(Cat, Context)) {}

  std::optional<TensorGrowth> run() {
    if (std::optional<TensorGrowth> Folded = folded())
      return Folded;
    const Stmt *Loop = In ? In->loopAround(Cat) : nullptr;
    const CXXOperatorCallExpr *Assign = Loop ? assignment() : nullptr;
    if (!Assign)
      return std::nullopt;
    Target = cpp::stripImplicit(Assign->getArg(0));
    Bottom = bottomOf(Target, Indices);
    if (!Bottom)
      return std::nullopt;
    // From the innermost loop outwards, as far as it only collects.
    const TensorGrowth *Best = nullptr;
    std::optional<Because> WhyNot;
    for (; Loop; Loop = In->loopAround(Loop)) {
      if (!outlives(Loop))
        continue;
      const std::optional<TensorGrowth> &Found = knownOver(Loop);
      if (Found && Found->WhyNot)
        WhyNot = Found->WhyNot;
      if (!Found || Found->WhyNot)
        break;
      if (cpp::runsFewTimes(Loop, Context))
        WhyNot = Because{&CatInLoop.FewRounds, "loop", Loop->getBeginLoc()};
      else if (!Best || !Found->read())
        Best = &*Found;
      if (Found->read())
        break;
    }
    if (!Best && WhyNot)
      silent(Cat, *WhyNot);
    if (!Best || Best->Steps.front().Cat != Cat)
      return std::nullopt;
    if (const Reason *Whole = Best->read() ? whyWhole(*Best) : nullptr) {
      silent(Cat, *Whole, "read", Best->read()->getExprLoc());
      return std::nullopt;
    }
    TensorGrowth Growth = *Best;
    Growth.Target = Target;
    return Growth;
  }

private:
  /// std::accumulate(parts.begin(), parts.end(), all,
  ///                 [](Tensor a, Tensor x) { return torch::cat({a, x}); })
  std::optional<TensorGrowth> folded() {
    Bottom = In ? In->foldedInto() : nullptr;
    const auto Joined = torch::asConcatenation(Cat);
    if (!Bottom || !Joined->Associative)
      return std::nullopt;
    GrowthStep Step = {nullptr, Cat};
    for (const Expr *Element : cpp::listElements(Joined->List))
      if (cpp::variableOf(Element) == Bottom)
        Step.Old = Target = cpp::stripImplicit(Element);
      else
        Step.Part = Element;
    if (!Step.Old || !Step.Part || !isHandedOn())
      return std::nullopt;
    const CallExpr *Algorithm = In->repeatedBy();
    const Expr *Range = flow::iteratedBy(cpp::givenByAlgorithm(Algorithm)[1]);
    if (Range && cpp::hasFewElements(Range, Context)) {
      silent(Cat,
             Because{&CatInLoop.FewRounds, "loop", Algorithm->getBeginLoc()});
      return std::nullopt;
    }
    TensorGrowth Growth;
    Growth.Loop = In->root();
    Growth.Target = Target;
    Growth.Steps.push_back(Step);
    return Growth;
  }

  /// Does the lambda return Cat in all rounds but the first, or else what it
  /// was given? Otherwise it asks at most for the size of that.
  bool isHandedOn() const {
    bool Returns = false, IsElse = false;
    cpp::forEach<ReturnStmt>(
        In->root(),
        [&](const ReturnStmt *Return) {
          const Expr *Value = In->originOf(Return->getRetValue());
          const auto *Choice = dyn_cast_or_null<ConditionalOperator>(Value);
          const auto *If = In->around<IfStmt>(Return);
          auto Joins = [&](const Expr *E) {
            return E && concatenationUnder(E) == Cat;
          };
          if (Choice ? Joins(Choice->getTrueExpr()) ||
                           Joins(Choice->getFalseExpr())
                     : Joins(Value))
            Returns = true;
          else
            IsElse |= cpp::variableOf(Value) != Bottom &&
                      !(If && isFirstTest(If->getCond(), If, In->root()));
          IsElse |=
              Choice && !isFirstTest(Choice->getCond(), Choice, In->root());
        },
        cpp::Lambdas::Skipped);
    return Returns && !IsElse &&
           !cpp::anyOf<DeclRefExpr>(In->root(), [&](const DeclRefExpr *Ref) {
             return Ref->getDecl() == Bottom && Ref != Target &&
                    !isa_and_nonnull<ReturnStmt>(In->userOf(Ref)) &&
                    !torch::isMetadataAccess(In->callOn(Ref));
           });
  }

  using Mentions = llvm::SmallVector<const Expr *, 8>;

  bool isDeclaredIn(const ValueDecl *D, const Stmt *S) const {
    return cpp::isWithin(D->getLocation(), S, Context.getSourceManager());
  }
  /// Is \p V declared in the first part of the for statement \p Loop?
  bool isCounterOf(const VarDecl *V, const Stmt *Loop) const {
    const auto *For = dyn_cast<ForStmt>(Loop);
    return For && For->getInit() && isDeclaredIn(V, For->getInit());
  }

  /// Does the target stay the same object over the iterations of \p Loop?
  bool outlives(const Stmt *Loop) const {
    // Of a lambda that is repeated, each round has other arguments.
    if (isa<VarDecl>(Bottom) &&
        (isDeclaredIn(Bottom, Loop) ||
         (isa<ParmVarDecl>(Bottom) && Loop == In->root())))
      return false;
    return llvm::all_of(Indices, [&](const VarDecl *Index) {
      // The counter of a loop within this one runs over the same elements.
      return !isCounterOf(Index, Loop) &&
             (isDeclaredIn(Index, Loop) || cpp::writesTo(Index, Loop).empty());
    });
  }

  /// The assignment whose value is Cat, perhaps over a variable of the same
  /// block: auto next = torch::cat({all, x}); ... all = next;
  const CXXOperatorCallExpr *assignment() const {
    const Stmt *S = In->parentOf(Cat);
    for (; S && !isa<CompoundStmt>(S); S = In->parentOf(S))
      if (const auto *Op = asAssignment(S); Op && concatenationIn(Op) == Cat)
        return Op;
    if (S)
      for (const Stmt *Child : S->children())
        if (const auto *Op = asAssignment(Child);
            Op && concatenationIn(Op) == Cat)
          return Op;
    return nullptr;
  }

  /// The tensors that \p List holds, also when it is a vector that \p Loop
  /// makes and fills.
  llvm::SmallVector<const Expr *, 4> elementsOf(const Expr *List,
                                                const Stmt *Loop) const {
    llvm::SmallVector<const Expr *, 4> Elements = cpp::listElements(List);
    const VarDecl *Var =
        Elements.size() == 1 ? cpp::variableOf(Elements.front()) : nullptr;
    if (!Var || torch::isTensor(Var->getType()) || !isDeclaredIn(Var, Loop))
      return Elements;
    Elements = cpp::listElements(Var->getInit());
    cpp::forEachCall(Loop, [&](const CallExpr *Call) {
      if (isPushOnto(Call, Var))
        Elements.push_back(Call->getArg(0));
    });
    return Elements;
  }

  /// The step that \p Assign is, as one of \p Loop's.
  std::optional<GrowthStep> stepOf(const CXXOperatorCallExpr *Assign,
                                   const Stmt *Loop) const {
    GrowthStep Step = {Assign, concatenationIn(Assign)};
    const auto Joined =
        Step.Cat ? torch::asConcatenation(Step.Cat) : std::nullopt;
    const VarDecl *Over = cpp::variableOf(Assign->getArg(1));
    if (!Joined || !Joined->Associative ||
        (Over &&
         (!isDeclaredIn(Over, Loop) || !cpp::writesTo(Over, Loop).empty())))
      return std::nullopt;
    const auto *Choice =
        dyn_cast_or_null<ConditionalOperator>(assignedBy(Assign));
    if (Choice && !isFirstTest(Choice->getCond(), Choice, Loop))
      return std::nullopt;
    const auto Elements = elementsOf(Joined->List, Loop);
    for (const Expr *Element : Elements) {
      if (!cpp::isSameName(Element, Target))
        continue;
      if (Step.Old)
        return std::nullopt;
      Step.Old = cpp::stripImplicit(Element);
    }
    if (!Step.Old)
      return std::nullopt;
    Step.Plain =
        isSameNode(Assign->getArg(1), Step.Cat) && isa<DeclRefExpr>(Target);
    if (Elements.size() == 2 && isSameNode(Elements[0], Step.Old) &&
        cpp::listElements(Joined->List).size() == 2)
      Step.Part = Elements[1];
    return Step;
  }

  /// Adds the mentions of the target in \p Loop to \p Found, in source order.
  /// False when it is used in ways one cannot follow.
  bool follow(const Stmt *Loop, Mentions &Found) const {
    bool IsFollowed = true;
    auto IsOpaque = [&](const Expr *E) {
      if (cpp::stripImplicit(E) == E && cpp::isSameName(E, Target)) {
        Found.push_back(E);
        return In->around<LambdaExpr>(E) != nullptr;
      }
      // The whole of what the target is a part of.
      if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
        return Ref->getDecl() == Bottom &&
               !isa_and_nonnull<MemberExpr>(In->userOf(E)) &&
               (Found.empty() || !In->isWithin(E, Found.back()));
      // A method of the object whose member it is.
      const auto *Call = dyn_cast<CXXMemberCallExpr>(E);
      return Call && isa<FieldDecl>(Bottom) && mayWriteMember(Call);
    };
    cpp::forEach<Expr>(Loop,
                       [&](const Expr *E) { IsFollowed &= !IsOpaque(E); });
    return IsFollowed;
  }
  bool mayWriteMember(const CXXMemberCallExpr *Call) const {
    const CXXMethodDecl *Method = Call->getMethodDecl();
    const Stmt *Body = Method ? Method->getBody() : nullptr;
    return Method && !Method->isConst() && cpp::Call(Call).OnThis &&
           (!Body || !cpp::writesTo(Bottom, Body).empty());
  }

  /// Is \p Test true (or false) in the first iteration of \p Loop only? What
  /// it depends on changes in \p Branch alone, or counts.
  bool isFirstTest(const Expr *Test, const Stmt *Branch,
                   const Stmt *Loop) const {
    Test = cpp::stripImplicit(Test);
    while (const auto *Not = dyn_cast<UnaryOperator>(Test)) {
      if (Not->getOpcode() != UO_LNot)
        return false;
      Test = cpp::stripImplicit(Not->getSubExpr());
    }
    std::optional<int64_t> With;
    if (const auto *Compare = dyn_cast<BinaryOperator>(Test);
        Compare && Compare->isComparisonOp() &&
        (With = cpp::constantInt(Compare->getRHS(), Context)))
      Test = cpp::stripImplicit(Compare->getLHS());
    // all.numel() == 0; all.size(0) > 8 is true again and again.
    if (const auto *Query = dyn_cast<CXXMemberCallExpr>(Test))
      return torch::isMetadataAccess(Query) && With.value_or(0) <= 1 &&
             cpp::isSameName(Query->getImplicitObjectArgument(), Target);
    const ValueDecl *Counter = cpp::rootOf(Test);
    if (!Counter || !Counter->getType()->isIntegerType())
      return false;
    if (const auto *Var = dyn_cast<VarDecl>(Counter);
        Var && isDeclaredIn(Var, Loop) && !isCounterOf(Var, Loop))
      return false; // Each iteration makes another one.
    return llvm::all_of(cpp::writesTo(Counter, Loop), [&](const cpp::Write &W) {
      if (const auto *Step = dyn_cast<UnaryOperator>(W.Where))
        return Step->isIncrementDecrementOp();
      const auto *Op = dyn_cast<BinaryOperator>(W.Where);
      return Op &&
             (Op->isCompoundAssignmentOp() || In->isWithin(W.Where, Branch));
    });
  }

  /// The condition because of which the first iteration of \p Loop runs \p Set
  /// in place of \p Step; null when there is none.
  const Expr *firstTest(const Stmt *Set, const Stmt *Step,
                        const Stmt *Loop) const {
    const Stmt *Child = Set;
    for (const Stmt *S = In->parentOf(Set); S && S != Loop;
         Child = S, S = In->parentOf(S)) {
      const Expr *Test = nullptr;
      if (const auto *Switch = dyn_cast<SwitchStmt>(S)) {
        Test = Switch->getCond();
        Child = Switch;
      } else if (const auto *If = dyn_cast<IfStmt>(S);
                 If && !In->isWithin(Step, Child)) {
        Test = If->getCond();
      }
      if (Test && In->isWithin(Step, S))
        return isFirstTest(Test, Child, Loop) ? Test : nullptr;
    }
    return nullptr;
  }

  /// As over(). What the name of a variable alone stands for is the same object
  /// in all of the loop.
  const std::optional<TensorGrowth> &knownOver(const Stmt *Loop) {
    const void *Object = Target;
    if (isa<DeclRefExpr>(Target))
      Object = Bottom;
    auto [At, New] =
        cpp::ofUnit<KnownGrowths>(Context).try_emplace({Loop, Object});
    if (New)
      At->second = over(Loop);
    return At->second;
  }

  std::optional<TensorGrowth> over(const Stmt *Loop) const {
    Mentions All;
    const bool IsFollowed = follow(Loop, All);
    TensorGrowth Growth;
    Growth.Loop = Loop;
    auto Silenced = [&](const Reason &Row, const Stmt *By) {
      Growth.WhyNot = Because{&Row, "", By->getBeginLoc()};
      return Growth;
    };
    const Expr *Leaves = nullptr;
    llvm::SmallVector<const CXXOperatorCallExpr *, 2> Sets;
    Mentions Others;
    for (const Expr *Mention : All) {
      const CXXOperatorCallExpr *Assign = asAssignment(In->userOf(Mention));
      if (!Assign || !isSameNode(Assign->getArg(0), Mention))
        Others.push_back(Mention);
      else if (std::optional<GrowthStep> Step = stepOf(Assign, Loop);
               !Step && !(All.size() == 1 && rejoins(Assign, Growth)))
        Sets.push_back(Assign);
      else if (Step && In->leavesAfter(Assign, Loop))
        Leaves = Assign;
      else if (Step)
        Growth.Steps.push_back(*Step);
    }
    if (Growth.Steps.empty() && !Leaves)
      return std::nullopt;
    if (Growth.Steps.empty())
      return Silenced(CatInLoop.LeavesLoop, Leaves);
    if (!IsFollowed)
      return Silenced(CatInLoop.NotFollowed, Loop);
    llvm::SmallVector<const Expr *, 2> Tests;
    for (const CXXOperatorCallExpr *Set : Sets) {
      Tests.push_back(firstTest(Set, Growth.Steps.front().Assign, Loop));
      if (!Tests.back())
        return Silenced(CatInLoop.SetInLoop, Set);
      Growth.FirstSet = Set;
    }
    for (const Expr *Mention : Others) {
      const CallExpr *Call = In->callOn(Mention);
      if (llvm::any_of(Growth.Steps, [&](const GrowthStep &Step) {
            return Step.Old == Mention;
          }))
        continue;
      // It may make another tensor of the one that it is given.
      if (Call && (torch::resizesInPlace(Call) ||
                   llvm::any_of(In->writesTo(Bottom), [&](const auto &W) {
                     return W.Kind == cpp::WriteKind::Escaped &&
                            W.Where == Call;
                   })))
        return Silenced(CatInLoop.SetInLoop, Call);
      if (Call && torch::isMetadataAccess(Call))
        Growth.Queried |= llvm::none_of(Tests, [&](const Expr *Test) {
          return In->isWithin(Mention, Test);
        });
      else
        Growth.Reads.push_back(Mention);
    }
    return Growth;
  }

  /// `rows.push_back(x); all = torch::stack(rows);`: joins again what it joined
  /// before, where once after the loop is enough. Makes it a step of \p Growth.
  bool rejoins(const CXXOperatorCallExpr *Assign, TensorGrowth &Growth) const {
    const Stmt *Loop = Growth.Loop;
    const auto *Call =
        dyn_cast<CallExpr>(cpp::stripImplicit(Assign->getArg(1)));
    const auto Joined = Call ? torch::asConcatenation(Call) : std::nullopt;
    const VarDecl *List = Joined ? cpp::variableOf(Joined->List) : nullptr;
    if (!List || isDeclaredIn(List, Loop) ||
        List->getType()->isReferenceType() || In->leavesAfter(Assign, Loop))
      return false;
    // In every iteration, not now and then.
    for (const Stmt *S = In->parentOf(Assign); S != Loop; S = In->parentOf(S))
      if (!isa_and_nonnull<CompoundStmt, ExprWithCleanups>(S))
        return false;
    const auto Writes = cpp::writesTo(List, Loop);
    if (Writes.empty() || llvm::any_of(Writes, [&](const cpp::Write &W) {
          return W.InLambda || !isPushOnto(dyn_cast<CallExpr>(W.Where), List);
        }))
      return false;
    Growth.Parts = List;
    Growth.Steps.push_back({Assign, Call, nullptr, nullptr, /*Plain=*/true});
    return true;
  }

  /// Why the loop, which reads it, needs the whole of what has grown; null when
  /// it does not by design.
  const Reason *whyWhole(const TensorGrowth &Growth) const {
    const GrowthStep &Step = Growth.Steps.front();
    if (torch::namesCache(cpp::nameOf(Bottom)))
      return &CatInLoop.NamedCache;
    if (llvm::any_of(Growth.Reads, [&](const Expr *Read) {
          return isModelsInput(Read, Growth.Loop);
        }))
      return &CatInLoop.ReadByModule;
    if (In->isWithin(Growth.read(), Step.Assign)) {
      if (!runsModel(Step, Growth.read()))
        return &CatInLoop.Doubled;
    } else if (cpp::comesBefore(Step.Assign, Growth.read(),
                                Context.getSourceManager())) {
      return &CatInLoop.ReadAfter;
    }
    if (const auto *Method = dyn_cast<CXXMethodDecl>(In->function());
        Method && cpp::nameOf(Method) == "forward" &&
        torch::isModule(compat::recordType(Method->getParent())))
      return &CatInLoop.Dense;
    const auto *Range = dyn_cast<CXXForRangeStmt>(Growth.Loop);
    bool OverModules =
        Range && torch::isModule(Range->getLoopVariable()->getType());
    cpp::forEachCall(Growth.Loop, [&](const CallExpr *Call) {
      std::optional<torch::ModuleCall> M = torch::asModuleCall(Call);
      const auto *Op =
          dyn_cast_or_null<CXXOperatorCallExpr>(M ? M->Module : nullptr);
      OverModules |= Op && Op->getOperator() == OO_Subscript;
    });
    return OverModules ? &CatInLoop.Dense : nullptr;
  }
  /// Does a module in \p Loop read all of \p Read, a window of it that may be
  /// as long, or what is computed of these, as a model that continues a
  /// sequence does? Its computation costs more than the copy. Variables and
  /// lists on the way are followed.
  bool isModelsInput(const Expr *Read, const Stmt *Loop,
                     unsigned Depth = 0) const {
    constexpr unsigned Enough = 4; // Each may be mentioned often.
    for (const Stmt *S = In->parentOf(Read); S && S != Loop && Depth < Enough;
         S = In->parentOf(S)) {
      const auto *Call = dyn_cast<CallExpr>(S);
      if (const auto M = torch::asModuleCall(Call))
        return !M->Module || !In->isWithin(Read, M->Module);
      const VarDecl *Over = cpp::declaredBy(S);
      if (Call && (cpp::isAssignment(Call) || cpp::asInsertion(Call)))
        Over = cpp::variableOf(cpp::isAssignment(Call) ? Call->getArg(0)
                                                       : cpp::calledOn(Call));
      if (Over)
        return Over != Bottom && isDeclaredIn(Over, Loop) &&
               cpp::anyOf<DeclRefExpr>(Loop, [&](const DeclRefExpr *Ref) {
                 return Ref->getDecl() == Over && !In->isWithin(Ref, S) &&
                        isModelsInput(Ref, Loop, Depth + 1);
               });
      if (isa<CompoundStmt, CXXForRangeStmt>(S) || showsPart(Call))
        return false;
    }
    return false;
  }
  /// Is \p Call, which may be null, a view of a part, or a question?
  bool showsPart(const CallExpr *Call) const {
    if (!Call)
      return false;
    const torch::OpFacts *Facts = torch::opFacts(Call->getDirectCallee());
    const auto *Op = dyn_cast<CXXOperatorCallExpr>(Call);
    return torch::isMetadataAccess(Call) ||
           (Op && Op->getOperator() == OO_Subscript) ||
           (Facts && Facts->mayShare() && !torch::showsWhole(Call) &&
            !torch::sameShapeObject(Call) &&
            !torch::takesOpenLength(Call, Context));
  }
  /// torch::cat({all, net(all)}): the part comes from a model or a function,
  /// not from copying `all` itself, which doubles it.
  bool runsModel(const GrowthStep &Step, const Expr *Read) const {
    for (const Stmt *S = In->parentOf(Read); S && S != Step.Cat;
         S = In->parentOf(S))
      if (const auto *Call = dyn_cast<CallExpr>(S);
          Call &&
          (torch::asModuleCall(Call) || cpp::Call(Call).Of == cpp::Whose::User))
        return true;
    return false;
  }

  const CallExpr *Cat;
  ASTContext &Context;
  cpp::Body *In;
  const Expr *Target = nullptr;
  const ValueDecl *Bottom = nullptr;
  llvm::SmallVector<const VarDecl *, 2> Indices; ///< Those in Target.
};

} // namespace

std::optional<TensorGrowth> growthBy(const CallExpr *Cat, ASTContext &Context) {
  return GrowthFinder(Cat, Context).run();
}

} // namespace libtorch_tidy
