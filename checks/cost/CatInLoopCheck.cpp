//===- CatInLoopCheck.cpp -------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Body.h"
#include "analysis/cpp/Callables.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Std.h"
#include "analysis/torch/api/Effects.h"
#include "analysis/torch/api/OpFacts.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Hooks.h"
#include "analysis/torch/modules/Modules.h"
#include "analysis/torch/storage/Sharing.h"
#include "checks/base/LibtorchCheck.h"
#include "checks/cost/TensorGrowth.h"
#include "fixits/FixIts.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "clang/ASTMatchers/ASTMatchFinder.h"
#include "llvm/ADT/StringSet.h"

using namespace clang;
using namespace clang::ast_matchers;

namespace libtorch_tidy {

namespace {

AST_MATCHER(CallExpr, joinsTensors) {
  return torch::asConcatenation(&Node).has_value();
}

/// Asks whether a tensor may be kept by handle in place of a copy of it: each
/// iteration of a loop makes it anew, nothing writes into it afterwards, and
/// it shows all of its storage. An assignment \p Ignored is as good as gone.
class FreshTensors {
public:
  FreshTensors(const FunctionDecl *In, const Stmt *Loop, const Expr *Ignored)
      : In(In), Loop(Loop), Ignored(Ignored) {}

  bool isFresh(const Expr *E, unsigned Depth = 0) const {
    constexpr unsigned Enough = 8; // Each step may have many to look at.
    E = cpp::stripImplicit(E);
    if (!E || Depth > Enough)
      return false;
    if (const VarDecl *V = cpp::variableOf(E))
      return isFreshVariable(V, Depth + 1);
    const auto *Call = dyn_cast<CallExpr>(E);
    if (!Call)
      return false;
    if (torch::asModuleCall(Call))
      return true;
    if (const auto *Op = dyn_cast<CXXOperatorCallExpr>(Call))
      switch (Op->getOperator()) {
      case OO_Plus:
      case OO_Minus:
      case OO_Star:
      case OO_Slash:
        return torch::isTensor(Op->getType());
      default:
        return Op->isComparisonOp() && torch::isTensor(Op->getType());
      }
    // script.forward({x}).toTensor()
    if (torch::asToTensor(Call))
      return torch::asModuleCall(cpp::receiverOf(Call)).has_value();
    const torch::OpFacts *Facts = torch::opFacts(Call->getDirectCallee());
    if (!Facts || Facts->InPlace)
      return false;
    if (!Facts->mayShare())
      return true;
    const Expr *Of = cpp::receiverOf(Call);
    if (!Of && Call->getNumArgs() > 0)
      Of = Call->getArg(0);
    return torch::showsWhole(Call) && isFresh(Of, Depth + 1);
  }

private:
  bool isFreshVariable(const VarDecl *V, unsigned Depth) const {
    if (!torch::isTensor(V->getType()))
      return false;
    cpp::Values Values = cpp::Body::of(In).valuesOf(V);
    // No other variable holds it, nor a view of it.
    auto IsHandle = [&](const Expr *E) {
      return torch::memoryRoot(E, In->getASTContext()) == V;
    };
    return Values.Complete &&
           llvm::all_of(Values.Given,
                        [&](const Expr *E) { return isFresh(E, Depth); }) &&
           !cpp::anyOf<VarDecl>(Loop,
                                [&](const VarDecl *Other) {
                                  return IsHandle(Other->getInit());
                                }) &&
           !cpp::anyOf<CallExpr>(Loop, [&](const CallExpr *Call) {
             return cpp::isAssignment(Call) && Call != Ignored &&
                    IsHandle(Call->getArg(1));
           });
  }

  const FunctionDecl *In;
  const Stmt *Loop;
  const Expr *Ignored;
};

/// Collects the parts in a vector and joins them once, after the loop.
class JoinOnce {
public:
  /// \p Taken are the names that other fixes have taken in the same function.
  JoinOnce(const TensorGrowth &Growth, const cpp::Body &Body,
           llvm::StringSet<> &Taken)
      : Growth(Growth), First(Growth.Steps.front()),
        Var(cpp::variableOf(Growth.Target)), Name(Var->getNameAsString()),
        Body(Body), Context(Body.context()), Taken(Taken) {}

  /// Adds the edits to \p F, or why there are none.
  void addTo(Finding &F) {
    const Reason *WhyNot = Growth.Parts ? joinList() : collectParts();
    WhyNot ? F.because(*WhyNot) : F.fix(Fix);
  }

private:
  bool add(const fixits::Edits &Edits) {
    Fix.append(Edits.begin(), Edits.end());
    return !Edits.empty();
  }
  /// \p Cat of \p List instead, with the dimension and its comment as they are
  /// written.
  std::string callText(const CallExpr *Cat, StringRef List) const {
    StringRef Callee =
        fixits::sourceText(Cat->getCallee()->getSourceRange(), Context);
    StringRef Rest =
        fixits::textAfter(Cat->getArg(0), Cat->getRParenLoc(), Context);
    return Callee.empty() ? "" : (Callee + "(" + List + Rest + ")").str();
  }
  /// Empty, a list cannot be joined: only where the loop has run.
  std::string unlessEmpty(StringRef List, StringRef Statement) const {
    const std::string Inner =
        fixits::indentationAt(Growth.Loop->getBeginLoc(), Context).str() +
        fixits::indentationStep(Growth.Loop, Context);
    return ("if (!" + List + ".empty())\n" + Inner + Statement).str();
  }

  /// The parts are collected already, and joined in each iteration. As
  /// collectParts() it returns why not.
  const Reason *joinList() {
    const std::string List = Growth.Parts->getNameAsString();
    const std::string Call = callText(First.Cat, List);
    return !Call.empty() &&
                   cpp::isStdClass(Growth.Parts->getType(), {"vector"}) &&
                   add(fixits::removeStatement(First.Assign, Context)) &&
                   add(fixits::insertAfterStatement(
                       Growth.Loop,
                       unlessEmpty(List, Name + " = " + Call + ";"), Context))
               ? nullptr
               : &CatInLoop.OtherForm;
  }

  const Reason *collectParts() {
    const Stmt *Scope = Body.function()->getBody();
    const std::string Wish = (StringRef(Name).rtrim('_') + "_parts").str();
    const std::string List = fixits::freeName(Wish, Scope, Taken);
    const std::string Call = callText(First.Cat, List);
    if (Call.empty())
      return &CatInLoop.OtherForm;
    const FreshTensors Fresh(Body.function(), Growth.Loop, Growth.FirstSet);
    for (const GrowthStep &Step : Growth.Steps)
      if (!Step.Plain || !Step.Part || callText(Step.Cat, List) != Call)
        return &CatInLoop.OtherForm;
      else if (!Fresh.isFresh(Step.Part))
        return &CatInLoop.PartShared;
      else if (!pushPart(Step, List))
        return &CatInLoop.OtherForm;
    std::string Declaration =
        "std::vector<" + torch::spelling::Tensor.str() + "> " + List;
    std::string After = Name + " = " + Call + ";";
    if (Growth.FirstSet)
      After = unlessEmpty(List, After);
    else
      Declaration += "{" + Name + "}";
    if (!add(fixits::insertBeforeStatement(Growth.Loop, Declaration + ";",
                                           Context)) ||
        !add(fixits::insertAfterStatement(Growth.Loop, After, Context)))
      return &CatInLoop.OtherForm;
    Taken.insert(List);
    return nullptr;
  }

  /// Adds the part of \p Step to \p List where it is joined now.
  bool pushPart(const GrowthStep &Step, StringRef List) {
    StringRef Part = fixits::sourceText(Step.Part->getSourceRange(), Context);
    if (Part.empty())
      return false;
    const std::string Push = (List + ".push_back(" + Part + ")").str();
    if (!Growth.FirstSet)
      return add(fixits::replaceExpression(Step.Assign, Push, Context));
    const IfStmt *If = branchesWith(Step, Part);
    return If && isEmptyBefore() &&
           add(fixits::replaceStatement(If, Push + ";", Context));
  }

  /// The whole statement `if (all.defined()) all = torch::cat({all, x}); else
  /// all = x;`, which chooses between the two and does nothing else.
  const IfStmt *branchesWith(const GrowthStep &Step, StringRef Part) const {
    auto Around = [&](const Stmt *S) -> const IfStmt * {
      for (S = Body.parentOf(S); S; S = Body.parentOf(S)) {
        if (const auto *If = dyn_cast<IfStmt>(S))
          return If;
        const auto *Block = dyn_cast<CompoundStmt>(S);
        if (Block ? Block->size() != 1 : !isa<ExprWithCleanups>(S))
          return nullptr;
      }
      return nullptr;
    };
    const auto *Set = cast<CXXOperatorCallExpr>(Growth.FirstSet);
    const IfStmt *If = Around(Step.Assign);
    if (!If || If != Around(Set) || If->getInit() ||
        !isa_and_nonnull<CompoundStmt>(Body.parentOf(If)) ||
        Growth.Steps.size() != 1 ||
        fixits::sourceText(cpp::stripImplicit(Set->getArg(1))->getSourceRange(),
                           Context) != Part)
      return nullptr;
    // A comment in it would be lost.
    StringRef Written = fixits::sourceText(If->getSourceRange(), Context);
    return Written.contains("//") || Written.contains("/*") ? nullptr : If;
  }

  /// Is nothing in the variable before the loop?
  bool isEmptyBefore() const {
    return !isa<ParmVarDecl>(Var) &&
           (!Var->getInit() || cpp::isEmptyValue(Var->getInit())) &&
           llvm::none_of(cpp::writesTo(Var, Body.root()),
                         [&](const cpp::Write &W) {
                           return cpp::comesBefore(W.Where, Growth.Loop,
                                                   Context.getSourceManager());
                         });
  }

  const TensorGrowth &Growth;
  const GrowthStep &First;
  const VarDecl *Var;
  const std::string Name;
  const cpp::Body &Body;
  ASTContext &Context;
  llvm::StringSet<> &Taken;
  fixits::Edits Fix;
};

std::string nameOf(const Expr *Target, const ASTContext &Context) {
  if (const VarDecl *Var = cpp::variableOf(Target))
    return quoted(Var);
  StringRef Text = fixits::sourceText(Target->getSourceRange(), Context);
  return Text.empty() ? "the tensor" : quoted(Text);
}

Finding worded(const TensorGrowth &Growth, ASTContext &Context) {
  const GrowthStep &First = Growth.Steps.front();
  const std::string Name = nameOf(Growth.Target, Context);
  Finding F =
      Finding::at(First.Cat->getExprLoc(),
                  (First.Assign ? First.Assign : First.Cat)->getSourceRange())
          .says("quadratic copying: every iteration " +
                (Growth.Parts
                     ? "concatenates all of " + quoted(Growth.Parts) + " again"
                     : "copies all of " + Name + " into a longer tensor") +
                "; " +
                (Growth.Parts ? "concatenate them once after the loop"
                 : Growth.read()
                     ? "allocate it once, write each part into its slice and "
                       "read what is filled through narrow()"
                     : "collect the parts in a std::vector and concatenate "
                       "them once "
                       "after the loop"))
          .note(
              cpp::startOf(Growth.Loop, *cpp::Body::around(First.Cat, Context)),
              Name + " grows over the iterations of this loop")
          .bytesOf(First.Part);
  for (const GrowthStep &Step : llvm::drop_begin(Growth.Steps))
    F.note(Step.Cat, "and it grows here");
  if (Growth.read())
    F.note(Growth.read(), "what has grown so far is read in the loop here");
  return F;
}

/// docs/checks/libtorch-cat-in-loop.md says what it finds and why.
class CatInLoopCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;

  void registerMatchers(MatchFinder *Finder) override {
    Finder->addMatcher(callExpr(joinsTensors()).bind("cat"), this);
  }

  void checkMatch(const Match &Result) override {
    const auto *Cat = Result.Nodes.getNodeAs<CallExpr>("cat");
    auto Growth = growthBy(Cat, context());
    if (!Growth)
      return;
    const cpp::Body *In = cpp::Body::around(Growth->Loop, context());
    // What reads the tensor may be missing.
    if (In ? !isWhole(In->function()) : !isWhole())
      return;
    Finding F = worded(*Growth, context());
    // An exception may lead past the end of a loop and on in the same function.
    if (In && !Growth->Steps.front().Assign)
      F.because(CatInLoop.OtherForm);
    else if (!In || In->around<CXXTryStmt>(Growth->Loop) ||
             !In->isOwn(cpp::variableOf(Growth->Target)))
      F.because(CatInLoop.Visible);
    else if (Growth->read() || Growth->Queried)
      F.because(CatInLoop.ReadInLoop);
    else if (!isa_and_nonnull<CompoundStmt>(In->parentOf(Growth->Loop)))
      F.because(CatInLoop.OtherForm);
    else
      JoinOnce(*Growth, *In, Given[In->function()->getLocation()]).addTo(F);
    report(F);
  }

private:
  /// Names that fixes have given, by function.
  llvm::DenseMap<SourceLocation, llvm::StringSet<>> Given;
};

} // namespace

LIBTORCH_CHECK(CatInLoopCheck, CatInLoop);

} // namespace libtorch_tidy
