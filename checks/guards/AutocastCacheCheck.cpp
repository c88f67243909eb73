//===- AutocastCacheCheck.cpp ---------------------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/cpp/Compat.h"
#include "analysis/cpp/Walk.h"
#include "analysis/flow/unit/TensorWork.h"
#include "analysis/torch/autograd/Autocast.h"
#include "analysis/torch/autograd/Autograd.h"
#include "checks/base/LibtorchCheck.h"
#include "fixits/FixIts.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/ParentMapContext.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

using namespace clang;
using namespace clang::ast_matchers;
using libtorch_tidy::torch::AutocastUse;

namespace libtorch_tidy {

namespace {

/// docs/checks/libtorch-autocast-cache.md says what it finds and why.
class AutocastCacheCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;
  void registerMatchers(MatchFinder *Finder) override;
  void checkMatch(const Match &Result) override;
  void checkMatched() override;

private:
  /// A call, and the function of namespace or class scope that it stands in.
  struct Use {
    const CallExpr *Call;
    const FunctionDecl *In;
    torch::AutocastUse What;
  };
  /// Is the cache cleared or switched off for what \p F does?
  bool isDoneFor(const FunctionDecl *F, torch::AutocastUse What) const;
  void checkRegionsOf(const FunctionDecl *F);
  void checkClass(const Use &Begin);
  void reportUse(const Use &Begin, const Use *End, const CallExpr *Step,
                 bool SameBlock);

  llvm::SmallVector<Use, 8> Uses; ///< In source order of each function.
};

/// The function of namespace or class scope around \p F, which may be the call
/// operator of a lambda.
const FunctionDecl *outermost(const FunctionDecl *F) {
  const FunctionDecl *Outer = F;
  for (const DeclContext *DC = F; DC; DC = DC->getParent())
    if (const auto *Around = dyn_cast<FunctionDecl>(DC))
      Outer = Around;
  return Outer;
}

/// The block whose statement \p Call is; null for parts of statements and
/// branches without braces.
const CompoundStmt *blockOf(const CallExpr *Call, ASTContext &Context) {
  DynTypedNodeList Parents = Context.getParents(*Call);
  return Parents.empty() ? nullptr : Parents[0].get<CompoundStmt>();
}

/// at::autocast:: as the call spells it.
std::string qualifierOf(const CallExpr *Call, const ASTContext &Context) {
  const auto *Ref = dyn_cast<DeclRefExpr>(Call->getCallee()->IgnoreImpCasts());
  if (!Ref || !Ref->hasQualifier())
    return "";
  return fixits::sourceText(Ref->getQualifierLoc().getSourceRange(), Context)
      .str();
}

/// Does \p F call \p Other, through functions of the unit too?
bool calls(const FunctionDecl *F, const FunctionDecl *Other) {
  return F->hasBody() &&
         flow::findRunCall(F->getBody(), [&](const CallExpr *Call) {
           const FunctionDecl *Callee = Call->getDirectCallee();
           return Callee &&
                  Callee->getCanonicalDecl() == Other->getCanonicalDecl();
         });
}

const CXXRecordDecl *classOf(const FunctionDecl *F) {
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  return Method ? Method->getParent()->getCanonicalDecl() : nullptr;
}

/// Is every method of \p Class that a user wrote defined in this unit?
bool isWhollyVisible(const CXXRecordDecl *Class) {
  return Class->hasDefinition() &&
         llvm::all_of(Class->getDefinition()->methods(),
                      [](const CXXMethodDecl *Method) {
                        return !Method->isUserProvided() ||
                               compat::isPureVirtual(Method) ||
                               Method->isDefined();
                      });
}

} // namespace

void AutocastCacheCheck::registerMatchers(MatchFinder *Finder) {
  Finder->addMatcher(
      callExpr(callee(functionDecl(hasAnyName(torch::AutocastFunctions))),
               forFunction(functionDecl().bind("in")))
          .bind("call"),
      this);
}

void AutocastCacheCheck::checkMatch(const Match &Result) {
  const auto *Call = Result.Nodes.getNodeAs<CallExpr>("call");
  const auto *In = Result.Nodes.getNodeAs<FunctionDecl>("in");
  if (auto What = torch::autocastUse(Call, context()))
    Uses.push_back({Call, outermost(In), *What});
}

bool AutocastCacheCheck::isDoneFor(const FunctionDecl *F,
                                   AutocastUse What) const {
  return llvm::any_of(Uses, [&](const Use &U) {
    if (U.What != What)
      return false;
    if (U.In == F || (classOf(F) && classOf(F) == classOf(U.In)))
      return true;
    // A function that does nothing else is there for others; one with a region
    // of its own, or of its class, may be all of its story.
    bool OwnRegion = llvm::any_of(Uses, [&](const Use &Other) {
      return Other.What == AutocastUse::On &&
             (Other.In == U.In ||
              (classOf(Other.In) && classOf(Other.In) == classOf(U.In)));
    });
    return !OwnRegion || calls(F, U.In) || calls(U.In, F);
  });
}

void AutocastCacheCheck::reportUse(const Use &Begin, const Use *End,
                                   const CallExpr *Step, bool SameBlock) {
  Finding F;
  F.Loc = Begin.Call->Stmt::getBeginLoc();
  F.Highlight = Begin.Call->getSourceRange();
  F.Strength = Level::Likely;
  if (End) {
    F.Message = "autocast is switched on and off again without clear_cache(): "
                "the casts of weights that it has cached stay in memory, and "
                "are used again even when the weights have changed";
    F.Steps.push_back({End->Call->Stmt::getBeginLoc(),
                       "autocast is switched off here, which leaves its cache "
                       "as it is"});
    if (SameBlock)
      F.Fix = fixits::insertBeforeStatement(
          End->Call, qualifierOf(End->Call, context()) + "clear_cache();",
          context());
  } else {
    F.Message = "autocast stays on while the optimizer changes the weights, "
                "without clear_cache(): the casts of weights that it has "
                "cached stay in memory, and the next forward uses the old ones";
    F.Steps.push_back({Step->Stmt::getBeginLoc(), "the weights change here"});
  }
  report(F);
}

/// One region after the other, as they are written.
void AutocastCacheCheck::checkRegionsOf(const FunctionDecl *F) {
  llvm::SmallVector<const Use *, 4> Own;
  for (const Use &U : Uses)
    if (U.In == F)
      Own.push_back(&U);
  // set_enabled(option) ... set_enabled(false) is a region too.
  auto Begins = [&](size_t I) {
    return Own[I]->What == AutocastUse::On ||
           (I == 0 && Own[I]->What == AutocastUse::Set && Own.size() > 1 &&
            Own[1]->What == AutocastUse::Off);
  };
  // off ... on: a stretch without autocast inside someone else's region.
  if (Own.empty() || !Begins(0))
    return;
  for (size_t I = 0; I < Own.size(); ++I) {
    if (!Begins(I))
      continue;
    llvm::SmallVector<const Use *, 2> Ends;
    for (size_t J = I + 1; J < Own.size() && !Begins(J); ++J)
      Ends.push_back(Own[J]);
    if (!Ends.empty()) {
      const CompoundStmt *Block = blockOf(Ends.front()->Call, context());
      reportUse(*Own[I], Ends.front(), nullptr,
                Ends.size() == 1 && Block &&
                    Block == blockOf(Own[I]->Call, context()));
      continue;
    }
    if (Own.size() > 1)
      continue;
    const CallExpr *Step = nullptr;
    cpp::forEachCall(F->getBody(), [&](const CallExpr *Call) {
      if (!Step && torch::isOptimizerStep(Call))
        Step = Call;
    });
    if (Step)
      reportUse(*Own[I], nullptr, Step, false);
    else
      checkClass(*Own[I]);
  }
}

/// Switched on by one method, off by another: a guard of the user's own.
void AutocastCacheCheck::checkClass(const Use &Begin) {
  const CXXRecordDecl *Class = classOf(Begin.In);
  // What ends an object ends a stretch without autocast.
  if (!Class || !isWhollyVisible(Class) || isa<CXXDestructorDecl>(Begin.In))
    return;
  const Use *End = nullptr;
  for (const Use &U : Uses)
    if (U.In != Begin.In && classOf(U.In) == Class &&
        (U.What == AutocastUse::Off || U.What == AutocastUse::Set)) {
      if (End)
        return;
      End = &U;
    }
  if (End)
    reportUse(Begin, End, nullptr, blockOf(End->Call, context()));
}

void AutocastCacheCheck::checkMatched() {
  llvm::SetVector<const FunctionDecl *> Functions;
  for (const Use &U : Uses)
    Functions.insert(U.In);
  for (const FunctionDecl *F : Functions) {
    // Of a template, the instantiations are looked at.
    if (F->isDependentContext() || isDoneFor(F, AutocastUse::ClearCache) ||
        isDoneFor(F, AutocastUse::CacheOff))
      continue;
    checkRegionsOf(F);
    // Guard(bool enabled) { set_enabled(enabled); } ~Guard() { ... }
    if (isa<CXXConstructorDecl>(F))
      for (const Use &U : Uses)
        if (U.In == F && U.What == AutocastUse::Set)
          checkClass(U);
  }
}

LIBTORCH_CHECK(AutocastCacheCheck, NoReasons);

} // namespace libtorch_tidy
