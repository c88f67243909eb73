//===- AutogradContextCycleCheck.cpp --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/UserCode.h"
#include "analysis/cpp/Walk.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Hooks.h"
#include "checks/base/LibtorchCheck.h"
#include "checks/cycles/AutogradForward.h"
#include "clang/AST/ASTContext.h"
#include "clang/ASTMatchers/ASTMatchFinder.h"

using namespace clang;
using namespace clang::ast_matchers;

namespace libtorch_tidy {

namespace {

/// A tensor in saved_data.
struct KeptTensor {
  SavedValue Store;
  SavedTensor Tensor; ///< The first, or the first output.
  std::optional<AutogradForward::Output> Output;
};

/// The definitions of static method \p Name as written: of a template, the
/// pattern. Its instantiations are not in every build of the AST.
llvm::SmallVector<const FunctionDecl *, 2> definitionsOf(const CXXRecordDecl *R,
                                                         StringRef Name) {
  llvm::SmallVector<const FunctionDecl *, 2> Found;
  for (const Decl *D : R->decls())
    if (const FunctionDecl *F = D->getAsFunction(); cpp::nameOf(F) == Name)
      if (const FunctionDecl *Definition = F->getDefinition();
          Definition && Definition->hasBody())
        Found.push_back(Definition);
  return Found;
}

/// What in \p Backward takes what \p Key names out of saved_data: it is gone
/// then when backward() has run, as what save_for_backward() was given.
const Expr *releaseIn(const FunctionDecl *Backward, const Expr *Key) {
  const std::optional<std::string> Text = literalOf(Key);
  return cpp::findFirst<CXXMemberCallExpr>(
      Backward->getBody(), [&](const CXXMemberCallExpr *Call) {
        if (!torch::isSavedData(Call->getImplicitObjectArgument()))
          return false;
        if (!cpp::does(Call, cpp::Std::Remove))
          return cpp::does(Call, cpp::Std::Empty);
        return Call->getNumArgs() == 1 && Text &&
               Text == literalOf(Call->getArg(0));
      });
}

/// A tensor that is kept with all that it is a part of.
SavedTensor partOf(const Expr *E, const AutogradForward &In) {
  return {E, cpp::objectOf(E, In.function()->getBody())};
}

llvm::SmallVector<KeptTensor, 4> decide(const AutogradForward &In,
                                        const FunctionDecl *Backward) {
  llvm::SmallVector<KeptTensor, 4> Kept;
  for (const SavedValue &S : In.uses().Stores) {
    auto Values = In.keptBy(S);
    if (Values.empty())
      continue;
    KeptTensor Found{S, Values.front(), std::nullopt};
    for (const SavedTensor &K : Values)
      if (!Found.Output && (Found.Output = In.asOutput(K, S)))
        Found.Tensor = Found.Output->Part ? partOf(Found.Output->Part, In) : K;
    const Expr *Release =
        Backward && !Found.Output ? releaseIn(Backward, S.Key) : nullptr;
    if (Release)
      silent(S.Where->Stmt::getBeginLoc(), AutogradContextCycle.Released,
             "release", Release->getExprLoc());
    else
      Kept.push_back(Found);
  }
  return Kept;
}

Finding worded(const KeptTensor &K) {
  const SavedValue &S = K.Store;
  Finding F = Finding::from(S.Where);
  if (K.Output)
    F.noteMade(K.Tensor.Of->Root);
  if (S.InHelper)
    F.note(S.InHelper, "it is put into saved_data here");
  if (K.Output) {
    const cpp::Object &Of = *K.Tensor.Of;
    const StringRef Part =
        Of.Element || !Of.Fields.empty()
            ? fixits::sourceText(K.Tensor.E->getSourceRange(),
                                 Of.Root->getASTContext())
            : "";
    const std::string Name =
        K.Tensor.IsView || !Part.contains(cpp::nameOf(Of.Root))
            ? quoted(Of.Root)
            : quoted(Part);
    if (K.Output->Dirty)
      F.note(K.Output->Dirty, "input " + Name +
                                  " is marked dirty here, so it is its own "
                                  "output");
    return F
        .says(std::string("memory leak: saved_data holds ") +
              (K.Tensor.IsView ? "a view of " : "") + "the output " + Name +
              ", whose graph node owns saved_data: this cycle is never freed")
        .remedy("save it with save_for_backward()")
        .note(K.Output->Return->getBeginLoc(),
              Name + " is returned here, so it will own the graph node and "
                     "the node owns the context");
  }
  const auto *Ref =
      dyn_cast_or_null<DeclRefExpr>(cpp::stripImplicit(K.Tensor.E));
  const bool IsOne = torch::isTensor(K.Tensor.E->getType());
  const std::string What = !Ref    ? (IsOne ? "a tensor" : "tensors")
                           : IsOne ? "tensor " + quoted(Ref->getDecl())
                                   : "the tensors of " + quoted(Ref->getDecl());
  return F.because(AutogradContextCycle.NoOutput)
      .says("wasted memory: saved_data holds " + What +
            ", which backward() does not release: " +
            (IsOne ? "it lives" : "they live") + " as long as the graph node")
      .remedy(std::string("save ") + (IsOne ? "it" : "them") +
              " with save_for_backward()");
}

/// docs/checks/libtorch-autograd-context-cycle.md says what it finds and why.
class AutogradContextCycleCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;
  void registerMatchers(MatchFinder *Finder) override {
    Finder->addMatcher(cxxRecordDecl(isDefinition(),
                                     unless(isExpansionInSystemHeader()),
                                     unless(isTemplateInstantiation()),
                                     isDerivedFrom(torch::CustomFunction.str()))
                           .bind("class"),
                       this);
  }
  void checkMatch(const Match &Result) override {
    const auto *R = Result.Nodes.getNodeAs<CXXRecordDecl>("class");
    auto Backward = definitionsOf(R, torch::BackwardMethod);
    for (const FunctionDecl *Forward : definitionsOf(R, torch::ForwardMethod))
      if (cpp::isUserCode(Forward->getLocation(), *Result.SourceManager))
        checkForward(Forward, Backward.size() == 1 ? Backward.front() : nullptr,
                     *Result.Context);
  }

private:
  void checkForward(const FunctionDecl *Forward, const FunctionDecl *Backward,
                    ASTContext &Context) {
    const AutogradForward In(Forward);
    const llvm::SmallVector<KeptTensor, 4> Kept = decide(In, Backward);
    if (Kept.empty())
      return;
    // One edit for all: where one tensor goes depends on the others.
    llvm::SmallVector<SavedValue, 4> Stores;
    for (const KeptTensor &K : Kept)
      Stores.push_back(K.Store);
    fixits::Edits All;
    const Reason *WhyNot = saveForBackward(In, Stores, Backward, Context, All);
    for (const KeptTensor &K : Kept) {
      Finding F = worded(K);
      F.runsWith(K.Store.Where, Context);
      if (WhyNot)
        F.because(*WhyNot);
      else if (&K == &Kept.front())
        F.fix(All);
      else
        F.because(AutogradContextCycle.WithFirst, "first",
                  Stores.front().Where->getExprLoc());
      report(F);
    }
  }
};

} // namespace

LIBTORCH_CHECK(AutogradContextCycleCheck, AutogradContextCycle);

} // namespace libtorch_tidy
