//===- AutocastCacheCheck.cpp ---------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Compat.h"
#include "analysis/cpp/Walk.h"
#include "analysis/torch/autograd/Autograd.h"
#include "analysis/torch/autograd/GradGuards.h"
#include "checks/base/LibtorchCheck.h"
#include "fixits/FixIts.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/ParentMapContext.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;
using namespace clang::ast_matchers;
using libtorch_tidy::torch::AutocastUse;

namespace libtorch_tidy {

namespace {

constexpr struct AutocastCacheReasons {
  Reason Cleared{"cache-cleared", Effect::Silent,
                 "`clear_cache()` is called in the same function or class, "
                 "under a condition, too, or in a function of this file that "
                 "has no region of its own, or that it calls or is called by."};
  Reason CacheOff{"cache-off", Effect::Silent,
                  "`set_autocast_cache_enabled(false)` is called in one of "
                  "these places."};
  Reason OffFirst{"off-first", Effect::Silent,
                  "The function switches it off first and on again, or a "
                  "destructor switches it on: a stretch without autocast."};
  Reason NoStep{"weights-unchanged", Effect::Silent,
                "It is switched on for good where no optimizer steps: weights "
                "that never change are cast only once."};
  Reason Unseen{"methods-unseen", Effect::Silent,
                "It is in a method, and some methods of the class are not in "
                "this file."};
  Reason ManyMethods{"several-methods-end", Effect::Silent,
                     "Several other methods of the class switch it off."};
  Reason ManyEnds{"several-ends", Effect::NoFix,
                  "The function switches it off in several places."};
  Reason OtherBlock{"ends-in-other-block", Effect::NoFix,
                    "The call that switches it off is no statement of the same "
                    "block, or of a method's block."};
  Reason StaysOn{"never-off", Effect::NoFix,
                 "It is never switched off: the cache has to be cleared after "
                 "each `step()`."};
} AutocastCache{};

/// Autocast that is switched on, and whose cache stays.
struct Region {
  const CallExpr *Begin;
  const CallExpr *End;  ///< Switches it off; null where nothing does.
  const CallExpr *Step; ///< Changes the weights while it is on, without End.
  const Reason *WhyNotFixed; ///< Null where the fix is safe.
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

/// Are they the same function, or methods of one class?
bool areTogether(const FunctionDecl *F, const FunctionDecl *Other) {
  return F == Other || (classOf(F) && classOf(F) == classOf(Other));
}

bool isWhollyVisible(const CXXRecordDecl *Class) {
  return Class->hasDefinition() &&
         llvm::all_of(Class->getDefinition()->methods(),
                      [](const CXXMethodDecl *Method) {
                        return !Method->isUserProvided() ||
                               compat::isPureVirtual(Method) ||
                               Method->isDefined();
                      });
}

Finding worded(const Region &R, ASTContext &Context) {
  Finding F = Finding::from(R.Begin);
  F.runsWith(R.End ? R.End : R.Begin, Context);
  if (!R.End)
    return F.because(AutocastCache.StaysOn)
        .says("stale casts: autocast stays on while the optimizer changes the "
              "weights, "
              "without clear_cache(): the casts of weights that it has cached "
              "stay in memory, and the next forward uses the old ones")
        .remedy("call it after each step")
        .note(R.Step->Stmt::getBeginLoc(), "the weights change here");
  F.says("stale casts: autocast is switched on and off again without "
         "clear_cache(): the "
         "casts of weights that it has cached stay in memory, and are used "
         "again even when the weights have changed")
      .remedy("call it first")
      .note(R.End->Stmt::getBeginLoc(), "autocast is switched off here, which "
                                        "leaves its cache as it is");
  if (R.WhyNotFixed)
    return F.because(*R.WhyNotFixed);
  return F.fix(fixits::insertBeforeStatement(
      R.End, qualifierOf(R.End, Context) + "clear_cache();", Context));
}

/// docs/checks/libtorch-autocast-cache.md says what it finds and why.
class AutocastCacheCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;

  void registerMatchers(MatchFinder *Finder) override {
    Finder->addMatcher(
        callExpr(callee(functionDecl(hasAnyName(torch::AutocastFunctions))),
                 forFunction(functionDecl().bind("in")))
            .bind("call"),
        this);
  }

  void checkMatch(const Match &Result) override {
    const auto *Call = Result.Nodes.getNodeAs<CallExpr>("call");
    const auto *In = Result.Nodes.getNodeAs<FunctionDecl>("in");
    if (auto What = torch::autocastUse(Call, context()))
      Uses.push_back({Call, outermost(In), *What});
  }

  void checkMatched() override {
    llvm::MapVector<const FunctionDecl *, llvm::SmallVector<Use, 4>> UsesIn;
    for (const Use &U : Uses)
      UsesIn[U.In].push_back(U);
    for (const auto &[F, Own] : UsesIn) {
      // Of a template, the instantiations are looked at.
      if (F->isDependentContext())
        continue;
      const CallExpr *Clears = doneFor(F, AutocastUse::ClearCache);
      if (const CallExpr *Done =
              Clears ? Clears : doneFor(F, AutocastUse::CacheOff)) {
        for (const Use &U : Own)
          if (U.What == AutocastUse::On)
            silent(U.Call,
                   Clears ? AutocastCache.Cleared : AutocastCache.CacheOff,
                   "called", Done->getExprLoc());
        continue;
      }
      checkRegions(Own);
      // Guard(bool enabled) { set_enabled(enabled); } ~Guard() { ... }
      if (isa<CXXConstructorDecl>(F))
        for (const Use &U : Own)
          if (U.What == AutocastUse::Set)
            checkClass(U);
    }
  }

private:
  /// A call, and the function of namespace or class scope that it stands in.
  struct Use {
    const CallExpr *Call;
    const FunctionDecl *In;
    torch::AutocastUse What;
  };
  /// What clears the cache, or switches it off, for what \p F does; null if
  /// nothing does.
  const CallExpr *doneFor(const FunctionDecl *F, AutocastUse What) const {
    for (const Use &U : Uses) {
      if (U.What != What)
        continue;
      if (areTogether(F, U.In))
        return U.Call;
      // A function that does nothing else is there for others; one with a
      // region of its own, or of its class, may be all of its story.
      bool OwnRegion = llvm::any_of(Uses, [&](const Use &Other) {
        return Other.What == AutocastUse::On && areTogether(Other.In, U.In);
      });
      if (!OwnRegion || calls(F, U.In) || calls(U.In, F))
        return U.Call;
    }
    return nullptr;
  }

  /// The regions of a function with the uses \p Own, one after the other, as
  /// they are written.
  void checkRegions(llvm::ArrayRef<Use> Own) {
    // set_enabled(option) ... set_enabled(false) is a region too.
    auto Begins = [&](size_t I) {
      return Own[I].What == AutocastUse::On ||
             (I == 0 && Own[I].What == AutocastUse::Set && Own.size() > 1 &&
              Own[1].What == AutocastUse::Off);
    };
    for (size_t I = 0; I < Own.size(); ++I) {
      if (!Begins(I))
        continue;
      const CallExpr *Begin = Own[I].Call;
      if (!Begins(0)) {
        silent(Begin, AutocastCache.OffFirst, "first call",
               Own.front().Call->getExprLoc());
        continue;
      }
      llvm::SmallVector<const CallExpr *, 2> Ends;
      for (size_t J = I + 1; J < Own.size() && !Begins(J); ++J)
        Ends.push_back(Own[J].Call);
      if (!Ends.empty()) {
        const CompoundStmt *Block = blockOf(Ends.front(), context());
        const Reason *Why = Ends.size() > 1 ? &AutocastCache.ManyEnds
                            : !Block || Block != blockOf(Begin, context())
                                ? &AutocastCache.OtherBlock
                                : nullptr;
        report(worded({Begin, Ends.front(), nullptr, Why}, context()));
      } else if (Own.size() == 1) {
        if (const auto *Step = cpp::findFirst<CallExpr>(Own[I].In->getBody(),
                                                        torch::isOptimizerStep,
                                                        cpp::Lambdas::Made))
          report(worded({Begin, nullptr, Step, nullptr}, context()));
        else
          checkClass(Own[I]);
      }
    }
  }

  /// Switched on by one method, off by another: a guard of the user's own.
  void checkClass(const Use &Begin) {
    const CXXRecordDecl *Class = classOf(Begin.In);
    // What ends an object ends a stretch without autocast.
    if (isa<CXXDestructorDecl>(Begin.In))
      return silent(Begin.Call, AutocastCache.OffFirst);
    if (Class && !isWhollyVisible(Class))
      return silent(Begin.Call, AutocastCache.Unseen, Class);
    const CallExpr *End = nullptr;
    for (const Use &U : Uses)
      if (Class && U.In != Begin.In && classOf(U.In) == Class &&
          (U.What == AutocastUse::Off || U.What == AutocastUse::Set)) {
        if (End)
          return silent(Begin.Call, AutocastCache.ManyMethods, "another",
                        U.Call->getExprLoc());
        End = U.Call;
      }
    if (!End)
      return silent(Begin.Call, AutocastCache.NoStep);
    report(
        worded({Begin.Call, End, nullptr,
                blockOf(End, context()) ? nullptr : &AutocastCache.OtherBlock},
               context()));
  }

  llvm::SmallVector<Use, 8> Uses; ///< In source order of each function.
};

} // namespace

LIBTORCH_CHECK(AutocastCacheCheck, AutocastCache);

} // namespace libtorch_tidy
