//===- LongLivedIntermediateCheck.cpp -------------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/cpp/Body.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Compat.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/torch/api/Conventions.h"
#include "analysis/torch/api/OpFacts.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/GradGuards.h"
#include "analysis/torch/modules/Modules.h"
#include "analysis/torch/storage/Sharing.h"
#include "checks/base/LibtorchCheck.h"
#include "checks/guards/Arbiter.h"
#include "fixits/FixIts.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace libtorch_tidy {

using flow::FunctionFlow;
using flow::GradMode;
using flow::Label;

namespace {

/// docs/checks/libtorch-long-lived-intermediate.md says what it finds and why.
class LongLivedIntermediateCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;

protected:
  void checkUnit(flow::UnitModel &Unit) override;
  void checkFunction(const flow::FunctionFlow &Flow,
                     flow::UnitModel &Unit) override;

private:
  void checkDeclaredBeforeLoop(const flow::FunctionFlow &Flow,
                               flow::UnitModel &Unit);
  void checkBeforeHeavyLoop(const flow::FunctionFlow &Flow,
                            flow::UnitModel &Unit);
  void checkKept(const flow::FunctionFlow &Flow, flow::UnitModel &Unit);
  bool isToBeGuarded(const Label &Source, Level Strength);

  const Arbiter *Decided = nullptr; ///< Of the unit that is checked.
};

/// The references to a tensor that a function declares.
struct Uses {
  llvm::SmallVector<const DeclRefExpr *, 4> Refs; ///< In source order.
  bool Captured = false;
};

} // namespace

/// `x = value` as a statement, with x the whole variable: the value, else null.
static const Expr *assignedTo(const Stmt *S, const VarDecl *V) {
  const auto *E = dyn_cast<Expr>(S);
  const auto *Op = E ? dyn_cast<CallExpr>(cpp::peel(E)) : nullptr;
  if (!cpp::isAssignment(Op))
    return nullptr;
  const auto *Ref = dyn_cast<DeclRefExpr>(cpp::peel(Op->getArg(0)));
  return Ref && Ref->getDecl() == V ? Op->getArg(1) : nullptr;
}

/// The tuple, vector or struct that \p E, an element of one, is taken from; \p
/// E without what cpp::stripImplicit() removes for others.
static const Expr *wholeOf(const Expr *E) {
  for (;;) {
    E = cpp::stripImplicit(E);
    const auto *Call = dyn_cast<CallExpr>(E);
    if (const auto *Member = dyn_cast<MemberExpr>(E);
        Member && !isa<CXXThisExpr>(Member->getBase()->IgnoreParenImpCasts()))
      E = Member->getBase();
    else if (cpp::isStdCall(E, cpp::Std::Part) && Call->getNumArgs() == 1)
      E = Call->getArg(0);
    else if (const auto *At = dyn_cast<CXXMemberCallExpr>(E);
             At && cpp::does(At, cpp::Std::Access))
      E = At->getImplicitObjectArgument();
    else if (const auto *Op = dyn_cast<CXXOperatorCallExpr>(E);
             Op && Op->getOperator() == OO_Subscript &&
             !torch::isTensor(Op->getArg(0)->getType()))
      E = Op->getArg(0);
    else
      return E;
  }
}

/// A scalar, an index, a loss: too small to matter. Also one of the parts that
/// a loss returns.
static bool isSmall(const Expr *Value) {
  const auto *Call = dyn_cast<CallExpr>(wholeOf(Value));
  if (!Call)
    return false;
  if (torch::namesLoss(cpp::calleeName(Call)))
    return true;
  // A criterion: torch::nn::MSELoss, or a Loss of the user's.
  if (std::optional<torch::ModuleCall> M = torch::asModuleCall(Call);
      M && M->Module) {
    QualType T = M->Module->getType();
    if (QualType Pointee = cpp::pointeeOf(T); !Pointee.isNull())
      T = Pointee;
    const CXXRecordDecl *R = cpp::recordOf(T);
    if (R && R->getIdentifier() && torch::namesLoss(R->getName()))
      return true;
  }
  const torch::OpFacts *Facts = torch::opFacts(Call->getDirectCallee());
  return Facts && Facts->Reduces;
}

/// An operator that carries the weight of a network, or makes an image.
static bool isWeighty(const Expr *Value) {
  const auto *Call = dyn_cast_or_null<CallExpr>(cpp::stripImplicit(Value));
  const torch::OpFacts *Facts =
      Call ? torch::opFacts(Call->getDirectCallee()) : nullptr;
  return Facts && (Facts->Heavy || torch::resamples(*Facts));
}

/// A tensor of its own that an operator or a module computes from others and
/// that is of their size: not numbers, indices, masks, views.
static bool isComputed(const Expr *Value) {
  const auto *Call = dyn_cast_or_null<CallExpr>(cpp::stripImplicit(Value));
  if (!Call || !torch::isTensor(Call->getType()))
    return false;
  if (torch::asModuleCall(Call))
    return true;
  const torch::OpFacts *Facts = torch::opFacts(Call->getDirectCallee());
  return Facts && Facts->Shares == torch::Sharing::None && !Facts->Factory &&
         !Facts->InPlace && !Facts->Reduces && Facts->Outputs == 1 &&
         !Facts->neverDifferentiable();
}

/// The statement of \p Block that \p S is in.
static const Stmt *statementIn(const CompoundStmt *Block, const Stmt *S,
                               const FunctionFlow &Flow) {
  while (S && Flow.parentOf(S) != Block)
    S = Flow.parentOf(S);
  return S;
}

/// The innermost block that holds all of \p Refs.
static const CompoundStmt *blockOf(ArrayRef<const DeclRefExpr *> Refs,
                                   const FunctionFlow &Flow) {
  for (const Stmt *S = Refs.front(); S; S = Flow.parentOf(S))
    if (const auto *Block = dyn_cast<CompoundStmt>(S))
      if (llvm::all_of(Refs, [&](const DeclRefExpr *Ref) {
            return Flow.isWithin(Ref, Block);
          }))
        return Block;
  return nullptr;
}

/// Does another finding, at least as strong, say that \p Source lacks a guard?
/// With that, it leaves no graph to keep.
bool LongLivedIntermediateCheck::isToBeGuarded(const Label &Source,
                                               Level Strength) {
  const Arbiter::Scope *Guarded = Decided->findingOf(Source);
  return Guarded && Guarded->strength() <= Strength;
}

/// A tensor declared before the loop that makes it, although each iteration
/// makes it anew: the old one is alive while the next is computed.
void LongLivedIntermediateCheck::checkDeclaredBeforeLoop(
    const FunctionFlow &Flow, flow::UnitModel &Unit) {
  const cpp::Body &Body = cpp::Body::of(Flow.function());
  llvm::MapVector<const VarDecl *, Uses> Found;
  cpp::forEach<DeclRefExpr>(Body.root(), [&](const DeclRefExpr *E) {
    const auto *V = dyn_cast<VarDecl>(E->getDecl());
    if (!V || !V->isLocalVarDecl() || V->isStaticLocal() ||
        V->getType()->isReferenceType() || V->getType()->isPointerType())
      return;
    Found[V].Refs.push_back(E);
    Found[V].Captured |= Body.around<LambdaExpr>(E) != nullptr;
  });
  for (const auto &[V, Uses] : Found) {
    if (Uses.Captured || !torch::mayHoldTensor(V->getType()) ||
        torch::isModule(V->getType()))
      continue;
    const Stmt *Declared = Flow.declarationOf(V);
    const CompoundStmt *Block = blockOf(Uses.Refs, Flow);
    if (!Declared || !Block || Flow.isWithin(Declared, Block))
      continue;
    // What every iteration makes before it reads it is not carried over.
    const Stmt *First = statementIn(Block, Uses.Refs.front(), Flow);
    const Expr *Made = First ? assignedTo(First, V) : nullptr;
    if (!Made || torch::namesLoss(V->getName()) ||
        isSmall(cpp::Body::of(Flow.function()).originOf(wholeOf(Made))) ||
        (Uses.Refs.size() > 1 && Flow.isWithin(Uses.Refs[1], Made)))
      continue;
    // Let go of at the end of each iteration.
    const Stmt *Last = statementIn(Block, Uses.Refs.back(), Flow);
    if (const Expr *Final = assignedTo(Last, V);
        Last != First && Final && cpp::isEmptyValue(Final))
      continue;
    const Stmt *Loop = nullptr;
    for (const Stmt *S = Block; S && !Flow.isWithin(Declared, S);
         S = Flow.parentOf(S))
      if (cpp::isLoop(S))
        Loop = S;
    if (!Loop)
      continue;

    // Is it worth a word? A module's output, with its graph or without.
    const Label *Source = nullptr;
    for (const Label &L : Flow.labels())
      if (L.K == Label::Carry && L.Site && Flow.isWithin(L.Site, First))
        for (flow::LabelId From : L.Assigned)
          if (const Label &O = Flow.label(From);
              O.bringsHistory() && O.Arises && O.K != Label::Leaf)
            Source = &O;
    // What is kept elsewhere lives on anyway.
    if (Source && (Source->Consumers &
                   (Label::Returned | Label::Stored | Label::Escaped)))
      continue;
    const bool WithGraph = Source && Source->Mode == GradMode::On &&
                           !isToBeGuarded(*Source, Level::Likely);
    if (!WithGraph && !torch::asModuleCall(cpp::stripImplicit(Made)) &&
        !isWeighty(Made))
      continue;
    const bool Released = Source && (Source->Consumers & Label::Backward);

    Finding F;
    F.Loc = V->getLocation();
    F.Strength = WithGraph && !Released && !Source->Consumers ? Level::Likely
                                                              : Level::Advisory;
    const std::string Name = V->getNameAsString();
    F.Message = "'" + Name +
                "' is declared outside the loop that makes it, so " +
                (WithGraph && !Released ? "the tensor and its graph stay"
                                        : "the tensor stays") +
                " alive while the next iteration computes the new one";
    F.Steps.push_back({First->getBeginLoc(), "each iteration assigns '" + Name +
                                                 "' here before it reads it"});
    if (WithGraph)
      F.Steps.push_back(originStep(*Source));
    if (const auto *DS = dyn_cast<DeclStmt>(Declared))
      F.Fix = fixits::sinkDeclaration(DS, cast<Expr>(First), Unit.context());
    // A declaration that cannot move: let go after the last use. `= {}` is
    // ambiguous for a tensor.
    if (F.Fix.empty() && torch::isTensor(V->getType()) &&
        !isa<ReturnStmt, BreakStmt, ContinueStmt>(Last))
      F.Fix = fixits::insertAfterStatement(
          Last, (Name + " = " + torch::spelling::UndefinedTensor + ";").str(),
          Unit.context());
    report(F);
  }
}

/// A tensor that is last used before a loop that runs a network, and lives on
/// while it does. Where a graph holds it, letting go of it changes nothing.
void LongLivedIntermediateCheck::checkBeforeHeavyLoop(const FunctionFlow &Flow,
                                                      flow::UnitModel &Unit) {
  if (!looksFor(Level::Advisory))
    return;
  cpp::Body &Body = cpp::Body::of(Flow.function());
  llvm::SmallVector<const VarDecl *, 2> Guards;
  cpp::forEach<VarDecl>(Body.root(), [&](const VarDecl *V) {
    if (torch::guardOf(V) == GradMode::Off)
      Guards.push_back(V);
  });
  if (Guards.empty())
    return;
  cpp::forEach<VarDecl>(Body.root(), [&](const VarDecl *V) {
    if (!Body.isOwn(V) || !torch::isTensor(V->getType()) ||
        V->getType().isConstQualified() || !isComputed(V->getInit()) ||
        isSmall(V->getInit()) || torch::namesLoss(V->getName()))
      return;
    const auto *Declared = dyn_cast_or_null<DeclStmt>(Flow.declarationOf(V));
    const auto *Block =
        Declared ? dyn_cast_or_null<CompoundStmt>(Flow.parentOf(Declared))
                 : nullptr;
    if (!Block)
      return;
    // Without a guard, a graph may hold it all the same.
    if (llvm::none_of(Guards, [&](const VarDecl *Guard) {
          const Stmt *Scope = Body.scopeOf(Guard);
          return Scope && Flow.isWithin(Declared, Scope) &&
                 Guard->getLocation() < V->getLocation();
        }))
      return;
    const Stmt *Last = Declared;
    bool Captured = false, Aliased = false;
    cpp::forEach<DeclRefExpr>(Body.root(), [&](const DeclRefExpr *Ref) {
      if (Ref->getDecl() != V)
        return;
      Captured |= Body.around<LambdaExpr>(Ref) != nullptr;
      // What is only computed with it holds nothing of it.
      const CallExpr *User = Body.callOn(Ref);
      Aliased |= !User || !torch::onlyReads(User);
      if (const Stmt *Around = statementIn(Block, Ref, Flow))
        Last = Around;
    });
    if (Captured || Aliased)
      return;
    const auto *At = llvm::find(Block->body(), Last);
    if (At == Block->body_end())
      return;
    const auto *Loop =
        std::find_if(std::next(At), Block->body_end(), [&](const Stmt *S) {
          return cpp::isLoop(S) &&
                 cpp::anyOf<CallExpr>(S, [](const CallExpr *Call) {
                   return torch::asModuleCall(Call).has_value();
                 });
        });
    if (Loop == Block->body_end())
      return;
    const std::string Name = V->getNameAsString();
    Finding F;
    F.Loc = V->getLocation();
    F.Strength = Level::Advisory;
    F.Message = "'" + Name +
                "' is last used before the loop, but its memory stays taken "
                "while the loop runs a module";
    F.Steps.push_back(
        {Last->getBeginLoc(), "'" + Name + "' is last used here"});
    F.Steps.push_back({(*Loop)->getBeginLoc(), "this loop runs a module"});
    F.Fix = fixits::insertAfterStatement(
        Last, (Name + " = " + torch::spelling::UndefinedTensor + ";").str(),
        Unit.context());
    if (reports(F.Strength))
      F.Bytes = bytesOf(V->getInit());
    report(F);
  });
}

/// Does a module's forward() keep what it computes from its input in \p Field,
/// although nothing reads it but \p F, after it has set it?
static bool isLeftOver(const FieldDecl *Field, const Expr *Set,
                       const FunctionDecl *F, flow::UnitModel &Unit) {
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  const SourceManager &SM = Unit.context().getSourceManager();
  return Method && F->getNameAsString() == "forward" &&
         torch::isModule(compat::recordType(Method->getParent())) &&
         Unit.seesAllUses(Field, /*Alone=*/true) &&
         llvm::none_of(Unit.functions(), [&](const FunctionDecl *User) {
           return cpp::anyOf<MemberExpr>(
               User->getBody(), [&](const MemberExpr *Ref) {
                 return Ref->getMemberDecl() == Field &&
                        !isa<CXXConstructorDecl>(User) &&
                        (User != F || !cpp::comesBefore(Set, Ref, SM)) &&
                        !cpp::Body::of(User).isWithin(Ref, Set);
               });
         });
}

/// Does member \p Field surely get another value after \p Set before \p F
/// returns?
static bool isOverwritten(const FieldDecl *Field, const Expr *Set,
                          const FunctionDecl *F) {
  cpp::Body &In = cpp::Body::of(F);
  const auto *Root = dyn_cast_or_null<CompoundStmt>(In.root());
  const Stmt *Last = Root && !Root->body_empty() ? Root->body_back() : nullptr;
  if (!Last || In.isWithin(Set, Last))
    return false;
  const bool EndsWithIt =
      llvm::any_of(In.writesTo(Field), [&](const cpp::Write &W) {
        return W.Kind == cpp::WriteKind::Assigned && In.isWithin(W.Where, Last);
      });
  return !In.paths().holdsUntil(Field, Set, [&](const Stmt *S) {
    return isa<ReturnStmt>(S) || (!EndsWithIt && In.isWithin(S, Last));
  });
}

/// A member or static that is set to a tensor with its graph, which nobody
/// uses later: the last graph lives on between calls.
void LongLivedIntermediateCheck::checkKept(const FunctionFlow &Flow,
                                           flow::UnitModel &Unit) {
  for (const Label &L : Flow.labels()) {
    if (L.K != Label::Carry || !Flow.outlivesFunction(L.Where) ||
        Flow.accumulations().count({L.Site, L.Where}))
      continue;
    const Label *Source = nullptr;
    bool FromParameter = false;
    for (flow::LabelId From : L.Assigned) {
      const Label &O = Flow.label(From);
      if (O.bringsHistory() && O.Arises && O.K != Label::Leaf &&
          O.Mode == GradMode::On)
        Source = &O;
      FromParameter |= O.K == Label::Entry &&
                       isa_and_nonnull<ParmVarDecl>(Flow.rootOf(O.Where));
    }
    const auto *Assign = dyn_cast<CXXOperatorCallExpr>(L.Site);
    const bool OfInput =
        !Source && FromParameter && Assign && Flow.fieldOf(L.Where) &&
        Assign->getNumArgs() == 2 && isComputed(Assign->getArg(1)) &&
        isLeftOver(Flow.fieldOf(L.Where), Assign, Flow.function(), Unit);
    if ((!Source && !OfInput) || !Assign || Assign->getOperator() != OO_Equal ||
        !torch::isTensor(Assign->getArg(0)->getType()) ||
        isSmall(Assign->getArg(1)))
      continue;
    const VarDecl *Root = Flow.rootOf(L.Where);
    const FieldDecl *Field = Flow.fieldOf(L.Where);
    if (Root ? !Root->isStaticLocal() : !Field)
      continue;
    // Another function that needs the graph is why it is kept.
    if (Field && (Unit.isFieldConsumed(Field) ||
                  isOverwritten(Field, Assign, Flow.function())))
      continue;

    Finding F;
    F.Loc = L.Site->getExprLoc();
    F.Highlight = L.Site->getSourceRange();
    F.Strength = OfInput || (Field && !Unit.seesAllUses(Field))
                     ? Level::Advisory
                     : Level::Likely;
    if (Source && isToBeGuarded(*Source, F.Strength))
      continue;
    const std::string Name = Flow.nameOf(L.Where);
    if (OfInput)
      F.Message = "'" + Name +
                  "' keeps what forward() computed alive until the next call, "
                  "in training with its autograd graph, and nothing reads it";
    else
      F.Message = "'" + Name +
                  "' keeps the tensor and its autograd graph alive "
                  "after the function returns, and nothing in this unit needs "
                  "that graph";
    if (Field)
      F.Steps.push_back(
          {Field->getLocation(), "member '" + Field->getNameAsString() +
                                     "' lives as long as its object"});
    else
      F.Steps.push_back({Root->getLocation(),
                         "static '" + Name + "' lives until the program ends"});
    if (Source)
      F.Steps.push_back(originStep(*Source));
    // Cut only what this function does not go on to use with its history.
    if (Source && !(L.Consumers & ~Label::Stored))
      F.Fix = fixits::detachOperand(Assign->getArg(1), Unit.context());
    if (reports(F.Strength))
      F.Bytes = bytesOf(Assign->getArg(1));
    report(F);
  }
}

void LongLivedIntermediateCheck::checkUnit(flow::UnitModel &Unit) {
  Decided = &Arbiter::decided(Unit, isEnabled(Arbiter::ReportsPasses));
  LibtorchCheck::checkUnit(Unit);
}

void LongLivedIntermediateCheck::checkFunction(const FunctionFlow &Flow,
                                               flow::UnitModel &Unit) {
  if (Unit.isCalledOnlyGuarded(Flow.function()))
    return;
  checkDeclaredBeforeLoop(Flow, Unit);
  checkBeforeHeavyLoop(Flow, Unit);
  checkKept(Flow, Unit);
}

LIBTORCH_CHECK(LongLivedIntermediateCheck, NoReasons);

} // namespace libtorch_tidy
