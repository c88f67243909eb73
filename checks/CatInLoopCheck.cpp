//===- CatInLoopCheck.cpp -------------------------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/LibtorchCheck.h"
#include "checks/flow/FreshTensors.h"
#include "checks/flow/TensorGrowth.h"
#include "checks/flow/Writes.h"
#include "checks/torch/Calls.h"
#include "checks/torch/Concatenation.h"
#include "checks/torch/Spelling.h"
#include "checks/torch/TorchTypes.h"
#include "fixits/FixIts.h"
#include "fixits/Statements.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/ParentMapContext.h"
#include "clang/AST/StmtCXX.h"
#include "clang/ASTMatchers/ASTMatchFinder.h"
#include "llvm/ADT/StringSet.h"

using namespace clang;
using namespace clang::ast_matchers;

namespace libtorch_tidy {

using flow::GrowthStep;
using flow::TensorGrowth;

namespace {

/// docs/checks/libtorch-cat-in-loop.md says what it finds and why.
class CatInLoopCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;
  void registerMatchers(MatchFinder *Finder) override;
  void checkMatch(const Match &Result) override;

private:
  /// Names that fixes have given, by function.
  llvm::DenseMap<SourceLocation, llvm::StringSet<>> Given;
};

AST_MATCHER(CallExpr, joinsTensors) {
  return torch::asConcatenation(&Node).has_value();
}

const Stmt *parentOf(const Stmt *S, ASTContext &Context) {
  DynTypedNodeList Parents = Context.getParents(*S);
  return Parents.empty() ? nullptr : Parents[0].get<Stmt>();
}

/// The function around \p S. Null in lambdas, and where an exception may lead
/// past the end of a loop and on in the same function.
const FunctionDecl *plainFunctionAround(const Stmt *S, ASTContext &Context) {
  DynTypedNode Node = DynTypedNode::create(*S);
  for (;;) {
    DynTypedNodeList Parents = Context.getParents(Node);
    if (Parents.empty() || Parents[0].get<LambdaExpr>() ||
        Parents[0].get<CXXTryStmt>())
      return nullptr;
    Node = Parents[0];
    if (const auto *F = Node.get<FunctionDecl>())
      return F;
  }
}

/// The statement of a block that chooses between \p A and \p B and does
/// nothing else; null when there is none.
const IfStmt *branchesOf(const Stmt *A, const Stmt *B, ASTContext &Context) {
  auto Around = [&](const Stmt *S) -> const IfStmt * {
    for (S = parentOf(S, Context); S; S = parentOf(S, Context)) {
      if (const auto *If = dyn_cast<IfStmt>(S))
        return If;
      const auto *Block = dyn_cast<CompoundStmt>(S);
      if (Block ? Block->size() != 1 : !isa<ExprWithCleanups>(S))
        return nullptr;
    }
    return nullptr;
  };
  const IfStmt *If = Around(A);
  return If && If == Around(B) &&
                 isa_and_nonnull<CompoundStmt>(parentOf(If, Context))
             ? If
             : nullptr;
}

bool isVector(QualType T) {
  const CXXRecordDecl *R = torch::recordOf(T);
  return R && R->isInStdNamespace() && R->getIdentifier() &&
         R->getName() == "vector";
}

/// Collects the parts in a vector and joins them once, behind the loop.
/// \p Given are the names that other fixes have taken in the same function.
fixits::Edits
joinOnce(const TensorGrowth &Growth, ASTContext &Context,
         llvm::DenseMap<SourceLocation, llvm::StringSet<>> &Given) {
  const GrowthStep &First = Growth.Steps.front();
  const auto *Ref = dyn_cast<DeclRefExpr>(torch::stripImplicit(Growth.Target));
  const auto *Var = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  const FunctionDecl *In = plainFunctionAround(Growth.Loop, Context);
  if (!Var || !Var->isLocalVarDeclOrParm() || Var->isStaticLocal() ||
      Var->getType()->isReferenceType() || Growth.Read || Growth.Queried ||
      !In || !isa_and_nonnull<CompoundStmt>(parentOf(Growth.Loop, Context)))
    return {};
  const std::string Name = Var->getNameAsString();
  auto CallText = [&](const CallExpr *Cat, StringRef List) -> std::string {
    StringRef Callee =
        fixits::sourceText(Cat->getCallee()->getSourceRange(), Context);
    if (Callee.empty())
      return {};
    // With the dimension and its comment as they are written.
    StringRef Rest =
        fixits::textBehind(Cat->getArg(0), Cat->getRParenLoc(), Context);
    return (Callee + "(" + List + Rest + ")").str();
  };
  const std::string Inner =
      fixits::indentationAt(Growth.Loop->getBeginLoc(), Context).str() +
      fixits::indentationStep(Growth.Loop, Context);
  fixits::Edits Fix;
  auto Add = [&](fixits::Edits Edits) {
    bool Ok = !Edits.empty();
    Fix.append(Edits.begin(), Edits.end());
    return Ok;
  };

  if (Growth.Parts) {
    // Empty, it cannot be joined: only where the loop has run.
    std::string List = Growth.Parts->getNameAsString();
    std::string Call = CallText(First.Cat, List);
    if (Call.empty() || !isVector(Growth.Parts->getType()) ||
        !Add(fixits::removeStatement(First.Assign, Context)) ||
        !Add(fixits::insertAfterStatement(Growth.Loop,
                                          "if (!" + List + ".empty())\n" +
                                              Inner + Name + " = " + Call + ";",
                                          Context)))
      return {};
    return Fix;
  }

  const std::string Wish = (StringRef(Name).rtrim('_') + "_parts").str();
  std::string List = fixits::freeName(Wish, In->getBody());
  llvm::StringSet<> &Taken = Given[In->getLocation()];
  for (unsigned N = 2; Taken.count(List); ++N)
    List = fixits::freeName(Wish + std::to_string(N), In->getBody());
  std::string Call = CallText(First.Cat, List);
  if (Call.empty())
    return {};
  const flow::FreshTensors Fresh(In, Growth.Loop, Growth.FirstSet);
  for (const GrowthStep &Step : Growth.Steps) {
    StringRef Part =
        Step.Part ? fixits::sourceText(Step.Part->getSourceRange(), Context)
                  : StringRef();
    if (!Step.Plain || Part.empty() || CallText(Step.Cat, List) != Call ||
        !Fresh.isFresh(Step.Part))
      return {};
    std::string Push = (List + ".push_back(" + Part + ")").str();
    if (!Growth.FirstSet) {
      if (!Add(fixits::replaceExpression(Step.Assign, Push, Context)))
        return {};
      continue;
    }
    // if (all.defined()) all = torch::cat({all, x}); else all = x;
    const auto *Set = cast<CXXOperatorCallExpr>(Growth.FirstSet);
    const auto *If = branchesOf(Step.Assign, Set, Context);
    if (!If || Growth.Steps.size() != 1 || If->getInit() ||
        fixits::sourceText(
            torch::stripImplicit(Set->getArg(1))->getSourceRange(), Context) !=
            Part)
      return {};
    // A comment in it would be lost.
    StringRef Written = fixits::sourceText(If->getSourceRange(), Context);
    if (Written.contains("//") || Written.contains("/*"))
      return {};
    // Nothing may be there before the loop.
    if (isa<ParmVarDecl>(Var) ||
        (Var->getInit() && !flow::isEmptyValue(Var->getInit())))
      return {};
    const SourceManager &SM = Context.getSourceManager();
    for (const flow::Write &W : flow::writesTo(Var, In->getBody()))
      if (SM.isBeforeInTranslationUnit(W.Where->getBeginLoc(),
                                       Growth.Loop->getBeginLoc()))
        return {};
    if (!Add(fixits::replaceStatement(If, Push + ";", Context)))
      return {};
  }
  std::string Declaration =
      "std::vector<" + torch::spelling::Tensor.str() + "> " + List;
  std::string After = Name + " = " + Call + ";";
  if (Growth.FirstSet)
    After = "if (!" + List + ".empty())\n" + Inner + After;
  else
    Declaration += "{" + Name + "}";
  if (!Add(fixits::insertBeforeStatement(Growth.Loop, Declaration + ";",
                                         Context)) ||
      !Add(fixits::insertAfterStatement(Growth.Loop, After, Context)))
    return {};
  Taken.insert(List);
  return Fix;
}

} // namespace

void CatInLoopCheck::registerMatchers(MatchFinder *Finder) {
  Finder->addMatcher(callExpr(joinsTensors()).bind("cat"), this);
}

void CatInLoopCheck::checkMatch(const Match &Result) {
  ASTContext &Context = *Result.Context;
  const auto *Cat = Result.Nodes.getNodeAs<CallExpr>("cat");
  std::optional<TensorGrowth> Growth = flow::growthBy(Cat, Context);
  if (!Growth)
    return;
  const Expr *Assign = Growth->Steps.front().Assign;
  std::string Name =
      fixits::sourceText(Growth->Target->getSourceRange(), Context).str();
  if (const auto *Ref =
          dyn_cast<DeclRefExpr>(torch::stripImplicit(Growth->Target)))
    Name = Ref->getDecl()->getNameAsString();
  const std::string Quoted = Name.empty() ? "the tensor" : "'" + Name + "'";

  Finding F;
  F.Loc = Cat->getExprLoc();
  F.Highlight = Assign->getSourceRange();
  F.Strength = Level::Likely;
  if (Growth->Parts)
    F.Message = "every iteration joins all of '" +
                Growth->Parts->getNameAsString() +
                "' anew, so memory traffic grows with the square of the "
                "iterations; join them once after the loop";
  else if (Growth->Read)
    F.Message =
        "every iteration copies all of " + Quoted +
        " into a longer tensor, so memory traffic grows with the square "
        "of the iterations; allocate it once, write each part into its "
        "slice and read what is filled through narrow()";
  else
    F.Message =
        "every iteration copies all of " + Quoted +
        " into a longer tensor, so memory traffic grows with the square "
        "of the iterations; collect the parts in a std::vector and join "
        "them once after the loop";
  F.Steps.push_back({Growth->Loop->getBeginLoc(),
                     Quoted + " grows over the iterations of this loop"});
  for (const GrowthStep &Step : llvm::drop_begin(Growth->Steps))
    F.Steps.push_back({Step.Cat->getExprLoc(), "and it grows here"});
  if (Growth->Read)
    F.Steps.push_back({Growth->Read->getExprLoc(),
                       "what has grown so far is read in the loop here"});
  F.Fix = joinOnce(*Growth, Context, Given);
  tell(F);
}

LIBTORCH_CHECK(CatInLoopCheck);

} // namespace libtorch_tidy
