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
const Stmt *parentOf(const Stmt *S, ASTContext &Context) {
  DynTypedNodeList Parents = Context.getParents(*S);
  return Parents.empty() ? nullptr : Parents[0].get<Stmt>();
}

/// Where \p S stands as a statement of its own; nullopt where it does not.
std::optional<StatementPlace> placeOf(const Stmt *S, ASTContext &Context) {
  DynTypedNodeList Parents = Context.getParents(*S);
  if (Parents.empty())
    return std::nullopt;
  StatementPlace P{S, Parents[0], Parents[0].get<CompoundStmt>()};
  const auto *If = Parents[0].get<IfStmt>();
  const auto *Case = Parents[0].get<SwitchCase>();
  const bool IsStatement =
      P.Block ? !P.isLast() || // The value of a statement expression.
                    !isa_and_nonnull<StmtExpr>(parentOf(P.Block, Context))
      : If ? If->getThen() == S || If->getElse() == S
           : (Case && Case->getSubStmt() == S) ||
                 Parents[0].get<LabelStmt>() != nullptr;
  return IsStatement ? std::optional(P) : std::nullopt;
}
/// The same for the statement that declares \p D.
std::optional<StatementPlace> placeOf(const Decl *D, ASTContext &Context) {
  DynTypedNodeList Parents = Context.getParents(*D);
  const auto *Statement =
      Parents.size() == 1 ? Parents[0].get<DeclStmt>() : nullptr;
  return Statement ? placeOf(Statement, Context) : std::nullopt;
}

/// The function or lambda around \p S that has the body it is in.
const FunctionDecl *functionAround(const Stmt *S, ASTContext &Context) {
  const cpp::Body *In = cpp::Body::around(S, Context);
  return In ? In->function() : nullptr;
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

/// What `bool()` declares as a parameter: an argument was meant.
bool isFunctionWithoutName(const ParmVarDecl *Param) {
  return !Param->getIdentifier() && Param->getType()->isFunctionPointerType() &&
         isa<DecayedType>(Param->getType());
}

/// With what \p Guard, declared by \p P, ends before it guards anything, as a
/// part of the message; empty where it does not. \p IsWhole: statements that do
/// not compile are not in the AST.
StringRef endOf(const VarDecl *Guard, const StatementPlace &P, bool IsWhole,
                ASTContext &Context) {
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

/// docs/checks/libtorch-ineffective-grad-guard.md says what it finds and why.
class IneffectiveGradGuardCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;

  void registerMatchers(MatchFinder *Finder) override {
    Finder->addMatcher(cxxConstructExpr(makesGuard()).bind("made"), this);
    // The pattern of a template says what is written.
    Finder->addMatcher(
        functionDecl(returnsGuard(), unless(isInstantiated())).bind("function"),
        this);
    Finder->addMatcher(
        varDecl(holdsGuard(), unless(isInstantiated())).bind("variable"), this);
    Finder->addMatcher(cxxConstructExpr(mayStartThread()).bind("thread"), this);
    Finder->addMatcher(callExpr(mayStartThread()).bind("thread"), this);
    Finder->addMatcher(ompExecutableDirective().bind("thread"), this);
  }

  void checkMatch(const Match &Result) override {
    const auto &[Id, Node] = *Result.Nodes.getMap().begin();
    if (cpp::isMacroArgument(Node.getSourceRange().getBegin(),
                             *Result.SourceManager))
      return;
    if (Id == "made")
      checkUnnamed(Node.get<CXXConstructExpr>());
    else if (Id == "function")
      checkVexingParse(Node.get<FunctionDecl>());
    else if (Id == "variable")
      checkVariable(Node.get<VarDecl>());
    else if (isWhole())
      if (auto F = unreachedThread(Node.get<Stmt>(), context()))
        report(std::move(*F));
  }

private:
  /// Why a guard cannot begin to live at \p P, so that all after it runs
  /// guarded and may; null if it can. Jumps may not pass its initialisation,
  /// and it may not come before what back-propagates, or makes what is
  /// back-propagated.
  const Reason *whyNotGuarded(const StatementPlace &P) {
    if (P.isLast())
      return &IneffectiveGradGuard.Last;
    if (isa_and_nonnull<SwitchStmt>(parentOf(P.Block, context())))
      return &IneffectiveGradGuard.Jump;
    const FunctionDecl *In = functionAround(P.Block, context());
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

  /// Reports \p F with the edits of \p AddFix, which let a guard live from \p P
  /// on; \p IsOff: one that turns gradients off. Without them because of
  /// \p WhyNot, if not null, or of what follows \p P.
  void reportWithFix(Finding F, const StatementPlace &P, const Reason *WhyNot,
                     bool IsOff, llvm::function_ref<void(Finding &)> AddFix) {
    if (!WhyNot)
      WhyNot = whyNotGuarded(P);
    if (WhyNot)
      F.because(*WhyNot);
    else
      AddFix(F);
    if (!WhyNot && IsOff)
      Arbiter::of(context()).guard(P.Block, P.Statement);
    report(std::move(F));
  }

  /// A name for a guard of class \p T in \p In. Not `no_grad`: the fix of
  /// libtorch-inference-without-no-grad may add a guard of that name in the
  /// same run.
  std::string nameFor(QualType T, const FunctionDecl *In) {
    llvm::StringSet<> &Taken = Given[In->getLocation()];
    for (const ParmVarDecl *Parameter : In->parameters())
      Taken.insert(Parameter->getName());
    std::string Name = fixits::freeName(
        typeName(T) == "NoGradGuard" ? "no_grad_guard" : "guard", In->getBody(),
        Taken);
    Taken.insert(Name);
    return Name;
  }

  /// A temporary: `torch::NoGradGuard();`
  void checkUnnamed(const CXXConstructExpr *Guard) {
    if (!Seen.insert(Guard->getBeginLoc()).second)
      return;
    const Stmt *Whole = Guard;
    const Expr *Written = Guard; // Without what the compiler adds.
    bool IsPlain = true;
    while (true) {
      const Stmt *Parent = parentOf(Whole, context());
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
    std::optional<StatementPlace> P = placeOf(Whole, context());
    if (!P)
      return;
    // A loop around nothing else measures it.
    if (P->Block && P->Block->size() == 1 &&
        cpp::isLoop(parentOf(P->Block, context())))
      return silent(Guard->getBeginLoc(), IneffectiveGradGuard.Measured);
    const QualType T = Guard->getType();
    const Finding F =
        Finding::at(Guard->getBeginLoc(), Written->getSourceRange())
            .says("this " + typeName(T) +
                  " has no name, so it ends with its own statement and "
                  "guards nothing");
    const FunctionDecl *In = functionAround(Whole, context());
    if (IsPlain &&
        (!In || !In->hasBody() || Written->getBeginLoc().isMacroID()))
      return report(F);
    const std::optional<bool> Enabled =
        Guard->getNumArgs() == 1
            ? cpp::constantBool(Guard->getArg(0), context())
            : std::nullopt;
    reportWithFix(
        F, *P, IsPlain ? nullptr : &IneffectiveGradGuard.Wrapped,
        torch::gradientsUnder(T->getAsCXXRecordDecl(), Enabled) == false,
        [&](Finding &To) {
          To.fix(fixits::nameTemporary(Written, nameFor(T, In), context()));
          if (To.Fix.empty())
            To.because(IneffectiveGradGuard.Again);
        });
  }

  /// `torch::NoGradGuard guard();`
  void checkVexingParse(const FunctionDecl *Function) {
    if (!llvm::all_of(Function->parameters(), isFunctionWithoutName) ||
        Function->getStorageClass() != SC_None)
      return;
    std::optional<StatementPlace> P = placeOf(Function, context());
    if (!P)
      return;
    // A function that is used is meant as one.
    if (Function->isReferenced() || Function->getPreviousDecl() ||
        Function->isDefined())
      return silent(Function->getLocation(), IneffectiveGradGuard.FunctionUsed);
    const CXXRecordDecl *R = Function->getReturnType()->getAsCXXRecordDecl();
    reportWithFix(
        Finding::at(Function->getLocation(), Function->getSourceRange())
            .says(quoted(Function) + " declares a function with return type " +
                  typeName(Function->getReturnType()) +
                  ", not a guard, and guards nothing"),
        *P,
        Function->param_empty() && R->hasDefaultConstructor()
            ? nullptr
            : &IneffectiveGradGuard.Again,
        torch::gradientsUnder(R, std::nullopt) == false, [&](Finding &To) {
          To.fix(fixits::dropParentheses(Function, context()));
        });
  }

  /// `torch::NoGradGuard guard;` that ends too early, or never.
  void checkVariable(const VarDecl *Guard) {
    std::optional<StatementPlace> P = placeOf(Guard, context());
    if (!P || !cast<DeclStmt>(P->Statement)->isSingleDecl())
      return;
    Finding F =
        Finding::at(Guard->getLocation(), P->Statement->getSourceRange());
    if (!Guard->isStaticLocal()) {
      const StringRef End = endOf(Guard, *P, isWhole(), context());
      if (!End.empty())
        report(F.because(IneffectiveGradGuard.Alone)
                   .says("guard " + quoted(Guard) + " ends with " + End +
                         ": it guards nothing"));
      return;
    }
    const FunctionDecl *In = functionAround(P->Statement, context());
    // For all of main, or as the last thing a function does: then what lasts
    // is what is wanted.
    if (!In || In->isMain() || P->isLast())
      return silent(Guard->getLocation(), IneffectiveGradGuard.Lasts);
    if (Guard->getTSCSpec() != TSCS_unspecified)
      return report(
          F.because(IneffectiveGradGuard.ThreadLocal)
              .says("thread_local guard " + quoted(Guard) +
                    " ends with its thread, not with this function: gradient "
                    "mode stays switched for the rest of each thread that "
                    "comes here"));
    F.says("static guard " + quoted(Guard) +
           " is made once and never ends: gradient mode stays switched for the "
           "rest of the first thread that comes here, and no other thread is "
           "guarded");
    reportWithFix(F, *P, nullptr, /*IsOff=*/false, [&](Finding &To) {
      To.fix(fixits::dropStatic(cast<DeclStmt>(P->Statement), context()));
    });
  }

  /// Names that fixes have given by function, as one function may need several.
  llvm::DenseMap<SourceLocation, llvm::StringSet<>> Given;
  /// Unnamed guards that have been looked at.
  llvm::DenseSet<SourceLocation> Seen;
};

} // namespace

LIBTORCH_CHECK(IneffectiveGradGuardCheck, IneffectiveGradGuard);

} // namespace libtorch_tidy
