//===- OomCatchTypeCheck.cpp ----------------------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/LibtorchCheck.h"
#include "checks/flow/TensorWork.h"
#include "checks/torch/Conventions.h"
#include "checks/torch/CudaMemory.h"
#include "checks/torch/Exceptions.h"
#include "checks/torch/Factories.h"
#include "checks/torch/Modules.h"
#include "checks/torch/Sharing.h"
#include "checks/torch/TorchTypes.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/ParentMapContext.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;
using namespace clang::ast_matchers;
using libtorch_tidy::torch::OutOfMemoryIn;
using libtorch_tidy::torch::Work;

namespace libtorch_tidy {

namespace {

/// docs/checks/libtorch-oom-catch-type.md says what it finds and why.
class OomCatchTypeCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;
  void registerMatchers(MatchFinder *Finder) override;
  void check(const MatchFinder::MatchResult &Result) override;

private:
  flow::TensorWork Amounts; ///< Of the one unit that a check object sees.
};

/// What in a handler shows that it is for running out of memory.
class Intent : public RecursiveASTVisitor<Intent> {
public:
  SourceLocation Loc;
  std::string Text;
  bool Certain = false;

  bool VisitCallExpr(CallExpr *Call) {
    if (torch::isEmptyCache(Call))
      return show(Call->getBeginLoc(), "it empties the cache of the allocator");
    const FunctionDecl *Callee = Call->getDirectCallee();
    if (Callee && Callee->getIdentifier() &&
        torch::namesOutOfMemory(Callee->getName()))
      return show(Call->getBeginLoc(),
                  ("it calls '" + Callee->getName() + "'").str());
    return true;
  }
  bool VisitStringLiteral(StringLiteral *Literal) {
    if (Literal->getCharByteWidth() != 1)
      return true;
    if (torch::mentionsOutOfMemory(Literal->getString()))
      return show(Literal->getBeginLoc(), "it speaks of it");
    return true;
  }
  bool VisitDeclRefExpr(DeclRefExpr *Ref) { return named(Ref, Ref->getDecl()); }
  bool VisitMemberExpr(MemberExpr *Member) {
    return named(Member, Member->getMemberDecl());
  }
  /// batch /= 2, batch >>= 1.
  bool VisitCompoundAssignOperator(CompoundAssignOperator *Op) {
    if (Op->getOpcode() == BO_DivAssign || Op->getOpcode() == BO_ShrAssign)
      smaller(Op);
    return true;
  }
  /// batch = batch / 2.
  bool VisitBinaryOperator(BinaryOperator *Op) {
    if (Op->getOpcode() != BO_Assign)
      return true;
    const auto *Value =
        dyn_cast<BinaryOperator>(Op->getRHS()->IgnoreParenImpCasts());
    const auto *Target =
        dyn_cast<DeclRefExpr>(Op->getLHS()->IgnoreParenImpCasts());
    if (!Value || !Target ||
        (Value->getOpcode() != BO_Div && Value->getOpcode() != BO_Shr))
      return true;
    const auto *Old =
        dyn_cast<DeclRefExpr>(Value->getLHS()->IgnoreParenImpCasts());
    if (Old && Old->getDecl() == Target->getDecl())
      smaller(Op);
    return true;
  }

private:
  bool named(const Expr *E, const ValueDecl *D) {
    if (!isa<FunctionDecl>(D) && D->getIdentifier() &&
        torch::namesOutOfMemory(D->getName()))
      return show(E->getExprLoc(), ("it uses '" + D->getName() + "'").str());
    return true;
  }
  void smaller(const BinaryOperator *Op) {
    if (Loc.isValid() || !Op->getLHS()->getType()->isIntegerType())
      return;
    Loc = Op->getBeginLoc();
    Text = "it goes on with less";
  }
  /// Stops the traversal.
  bool show(SourceLocation At, std::string How) {
    Loc = At;
    Text = std::move(How);
    Certain = true;
    return false;
  }
};

bool isScriptCall(const CallExpr *Call) {
  auto Ran = torch::asModuleCall(Call);
  return Ran && Ran->Script;
}

/// Does \p S make tensors, all of them on the CPU, and nothing else that could
/// allocate on a device? The first such call.
const CallExpr *onlyCpuWork(const Stmt *S) {
  const CallExpr *First = nullptr;
  bool Clear = true;
  flow::forEachCall(S, [&](const CallExpr *Call) {
    const FunctionDecl *Callee = Call->getDirectCallee();
    if (torch::makesOnCpu(Call)) {
      if (!First)
        First = Call;
    } else if (!Callee || (!torch::isStdDecl(Callee) &&
                           !(torch::isTorchDecl(Callee) &&
                             torch::isMetadataAccess(Call)))) {
      Clear = false;
    }
  });
  return Clear ? First : nullptr;
}

bool anyHandlerSees(const CXXTryStmt *Try, OutOfMemoryIn Where) {
  for (unsigned I = 0; I < Try->getNumHandlers(); ++I)
    if (torch::catchesOutOfMemory(Try->getHandler(I)->getCaughtType(), Where))
      return true;
  return false;
}

/// Does a handler of \p Try, or of a try statement around it in the same
/// function, see it?
bool isSeenHere(const CXXTryStmt *Try, OutOfMemoryIn Where,
                ASTContext &Context) {
  if (anyHandlerSees(Try, Where))
    return true;
  const Stmt *S = Try;
  bool InHandler = false;
  while (true) {
    DynTypedNodeList Parents = Context.getParents(*S);
    const Stmt *Parent = Parents.empty() ? nullptr : Parents[0].get<Stmt>();
    if (!Parent || isa<LambdaExpr>(Parent))
      return false;
    if (const auto *Outer = dyn_cast<CXXTryStmt>(Parent)) {
      if (!InHandler && anyHandlerSees(Outer, Where))
        return true;
      InHandler = false;
    } else if (isa<CXXCatchStmt>(Parent)) {
      InHandler = true;
    }
    S = Parent;
  }
}

bool isBadAlloc(QualType Caught) {
  const CXXRecordDecl *R = torch::recordOf(Caught);
  return R && R->isInStdNamespace() && R->getIdentifier() &&
         R->getName() == "bad_alloc";
}

std::string nameOf(QualType T, const ASTContext &Context) {
  PrintingPolicy Policy(Context.getLangOpts());
  Policy.SuppressTagKeyword = true;
  return T.getNonReferenceType()
      .getUnqualifiedType()
      .getCanonicalType()
      .getAsString(Policy);
}

} // namespace

void OomCatchTypeCheck::registerMatchers(MatchFinder *Finder) {
  Finder->addMatcher(cxxTryStmt(unless(isExpansionInSystemHeader()),
                                forFunction(functionDecl().bind("in")))
                         .bind("try"),
                     this);
}

void OomCatchTypeCheck::check(const MatchFinder::MatchResult &Result) {
  const SourceManager &SM = *Result.SourceManager;
  ASTContext &Context = *Result.Context;
  const auto *Try = Result.Nodes.getNodeAs<CXXTryStmt>("try");
  const auto *In = Result.Nodes.getNodeAs<FunctionDecl>("in");
  // Of a template, the instantiations are looked at.
  if (!Try || !In || In->isDependentContext() ||
      !isUserCode(Try->getBeginLoc(), SM))
    return;

  for (unsigned I = 0; I < Try->getNumHandlers(); ++I) {
    const CXXCatchStmt *Handler = Try->getHandler(I);
    QualType Caught = Handler->getCaughtType();
    if (Caught.isNull() || Caught->isDependentType())
      continue;
    const bool ByType = torch::isOutOfMemoryError(Caught);
    const bool HostOnly = isBadAlloc(Caught);
    if (!ByType && !HostOnly &&
        torch::oomHandler(Caught) != torch::OomHandler::Library)
      continue;
    Intent Meant;
    if (!ByType) {
      Meant.TraverseStmt(Handler->getHandlerBlock());
      if (Meant.Loc.isInvalid())
        continue;
    }

    const std::string Type = nameOf(Caught, Context);
    Finding F;
    F.Loc = Handler->getCatchLoc();
    F.Strength = ByType || Meant.Certain ? Level::Certain : Level::Likely;

    auto Way = flow::wayToFreeCall(Try->getTryBlock(), isScriptCall);
    if (!Way.empty()) {
      if (isSeenHere(Try, OutOfMemoryIn::Script, Context))
        return;
      // It may be there for other work of the try block.
      flow::forEachCall(Try->getTryBlock(), [&](const CallExpr *Call) {
        if (Call != Way.front() && !isScriptCall(Call) &&
            Amounts.of(Call) == Work::Heavy)
          F.Strength = Level::Likely;
      });
      F.Message = "this handler never sees TorchScript run out of memory: the "
                  "interpreter throws 'std::runtime_error', not '" +
                  Type + "'; catch 'std::exception' and look at what()";
      for (const CallExpr *Call : llvm::ArrayRef(Way).drop_back())
        F.Steps.push_back({Call->getBeginLoc(),
                           "'" + Call->getDirectCallee()->getNameAsString() +
                               "' runs a TorchScript module"});
      F.Steps.push_back(
          {Way.back()->getBeginLoc(),
           "an allocation that fails inside this call comes out of "
           "it as 'std::runtime_error'"});
    } else if (const CallExpr *Made = onlyCpuWork(Try->getTryBlock());
               Made && (ByType || HostOnly)) {
      if (isSeenHere(Try, OutOfMemoryIn::Cpu, Context))
        return;
      F.Message = "this handler never sees the CPU run out of memory: its "
                  "allocator throws a plain 'c10::Error', not '" +
                  Type + "'; catch 'c10::Error'";
      F.Steps.push_back({Made->getBeginLoc(),
                         "this tensor is made on the CPU, and nothing in the "
                         "try block allocates on a device"});
    } else {
      continue;
    }
    if (Meant.Loc.isValid())
      F.Steps.push_back({Meant.Loc, "the handler is meant for running out of "
                                    "memory: " +
                                        Meant.Text});
    // One report for a try block: its other handlers miss the same.
    return tell(F, SM);
  }
}

LIBTORCH_CHECK(OomCatchTypeCheck);

} // namespace libtorch_tidy
