//===- OomCatchTypeCheck.cpp ----------------------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/cpp/Body.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/flow/unit/TensorWork.h"
#include "analysis/torch/api/Conventions.h"
#include "analysis/torch/api/Exceptions.h"
#include "analysis/torch/api/Factories.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/devices/DeviceMemory.h"
#include "analysis/torch/modules/Modules.h"
#include "analysis/torch/storage/Sharing.h"
#include "checks/base/LibtorchCheck.h"
#include "clang/AST/ASTContext.h"
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
  void checkMatch(const Match &Result) override;
};

/// What in a handler shows that it is for running out of memory.
struct Intent {
  SourceLocation Loc;
  std::string Text;
  bool Certain = false;

  explicit Intent(const Stmt *Handler) {
    cpp::findFirst<Expr>(Handler, [&](const Expr *E) {
      std::string How = spoken(E);
      if (!How.empty()) {
        Loc = isa<CallExpr>(E) ? E->getBeginLoc() : E->getExprLoc();
        Text = std::move(How);
        Certain = true;
      } else if (Loc.isInvalid() && makesSmaller(E)) {
        Loc = E->getBeginLoc();
        Text = "it retries with less work";
      }
      return Certain;
    });
  }

private:
  /// Where \p E mentions it, how; else "".
  static std::string spoken(const Expr *E) {
    if (const auto *Literal = dyn_cast<StringLiteral>(E))
      return Literal->getCharByteWidth() == 1 &&
                     torch::mentionsOutOfMemory(Literal->getString())
                 ? "its text mentions it"
                 : "";
    if (const auto *Call = dyn_cast<CallExpr>(E)) {
      if (torch::isEmptyCache(Call))
        return "it empties the cache of the allocator";
      StringRef Name = cpp::calleeName(Call);
      return torch::namesOutOfMemory(Name) ? ("it calls '" + Name + "'").str()
                                           : "";
    }
    const ValueDecl *D = nullptr;
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
      D = Ref->getDecl();
    else if (const auto *Member = dyn_cast<MemberExpr>(E))
      D = Member->getMemberDecl();
    return D && !isa<FunctionDecl>(D) && D->getIdentifier() &&
                   torch::namesOutOfMemory(D->getName())
               ? ("it uses '" + D->getName() + "'").str()
               : "";
  }

  /// batch /= 2, batch >>= 1, batch = batch / 2.
  static bool makesSmaller(const Expr *E) {
    auto Lessens = [](BinaryOperatorKind Kind) {
      return Kind == BO_Div || Kind == BO_Shr;
    };
    const auto *Op = dyn_cast<BinaryOperator>(E);
    if (!Op || !Op->isAssignmentOp() ||
        !Op->getLHS()->getType()->isIntegerType())
      return false;
    if (Op->isCompoundAssignmentOp())
      return Lessens(
          BinaryOperator::getOpForCompoundAssignment(Op->getOpcode()));
    const auto *Value =
        dyn_cast<BinaryOperator>(Op->getRHS()->IgnoreParenImpCasts());
    const auto *Target =
        dyn_cast<DeclRefExpr>(Op->getLHS()->IgnoreParenImpCasts());
    const auto *Old =
        Value ? dyn_cast<DeclRefExpr>(Value->getLHS()->IgnoreParenImpCasts())
              : nullptr;
    return Target && Old && Lessens(Value->getOpcode()) &&
           Old->getDecl() == Target->getDecl();
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
  cpp::forEachCall(S, [&](const CallExpr *Call) {
    const FunctionDecl *Callee = Call->getDirectCallee();
    if (torch::makesOnCpu(Call)) {
      if (!First)
        First = Call;
    } else if (!Callee ||
               (!cpp::isStdDecl(Callee) && !(torch::isTorchDecl(Callee) &&
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
  const cpp::Body *In = cpp::Body::around(Try, Context);
  bool InHandler = false;
  for (const Stmt *S = Try; (S = In ? In->parentOf(S) : nullptr);) {
    if (isa<CXXCatchStmt>(S))
      InHandler = true;
    const auto *Outer = dyn_cast<CXXTryStmt>(S);
    if (Outer && !InHandler && anyHandlerSees(Outer, Where))
      return true;
    InHandler &= !Outer;
  }
  return false;
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

void OomCatchTypeCheck::checkMatch(const Match &Result) {
  ASTContext &Context = *Result.Context;
  const auto *Try = Result.Nodes.getNodeAs<CXXTryStmt>("try");
  const auto *In = Result.Nodes.getNodeAs<FunctionDecl>("in");
  // Of a template, the instantiations are looked at.
  if (In->isDependentContext())
    return;

  for (unsigned I = 0; I < Try->getNumHandlers(); ++I) {
    const CXXCatchStmt *Handler = Try->getHandler(I);
    QualType Caught = Handler->getCaughtType();
    if (Caught.isNull() || Caught->isDependentType())
      continue;
    const bool ByType = torch::isOutOfMemoryError(Caught);
    const bool HostOnly = cpp::isStdClass(Caught, {"bad_alloc"});
    if (!ByType && !HostOnly &&
        torch::oomHandler(Caught) != torch::OomHandler::Library)
      continue;
    Intent Meant(ByType ? nullptr : Handler->getHandlerBlock());
    if (!ByType && Meant.Loc.isInvalid())
      continue;

    const std::string Type = nameOf(Caught, Context);
    Finding F;
    F.Loc = Handler->getCatchLoc();
    F.Strength = ByType || Meant.Certain ? Level::Certain : Level::Likely;

    auto Way = flow::wayToFreeCall(Try->getTryBlock(), isScriptCall);
    if (!Way.empty()) {
      if (isSeenHere(Try, OutOfMemoryIn::Script, Context))
        return;
      // It may be there for other work of the try block.
      cpp::forEachCall(Try->getTryBlock(), [&](const CallExpr *Call) {
        if (Call != Way.front() && !isScriptCall(Call) &&
            unit().work().of(Call) == Work::Heavy)
          F.Strength = Level::Likely;
      });
      F.Message = "this handler never sees TorchScript run out of memory: the "
                  "interpreter throws 'std::runtime_error', not '" +
                  Type + "'; catch 'std::exception' and look at what()";
      for (const CallExpr *Call : llvm::ArrayRef(Way).drop_back())
        F.Steps.push_back({Call->Stmt::getBeginLoc(),
                           "'" + Call->getDirectCallee()->getNameAsString() +
                               "' runs a TorchScript module"});
      F.Steps.push_back(
          {Way.back()->Stmt::getBeginLoc(),
           "an allocation that fails inside this call comes out of "
           "it as 'std::runtime_error'"});
    } else if (const CallExpr *Made = onlyCpuWork(Try->getTryBlock());
               Made && (ByType || HostOnly)) {
      if (isSeenHere(Try, OutOfMemoryIn::Cpu, Context))
        return;
      F.Message = "this handler never sees the CPU run out of memory: its "
                  "allocator throws a plain 'c10::Error', not '" +
                  Type + "'; catch 'c10::Error'";
      F.Steps.push_back({Made->Stmt::getBeginLoc(),
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
    return report(F);
  }
}

LIBTORCH_CHECK(OomCatchTypeCheck, NoReasons);

} // namespace libtorch_tidy
