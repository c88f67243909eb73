//===- DiscardedResultCheck.cpp -------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Body.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Text.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/UnitContext.h"
#include "analysis/torch/api/Effects.h"
#include "analysis/torch/api/Factories.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/modules/Modules.h"
#include "analysis/torch/storage/Sharing.h"
#include "checks/base/LibtorchCheck.h"
#include "fixits/FixIts.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/ASTLambda.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSwitch.h"
#include <map>

using namespace clang;
using namespace clang::ast_matchers;

namespace libtorch_tidy {

using torch::PureKind;

namespace {

constexpr struct DiscardedResultReasons {
  Reason Computes{"arithmetic", Effect::Likely,
                  "It is cheap arithmetic on elements (`add`, `mul`, `neg`, "
                  "`exp`, `clone`, ...), a cheap function of "
                  "`torch::nn::functional` (`F::normalize`, `F::dropout`, "
                  "`F::relu`, ...), or returns values and indices (`max`, "
                  "`min`, `sort`, `topk`, ...)."};
  Reason Computed{
      "runs-model", Effect::Silent,
      "Its tensor or an argument is computed by the same expression "
      "(`net->forward(x).cpu();`): that is run to warm up, to wait "
      "or to measure."};
  Reason OwnSake{"run-for-its-own-sake", Effect::Silent,
                 "It is the only statement of a lambda, or of a loop over "
                 "something else, or stands straight in a `try` block."};
  Reason ModuleToo{"module-too", Effect::Silent,
                   "It is in a template, which is also made for modules or "
                   "other types, where the same call changes its object."};
  Reason InTemplate{"in-template", Effect::NoFix,
                    "It is in a template, and a tensor by the template's "
                    "arguments: in other files it may be something else."};
  Reason Timed{"timed-code", Effect::Silent,
               "It is not `detach`, and the function reads a clock before it "
               "and after it, and uses what it read before, or one around the "
               "lambda that it stands in reads one: it is measured."};
  Reason Sent{"converted-and-gone", Effect::Silent,
              "It converts a local tensor that nothing reads afterwards."};
  Reason NotRead{"not-read-again", Effect::NoFix,
                 "The tensor is a local copy that nothing reads afterwards."};
  Reason Moves{"moves-to-device", Effect::NoFix,
               "It moves the tensor to a device, or to that of another tensor "
               "(`x.to(y)`): what it meets later may still be on the CPU, and "
               "the program would throw."};
  Reason Fills{"fill-or-arithmetic", Effect::NoFix,
               "It fills or does arithmetic: the result could be assigned or "
               "written in place, which differs for other tensors over the "
               "same storage."};
  Reason Twice{"evaluated-twice", Effect::NoFix,
               "The tensor is reached through a subscript or a function that "
               "may do more when it is evaluated twice (`states[next++]`)."};
  Reason NotAssignable{"not-assignable", Effect::NoFix,
                       "The tensor is const, or captured by a lambda that "
                       "cannot change it, or of another type than the "
                       "result."};
  Reason Copy{"copied-element", Effect::NoFix,
              "It is a loop variable that is a copy, or an element of a "
              "temporary list such as `net->parameters()`."};
  Reason Needed{"backward-needs-it", Effect::NoFix,
                "It is `detach`, and something back-propagates what has its "
                "history from this tensor alone: without it `backward()` "
                "throws."};
} DiscardedResult{};

/// A call whose result is dropped.
struct Discarded {
  const CallExpr *Call;
  torch::PureOp Op;
  llvm::StringRef Tensor; ///< What stays as it is, where it has a name.
  const Reason *Why;      ///< Why it is silent, or has no fix; or null.
};

/// Is \p Call std::get, a method of a standard container, or value() of an
/// element of LibTorch's dictionaries: its result is a part of what it is asked
/// of?
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

/// The same, and other operators that lead to a part of their object.
bool leadsToPart(const CallExpr *Call) {
  const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Call);
  return Operator ? llvm::is_contained({OO_Subscript, OO_Star, OO_Arrow},
                                       Operator->getOperator())
                  : isStdAccess(Call);
}

/// Does an argument of \p Outer make a tensor by anything but the listed
/// operators, factories and comparisons? A model that runs and whose result is
/// dropped is a warm-up or a measurement. Parameters, gradients, elements and
/// views of what there is are not made.
bool makesTensors(const CallExpr *Outer, flow::TensorWork &Amounts) {
  return llvm::any_of(Outer->arguments(), [&](const Expr *Arg) {
    return cpp::anyOf<CallExpr>(Arg, [&](const CallExpr *Call) {
      const torch::OpFacts *Facts = torch::opFacts(Call->getDirectCallee());
      return torch::mayHoldTensor(Call->getType()) && !isStdAccess(Call) &&
             !torch::asPureOp(Call) && !torch::containerOf(Call) &&
             (torch::runsFunctional(Call) ||
              Amounts.of(Call) != torch::Work::None) &&
             !(Facts && (Facts->Factory || Facts->neverDifferentiable()));
    });
  });
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

/// Is \p Call a part of an expression that uses its value? Asked first: most
/// are, and what stands around them all may be very deep.
bool isOperand(const Expr *Call, ASTContext &Context) {
  const Stmt *S = Call;
  do {
    const DynTypedNodeList Parents = Context.getParents(*S);
    S = Parents.size() == 1 ? Parents[0].get<Stmt>() : nullptr;
  } while (S && isWrapper(S));
  const auto *Comma = dyn_cast_or_null<BinaryOperator>(S);
  return isa_and_nonnull<Expr>(S) && !(Comma && Comma->getOpcode() == BO_Comma);
}

/// Where a discarded call stands.
class Place {
public:
  Place(const CallExpr *Call, const cpp::Body &In)
      : Discarded(wholeOf(Call, In)), In(In) {
    for (const Stmt *S = Discarded; S; S = In.parentOf(S))
      if (cpp::isLoop(S))
        Loops.push_back(S);
  }

  /// The whole expression whose value is dropped; null when it is used.
  const Expr *const Discarded;

  /// Code that runs an operator for the sake of running it: the only statement
  /// of a lambda or of a loop over something else, or one straight in a try
  /// block, which asks whether it throws.
  /// Not where the loop takes it to one tensor after the other.
  bool runsForItsOwnSake(const ValueDecl *Of, const Expr *Tensor) const {
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

  /// The loop whose variable, or a part of it, \p D is; null for others.
  const CXXForRangeStmt *loopOf(const ValueDecl *D) const {
    for (const Stmt *Loop : Loops)
      if (const auto *Range = dyn_cast<CXXForRangeStmt>(Loop);
          Range && isLoopVariable(D, Range))
        return Range;
    return nullptr;
  }

  /// A loop variable that names the elements of what stays.
  bool namesElements(const ValueDecl *D) const {
    const CXXForRangeStmt *Range = loopOf(D);
    return !Range || (Range->getLoopVariable()->getType()->isReferenceType() &&
                      isa<DeclRefExpr, MemberExpr>(
                          Range->getRangeInit()->IgnoreParenImpCasts()));
  }

  /// Is \p Var read again after the statement runs, as far as its text shows?
  bool isReadLater(const VarDecl *Var) const {
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

private:
  static const Expr *wholeOf(const Expr *E, const cpp::Body &In) {
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

  static bool isLoopVariable(const ValueDecl *D, const CXXForRangeStmt *Range) {
    return cpp::wholeOf(D) == Range->getLoopVariable();
  }

  const cpp::Body &In;
  llvm::SmallVector<const Stmt *, 4> Loops; ///< Innermost first.
};

/// Is it measured how long \p Call, in \p In, takes: does a function around a
/// lambda read a clock, or the function itself before and after \p Call?
bool isTimed(const CallExpr *Call, const cpp::Body &In) {
  for (const FunctionDecl *F = In.function(); F;
       F = dyn_cast_or_null<FunctionDecl>(F->getParentFunctionOrMethod()))
    if (F->hasBody() && textOf(F->getBody(), In.context()).ReadsClock &&
        (F != In.function() ||
         cpp::isTimed(Call, F->getBody(), In.context().getSourceManager())))
      return true;
  return false;
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

/// The variable or member at the root of \p E: `a` in a.b[i], std::get<0>(a)
/// and a.detach().cpu(). Null for `this` and for all that is computed.
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

/// Can \p E be written twice: a variable or a chain of members and constant
/// or plain subscripts, nothing computed?
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

/// Is all history of \p E that of \p D: is it computed from \p D, and from no
/// other tensor or module?
bool comesFromOnly(const Expr *E, const ValueDecl *D, cpp::Body &In,
                   unsigned Depth = 0) {
  bool Found = false;
  const bool Others = cpp::anyOf<Expr>(E, [&](const Expr *Part) {
    if (isa<CXXThisExpr>(Part))
      return true;
    const auto *Ref = dyn_cast<DeclRefExpr>(Part);
    if (!Ref || Ref->getType()->isFunctionType())
      return false;
    if (Ref->getDecl() == D) {
      Found = true;
      return false;
    }
    const auto *Var = dyn_cast<VarDecl>(Ref->getDecl());
    if (Var && Var->hasInit() && Depth < cpp::MaxChase && In.isSetOnce(Var) &&
        torch::mayHoldTensor(Var->getType())) {
      const bool Only = comesFromOnly(Var->getInit(), D, In, Depth + 1);
      Found |= Only;
      return !Only;
    }
    return torch::mayHoldTensor(Ref->getType()) ||
           torch::isModule(Ref->getType());
  });
  return Found && !Others;
}

Finding worded(const Discarded &Found) {
  Finding F =
      Finding::from(Found.Call)
          .says("no effect: the result of " + quoted(Found.Op.Name) +
                " is discarded; " +
                (Found.Tensor.empty() ? "the tensor" : quoted(Found.Tensor)) +
                " stays as it is");
  if (Found.Op.Kind == PureKind::Computes)
    F.because(DiscardedResult.Computes);
  return Found.Why ? F.because(*Found.Why)
                   : F.fix(fixits::assignTo(Found.Call, Found.Tensor));
}

/// docs/checks/libtorch-discarded-result.md says what it finds and why.
class DiscardedResultCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;
  void registerMatchers(MatchFinder *Finder) override {
    Finder->addMatcher(callExpr().bind("call"), this);
  }
  void checkMatch(const Match &Result) override {
    const auto *Call = Result.Nodes.getNodeAs<CallExpr>("call");
    if (isOperand(Call, *Result.Context))
      return;
    // Code for tensors and modules alike may call to(device) as a statement:
    // all that a template is made for must be known first.
    const cpp::Body *In = cpp::Body::around(Call, *Result.Context);
    const bool IsMade = In && In->isInstantiated();
    if (auto Found = decide(Call, *Result.Context)) {
      if (!IsMade)
        return report(worded(*Found));
      if (!Found->Why || Found->Why->Does != Effect::Silent)
        Found->Why = &DiscardedResult.InTemplate;
      Made.push_back(*Found);
    } else if (IsMade && isa<CXXMemberCallExpr>(Call) &&
               !torch::asPureOp(Call)) {
      Others.insert(Call->getExprLoc());
    }
  }
  void checkMatched() override {
    for (Discarded &Found : Made) {
      if (Others.contains(Found.Call->getExprLoc()))
        Found.Why = &DiscardedResult.ModuleToo;
      report(worded(Found));
    }
  }

private:
  std::optional<Discarded> decide(const CallExpr *Call, ASTContext &Context) {
    auto Op = torch::asPureOp(Call);
    // What a macro makes of its argument is not seen here: EXPECT_THROW.
    if (!Op || Call->Stmt::getBeginLoc().isMacroID())
      return std::nullopt;
    cpp::Body *In = cpp::Body::around(Call, Context);
    if (!In)
      return std::nullopt;
    const Place Where(Call, *In);
    bool IsPart = false;
    const ValueDecl *Root = rootOf(Op->Tensor, IsPart, unit().work());
    if (!Where.Discarded || In->function()->isImplicit() ||
        isa_and_nonnull<FunctionDecl>(Root))
      return std::nullopt;
    // A tensor that is never read again was sent somewhere to wait for it, or
    // to see that the device works.
    const auto *Var = dyn_cast_or_null<VarDecl>(Root);
    const bool IsOwn = !IsPart && In->isOwn(Var) && !Where.loopOf(Var);
    const bool ReadLater = !IsOwn || Where.isReadLater(Var);
    Discarded Found = {Call, *Op, "", nullptr};
    if (!Root || makesTensors(Call, unit().work()))
      Found.Why = &DiscardedResult.Computed;
    else if (Where.runsForItsOwnSake(Root, Op->Tensor))
      Found.Why = &DiscardedResult.OwnSake;
    else if (Op->Kind != PureKind::Detach && isTimed(Call, *In))
      Found.Why = &DiscardedResult.Timed;
    else if (Op->Kind == PureKind::Converts && !ReadLater)
      Found.Why = &DiscardedResult.Sent;
    if (Found.Why)
      return Found;

    // In x.detach().cpu() it is x that stays as it is.
    const Expr *Tensor = Call;
    while (const auto *Inner =
               dyn_cast_or_null<CallExpr>(cpp::stripImplicit(Tensor))) {
      auto InnerOp = torch::asPureOp(Inner);
      if (!InnerOp)
        break;
      // On a device, x would meet tensors that are still on the CPU.
      if (torch::asDeviceMove(Inner))
        Found.Why = &DiscardedResult.Moves;
      else if (InnerOp->Kind != PureKind::Detach &&
               InnerOp->Kind != PureKind::Converts)
        Found.Why = &DiscardedResult.Fills;
      Tensor = InnerOp->Tensor;
    }
    Tensor = Tensor->IgnoreParenImpCasts();
    if (isRepeatable(Tensor))
      Found.Tensor = fixits::sourceText(Tensor->getSourceRange(), Context);
    const CXXRecordDecl *Type = cpp::recordOf(Tensor->getType());
    if (Found.Why)
      return Found;
    if (!ReadLater)
      Found.Why = &DiscardedResult.NotRead;
    else if (Found.Tensor.empty())
      Found.Why = &DiscardedResult.Twice;
    else if (!Tensor->isLValue() || Tensor->getType().isConstQualified() ||
             !Type || Type != cpp::recordOf(Call->getType()))
      Found.Why = &DiscardedResult.NotAssignable;
    else if (!Where.namesElements(Root))
      Found.Why = &DiscardedResult.Copy;
    else if (Op->Kind == PureKind::Detach && isBackPropagated(Root, Call, *In))
      Found.Why = &DiscardedResult.Needed;
    return Found;
  }

  llvm::SmallVector<Discarded, 4> Made; ///< In what is made of templates.
  /// Where those have another call that is a statement.
  llvm::DenseSet<SourceLocation> Others;

  /// Does something in the function back-propagate what has its history from
  /// \p D alone, as it is at \p Detach? Without that it throws.
  bool isBackPropagated(const ValueDecl *D, const CallExpr *Detach,
                        cpp::Body &In) {
    const flow::FunctionFlow *Flow = unit().flowOf(In.function());
    if (!Flow || !Flow->available())
      return false;
    const Stmt *Loop = In.loopAround(Detach);
    if (llvm::any_of(In.writesTo(D), [&](const cpp::Write &W) {
          return W.Kind == cpp::WriteKind::Assigned &&
                 (cpp::comesBefore(Detach, W.Where,
                                   In.context().getSourceManager()) ||
                  (Loop && In.isWithin(W.Where, Loop)));
        }))
      return false; // It gets history again.
    auto ComesFromIt = [&](const Expr *E) { return comesFromOnly(E, D, In); };
    return llvm::any_of(Flow->trainingSites(), [&](const Expr *Training) {
      const auto *Call = dyn_cast<CallExpr>(Training);
      const Expr *Object = Call ? cpp::receiverOf(Call) : nullptr;
      return Call && ((Object && ComesFromIt(Object)) ||
                      llvm::any_of(Call->arguments(), ComesFromIt));
    });
  }
};

} // namespace

LIBTORCH_CHECK(DiscardedResultCheck, DiscardedResult);

} // namespace libtorch_tidy
