//===- AutogradContextCycleCheck.cpp --------------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/UserCode.h"
#include "analysis/cpp/Walk.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Hooks.h"
#include "checks/base/LibtorchCheck.h"
#include "checks/cycles/AutogradForward.h"
#include "checks/cycles/SaveForBackward.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/ASTMatchers/ASTMatchFinder.h"

using namespace clang;
using namespace clang::ast_matchers;

namespace libtorch_tidy {

namespace {

/// docs/checks/libtorch-autograd-context-cycle.md says what it finds and why.
class AutogradContextCycleCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;
  void registerMatchers(MatchFinder *Finder) override;
  void checkMatch(const Match &Result) override;

private:
  void checkForward(const FunctionDecl *Forward, const FunctionDecl *Backward,
                    ASTContext &Context);
};

/// The definitions of static method \p Name as written: of a template, the
/// pattern. Its instantiations are not in every build of the AST.
llvm::SmallVector<const FunctionDecl *, 2> definitionsOf(const CXXRecordDecl *R,
                                                         StringRef Name) {
  llvm::SmallVector<const FunctionDecl *, 2> Found;
  auto Add = [&](const FunctionDecl *F) {
    const FunctionDecl *Definition = F->getDefinition();
    if (F->getIdentifier() && F->getName() == Name && Definition &&
        Definition->hasBody())
      Found.push_back(Definition);
  };
  for (const Decl *D : R->decls()) {
    if (const auto *Method = dyn_cast<CXXMethodDecl>(D))
      Add(Method);
    else if (const auto *Template = dyn_cast<FunctionTemplateDecl>(D))
      Add(Template->getTemplatedDecl());
  }
  return Found;
}

} // namespace

/// Does \p Backward take what \p Key names out of saved_data? Then it is gone
/// when backward() has run, as what save_for_backward() was given.
static bool isReleasedBy(const FunctionDecl *Backward, const Expr *Key) {
  const std::optional<std::string> Text = literalOf(Key);
  return cpp::anyOf<CXXMemberCallExpr>(
      Backward->getBody(), [&](const CXXMemberCallExpr *Call) {
        if (!torch::isSavedData(Call->getImplicitObjectArgument()))
          return false;
        if (!cpp::does(Call, cpp::Std::Remove))
          return cpp::does(Call, cpp::Std::Empty);
        return Call->getNumArgs() == 1 && Text &&
               Text == literalOf(Call->getArg(0));
      });
}

void AutogradContextCycleCheck::registerMatchers(MatchFinder *Finder) {
  Finder->addMatcher(cxxRecordDecl(isDefinition(),
                                   unless(isExpansionInSystemHeader()),
                                   unless(isTemplateInstantiation()),
                                   isDerivedFrom(torch::CustomFunction.str()))
                         .bind("class"),
                     this);
}

void AutogradContextCycleCheck::checkMatch(const Match &Result) {
  const auto *R = Result.Nodes.getNodeAs<CXXRecordDecl>("class");
  auto Backward = definitionsOf(R, torch::BackwardMethod);
  for (const FunctionDecl *Forward : definitionsOf(R, torch::ForwardMethod))
    if (cpp::isUserCode(Forward->getLocation(), *Result.SourceManager))
      checkForward(Forward, Backward.size() == 1 ? Backward.front() : nullptr,
                   *Result.Context);
}

void AutogradContextCycleCheck::checkForward(const FunctionDecl *F,
                                             const FunctionDecl *Backward,
                                             ASTContext &Context) {
  const AutogradForward In(F);
  llvm::SmallVector<SavedValue, 4> Tensors;
  llvm::SmallVector<Finding, 4> Findings;
  for (const SavedValue &S : In.uses().Stores) {
    auto Values = In.keptBy(S);
    if (Values.empty())
      continue;
    Tensors.push_back(S);
    Finding Found;
    Found.Loc = S.Where->Stmt::getBeginLoc();
    Found.Highlight = S.Where->getSourceRange();
    Found.Strength = Level::Likely;
    for (const SavedTensor &K : Values) {
      auto Output = In.asOutput(K, S);
      if (!Output)
        continue;
      std::string Name = "'" + K.Of->Root->getNameAsString() + "'";
      Found.Strength = Level::Certain;
      Found.Message =
          std::string("saved_data holds ") + (K.IsView ? "a view of " : "") +
          "the output " + Name +
          ", whose graph node owns saved_data: this cycle is never freed";
      if (Output->Dirty)
        Found.Steps.push_back({Output->Dirty->getExprLoc(),
                               "input " + Name +
                                   " is marked dirty here, so it is its own "
                                   "output"});
      Found.Steps.push_back(
          {Output->Return->getBeginLoc(),
           Name + " is returned here, so it will own the graph node and the "
                  "node owns the context"});
      break;
    }
    if (Found.Message.empty()) {
      if (Backward && Backward->hasBody() && isReleasedBy(Backward, S.Key)) {
        Tensors.pop_back();
        continue;
      }
      const SavedTensor &First = Values.front();
      const auto *Ref =
          dyn_cast_or_null<DeclRefExpr>(cpp::stripImplicit(First.E));
      std::string Name = Ref ? Ref->getDecl()->getNameAsString() : "";
      const bool IsOne = torch::isTensor(First.E->getType());
      std::string What = Name.empty() ? (IsOne ? "a tensor" : "tensors")
                         : IsOne      ? "tensor '" + Name + "'"
                                      : "the tensors of '" + Name + "'";
      Found.Message =
          "saved_data holds " + What + ", which backward() does not release: " +
          (IsOne ? "it lives" : "they live") + " as long as the graph node";
    }
    if (S.InHelper)
      Found.Steps.insert(
          Found.Steps.begin(),
          {S.InHelper->getExprLoc(), "it is put into saved_data here"});
    Findings.push_back(std::move(Found));
  }
  if (Findings.empty())
    return;
  // One edit for all: where one tensor goes depends on the others.
  Findings.front().Fix = saveForBackward(In, Tensors, Backward, Context);
  for (const Finding &Found : Findings)
    report(Found);
}

LIBTORCH_CHECK(AutogradContextCycleCheck, NoReasons);

} // namespace libtorch_tidy
