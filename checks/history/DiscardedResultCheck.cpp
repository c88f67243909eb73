//===- DiscardedResultCheck.cpp -------------------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/cpp/Body.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Text.h"
#include "analysis/cpp/Types.h"
#include "analysis/torch/api/Effects.h"
#include "analysis/torch/api/Factories.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/modules/Modules.h"
#include "checks/base/LibtorchCheck.h"
#include "fixits/FixIts.h"
#include "clang/AST/ASTContext.h"

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
  Reason Timed{"timed-code", Effect::Silent,
               "It is not `detach`, and the function reads a clock: a "
               "benchmark."};
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
  llvm::StringRef Tensor;    ///< What stays as it is, where it has a name.
  const Reason *WhyNotFixed; ///< Null where the fix is safe.
};

/// Is \p Call std::get, a method of a standard container, or value() of an
/// element of LibTorch's dictionaries: its result is a part of what it is asked
/// of?
bool isStdAccess(const CallExpr *Call) {
  const FunctionDecl *Callee = Call->getDirectCallee();
  const IdentifierInfo *Id = Callee ? Callee->getIdentifier() : nullptr;
  if (torch::isTorchDecl(Callee))
    return isa<CXXMethodDecl>(Callee) && Id && Id->isStr("value");
  if (!Callee || !cpp::isStdDecl(Callee))
    return false;
  return !Id || Id->isStr("get") || Id->isStr("at") || Id->isStr("front") ||
         Id->isStr("back") || Id->isStr("value") || Id->isStr("size");
}

/// Does an argument of \p Outer make a tensor by anything but the listed
/// operators, factories and comparisons? A model that runs and whose result is
/// dropped is a warm-up or a measurement.
bool makesTensors(const CallExpr *Outer) {
  return llvm::any_of(Outer->arguments(), [](const Expr *Arg) {
    return cpp::anyOf<CallExpr>(Arg, [](const CallExpr *Call) {
      const torch::OpFacts *Facts = torch::opFacts(Call->getDirectCallee());
      return torch::mayHoldTensor(Call->getType()) && !isStdAccess(Call) &&
             !torch::asPureOp(Call) &&
             !(Facts && (Facts->Factory || Facts->neverDifferentiable()));
    });
  });
}

/// What a body holds, read once for all calls in it.
struct BodyText {
  explicit BodyText(const Stmt *Body) : ReadsClock(cpp::readsClock(Body)) {
    cpp::forEach<DeclRefExpr>(Body, [&](const DeclRefExpr *Ref) {
      Uses[Ref->getDecl()].push_back(Ref);
    });
    cpp::forEach<LambdaExpr>(Body, [&](const LambdaExpr *Lambda) {
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

/// By root.
using BodyTexts = std::map<const Stmt *, BodyText>;

/// docs/checks/libtorch-discarded-result.md says what it finds and why.
class DiscardedResultCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;
  void registerMatchers(MatchFinder *Finder) override;
  void checkMatch(const Match &Result) override;

private:
  std::optional<Discarded> decide(const CallExpr *Call, ASTContext &Context);
  bool isBackPropagated(const ValueDecl *D, const CallExpr *Detach,
                        cpp::Body &In);

  BodyTexts Known;
};

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
  Place(const CallExpr *Call, const cpp::Body &In, BodyTexts &Known)
      : Call(Call), In(In), Known(Known),
        All(Known.try_emplace(In.root(), In.root()).first->second),
        SM(In.context().getSourceManager()), Discarded(climb()) {
    for (const Stmt *S = Discarded; S; S = In.parentOf(S))
      if (cpp::isLoop(S))
        Loops.push_back(S);
  }

  bool isDiscarded() const { return Discarded; }

  /// Code that runs an operator for the sake of running it: the only statement
  /// of a lambda or of a loop over something else, or one straight in a try
  /// block, which asks whether it throws.
  bool runsForItsOwnSake(const ValueDecl *Of) const {
    const Stmt *S = Discarded;
    const Stmt *Block = parent<CompoundStmt>(S);
    const Stmt *Around = Block ? Block : S;
    if (Block && parent<CXXTryStmt>(Block))
      return true;
    if (Block && cast<CompoundStmt>(Block)->size() != 1)
      return false;
    if (Block && Block == In.root())
      return isLambda();
    if (Loops.empty() || In.parentOf(Around) != Loops.front())
      return false;
    if (const auto *For = dyn_cast<ForStmt>(Loops.front());
        For && For->getBody() != Around)
      return false;
    const auto *Range = dyn_cast<CXXForRangeStmt>(Loops.front());
    return !Of || !Range || !isLoopVariable(Of, Range);
  }

  /// Does the function read a clock, or one around the lambda that it is?
  bool inTimedCode() const {
    for (const FunctionDecl *F = In.function(); F;
         F = dyn_cast_or_null<FunctionDecl>(F->getParentFunctionOrMethod()))
      if (F->hasBody() && Known.try_emplace(F->getBody(), F->getBody())
                              .first->second.ReadsClock)
        return true;
    return false;
  }

  bool isAnyLoopVariable(const ValueDecl *D) const { return loopOf(D); }

  /// A loop variable that names the elements of what stays.
  bool namesElements(const ValueDecl *D) const {
    const CXXForRangeStmt *Range = loopOf(D);
    if (!Range)
      return true;
    const Expr *Of = Range->getRangeInit()->IgnoreParenImpCasts();
    return Range->getLoopVariable()->getType()->isReferenceType() &&
           isa<DeclRefExpr, MemberExpr>(Of);
  }

  /// Is \p Var read again after the statement runs, as far as its text shows?
  bool isReadLater(const VarDecl *Var) const {
    const Stmt *Loop = nullptr;
    for (const Stmt *Around : Loops)
      if (!cpp::isWithin(Var->getLocation(), Around, SM))
        Loop = Around;
    auto Uses = All.Uses.find(Var);
    // The last one is the most likely to come later.
    return All.Captured.contains(Var) ||
           (Uses != All.Uses.end() &&
            llvm::any_of(llvm::reverse(Uses->second),
                         [&](const DeclRefExpr *Ref) {
                           return !In.isWithin(Ref, Discarded) &&
                                  (cpp::comesBefore(Discarded, Ref, SM) ||
                                   (Loop && In.isWithin(Ref, Loop)));
                         }));
  }

  const FunctionDecl *function() const { return In.function(); }

private:
  template <typename T> const T *parent(const Stmt *S) const {
    return dyn_cast_or_null<T>(In.parentOf(S));
  }

  /// The whole expression whose value is dropped; null when it is used.
  const Expr *climb() const {
    const Expr *E = Call;
    while (const Stmt *Up = In.parentOf(E)) {
      if (isWrapper(Up)) {
        E = cast<Expr>(Up);
        continue;
      }
      if (const auto *Comma = dyn_cast<BinaryOperator>(Up);
          Comma && Comma->getOpcode() == BO_Comma) {
        if (Comma->getLHS() == E)
          return E;
        E = Comma;
        continue;
      }
      if (const auto *Block = dyn_cast<CompoundStmt>(Up))
        // The last expression of a GNU statement expression is its value.
        return Block->body_back() == E && parent<StmtExpr>(Block) ? nullptr : E;
      if (const auto *If = dyn_cast<IfStmt>(Up))
        return If->getThen() == E || If->getElse() == E ? E : nullptr;
      if (const auto *For = dyn_cast<ForStmt>(Up))
        return For->getCond() == E ? nullptr : E;
      if (const auto *Range = dyn_cast<CXXForRangeStmt>(Up))
        return Range->getBody() == E ? E : nullptr;
      if (const auto *While = dyn_cast<WhileStmt>(Up))
        return While->getBody() == E ? E : nullptr;
      if (const auto *Do = dyn_cast<DoStmt>(Up))
        return Do->getBody() == E ? E : nullptr;
      if (const auto *Case = dyn_cast<SwitchCase>(Up))
        return Case->getSubStmt() == E ? E : nullptr;
      return isa<LabelStmt>(Up) ? E : nullptr;
    }
    return nullptr;
  }

  bool isLambda() const {
    const auto *Method = dyn_cast<CXXMethodDecl>(In.function());
    return Method && Method->getParent()->isLambda();
  }

  static bool isLoopVariable(const ValueDecl *D, const CXXForRangeStmt *Range) {
    return cpp::wholeOf(D) == Range->getLoopVariable();
  }
  const CXXForRangeStmt *loopOf(const ValueDecl *D) const {
    for (const Stmt *Loop : Loops)
      if (const auto *Range = dyn_cast<CXXForRangeStmt>(Loop);
          Range && isLoopVariable(D, Range))
        return Range;
    return nullptr;
  }

  const CallExpr *Call;
  const cpp::Body &In;
  BodyTexts &Known;
  const BodyText &All;
  const SourceManager &SM;
  const Expr *Discarded;
  llvm::SmallVector<const Stmt *, 4> Loops; ///< Innermost first.
};

/// The variable or member at the root of \p E: `a` in a.b[i], std::get<0>(a)
/// and a.detach().cpu(). Null for `this` and for all that is computed.
const ValueDecl *rootOf(const Expr *E, bool &IsMember) {
  while ((E = cpp::stripImplicit(E))) {
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
      return Ref->getDecl();
    if (const auto *Member = dyn_cast<MemberExpr>(E)) {
      IsMember = true;
      if (isa<CXXThisExpr>(Member->getBase()->IgnoreParenImpCasts()))
        return Member->getMemberDecl();
      E = Member->getBase();
    } else if (const auto *Subscript = dyn_cast<ArraySubscriptExpr>(E)) {
      IsMember = true;
      E = Subscript->getBase();
    } else if (const auto *Unary = dyn_cast<UnaryOperator>(E);
               Unary && Unary->getOpcode() == UO_Deref) {
      IsMember = true;
      E = Unary->getSubExpr();
    } else if (const auto *Call = dyn_cast<CallExpr>(E)) {
      if (auto Op = torch::asPureOp(Call)) {
        E = Op->Tensor;
        continue;
      }
      const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Call);
      bool Part = Operator ? Operator->getOperator() == OO_Subscript ||
                                 Operator->getOperator() == OO_Star ||
                                 Operator->getOperator() == OO_Arrow
                           : isStdAccess(Call);
      if (!Part)
        return nullptr;
      IsMember = true;
      const auto *Method = dyn_cast<CXXMemberCallExpr>(Call);
      if (!Method && Call->getNumArgs() == 0)
        return nullptr;
      E = Method ? Method->getImplicitObjectArgument() : Call->getArg(0);
    } else {
      return nullptr;
    }
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

} // namespace

/// Does something in the function back-propagate what has its history from
/// \p D alone, as it is at \p Detach? Without that it throws.
bool DiscardedResultCheck::isBackPropagated(const ValueDecl *D,
                                            const CallExpr *Detach,
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

void DiscardedResultCheck::registerMatchers(MatchFinder *Finder) {
  Finder->addMatcher(callExpr().bind("call"), this);
}

std::optional<Discarded> DiscardedResultCheck::decide(const CallExpr *Call,
                                                      ASTContext &Context) {
  auto Op = torch::asPureOp(Call);
  // What a macro makes of its argument is not seen here: EXPECT_THROW.
  if (!Op || Call->Stmt::getBeginLoc().isMacroID() || isOperand(Call, Context))
    return std::nullopt;
  // In a template only what does not depend on its arguments is sure: code
  // for tensors and modules alike may call to(device) as a statement.
  cpp::Body *In = cpp::Body::around(Call, Context);
  if (!In || In->isInstantiated())
    return std::nullopt;
  Place Where(Call, *In, Known);
  bool IsPart = false;
  const ValueDecl *Root = rootOf(Op->Tensor, IsPart);
  if (!Where.isDiscarded() || Where.function()->isImplicit() ||
      isa_and_nonnull<FunctionDecl>(Root))
    return std::nullopt;
  // A tensor that is never read again was sent somewhere to wait for it, or
  // to see that the device works.
  const auto *Var = dyn_cast_or_null<VarDecl>(Root);
  const bool IsOwn = !IsPart && In->isOwn(Var) && !Where.isAnyLoopVariable(Var);
  const bool ReadLater = !IsOwn || Where.isReadLater(Var);
  const Reason *Silence = nullptr;
  if (!Root || makesTensors(Call))
    Silence = &DiscardedResult.Computed;
  else if (Where.runsForItsOwnSake(Root))
    Silence = &DiscardedResult.OwnSake;
  else if (Op->Kind != PureKind::Detach && Where.inTimedCode())
    Silence = &DiscardedResult.Timed;
  else if (Op->Kind == PureKind::Converts && !ReadLater)
    Silence = &DiscardedResult.Sent;
  if (Silence) {
    silent(Call->Stmt::getBeginLoc(), *Silence);
    return std::nullopt;
  }

  // In x.detach().cpu() it is x that stays as it is.
  Discarded Found = {Call, *Op, "", nullptr};
  const Expr *Tensor = Call;
  while (const auto *Inner =
             dyn_cast_or_null<CallExpr>(cpp::stripImplicit(Tensor))) {
    auto InnerOp = torch::asPureOp(Inner);
    if (!InnerOp)
      break;
    // On a device, x would meet tensors that are still on the CPU.
    if (torch::asDeviceMove(Inner))
      Found.WhyNotFixed = &DiscardedResult.Moves;
    else if (InnerOp->Kind != PureKind::Detach &&
             InnerOp->Kind != PureKind::Converts)
      Found.WhyNotFixed = &DiscardedResult.Fills;
    Tensor = InnerOp->Tensor;
  }
  Tensor = Tensor->IgnoreParenImpCasts();
  if (isRepeatable(Tensor))
    Found.Tensor = fixits::sourceText(Tensor->getSourceRange(), Context);
  const CXXRecordDecl *Type = cpp::recordOf(Tensor->getType());
  if (Found.WhyNotFixed)
    return Found;
  if (!ReadLater)
    Found.WhyNotFixed = &DiscardedResult.NotRead;
  else if (Found.Tensor.empty())
    Found.WhyNotFixed = &DiscardedResult.Twice;
  else if (!Tensor->isLValue() || Tensor->getType().isConstQualified() ||
           !Type || Type != cpp::recordOf(Call->getType()))
    Found.WhyNotFixed = &DiscardedResult.NotAssignable;
  else if (!Where.namesElements(Root))
    Found.WhyNotFixed = &DiscardedResult.Copy;
  else if (Op->Kind == PureKind::Detach && isBackPropagated(Root, Call, *In))
    Found.WhyNotFixed = &DiscardedResult.Needed;
  return Found;
}

static Finding worded(const Discarded &Found) {
  Finding F =
      Finding::at(Found.Call->Stmt::getBeginLoc(), Found.Call->getSourceRange())
          .says("the result of " + quoted(Found.Op.Name) + " is discarded; " +
                (Found.Tensor.empty() ? "the tensor" : quoted(Found.Tensor)) +
                " stays as it is");
  if (Found.Op.Kind == PureKind::Computes)
    F.because(DiscardedResult.Computes);
  if (Found.WhyNotFixed)
    return F.because(*Found.WhyNotFixed);
  return F.fix(fixits::assignTo(Found.Call, Found.Tensor));
}

void DiscardedResultCheck::checkMatch(const Match &Result) {
  if (auto Found =
          decide(Result.Nodes.getNodeAs<CallExpr>("call"), *Result.Context))
    report(worded(*Found));
}

LIBTORCH_CHECK(DiscardedResultCheck, DiscardedResult);

} // namespace libtorch_tidy
