//===- IneffectiveGradGuardCheck.cpp --------------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/cpp/Body.h"
#include "analysis/cpp/Callables.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Text.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/Walk.h"
#include "analysis/flow/history/GuardScopes.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Autograd.h"
#include "analysis/torch/autograd/GradGuards.h"
#include "analysis/torch/modules/Modules.h"
#include "checks/base/LibtorchCheck.h"
#include "checks/guards/Arbiter.h"
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
  bool canBeGuarded(const StatementPlace &P, ASTContext &Context);
  void checkUnnamed(const CXXConstructExpr *Guard, ASTContext &Context);
  void checkVexingParse(const FunctionDecl *F, ASTContext &Context);
  void checkVariable(const VarDecl *Guard, ASTContext &Context);
  /// Code that other threads run, started under a guard.
  void checkThread(const Expr *Start, ASTContext &Context);
  void checkParallelRegion(const OMPExecutableDirective *Region,
                           ASTContext &Context);
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
bool endsUnused(const VarDecl *Guard, const StatementPlace &P,
                const ASTContext &Context) {
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
  return !cpp::mayLeaveOutAfter(P.Statement, P.Block, Context);
}

std::string typeName(QualType T) {
  const CXXRecordDecl *R = T->getAsCXXRecordDecl();
  return R ? R->getName().str() : std::string("guard");
}

} // namespace

/// Can a guard begin to live at \p P, so that all after it runs guarded and
/// may? Not where jumps would pass its initialisation, and not before what
/// back-propagates, or makes what somebody back-propagates.
bool IneffectiveGradGuardCheck::canBeGuarded(const StatementPlace &P,
                                             ASTContext &Context) {
  if (!P.Block || P.isLast() ||
      isa_and_nonnull<SwitchStmt>(parentStmt(*P.Block, Context)))
    return false;
  const FunctionDecl *In = functionAround(P.Block, Context);
  const flow::FunctionFlow *Flow = In ? unit().flowOf(In) : nullptr;
  bool After = false;
  for (const Stmt *S : P.Block->body()) {
    if (After && cpp::anyOf<Stmt>(S, [](const Stmt *Part) {
          const auto *Call = dyn_cast<CallExpr>(Part);
          return isa<LabelStmt>(Part) || (Call && torch::isBackward(Call));
        }))
      return false;
    if (After && Flow && Flow->available() &&
        flow::isSeenToTrain(S, *Flow, unit()))
      return false;
    After |= S == P.Statement;
  }
  return true;
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

/// The guard that is in effect where \p S stands, as far as its own function
/// shows: a variable of a block around it. Null when none is, or when something
/// else switches gradient mode in between.
static const VarDecl *guardOver(const Stmt *S, ASTContext &Context) {
  const cpp::Body *In = cpp::Body::around(S, Context);
  const Stmt *Child = S;
  while (const Stmt *Parent = In ? In->parentOf(Child) : nullptr) {
    if (const auto *Block = dyn_cast<CompoundStmt>(Parent)) {
      const VarDecl *Last = nullptr;
      for (const Stmt *Before : Block->body()) {
        if (Before == Child)
          break;
        if (cpp::anyOf<CallExpr>(Before, [](const CallExpr *Call) {
              return torch::setsGradMode(Call).has_value();
            }))
          return nullptr;
        if (const auto *Declaration = dyn_cast<DeclStmt>(Before))
          for (const Decl *D : Declaration->decls())
            if (const auto *Var = dyn_cast<VarDecl>(D);
                Var && torch::guardOf(Var))
              Last = Var;
      }
      if (Last)
        return torch::guardOf(Last) == torch::GradMode::Off &&
                       torch::isGuardType(Last->getType()) &&
                       !Last->isStaticLocal()
                   ? Last
                   : nullptr;
    }
    Child = Parent;
  }
  return nullptr;
}

/// Are some parameters of the function frozen? Then a forward need not build a
/// graph.
static bool freezesModules(const FunctionDecl *F) {
  return cpp::anyOf<CallExpr>(F->getBody(), [](const CallExpr *Call) {
    return torch::isFreezeCall(Call) ||
           torch::setsRequiresGrad(Call) == torch::Flag::False;
  });
}

void IneffectiveGradGuardCheck::checkThread(const Expr *E,
                                            ASTContext &Context) {
  std::optional<cpp::ThreadStart> Start = cpp::asThreadStart(E);
  if (!Start || !isWhole())
    return;
  const VarDecl *Guard = guardOver(E, Context);
  const FunctionDecl *In = Guard ? functionAround(E, Context) : nullptr;
  if (!In || !In->hasBody())
    return;
  const flow::FunctionFlow *Flow = unit().flowOf(Start->Body);
  if (!Flow || !Flow->available() || Flow->trains() || freezesModules(In))
    return;
  const std::optional<flow::UnguardedForward> Forward =
      flow::unguardedForward(*Flow, unit());
  if (!Forward)
    return;
  Finding F;
  F.Loc = E->getExprLoc();
  F.Highlight = E->getSourceRange();
  const std::string Name = "'" + Guard->getNameAsString() + "'";
  switch (Start->How) {
  case cpp::ThreadStart::Thread:
  case cpp::ThreadStart::Async:
    F.Strength = Level::Certain;
    F.Message = "guard " + Name +
                " does not reach the thread started here: gradient mode "
                "belongs to a thread, and the forward pass in this one runs "
                "with gradients on";
    break;
  case cpp::ThreadStart::Parallel:
    // On how many threads is a matter of the build.
    F.Strength = Level::Likely;
    F.Message = "guard " + Name +
                " reaches only the part of this range that the calling thread "
                "takes: in other threads the forward pass runs with gradients "
                "on";
    break;
  }
  F.Steps.push_back({Guard->getLocation(), "the guard is for this thread"});
  if (Forward->Site)
    F.Steps.push_back({Forward->Site->getExprLoc(),
                       "the forward pass of the other thread is here"});
  else
    F.Steps.push_back({E->getExprLoc(), "the forward pass of the other thread "
                                        "is at " +
                                            Forward->At});
  if (Start->Lambda) {
    std::string Given =
        fixits::freeName("no_grad_guard", Start->Lambda->getBody());
    F.Fix = fixits::insertAtBlockHead(
        Start->Lambda->getCompoundStmtBody(),
        (torch::spelling::NoGradGuard + " " + Given + ";").str(), Context);
  }
  report(F);
}

void IneffectiveGradGuardCheck::checkParallelRegion(
    const OMPExecutableDirective *Region, ASTContext &Context) {
  if (!isOpenMPParallelDirective(Region->getDirectiveKind()) ||
      isOpenMPTargetExecutionDirective(Region->getDirectiveKind()) ||
      !isWhole())
    return;
  const VarDecl *Guard = guardOver(Region, Context);
  const FunctionDecl *In = Guard ? functionAround(Region, Context) : nullptr;
  if (!In || !In->hasBody() || freezesModules(In))
    return;
  // The flow of the function takes the region for its own thread's code, and
  // so for guarded: a guard of the region's own must be looked for by hand.
  const Stmt *Body = Region->getInnermostCapturedStmt()->getCapturedStmt();
  const auto *Forward = cpp::findFirst<CallExpr>(
      Body,
      [](const CallExpr *Call) {
        std::optional<torch::ModuleCall> M = torch::asModuleCall(Call);
        return M && M->Module &&
               (M->Script || torch::parametersOf(M->Module->getType()) ==
                                 torch::Parameters::Some);
      },
      cpp::Lambdas::Skipped);
  if (!Forward ||
      cpp::anyOf<VarDecl>(
          Body,
          [](const VarDecl *Var) { return torch::guardOf(Var).has_value(); },
          cpp::Lambdas::Skipped) ||
      cpp::anyOf<CallExpr>(
          Body,
          [](const CallExpr *Call) {
            return torch::setsGradMode(Call) || torch::isBackward(Call);
          },
          cpp::Lambdas::Skipped))
    return;
  Finding F;
  F.Loc = Region->getBeginLoc();
  F.Strength = Level::Certain;
  F.Message = "guard '" + Guard->getNameAsString() +
              "' does not reach the other threads of this parallel region: "
              "gradient mode belongs to a thread, and their forward pass runs "
              "with gradients on";
  F.Steps.push_back({Guard->getLocation(), "the guard is for this thread"});
  F.Steps.push_back(
      {Forward->getExprLoc(), "all threads run the forward pass here"});
  // The statement that each thread runs: the region, or the body of its loop.
  if (isa<ForStmt, CXXForRangeStmt>(Body))
    Body = cpp::bodyOf(Body);
  if (const auto *Block = dyn_cast<CompoundStmt>(Body))
    F.Fix = fixits::insertAtBlockHead(Block,
                                      (torch::spelling::NoGradGuard + " " +
                                       fixits::freeName("no_grad_guard", Body) +
                                       ";")
                                          .str(),
                                      Context);
  report(F);
}

void IneffectiveGradGuardCheck::checkMatch(const Match &Result) {
  ASTContext &Context = *Result.Context;
  const SourceManager &SM = *Result.SourceManager;
  auto IsOurs = [&](SourceLocation Loc) {
    return !cpp::isMacroArgument(Loc, SM);
  };
  if (const auto *Made = Result.Nodes.getNodeAs<CXXConstructExpr>("made");
      Made && IsOurs(Made->getBeginLoc()) &&
      Seen.insert(Made->getBeginLoc()).second)
    checkUnnamed(Made, Context);
  if (const auto *Thread = Result.Nodes.getNodeAs<Expr>("thread");
      Thread && IsOurs(Thread->getBeginLoc()))
    checkThread(Thread, Context);
  if (const auto *Region =
          Result.Nodes.getNodeAs<OMPExecutableDirective>("region");
      Region && IsOurs(Region->getBeginLoc()))
    checkParallelRegion(Region, Context);
  if (const auto *F = Result.Nodes.getNodeAs<FunctionDecl>("function");
      F && IsOurs(F->getBeginLoc()))
    checkVexingParse(F, Context);
  if (const auto *Var = Result.Nodes.getNodeAs<VarDecl>("variable");
      Var && IsOurs(Var->getBeginLoc()))
    checkVariable(Var, Context);
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
    return;
  Finding F;
  F.Loc = Guard->getBeginLoc();
  F.Highlight = Written->getSourceRange();
  F.Strength = Level::Certain;
  F.Message = "this " + typeName(Guard->getType()) +
              " has no name, so it ends with its own statement and guards "
              "nothing";
  const FunctionDecl *In = functionAround(Whole, Context);
  if (IsPlain && In && In->hasBody() && !Written->getBeginLoc().isMacroID() &&
      canBeGuarded(*P, Context)) {
    F.Fix =
        fixits::nameTemporary(Written, nameFor(Guard->getType(), In), Context);
    if (switchesOff(Guard, Context))
      Arbiter::of(Context).guard(P->Block, P->Statement);
  }
  report(F);
}

/// What `bool()` declares as a parameter: an argument was meant.
static bool isFunctionWithoutName(const ParmVarDecl *Param) {
  return !Param->getIdentifier() && Param->getType()->isFunctionPointerType() &&
         isa<DecayedType>(Param->getType());
}

void IneffectiveGradGuardCheck::checkVexingParse(const FunctionDecl *Function,
                                                 ASTContext &Context) {
  // A function that is used is meant as one.
  if (!llvm::all_of(Function->parameters(), isFunctionWithoutName) ||
      Function->isReferenced() || Function->getPreviousDecl() ||
      Function->isDefined() || Function->getStorageClass() != SC_None)
    return;
  DynTypedNodeList Parents = Context.getParents(*Function);
  const auto *Statement =
      Parents.size() == 1 ? Parents[0].get<DeclStmt>() : nullptr;
  std::optional<StatementPlace> P =
      Statement ? placeOf(Statement, Context) : std::nullopt;
  if (!P)
    return;
  Finding F;
  F.Loc = Function->getLocation();
  F.Highlight = Function->getSourceRange();
  F.Strength = Level::Certain;
  F.Message = "'" + Function->getNameAsString() +
              "' declares a function with return type " +
              typeName(Function->getReturnType()) +
              ", not a guard, and guards nothing";
  const CXXRecordDecl *R = Function->getReturnType()->getAsCXXRecordDecl();
  if (Function->param_empty() && R->hasDefaultConstructor() &&
      canBeGuarded(*P, Context)) {
    F.Fix = fixits::dropParentheses(Function, Context);
    if (torch::gradientsUnder(R, std::nullopt) == false)
      Arbiter::of(Context).guard(P->Block, P->Statement);
  }
  report(F);
}

void IneffectiveGradGuardCheck::checkVariable(const VarDecl *Guard,
                                              ASTContext &Context) {
  DynTypedNodeList Parents = Context.getParents(*Guard);
  const auto *Statement =
      Parents.size() == 1 ? Parents[0].get<DeclStmt>() : nullptr;
  std::optional<StatementPlace> P = Statement && Statement->isSingleDecl()
                                        ? placeOf(Statement, Context)
                                        : std::nullopt;
  if (!P)
    return;
  Finding F;
  F.Loc = Guard->getLocation();
  F.Highlight = Statement->getSourceRange();
  F.Strength = Level::Certain;
  std::string Name = "'" + Guard->getNameAsString() + "'";

  if (Guard->isStaticLocal()) {
    const FunctionDecl *In = functionAround(Statement, Context);
    // For all of main, or as the last thing a function does: then what lasts
    // is what is wanted.
    if (!In || In->isMain() || P->isLast())
      return;
    if (Guard->getTSCSpec() != TSCS_unspecified) {
      F.Strength = Level::Likely;
      F.Message = "thread_local guard " + Name +
                  " ends with its thread, not with this function: gradient "
                  "mode stays switched for the rest of each thread that comes "
                  "here";
      report(F);
      return;
    }
    F.Message = "static guard " + Name +
                " is made once and never ends: gradient mode stays switched "
                "for the rest of the first thread that comes here, and no "
                "other thread is guarded";
    if (canBeGuarded(*P, Context))
      F.Fix = fixits::dropStatic(Statement, Context);
    report(F);
    return;
  }

  if (P->Block && P->Block->size() > 1) {
    // Statements that do not compile are not in the AST.
    const FunctionDecl *In =
        isWhole() ? functionAround(Statement, Context) : nullptr;
    if (!In || In->isDependentContext() || cpp::isTestCase(In) ||
        !endsUnused(Guard, *P, Context))
      return;
    F.Message = "guard " + Name +
                " ends with its block before anything runs that it could "
                "reach: it guards nothing";
  } else if (P->Block) {
    const DynTypedNodeList Around = Context.getParents(*P->Block);
    if (Around.size() != 1 ||
        !cpp::isAllThatIsWritten(Statement, P->Block, Context))
      return;
    // Loops around a guard measure it, and `try` and lambdas test it.
    const auto *Function = Around[0].get<FunctionDecl>();
    if (Function ? Function->getLocation().isMacroID() ||
                       functionAround(P->Block, Context) != Function
                 : !Around[0].get<CompoundStmt>() && !Around[0].get<IfStmt>())
      return;
    if (const auto *Method = dyn_cast_or_null<CXXMethodDecl>(Function);
        Method && Method->getParent()->isLambda())
      return;
    F.Message = "guard " + Name +
                " ends with its block, which holds nothing else: it guards "
                "nothing";
  } else if (P->Parent.get<IfStmt>()) {
    F.Message = "guard " + Name +
                " ends with the branch of this 'if', which holds nothing "
                "else: it guards nothing";
  } else {
    return;
  }
  report(F);
}

LIBTORCH_CHECK(IneffectiveGradGuardCheck, NoReasons);

} // namespace libtorch_tidy
