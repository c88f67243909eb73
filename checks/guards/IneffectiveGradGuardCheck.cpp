//===- IneffectiveGradGuardCheck.cpp --------------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/cpp/Body.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Text.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/Walk.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Autograd.h"
#include "analysis/torch/autograd/GradGuards.h"
#include "checks/guards/Arbiter.h"
#include "checks/guards/UnreachedThreads.h"
#include "fixits/FixIts.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/ParentMapContext.h"
#include "clang/AST/StmtOpenMP.h"
#include "clang/ASTMatchers/ASTMatchFinder.h"
#include "llvm/ADT/StringSet.h"

using namespace clang;
using namespace clang::ast_matchers;

namespace libtorch_tidy {

namespace {

/// A whole statement, and the block or branch it is.
struct StatementPlace {
  const Stmt *Statement = nullptr;
  DynTypedNode Parent;
  /// The block, if it is in one; null for the branch of an `if` and the like.
  const CompoundStmt *Block = nullptr;

  /// Is it the last thing its block does?
  bool isLast() const { return !Block || Block->body_back() == Statement; }
};

/// docs/checks/libtorch-ineffective-grad-guard.md says what it finds and why.
class IneffectiveGradGuardCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;
  void registerMatchers(MatchFinder *Finder) override;
  void checkMatch(const Match &Result) override;

private:
  /// Calls \p Check with what is bound to \p Id, if it is not handed to a
  /// macro.
  template <typename Node>
  void ask(const Match &Result, StringRef Id,
           void (IneffectiveGradGuardCheck::*Check)(const Node *,
                                                    ASTContext &)) {
    const auto *N = Result.Nodes.getNodeAs<Node>(Id);
    if (N && !cpp::isMacroArgument(N->getBeginLoc(), *Result.SourceManager))
      (this->*Check)(N, *Result.Context);
  }
  const Reason *whyNotGuarded(const StatementPlace &P, ASTContext &Context);
  void checkUnnamed(const CXXConstructExpr *Guard, ASTContext &Context);
  void checkVexingParse(const FunctionDecl *F, ASTContext &Context);
  void checkVariable(const VarDecl *Guard, ASTContext &Context);
  void checkStatic(const VarDecl *Guard, const StatementPlace &P,
                   ASTContext &Context);
  template <typename Node>
  void checkThreads(const Node *Start, ASTContext &Context) {
    if (isWhole())
      if (std::optional<Finding> F = unreachedThread(Start, Context))
        report(std::move(*F));
  }
  std::string nameFor(QualType T, const FunctionDecl *In);

  /// Names that fixes have given by function, as one function may need several.
  llvm::DenseMap<SourceLocation, llvm::StringSet<>> Given;
  /// Unnamed guards that have been looked at.
  llvm::DenseSet<SourceLocation> Seen;
};

/// The argument of a template may be any class, so its use says nothing.
AST_MATCHER(CXXConstructExpr, makesGuard) {
  return torch::isGuardType(Node.getType()) &&
         !Node.getType()->getAs<SubstTemplateTypeParmType>();
}
AST_MATCHER(FunctionDecl, returnsGuard) {
  return Node.isLocalExternDecl() && torch::isGuardType(Node.getReturnType()) &&
         !Node.getReturnType()->isReferenceType();
}
AST_MATCHER(VarDecl, holdsGuard) {
  return Node.isLocalVarDecl() && !Node.getType()->isReferenceType() &&
         torch::isGuardType(Node.getType());
}

AST_MATCHER(Expr, mayStartThread) {
  if (const auto *Construct = dyn_cast<CXXConstructExpr>(&Node))
    return Construct->getNumArgs() > 0 &&
           Construct->getConstructor()->getParent()->isInStdNamespace();
  llvm::StringRef Name = cpp::calleeName(cast<CallExpr>(&Node));
  return Name == "async" || Name == "emplace_back" || Name == "parallel_for";
}

/// A template's pattern and instantiations may share what does not depend on
/// them. Each parent is the same place then.
template <typename Node> const Stmt *parentStmt(const Node &N, ASTContext &C) {
  DynTypedNodeList Parents = C.getParents(N);
  return Parents.empty() ? nullptr : Parents[0].template get<Stmt>();
}

/// Where \p S stands as a statement of its own; nullopt where it does not.
std::optional<StatementPlace> placeOf(const Stmt *S, ASTContext &Context) {
  DynTypedNodeList Parents = Context.getParents(*S);
  if (Parents.empty())
    return std::nullopt;
  StatementPlace P{S, Parents[0], Parents[0].get<CompoundStmt>()};
  if (P.Block) {
    // The value of a statement expression.
    if (P.isLast() && isa_and_nonnull<StmtExpr>(parentStmt(*P.Block, Context)))
      return std::nullopt;
    return P;
  }
  if (const auto *If = Parents[0].get<IfStmt>();
      If && (If->getThen() == S || If->getElse() == S))
    return P;
  if (const auto *Case = Parents[0].get<SwitchCase>();
      Case && Case->getSubStmt() == S)
    return P;
  if (Parents[0].get<LabelStmt>())
    return P;
  return std::nullopt;
}

/// The function or lambda around \p S that has the body it is in.
const FunctionDecl *functionAround(const Stmt *S, ASTContext &Context) {
  const cpp::Body *In = cpp::Body::around(S, Context);
  return In ? In->function() : nullptr;
}

bool isLoopBody(const CompoundStmt *Block, ASTContext &Context) {
  const Stmt *Parent = parentStmt(*Block, Context);
  return cpp::isLoop(Parent);
}

/// Is gradient mode nothing to \p Part: does it call no code but the standard
/// library's, to print, to read a string or to reach an element, or the C
/// library's, and only copy, make values of LibTorch that are plain data, like
/// a Device, or say that a tensor wants no gradient?
bool isIndifferent(const Stmt *Part) {
  if (isa<LambdaExpr, CXXNewExpr, CXXDeleteExpr, GotoStmt, LabelStmt,
          CoroutineSuspendExpr, OMPExecutableDirective>(Part))
    return false;
  if (const auto *Made = dyn_cast<CXXConstructExpr>(Part))
    return Made->getConstructor()->isCopyOrMoveConstructor() ||
           cpp::isStdClass(Made->getType(), {"basic_string", "allocator"}) ||
           (torch::isTorchDecl(Made->getConstructor()) &&
            Made->getType().isTriviallyCopyableType(
                Made->getConstructor()->getASTContext()));
  const auto *Call = dyn_cast<CallExpr>(Part);
  if (!Call)
    return true;
  const FunctionDecl *Callee = Call->getDirectCallee();
  if (!Callee)
    return false;
  if (Callee->getBuiltinID() ||
      torch::setsRequiresGrad(Call) == torch::Flag::False)
    return true;
  if (const auto *Method = dyn_cast<CXXMethodDecl>(Callee))
    return Method->isTrivial() ||
           (cpp::isStdDecl(Method) &&
            (Method->getOverloadedOperator() == OO_Subscript ||
             cpp::does(Call, cpp::Std::Access))) ||
           cpp::isStdClass(Method->getParent(),
                           {"basic_string", "basic_ostream"});
  return Callee->getOverloadedOperator() == OO_LessLess &&
         Callee->isInStdNamespace();
}

/// Does its block end before anything runs that guard \p Guard, declared by
/// \p P, could reach?
bool endsUnused(const VarDecl *Guard, const StatementPlace &P) {
  bool After = false;
  for (const Stmt *S : P.Block->body()) {
    // A macro may be more than it is in this build.
    if (After &&
        (isa<NullStmt>(S) || S->getBeginLoc().isMacroID() ||
         cpp::mentions(S, Guard) ||
         cpp::anyOf<Stmt>(S, [](const Stmt *E) { return !isIndifferent(E); })))
      return false;
    After |= S == P.Statement;
  }
  return true;
}

std::string typeName(QualType T) {
  const CXXRecordDecl *R = T->getAsCXXRecordDecl();
  return R ? R->getName().str() : std::string("guard");
}

} // namespace

/// Why a guard cannot begin to live at \p P, so that all after it runs guarded
/// and may; null if it can. Jumps may not pass its initialisation, and it may
/// not come before what back-propagates, or makes what is back-propagated.
const Reason *IneffectiveGradGuardCheck::whyNotGuarded(const StatementPlace &P,
                                                       ASTContext &Context) {
  if (P.isLast())
    return &IneffectiveGradGuard.Last;
  if (isa_and_nonnull<SwitchStmt>(parentStmt(*P.Block, Context)))
    return &IneffectiveGradGuard.Jump;
  const FunctionDecl *In = functionAround(P.Block, Context);
  const flow::FunctionFlow *Flow = In ? unit().flowOf(In) : nullptr;
  const auto *At = llvm::find(P.Block->body(), P.Statement);
  for (const Stmt *S : llvm::make_range(std::next(At), P.Block->body_end())) {
    if (cpp::anyOf<LabelStmt>(S, [](const LabelStmt *) { return true; }))
      return &IneffectiveGradGuard.Jump;
    if (cpp::anyOf<CallExpr>(S, torch::isBackward) ||
        (Flow && Flow->available() && flow::isSeenToTrain(S, *Flow, unit())))
      return &IneffectiveGradGuard.BlockTrains;
  }
  return nullptr;
}

void IneffectiveGradGuardCheck::registerMatchers(MatchFinder *Finder) {
  Finder->addMatcher(cxxConstructExpr(makesGuard()).bind("made"), this);
  // The pattern of a template says what is written.
  Finder->addMatcher(
      functionDecl(returnsGuard(), unless(isInstantiated())).bind("function"),
      this);
  Finder->addMatcher(
      varDecl(holdsGuard(), unless(isInstantiated())).bind("variable"), this);
  Finder->addMatcher(cxxConstructExpr(mayStartThread()).bind("thread"), this);
  Finder->addMatcher(callExpr(mayStartThread()).bind("thread"), this);
  Finder->addMatcher(ompExecutableDirective().bind("region"), this);
}

void IneffectiveGradGuardCheck::checkMatch(const Match &Result) {
  ask(Result, "made", &IneffectiveGradGuardCheck::checkUnnamed);
  ask(Result, "thread", &IneffectiveGradGuardCheck::checkThreads<Expr>);
  ask(Result, "region",
      &IneffectiveGradGuardCheck::checkThreads<OMPExecutableDirective>);
  ask(Result, "function", &IneffectiveGradGuardCheck::checkVexingParse);
  ask(Result, "variable", &IneffectiveGradGuardCheck::checkVariable);
}

std::string IneffectiveGradGuardCheck::nameFor(QualType T,
                                               const FunctionDecl *In) {
  // Not `no_grad`: the fix of libtorch-inference-without-no-grad may add a
  // guard of that name in the same run.
  std::string Wish = typeName(T) == "NoGradGuard" ? "no_grad_guard" : "guard";
  llvm::StringSet<> &Taken = Given[In->getLocation()];
  for (const ParmVarDecl *Parameter : In->parameters())
    Taken.insert(Parameter->getName());
  std::string Name = fixits::freeName(Wish, In->getBody());
  for (unsigned N = 2; !Taken.insert(Name).second; ++N)
    Name = fixits::freeName(Wish + std::to_string(N), In->getBody());
  return Name;
}

/// Does an object that \p Guard makes switch gradients off while it lives?
static bool switchesOff(const CXXConstructExpr *Guard, ASTContext &Context) {
  std::optional<bool> Enabled;
  bool Value = false;
  if (Guard->getNumArgs() == 1 && !Guard->getArg(0)->isValueDependent() &&
      Guard->getArg(0)->EvaluateAsBooleanCondition(Value, Context))
    Enabled = Value;
  return torch::gradientsUnder(Guard->getType()->getAsCXXRecordDecl(),
                               Enabled) == false;
}

void IneffectiveGradGuardCheck::checkUnnamed(const CXXConstructExpr *Guard,
                                             ASTContext &Context) {
  if (!Seen.insert(Guard->getBeginLoc()).second)
    return;
  const Stmt *Whole = Guard;
  const Expr *Written = Guard; // Without what the compiler adds.
  bool IsPlain = true;
  while (true) {
    const Stmt *Parent = parentStmt(*Whole, Context);
    if (isa_and_nonnull<CXXFunctionalCastExpr>(Parent))
      Written = cast<Expr>(Parent);
    else if (isa_and_nonnull<ParenExpr, CStyleCastExpr>(Parent))
      IsPlain = false; // `(void)torch::NoGradGuard();`
    else if (!isa_and_nonnull<ExprWithCleanups, CXXBindTemporaryExpr,
                              MaterializeTemporaryExpr, ImplicitCastExpr,
                              ConstantExpr>(Parent))
      break;
    Whole = Parent;
  }
  std::optional<StatementPlace> P = placeOf(Whole, Context);
  if (!P)
    return;
  // A loop around nothing else measures it.
  if (P->Block && P->Block->size() == 1 && isLoopBody(P->Block, Context))
    return silent(Guard->getBeginLoc(), IneffectiveGradGuard.Measured);
  Finding F = Finding::at(Guard->getBeginLoc(), Written->getSourceRange())
                  .says("this " + typeName(Guard->getType()) +
                        " has no name, so it ends with its own statement and "
                        "guards nothing");
  const FunctionDecl *In = functionAround(Whole, Context);
  if (!IsPlain) {
    F.because(IneffectiveGradGuard.Wrapped);
  } else if (In && In->hasBody() && !Written->getBeginLoc().isMacroID()) {
    if (const Reason *Why = whyNotGuarded(*P, Context)) {
      F.because(*Why);
    } else {
      F.fix(fixits::nameTemporary(Written, nameFor(Guard->getType(), In),
                                  Context));
      if (F.Fix.empty())
        F.because(IneffectiveGradGuard.Again);
      if (switchesOff(Guard, Context))
        Arbiter::of(Context).guard(P->Block, P->Statement);
    }
  }
  report(F);
}

/// What `bool()` declares as a parameter: an argument was meant.
static bool isFunctionWithoutName(const ParmVarDecl *Param) {
  return !Param->getIdentifier() && Param->getType()->isFunctionPointerType() &&
         isa<DecayedType>(Param->getType());
}

/// Where \p D stands as a declaration of its own; nullopt where it does not.
static std::optional<StatementPlace> placeOfDecl(const Decl *D,
                                                 ASTContext &Context) {
  DynTypedNodeList Parents = Context.getParents(*D);
  const auto *Statement =
      Parents.size() == 1 ? Parents[0].get<DeclStmt>() : nullptr;
  return Statement ? placeOf(Statement, Context) : std::nullopt;
}

void IneffectiveGradGuardCheck::checkVexingParse(const FunctionDecl *Function,
                                                 ASTContext &Context) {
  if (!llvm::all_of(Function->parameters(), isFunctionWithoutName) ||
      Function->getStorageClass() != SC_None)
    return;
  std::optional<StatementPlace> P = placeOfDecl(Function, Context);
  if (!P)
    return;
  // A function that is used is meant as one.
  if (Function->isReferenced() || Function->getPreviousDecl() ||
      Function->isDefined())
    return silent(Function->getLocation(), IneffectiveGradGuard.FunctionUsed);
  Finding F =
      Finding::at(Function->getLocation(), Function->getSourceRange())
          .says(quoted(Function) + " declares a function with return type " +
                typeName(Function->getReturnType()) +
                ", not a guard, and guards nothing");
  const CXXRecordDecl *R = Function->getReturnType()->getAsCXXRecordDecl();
  const Reason *Why = Function->param_empty() && R->hasDefaultConstructor()
                          ? whyNotGuarded(*P, Context)
                          : &IneffectiveGradGuard.Again;
  if (Why) {
    F.because(*Why);
  } else {
    F.fix(fixits::dropParentheses(Function, Context));
    if (torch::gradientsUnder(R, std::nullopt) == false)
      Arbiter::of(Context).guard(P->Block, P->Statement);
  }
  report(F);
}

void IneffectiveGradGuardCheck::checkStatic(const VarDecl *Guard,
                                            const StatementPlace &P,
                                            ASTContext &Context) {
  const FunctionDecl *In = functionAround(P.Statement, Context);
  // For all of main, or as the last thing a function does: then what lasts
  // is what is wanted.
  if (!In || In->isMain() || P.isLast())
    return silent(Guard->getLocation(), IneffectiveGradGuard.Lasts);
  Finding F = Finding::at(Guard->getLocation(), P.Statement->getSourceRange());
  if (Guard->getTSCSpec() != TSCS_unspecified)
    return report(
        F.because(IneffectiveGradGuard.ThreadLocal)
            .says("thread_local guard " + quoted(Guard) +
                  " ends with its thread, not with this function: gradient "
                  "mode stays switched for the rest of each thread that comes "
                  "here"));
  F.says("static guard " + quoted(Guard) +
         " is made once and never ends: gradient mode stays switched for the "
         "rest of the first thread that comes here, and no other thread is "
         "guarded");
  if (const Reason *Why = whyNotGuarded(P, Context))
    F.because(*Why);
  else
    F.fix(fixits::dropStatic(cast<DeclStmt>(P.Statement), Context));
  report(F);
}

/// With what \p Guard, declared by \p P, ends before it guards anything, as a
/// part of the message; empty where it does not. \p IsWhole: statements that do
/// not compile are not in the AST.
static StringRef endOf(const VarDecl *Guard, const StatementPlace &P,
                       bool IsWhole, ASTContext &Context) {
  auto Silent = [&](const Reason &Row) {
    silent(Guard->getLocation(), Row);
    return "";
  };
  if (!P.Block)
    return P.Parent.get<IfStmt>()
               ? "the branch of this 'if', which holds nothing else"
               : "";
  if (P.Block->size() > 1) {
    const FunctionDecl *In =
        IsWhole ? functionAround(P.Statement, Context) : nullptr;
    if (!In || In->isDependentContext() || !endsUnused(Guard, P))
      return "";
    if (cpp::isTestCase(In))
      return Silent(IneffectiveGradGuard.TestCase);
    return cpp::mayLeaveOutAfter(P.Statement, P.Block, Context)
               ? Silent(IneffectiveGradGuard.LeftOut)
               : "its block before anything runs that it could reach";
  }
  const DynTypedNodeList Around = Context.getParents(*P.Block);
  const auto *Function =
      Around.size() == 1 ? Around[0].get<FunctionDecl>() : nullptr;
  if (Around.size() != 1 ||
      (Function && (Function->getLocation().isMacroID() ||
                    functionAround(P.Block, Context) != Function)))
    return "";
  if (!cpp::isAllThatIsWritten(cast<DeclStmt>(P.Statement), P.Block, Context))
    return Silent(IneffectiveGradGuard.LeftOut);
  // Loops around a guard measure it, and `try` and lambdas test it.
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(Function);
  if (Function ? Method && Method->getParent()->isLambda()
               : !Around[0].get<CompoundStmt>() && !Around[0].get<IfStmt>())
    return Silent(IneffectiveGradGuard.Measured);
  return "its block, which holds nothing else";
}

void IneffectiveGradGuardCheck::checkVariable(const VarDecl *Guard,
                                              ASTContext &Context) {
  std::optional<StatementPlace> P = placeOfDecl(Guard, Context);
  if (!P || !cast<DeclStmt>(P->Statement)->isSingleDecl())
    return;
  if (Guard->isStaticLocal())
    return checkStatic(Guard, *P, Context);
  const StringRef End = endOf(Guard, *P, isWhole(), Context);
  if (!End.empty())
    report(Finding::at(Guard->getLocation(), P->Statement->getSourceRange())
               .because(IneffectiveGradGuard.Alone)
               .says("guard " + quoted(Guard) + " ends with " + End +
                     ": it guards nothing"));
}

LIBTORCH_CHECK(IneffectiveGradGuardCheck, IneffectiveGradGuard);

} // namespace libtorch_tidy
