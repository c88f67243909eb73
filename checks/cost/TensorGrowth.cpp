//===- TensorGrowth.cpp - Tensors that a loop regrows ---------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/cost/TensorGrowth.h"
#include "analysis/cpp/Body.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Compat.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/flow/history/FunctionFlow.h"
#include "analysis/flow/unit/TensorWork.h"
#include "analysis/torch/api/Concatenation.h"
#include "analysis/torch/api/Conventions.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/modules/Modules.h"
#include "analysis/torch/storage/Sharing.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy {

namespace {

/// The declaration at the bottom of a name, and the variables that choose an
/// element of it on the way.
struct GrowingName {
  const ValueDecl *Bottom = nullptr;
  llvm::SmallVector<const VarDecl *, 2> Indices;
};

std::optional<GrowingName> growingName(const Expr *E) {
  GrowingName Name;
  for (;;) {
    E = cpp::stripImplicit(E);
    if (const auto *Ref = dyn_cast_or_null<DeclRefExpr>(E)) {
      Name.Bottom = dyn_cast<VarDecl>(Ref->getDecl());
      return Name.Bottom ? std::optional(Name) : std::nullopt;
    }
    if (const auto *Member = dyn_cast_or_null<MemberExpr>(E)) {
      if (!isa<FieldDecl>(Member->getMemberDecl()))
        return std::nullopt;
      Name.Bottom = Member->getMemberDecl();
      if (isa<CXXThisExpr>(cpp::stripImplicit(Member->getBase())))
        return Name;
      E = Member->getBase();
      continue;
    }
    const Expr *Index = nullptr;
    if (const auto *Op = dyn_cast_or_null<CXXOperatorCallExpr>(E)) {
      if (Op->getOperator() == OO_Arrow) {
        E = Op->getArg(0);
        continue;
      }
      // A tensor's subscript is a view, not a variable.
      if (Op->getOperator() != OO_Subscript || Op->getNumArgs() != 2 ||
          torch::isTensor(Op->getArg(0)->getType()))
        return std::nullopt;
      E = Op->getArg(0);
      Index = Op->getArg(1);
    } else if (const auto *Subscript =
                   dyn_cast_or_null<ArraySubscriptExpr>(E)) {
      E = Subscript->getBase();
      Index = Subscript->getIdx();
    } else {
      return std::nullopt;
    }
    Index = cpp::stripImplicit(Index);
    if (isa<IntegerLiteral, StringLiteral>(Index))
      continue;
    const VarDecl *Var = cpp::variableOf(Index);
    if (!Var)
      return std::nullopt;
    Name.Indices.push_back(Var);
  }
}

class GrowthFinder {
public:
  GrowthFinder(const CallExpr *Cat, ASTContext &Context, KnownGrowths &Known)
      : Cat(Cat), Context(Context), In(cpp::Body::around(Cat, Context)),
        Known(Known) {}

  std::optional<TensorGrowth> run() {
    if (!In)
      return std::nullopt;
    const Expr *Value = nullptr;
    const CXXOperatorCallExpr *Assign = assignmentOf(Cat, Value);
    if (!Assign)
      return std::nullopt;
    Target = cpp::stripImplicit(Assign->getArg(0));
    std::optional<GrowingName> Name = growingName(Target);
    if (!Name)
      return std::nullopt;
    Bottom = Name->Bottom;

    // From the innermost loop outwards, as far as it only collects.
    std::shared_ptr<const std::optional<TensorGrowth>> Best;
    const Stmt *Child = Assign;
    for (const Stmt *S = parentOf(Assign); S; Child = S, S = parentOf(S)) {
      if (!cpp::isLoop(S) || cpp::runsOnce(S, Child))
        continue;
      if (!outlives(*Name, S))
        continue;
      auto Found = knownOver(S);
      if (!*Found)
        break;
      if (!cpp::runsFewTimes(S, Context) &&
          (!Best || (!(*Best)->Read && !(*Found)->Read)))
        Best = Found;
      if ((*Found)->Read)
        break;
    }
    if (!Best || (*Best)->Steps.front().Cat != Cat)
      return std::nullopt;
    if ((*Best)->Read && needsWhole(**Best))
      return std::nullopt;
    TensorGrowth Growth = **Best;
    Growth.Target = Target;
    return Growth;
  }

private:
  const Stmt *parentOf(const Stmt *S) const {
    const Stmt *Parent = In->parentOf(S);
    return Parent && isa<LambdaExpr>(Parent) ? nullptr : Parent;
  }
  const Stmt *userOf(const Expr *E) const { return In->userOf(E); }
  bool isWithin(SourceLocation Loc, const Stmt *S) const {
    return cpp::isWithin(Loc, S, Context.getSourceManager());
  }
  bool isDeclaredBy(const VarDecl *V, const Stmt *Loop) const {
    const auto *For = dyn_cast<ForStmt>(Loop);
    return For && For->getInit() && isWithin(V->getLocation(), For->getInit());
  }

  /// Does the named object stay the same over the iterations of \p Loop?
  bool outlives(const GrowingName &Name, const Stmt *Loop) const {
    if (isa<VarDecl>(Name.Bottom) && isWithin(Name.Bottom->getLocation(), Loop))
      return false;
    return llvm::all_of(Name.Indices, [&](const VarDecl *Index) {
      if (isDeclaredBy(Index, Loop))
        return false;
      // The counter of a loop within this one runs over the same elements.
      return isWithin(Index->getLocation(), Loop) ||
             cpp::writesTo(Index, Loop).empty();
    });
  }

  /// The assignment whose value is \p Call, perhaps over a variable of the
  /// loop, and that value.
  const CXXOperatorCallExpr *assignmentOf(const CallExpr *Call,
                                          const Expr *&Value) const {
    const Expr *E = Call;
    for (unsigned Hops = 0; Hops < cpp::MaxChase; ++Hops) {
      const Stmt *User = userOf(E);
      if (const auto *Member = dyn_cast_or_null<MemberExpr>(User)) {
        const auto *Outer = dyn_cast_or_null<CallExpr>(parentOf(Member));
        if (!Outer || !torch::sameShapeObject(Outer))
          return nullptr;
        E = Outer;
        continue;
      }
      Value = E;
      const auto *Assign = dyn_cast_or_null<CXXOperatorCallExpr>(User);
      if (Assign)
        return isAssignment(Assign) && isSameNode(Assign->getArg(1), E)
                   ? Assign
                   : nullptr;
      const VarDecl *Var = cpp::declaredBy(User);
      const Stmt *Block = Var ? parentOf(User) : nullptr;
      if (!isa_and_nonnull<CompoundStmt>(Block))
        return nullptr;
      // auto next = torch::cat({all, x}); ... all = next;
      for (const Stmt *S : Block->children())
        if (const auto *Later = asAssignment(S);
            Later && cpp::variableOf(Later->getArg(1)) == Var)
          return Later;
      return nullptr;
    }
    return nullptr;
  }

  static bool isSameNode(const Expr *Outer, const Expr *E) {
    return cpp::stripImplicit(Outer) == cpp::stripImplicit(E);
  }
  /// `t = value` for a tensor variable; not the write into a slot, t[i] = x.
  static bool isAssignment(const CXXOperatorCallExpr *Op) {
    const auto *Method = dyn_cast_or_null<CXXMethodDecl>(Op->getDirectCallee());
    return Op->getOperator() == OO_Equal && Op->getNumArgs() == 2 && Method &&
           Method->getRefQualifier() != RQ_RValue &&
           torch::isTensor(Op->getArg(0)->getType());
  }
  static const CXXOperatorCallExpr *asAssignment(const Stmt *S) {
    const auto *E = dyn_cast_or_null<Expr>(S);
    const auto *Op = E ? dyn_cast<CXXOperatorCallExpr>(cpp::peel(E)) : nullptr;
    return Op && isAssignment(Op) ? Op : nullptr;
  }

  /// The tensors that \p List holds, also when it is a vector that \p Loop
  /// makes and fills.
  llvm::SmallVector<const Expr *, 4> elementsOf(const Expr *List,
                                                const Stmt *Loop) const {
    llvm::SmallVector<const Expr *, 4> Elements = cpp::listElements(List);
    if (Elements.size() != 1)
      return Elements;
    const VarDecl *Var = cpp::variableOf(Elements.front());
    if (!Var || torch::isTensor(Var->getType()) ||
        !isWithin(Var->getLocation(), Loop))
      return Elements;
    Elements.clear();
    if (const Expr *Init = Var->getInit())
      Elements = cpp::listElements(Init);
    cpp::forEachCall(Loop, [&](const CallExpr *Call) {
      if (isPushOnto(Call, Var))
        Elements.push_back(cpp::stripImplicit(Call->getArg(0)));
    });
    return Elements;
  }
  static bool isPushOnto(const CallExpr *Call, const ValueDecl *List) {
    auto Added = cpp::asInsertion(Call);
    return Added && Added->AtEnd && Added->Given.size() == 1 &&
           cpp::rootOf(Added->Into) == List;
  }

  /// The step that \p Assign is, as one of \p Loop's.
  std::optional<GrowthStep> stepOf(const CXXOperatorCallExpr *Assign,
                                   const Stmt *Loop) const {
    const CallExpr *Call = nullptr;
    bool Plain = true;
    const Expr *E = cpp::stripImplicit(Assign->getArg(1));
    if (const VarDecl *Var = cpp::variableOf(E);
        Var && Var->getInit() && isWithin(Var->getLocation(), Loop) &&
        cpp::writesTo(Var, Loop).empty()) {
      E = cpp::stripImplicit(Var->getInit());
      Plain = false;
    }
    while ((Call = dyn_cast_or_null<CallExpr>(E))) {
      if (torch::asConcatenation(Call))
        break;
      E = cpp::stripImplicit(torch::sameShapeObject(Call));
      Plain = false;
    }
    std::optional<torch::Concatenation> Joined =
        Call ? torch::asConcatenation(Call) : std::nullopt;
    if (!Joined || !Joined->Associative)
      return std::nullopt;
    llvm::SmallVector<const Expr *, 4> Elements =
        elementsOf(Joined->List, Loop);
    if (llvm::count_if(Elements, [&](const Expr *Element) {
          return cpp::isSameName(Element, Target);
        }) != 1)
      return std::nullopt;
    GrowthStep Step;
    Step.Assign = Assign;
    Step.Cat = Call;
    Step.Plain = Plain && isa<DeclRefExpr>(cpp::stripImplicit(Target));
    if (Elements.size() == 2 && cpp::isSameName(Elements[0], Target) &&
        cpp::listElements(Joined->List).size() == 2)
      Step.Part = Elements[1];
    return Step;
  }

  /// Everything in a loop that may touch the target.
  struct Mentions {
    llvm::SmallVector<const Expr *, 8> Of; ///< In source order.
    bool Opaque = false;                   ///< Used in ways one cannot follow.
  };
  void collect(const Stmt *S, Mentions &Found) const {
    if (!S)
      return;
    if (const auto *Lambda = dyn_cast<LambdaExpr>(S)) {
      Mentions Inside;
      for (const Expr *Capture : Lambda->capture_inits())
        if (Capture)
          collect(Capture, Inside);
      collect(Lambda->getBody(), Inside);
      Found.Opaque |= Inside.Opaque || !Inside.Of.empty();
      return;
    }
    if (const auto *E = dyn_cast<Expr>(S)) {
      if (cpp::stripImplicit(E) == E && cpp::isSameName(E, Target)) {
        Found.Of.push_back(E);
        return;
      }
      // The whole of what the target is a part of.
      if (const auto *Ref = dyn_cast<DeclRefExpr>(E);
          Ref && Ref->getDecl() == Bottom)
        Found.Opaque |= !isa_and_nonnull<MemberExpr>(userOf(E));
      // A method of the object whose member it is.
      if (const auto *Call = dyn_cast<CXXMemberCallExpr>(E);
          Call && isa<FieldDecl>(Bottom) && mayWriteMember(Call))
        Found.Opaque = true;
    }
    for (const Stmt *Child : S->children())
      collect(Child, Found);
  }
  bool mayWriteMember(const CXXMemberCallExpr *Call) const {
    const CXXMethodDecl *Method = Call->getMethodDecl();
    const Expr *Object = Call->getImplicitObjectArgument();
    if (!Method || !Object || Method->isConst() ||
        !isa<CXXThisExpr>(cpp::stripImplicit(Object)))
      return false;
    const FunctionDecl *Definition = Method->getDefinition();
    return !Definition || !Definition->getBody() ||
           !cpp::writesTo(Bottom, Definition->getBody()).empty();
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
    if (const auto *Compare = dyn_cast<BinaryOperator>(Test)) {
      if (!Compare->isComparisonOp() ||
          !cpp::constantInt(Compare->getRHS(), Context))
        return false;
      Test = cpp::stripImplicit(Compare->getLHS());
    }
    if (const auto *Query = dyn_cast<CXXMemberCallExpr>(Test))
      return torch::isMetadataAccess(Query) &&
             cpp::isSameName(Query->getImplicitObjectArgument(), Target);
    const ValueDecl *Counter = cpp::rootOf(Test);
    if (!Counter || (!Counter->getType()->isIntegerType()))
      return false;
    if (const auto *Var = dyn_cast<VarDecl>(Counter);
        Var && isWithin(Var->getLocation(), Loop) && !isDeclaredBy(Var, Loop))
      return false; // Starts anew in each iteration.
    return llvm::all_of(cpp::writesTo(Counter, Loop), [&](const cpp::Write &W) {
      if (const auto *Step = dyn_cast<UnaryOperator>(W.Where))
        return Step->isIncrementDecrementOp();
      const auto *Op = dyn_cast<BinaryOperator>(W.Where);
      return Op && (Op->isCompoundAssignmentOp() ||
                    isWithin(W.Where->getBeginLoc(), Branch));
    });
  }

  /// Is \p Set what the first iteration does in place of \p Step?
  bool isFirstSet(const Stmt *Set, const Stmt *Step, const Stmt *Loop) const {
    const Stmt *Child = Set;
    for (const Stmt *S = parentOf(Set); S && S != Loop;
         Child = S, S = parentOf(S)) {
      if (const auto *If = dyn_cast<IfStmt>(S)) {
        const Stmt *Other =
            Child == If->getThen() ? If->getElse() : If->getThen();
        if (Other && isWithin(Step->getBeginLoc(), Other))
          return !If->hasVarStorage() &&
                 isFirstTest(If->getCond(), Child, Loop);
      }
      if (const auto *Switch = dyn_cast<SwitchStmt>(S))
        if (isWithin(Step->getBeginLoc(), Switch))
          return isFirstTest(Switch->getCond(), Switch, Loop);
    }
    return false;
  }

  /// As over(). What the name of a variable alone stands for is the same object
  /// in all of the loop.
  std::shared_ptr<const std::optional<TensorGrowth>>
  knownOver(const Stmt *Loop) {
    if (!isa<DeclRefExpr>(Target))
      return std::make_shared<const std::optional<TensorGrowth>>(over(Loop));
    auto &Answer = Known[{Loop, Bottom}];
    if (!Answer)
      Answer = std::make_shared<const std::optional<TensorGrowth>>(over(Loop));
    return Answer;
  }

  std::optional<TensorGrowth> over(const Stmt *Loop) const {
    Mentions Found;
    collect(Loop, Found);
    if (Found.Opaque)
      return std::nullopt;
    TensorGrowth Growth;
    Growth.Loop = Loop;
    Growth.Target = Target;
    llvm::SmallVector<const CXXOperatorCallExpr *, 2> Sets;
    llvm::SmallVector<const Expr *, 8> Others;
    for (const Expr *Mention : Found.Of) {
      const auto *Assign =
          dyn_cast_or_null<CXXOperatorCallExpr>(userOf(Mention));
      if (!Assign || !isAssignment(Assign) ||
          !isSameNode(Assign->getArg(0), Mention)) {
        Others.push_back(Mention);
        continue;
      }
      if (std::optional<GrowthStep> Step = stepOf(Assign, Loop)) {
        if (!In->leavesAfter(Assign, Loop))
          Growth.Steps.push_back(*Step);
      } else if (std::optional<TensorGrowth> Rejoined =
                     rejoins(Assign, Loop, Found)) {
        return Rejoined;
      } else {
        Sets.push_back(Assign);
      }
    }
    if (Growth.Steps.empty())
      return std::nullopt;
    for (const CXXOperatorCallExpr *Set : Sets) {
      if (!isFirstSet(Set, Growth.Steps.front().Assign, Loop))
        return std::nullopt;
      Growth.FirstSet = Set;
    }
    for (const Expr *Mention : Others) {
      if (isOperand(Mention, Growth))
        continue;
      const CallExpr *Call = In->callOn(Mention);
      if (Call && torch::resizesInPlace(Call))
        return std::nullopt;
      if (Call && torch::isMetadataAccess(Call)) {
        Growth.Queried |= !isTestOfFirst(Mention, Growth, Loop);
        continue;
      }
      if (Call && isChangedBy(Call, Mention))
        return std::nullopt;
      if (!Growth.Read)
        Growth.Read = Mention;
    }
    return Growth;
  }

  /// Is \p Mention in the condition that recognizes the first iteration?
  bool isTestOfFirst(const Expr *Mention, const TensorGrowth &Growth,
                     const Stmt *Loop) const {
    for (const Stmt *S = Growth.FirstSet; S && S != Loop; S = parentOf(S))
      if (const auto *If = dyn_cast<IfStmt>(S);
          If && isWithin(Mention->getBeginLoc(), If->getCond()))
        return true;
    return false;
  }

  /// Is \p Mention the old value in a step?
  bool isOperand(const Expr *Mention, const TensorGrowth &Growth) const {
    const Stmt *User = userOf(Mention);
    while (isa_and_nonnull<InitListExpr, CXXStdInitializerListExpr,
                           CXXConstructExpr, ImplicitCastExpr,
                           MaterializeTemporaryExpr, CXXBindTemporaryExpr,
                           CXXFunctionalCastExpr, ExprWithCleanups>(User))
      User = parentOf(User);
    if (const auto *Call = dyn_cast_or_null<CallExpr>(User)) {
      if (llvm::any_of(Growth.Steps, [&](const GrowthStep &Step) {
            return Step.Cat == Call;
          }))
        return true;
      // parts.push_back(all), where the step joins `parts`.
      return cpp::asInsertion(Call).has_value();
    }
    // std::vector<torch::Tensor> parts = {all, x};
    return isa_and_nonnull<DeclStmt>(User) &&
           llvm::none_of(Growth.Steps,
                         [](const GrowthStep &Step) { return Step.Part; });
  }

  /// May \p Call, which is given \p Mention, make another tensor of it?
  static bool isChangedBy(const CallExpr *Call, const Expr *Mention) {
    const FunctionDecl *Callee = Call->getDirectCallee();
    if (!Callee || isa<CXXOperatorCallExpr>(Call))
      return false;
    for (unsigned I = 0; I < Call->getNumArgs() && I < Callee->getNumParams();
         ++I) {
      QualType T = Callee->getParamDecl(I)->getType();
      if (isSameNode(Call->getArg(I), Mention) && T->isLValueReferenceType() &&
          !T->getPointeeType().isConstQualified())
        return true;
    }
    return false;
  }

  /// `rows.push_back(x); all = torch::stack(rows);`: joins anew what it joined
  /// before, where once after the loop is enough.
  std::optional<TensorGrowth> rejoins(const CXXOperatorCallExpr *Assign,
                                      const Stmt *Loop,
                                      const Mentions &Found) const {
    const auto *Call =
        dyn_cast<CallExpr>(cpp::stripImplicit(Assign->getArg(1)));
    std::optional<torch::Concatenation> Joined =
        Call ? torch::asConcatenation(Call) : std::nullopt;
    if (!Joined || Found.Of.size() != 1)
      return std::nullopt;
    const VarDecl *List = cpp::variableOf(Joined->List);
    if (!List || isWithin(List->getLocation(), Loop) ||
        List->getType()->isReferenceType())
      return std::nullopt;
    // In every iteration, not now and then.
    for (const Stmt *S = parentOf(Assign); S != Loop; S = parentOf(S))
      if (!isa_and_nonnull<CompoundStmt, ExprWithCleanups>(S))
        return std::nullopt;
    bool Grows = false;
    for (const cpp::Write &W : cpp::writesTo(List, Loop)) {
      const auto *Push = dyn_cast<CallExpr>(W.Where);
      if (W.InLambda || !Push || !isPushOnto(Push, List))
        return std::nullopt;
      Grows = true;
    }
    if (!Grows || In->leavesAfter(Assign, Loop))
      return std::nullopt;
    TensorGrowth Growth;
    Growth.Loop = Loop;
    Growth.Target = Target;
    Growth.Parts = List;
    GrowthStep Step;
    Step.Assign = Assign;
    Step.Cat = Call;
    Step.Plain = true;
    Growth.Steps.push_back(Step);
    return Growth;
  }

  /// The loop's work is over the whole of what has grown, by design.
  bool needsWhole(const TensorGrowth &Growth) const {
    if (isModelsInput(Growth.Read))
      return true;
    const GrowthStep &Step = Growth.Steps.front();
    if (isWithin(Growth.Read->getBeginLoc(), Step.Assign)) {
      if (!runsModel(Step, Growth.Read))
        return true;
    } else if (cpp::comesBefore(Step.Assign, Growth.Read,
                                Context.getSourceManager())) {
      return true; // Attention over a cache reads what it just added to.
    }
    StringRef Name = Bottom->getIdentifier() ? Bottom->getName() : "";
    if (torch::namesCache(Name))
      return true;
    // Layers with dense connections.
    if (const auto *Method = dyn_cast<CXXMethodDecl>(In->function());
        Method && Method->getIdentifier() && Method->getName() == "forward" &&
        torch::isModule(compat::recordType(Method->getParent())))
      return true;
    bool OverModules = false;
    if (const auto *Range = dyn_cast<CXXForRangeStmt>(Growth.Loop))
      OverModules = torch::isModule(Range->getLoopVariable()->getType());
    cpp::forEachCall(Growth.Loop, [&](const CallExpr *Call) {
      std::optional<torch::ModuleCall> M = torch::asModuleCall(Call);
      const auto *Op =
          M && M->Module ? dyn_cast<CXXOperatorCallExpr>(M->Module) : nullptr;
      OverModules |= Op && Op->getOperator() == OO_Subscript;
    });
    return OverModules;
  }
  /// Does a module read all of \p Read, as a model that continues a sequence
  /// does? What it computes costs more than the copy.
  bool isModelsInput(const Expr *Read) const {
    for (const Expr *E = Read;;) {
      const CallExpr *User = In->callOn(E);
      if (!User)
        return false;
      if (std::optional<torch::ModuleCall> M = torch::asModuleCall(User))
        return !M->Module || !In->isWithin(Read, M->Module);
      // ids.unsqueeze(0), ids.to(device)
      if (!torch::showsWhole(User) && !torch::sameShapeObject(User))
        return false;
      E = User;
    }
  }
  /// torch::cat({all, net(all)}): the part comes from a model or a function,
  /// not from copying `all` itself, which doubles it.
  bool runsModel(const GrowthStep &Step, const Expr *Read) const {
    for (const Stmt *S = parentOf(Read); S && S != Step.Cat; S = parentOf(S))
      if (const auto *Call = dyn_cast<CallExpr>(S))
        if (torch::asModuleCall(Call) ||
            (Call->getDirectCallee() &&
             !torch::isTorchDecl(Call->getDirectCallee()) &&
             !cpp::isStdDecl(Call->getDirectCallee())))
          return true;
    return false;
  }

  const CallExpr *Cat;
  ASTContext &Context;
  const cpp::Body *In;
  KnownGrowths &Known;
  const Expr *Target = nullptr;
  const ValueDecl *Bottom = nullptr;
};

} // namespace

std::optional<TensorGrowth> growthBy(const CallExpr *Cat, ASTContext &Context,
                                     KnownGrowths &Known) {
  return GrowthFinder(Cat, Context, Known).run();
}

} // namespace libtorch_tidy
