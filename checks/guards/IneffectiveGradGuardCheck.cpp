//===- IneffectiveGradGuardCheck.cpp --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Body.h"
#include "analysis/cpp/Callables.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Text.h"
#include "analysis/cpp/Types.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Autograd.h"
#include "analysis/torch/modules/Modules.h"
#include "checks/guards/Arbiter.h"
#include "checks/guards/IneffectiveGradGuard.h"
#include "checks/guards/StatementPlace.h"
#include "fixits/FixIts.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/ParentMapContext.h"
#include "clang/AST/StmtOpenMP.h"

using namespace clang;
using namespace clang::ast_matchers;

namespace libtorch_tidy {

namespace {

/// The argument of a template may be any class, so its use says nothing.
AST_MATCHER(CXXConstructExpr, makesGuard) {
  return torch::isGuardType(Node.getType()) &&
         !Node.getType()->getAs<SubstTemplateTypeParmType>();
}
/// The class of the guard that \p T is or holds; null for others.
const CXXRecordDecl *guardClass(QualType T) {
  if (torch::isGuardType(T))
    return T->getAsCXXRecordDecl();
  const QualType Held = cpp::isStdClass(T, cpp::StdClass::Box)
                            ? cpp::firstArgument(T->getAsCXXRecordDecl())
                            : QualType();
  return !Held.isNull() && torch::isGuardType(Held) ? Held->getAsCXXRecordDecl()
                                                    : nullptr;
}
/// make_guard(), std::make_unique<torch::NoGradGuard>(); not what others share.
AST_MATCHER(CallExpr, givesGuard) {
  return Node.isPRValue() && guardClass(Node.getType()) &&
         (!cpp::isStdClass(Node.getType(), {"shared_ptr"}) ||
          cpp::calleeName(&Node) == "make_shared");
}
AST_MATCHER(FunctionDecl, returnsGuard) {
  return Node.isLocalExternDecl() && torch::isGuardType(Node.getReturnType()) &&
         !Node.getReturnType()->isReferenceType();
}
AST_MATCHER(VarDecl, holdsGuard) {
  return Node.isLocalVarDecl() && !Node.getType()->isReferenceType() &&
         torch::isGuardType(Node.getType());
}

AST_MATCHER(CallExpr, setsMode) {
  return torch::setsGradMode(&Node) == torch::GradMode::Off;
}

AST_MATCHER(Expr, mayStartThread) {
  if (const auto *Construct = dyn_cast<CXXConstructExpr>(&Node))
    return Construct->getNumArgs() > 0 &&
           Construct->getConstructor()->getParent()->isInStdNamespace();
  llvm::StringRef Name = cpp::calleeName(cast<CallExpr>(&Node));
  return Name == "async" || Name == "emplace_back" || Name == "parallel_for";
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
  return llvm::none_of(P.rest(), [&](const Stmt *S) {
    // A macro may be more than it is in this build.
    return isa<NullStmt>(S) || S->getBeginLoc().isMacroID() ||
           cpp::mentions(S, Guard) ||
           cpp::anyOf<Stmt>(S, [](const Stmt *E) { return !isIndifferent(E); });
  });
}

StringRef typeName(QualType T) { return T->getAsCXXRecordDecl()->getName(); }

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

/// The guard that is in effect where \p S stands, as far as its own function
/// shows: a variable of a block around it. Null when none is, or when something
/// else switches gradient mode in between.
const VarDecl *guardOver(const Stmt *S, ASTContext &Context) {
  const SourceManager &SM = Context.getSourceManager();
  const cpp::Body *In = cpp::Body::around(S, Context);
  const VarDecl *Guard = nullptr;
  cpp::forEach<VarDecl>(
      In ? In->root() : nullptr,
      [&](const VarDecl *Var) {
        const Stmt *Declaration = In->declarationOf(Var);
        if (isa_and_nonnull<DeclStmt>(Declaration) && torch::guardOf(Var) &&
            cpp::comesBefore(Declaration, S, SM) &&
            In->isWithin(S, In->scopeOf(Var)))
          Guard = Var;
      },
      cpp::Lambdas::Skipped);
  return Guard && torch::guardOf(Guard) == torch::GradMode::Off &&
                 torch::isGuardType(Guard->getType()) &&
                 !Guard->isStaticLocal() &&
                 !cpp::anyOf<CallExpr>(In->scopeOf(Guard),
                                       [&](const CallExpr *Call) {
                                         return torch::setsGradMode(Call) &&
                                                cpp::comesBefore(Call, S, SM);
                                       })
             ? Guard
             : nullptr;
}

/// Are some parameters frozen in the function around \p S? Then a forward need
/// not build a graph.
bool freezesModules(const Stmt *S, ASTContext &Context) {
  return cpp::anyOf<CallExpr>(
      cpp::Body::around(S, Context)->root(), [](const CallExpr *Call) {
        return torch::isFreezeCall(Call) ||
               torch::setsRequiresGrad(Call) == torch::Flag::False;
      });
}

/// The first guard that \p Body declares; null for none.
const VarDecl *guardIn(const Stmt *Body) {
  return cpp::findFirst<VarDecl>(
      Body, [](const VarDecl *Var) { return torch::guardOf(Var).has_value(); },
      cpp::Lambdas::Skipped);
}

/// docs/checks/libtorch-ineffective-grad-guard.md says what it finds and why.
class IneffectiveGradGuardCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;

  void registerMatchers(MatchFinder *Finder) override {
    Finder->addMatcher(cxxConstructExpr(makesGuard()).bind("made"), this);
    Finder->addMatcher(callExpr(givesGuard()).bind("made"), this);
    // The pattern of a template says what is written.
    Finder->addMatcher(
        functionDecl(returnsGuard(), unless(isInstantiated())).bind("function"),
        this);
    Finder->addMatcher(
        varDecl(holdsGuard(), unless(isInstantiated())).bind("variable"), this);
    Finder->addMatcher(cxxConstructExpr(mayStartThread()).bind("thread"), this);
    Finder->addMatcher(callExpr(mayStartThread()).bind("thread"), this);
    Finder->addMatcher(ompExecutableDirective().bind("region"), this);
    Finder->addMatcher(callExpr(setsMode()).bind("switch"), this);
  }

  void checkMatch(const Match &Result) override {
    const auto &[Id, Node] = *Result.Nodes.getMap().begin();
    if (cpp::isMacroArgument(Node.getSourceRange().getBegin(),
                             *Result.SourceManager))
      return;
    if (Id == "made")
      checkUnnamed(Node.get<Expr>());
    else if (Id == "function")
      checkVexingParse(Node.get<FunctionDecl>());
    else if (Id == "variable")
      checkVariable(Node.get<VarDecl>());
    else if (Id == "switch")
      IsLeftOff = true;
    else if (isWhole() && Id == "region")
      checkRegion(Node.get<OMPExecutableDirective>());
    else if (isWhole())
      checkThread(Node.get<Expr>());
  }

  void checkMatched() override {
    if (IsLeftOff && isWhole())
      for (const ModeLeftOff &Left : modesLeftOff(unit()))
        reportLeftOff(Left);
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
    for (const Stmt *S : P.rest()) {
      if (cpp::anyOf<LabelStmt>(S, [](const LabelStmt *) { return true; }))
        return &IneffectiveGradGuard.Jump;
      if (cpp::anyOf<CallExpr>(S, torch::isBackward) ||
          (Flow && Flow->available() && flow::isSeenToTrain(S, *Flow, unit())))
        return &IneffectiveGradGuard.BlockTrains;
    }
    return nullptr;
  }

  /// Adds to \p F, about a guard that is written at \p P and guards nothing,
  /// the passes that it was meant for: those after it in the block, or where it
  /// is all that its block has, in the function.
  void addPasses(Finding &F, const StatementPlace &P) {
    const FunctionDecl *In = functionAround(P.Statement, context());
    if (!In || !(isWhole() || unit().errors().areInFunctions()))
      return;
    const flow::FunctionFlow *Flow = unit().flowOf(In);
    if (!Flow || !Flow->available())
      return;
    Arbiter::of(context()).useless(In, F.Loc);
    const Stmt *Around = P.isLast() ? In->getBody() : P.Block;
    const SourceManager &SM = context().getSourceManager();
    unsigned Left = 3; // Enough to see what is meant.
    for (const flow::Label &L : Flow->labels())
      if (L.bringsGraph() && Left > 0 && Flow->isWithin(L.Site, Around) &&
          cpp::comesBefore(P.Statement, L.Site, SM)) {
        F.note(L.Site, Arbiter::runs(L) + " with gradient mode on here");
        --Left;
      }
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
    if (IsOff)
      addPasses(F, P);
    if (!WhyNot && IsOff)
      Arbiter::of(context()).guard(P.Block, P.Statement);
    report(std::move(F));
  }

  /// A name for a guard of class \p T in \p In. Not `no_grad`: the fix of
  /// libtorch-inference-without-no-grad may add a guard of that name in the
  /// same run.
  std::string nameFor(const CXXRecordDecl *Class, const FunctionDecl *In) {
    llvm::StringSet<> &Taken = Given[In->getLocation()];
    for (const ParmVarDecl *Parameter : In->parameters())
      Taken.insert(Parameter->getName());
    std::string Name = fixits::freeName(
        Class->getName() == "NoGradGuard" ? "no_grad_guard" : "guard",
        In->getBody(), Taken);
    Taken.insert(Name);
    return Name;
  }

  /// A temporary: `torch::NoGradGuard();`, `make_guard();`
  void checkUnnamed(const Expr *Guard) {
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
    const CXXRecordDecl *Class = guardClass(Guard->getType());
    const Finding F =
        Finding::at(Guard->getBeginLoc(), Written->getSourceRange())
            .says("ineffective guard: this " + Class->getName() +
                  " has no name, so it ends with its own statement and "
                  "guards nothing")
            .remedy("give it a name");
    const FunctionDecl *In = functionAround(Whole, context());
    if (IsPlain && (!In || Written->getBeginLoc().isMacroID()))
      return report(F);
    const auto *Made = dyn_cast<CXXConstructExpr>(Guard);
    const std::optional<bool> Enabled =
        Made && Made->getNumArgs() == 1
            ? cpp::constantBool(Made->getArg(0), context())
            : std::nullopt;
    reportWithFix(
        F, *P, IsPlain ? nullptr : &IneffectiveGradGuard.Wrapped,
        torch::gradientsUnder(Class, Enabled) == false, [&](Finding &To) {
          const std::string Name = nameFor(Class, In);
          To.fix(Made ? fixits::nameTemporary(Written, Name, context())
                      : fixits::assignTo(Written, "const auto " + Name));
          if (To.Fix.empty())
            To.because(IneffectiveGradGuard.Again);
        });
  }

  /// `torch::NoGradGuard guard();`
  void checkVexingParse(const FunctionDecl *Function) {
    // What `bool()` declares as a parameter: an argument was meant.
    auto IsFunction = [](const ParmVarDecl *Param) {
      return !Param->getIdentifier() &&
             Param->getType()->isFunctionPointerType() &&
             isa<DecayedType>(Param->getType());
    };
    if (!llvm::all_of(Function->parameters(), IsFunction) ||
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
            .says("ineffective guard: " + quoted(Function) +
                  " declares a function with return type " +
                  typeName(Function->getReturnType()) +
                  ", not a guard (vexing parse): nothing is guarded")
            .remedy(Function->param_empty() ? "drop the parentheses"
                                            : "use braces"),
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
      if (End.empty())
        return;
      F.because(IneffectiveGradGuard.Alone)
          .says("ineffective guard: " + quoted(Guard) + " ends with " + End +
                ": it guards nothing")
          .remedy("declare it in the block that it is to guard");
      if (torch::guardOf(Guard) == torch::GradMode::Off)
        addPasses(F, *P);
      return report(std::move(F));
    }
    const FunctionDecl *In = functionAround(P->Statement, context());
    // For all of main, or as the last thing a function does: then what lasts
    // is what is wanted.
    if (!In || In->isMain() || P->isLast())
      return silent(Guard->getLocation(), IneffectiveGradGuard.Lasts);
    if (Guard->getTSCSpec() != TSCS_unspecified)
      return report(
          F.because(IneffectiveGradGuard.ThreadLocal)
              .says("misplaced guard: thread_local " + quoted(Guard) +
                    " ends with its thread, not with this function: gradient "
                    "mode stays changed for the rest of each thread that "
                    "comes here")
              .remedy("drop 'thread_local'"));
    F.says("misplaced guard: static " + quoted(Guard) +
           " is made once and never ends: gradient mode stays changed for the "
           "rest of the first thread that comes here, and no other thread is "
           "guarded")
        .remedy("drop 'static'");
    reportWithFix(F, *P, nullptr, /*IsOff=*/false, [&](Finding &To) {
      To.fix(fixits::dropStatic(cast<DeclStmt>(P->Statement), context()));
    });
  }

  /// A thread that is started under a guard, which is for this thread.
  void checkThread(const Expr *E) {
    const std::optional<cpp::ThreadStart> Start = cpp::asThreadStart(E);
    const VarDecl *Guard = Start ? guardOver(E, context()) : nullptr;
    const flow::FunctionFlow *Flow =
        Guard ? unit().flowOf(Start->Body) : nullptr;
    if (!Flow || !Flow->available())
      return;
    const auto Forward = flow::unguardedForward(*Flow, unit());
    const VarDecl *Own =
        !Forward && asksWhy() ? guardIn(Start->Body->getBody()) : nullptr;
    if (Own)
      silent(Start->At, IneffectiveGradGuard.Guarded, Own);
    if (!Forward)
      return;
    if (Flow->trains())
      return silent(Start->At, IneffectiveGradGuard.Trains);
    if (freezesModules(E, context()))
      return silent(Start->At, IneffectiveGradGuard.Freezes);
    const bool IsParallel = Start->How == cpp::ThreadStart::Parallel;
    Finding F =
        Finding::at(Start->At)
            .says("ineffective guard: " + quoted(Guard) +
                  (IsParallel
                       ? " reaches only the part of this range that the "
                         "calling thread takes: in other threads the forward "
                         "pass runs with gradients on"
                       : " does not reach the thread started here: gradient "
                         "mode belongs to a thread, and the forward pass in "
                         "this one runs with gradients on"))
            .remedy("make one there")
            .note(Guard, "the guard is for this thread")
            .note(Forward->Site ? Forward->Site : Start->At,
                  "the forward pass of the other thread is " +
                      (Forward->Site ? "here" : "at " + Forward->At));
    if (IsParallel)
      F.because(IneffectiveGradGuard.ParallelFor);
    if (Start->Lambda)
      addGuard(F, Start->Lambda->getCompoundStmtBody());
    else
      F.because(IneffectiveGradGuard.NamedBody, Start->Body);
    report(F);
  }

  /// The same for the threads of an OpenMP directive.
  void checkRegion(const OMPExecutableDirective *Region) {
    const VarDecl *Guard = guardOver(Region, context());
    if (!isOpenMPParallelDirective(Region->getDirectiveKind()) ||
        isOpenMPTargetExecutionDirective(Region->getDirectiveKind()) || !Guard)
      return;
    // The flow of the function takes the region for its own thread's code, and
    // so for guarded: a guard of the region's own must be looked for by hand.
    const Stmt *Body = Region->getInnermostCapturedStmt()->getCapturedStmt();
    auto FirstCall = [&](llvm::function_ref<bool(const CallExpr *)> IsGoal) {
      return cpp::findFirst<CallExpr>(Body, IsGoal, cpp::Lambdas::Skipped);
    };
    const CallExpr *Forward = FirstCall([](const CallExpr *Call) {
      std::optional<torch::ModuleCall> M = torch::asModuleCall(Call);
      return M && M->Module &&
             (M->Script || torch::parametersOf(M->Module->getType()) ==
                               torch::Parameters::Some);
    });
    if (!Forward)
      return;
    const SourceLocation At = Region->getBeginLoc();
    if (guardIn(Body) || FirstCall([](const CallExpr *Call) {
          return torch::setsGradMode(Call).has_value();
        }))
      return silent(At, IneffectiveGradGuard.Guarded);
    if (FirstCall(torch::isBackward))
      return silent(At, IneffectiveGradGuard.Trains);
    if (freezesModules(Region, context()))
      return silent(At, IneffectiveGradGuard.Freezes);
    Finding F =
        Finding::at(At)
            .says("ineffective guard: " + quoted(Guard) +
                  " does not reach the other threads of this parallel region: "
                  "gradient mode belongs to a thread, and their forward pass "
                  "runs with gradients on")
            .remedy("make one there")
            .note(Guard, "the guard is for this thread")
            .note(Forward, "all threads run the forward pass here");
    // The statement that each thread runs: the region, or the body of its loop.
    if (isa<ForStmt, CXXForRangeStmt>(Body))
      Body = cpp::bodyOf(Body);
    if (const auto *Block = dyn_cast<CompoundStmt>(Body))
      addGuard(F, Block);
    report(F);
  }

  /// `GradMode::set_enabled(false)` with no way back.
  void reportLeftOff(const ModeLeftOff &Left) {
    const FunctionDecl *In = Left.In->function();
    Finding F = Finding::at(Left.By).level(Level::Certain);
    if (!Left.Trains)
      F.because(IneffectiveGradGuard.TrainsElsewhere)
          .says("gradients left off: " + quoted(In) +
                " returns with gradient mode off, for all that its thread runs "
                "afterwards, training too; a NoGradGuard ends with its block");
    else
      F.says("gradients left off: nothing switches gradient mode on again, "
             "and what trains afterwards records no autograd graph; a "
             "NoGradGuard ends with its block");
    if (Left.Reached)
      F.note(Left.Reached, "gradient mode is off after this");
    if (Left.Trains)
      F.note(Left.Trains, "training runs with gradient mode off here");
    const std::optional<StatementPlace> P = placeOf(Left.By, context());
    const Stmt *Around =
        P && P->Block ? parentOf(P->Block, context()) : nullptr;
    unsigned Sets = 0;
    cpp::forEachCall(In->getBody(), [&](const CallExpr *Call) {
      Sets += Call == Left.By || torch::setsGradMode(Call);
    });
    if (Sets > 1 || !P || !torch::setsGradMode(Left.By) ||
        (P->Block != In->getBody() && !(Around && cpp::isLoop(Around))))
      return report(F.because(IneffectiveGradGuard.SetAgain));
    reportWithFix(F, *P, nullptr, /*IsOff=*/false, [&](Finding &To) {
      To.fix(fixits::replaceStatement(
          P->Statement, guardDeclaration("no_grad_guard", In->getBody()),
          context()));
    });
  }

  void addGuard(Finding &To, const CompoundStmt *Block) const {
    To.fix(fixits::insertAtBlockHead(
        Block, guardDeclaration("no_grad_guard", Block), context()));
  }

  /// Names that fixes have given by function, as one function may need several.
  llvm::DenseMap<SourceLocation, llvm::StringSet<>> Given;
  bool IsLeftOff = false; ///< Something switches gradient mode off.
  /// Unnamed guards that have been looked at.
  llvm::DenseSet<SourceLocation> Seen;
};

} // namespace

LIBTORCH_CHECK(IneffectiveGradGuardCheck, IneffectiveGradGuard);

} // namespace libtorch_tidy
