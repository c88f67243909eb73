//===- DatasetWorkerCopyCheck.cpp -----------------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/LibtorchCheck.h"
#include "checks/flow/CopiedState.h"
#include "checks/flow/TensorWork.h"
#include "checks/flow/Writes.h"
#include "checks/torch/Calls.h"
#include "checks/torch/DataLoaders.h"
#include "clang/AST/ASTContext.h"

using namespace clang;
using namespace clang::ast_matchers;

namespace libtorch_tidy {

namespace {

/// docs/checks/libtorch-dataset-worker-copy.md says what it finds and why.
class DatasetWorkerCopyCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;
  void registerMatchers(MatchFinder *Finder) override;
  void checkMatch(const Match &Result) override;
};

struct Workers {
  std::optional<int64_t> Count; ///< Unknown: one for each core.
  const Expr *Where;
};

/// How many workers \p E says, as far as it can be computed.
std::optional<Workers> countOf(const Expr *E, const FunctionDecl *In,
                               const ASTContext &Context) {
  Expr::EvalResult Value;
  if (!E->isValueDependent() && E->EvaluateAsInt(Value, Context)) {
    if (Value.Val.getInt().getSignificantBits() > 64)
      return std::nullopt;
    return Workers{Value.Val.getInt().getExtValue(), E};
  }
  if (torch::asksForConcurrency(E))
    return Workers{std::nullopt, E};
  // int workers = 4; that nobody changes.
  const auto *Ref = dyn_cast<DeclRefExpr>(E->IgnoreParenImpCasts());
  const auto *Var = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  if (Var && Var->isLocalVarDecl() && Var->hasInit() && In && In->hasBody() &&
      flow::writesTo(Var, In->getBody()).empty())
    return countOf(Var->getInit(), nullptr, Context);
  return std::nullopt;
}

/// The workers that \p Options ask for; nullopt for the default of none.
std::optional<Workers> workersOf(const Expr *Options, const FunctionDecl *In,
                                 const ASTContext &Context) {
  // Chains and variables are short; the bound guards against odd code.
  for (unsigned Steps = 0; Options && Steps < 32; ++Steps) {
    torch::WorkersSetter Setter = torch::asWorkersSetter(Options);
    if (Setter.Workers)
      return countOf(Setter.Workers, In, Context);
    if (Setter.Object) {
      Options = Setter.Object;
      continue;
    }
    const auto *Ref =
        dyn_cast_or_null<DeclRefExpr>(torch::stripImplicit(Options));
    const auto *Var = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    if (!Var || isa<ParmVarDecl>(Var) || !Var->hasInit())
      return std::nullopt;
    // options.workers(4); as a statement of its own: the last one counts.
    std::optional<Workers> Set;
    if (Var->isLocalVarDecl() && In && In->hasBody())
      flow::forEachCall(In->getBody(), [&](const CallExpr *Call) {
        const Expr *Link = Call;
        const Expr *Value = nullptr;
        for (unsigned I = 0; I < 32; ++I) {
          torch::WorkersSetter Inner = torch::asWorkersSetter(Link);
          if (!Inner.Object)
            break;
          if (Inner.Workers && !Value)
            Value = Inner.Workers;
          Link = Inner.Object;
        }
        const auto *Root =
            dyn_cast_or_null<DeclRefExpr>(torch::stripImplicit(Link));
        if (Value && Root && Root->getDecl() == Var)
          Set = countOf(Value, In, Context);
      });
    if (Set)
      return Set;
    Options = Var->getInit();
  }
  return std::nullopt;
}

} // namespace

void DatasetWorkerCopyCheck::registerMatchers(MatchFinder *Finder) {
  Finder->addMatcher(
      callExpr(callee(functionDecl(hasName(torch::MakeDataLoader))),
               optionally(forFunction(functionDecl().bind("in"))))
          .bind("loader"),
      this);
}

void DatasetWorkerCopyCheck::checkMatch(const Match &Result) {
  const auto *Loader = Result.Nodes.getNodeAs<CallExpr>("loader");
  const auto *In = Result.Nodes.getNodeAs<FunctionDecl>("in");
  const Expr *Options = torch::loaderOptions(Loader);
  std::optional<Workers> Count =
      Options ? workersOf(Options, In, *Result.Context) : std::nullopt;
  if (!Count || (Count->Count && *Count->Count < 2))
    return;
  const std::string Each =
      Count->Count ? "each of the " + std::to_string(*Count->Count) + " workers"
                   : std::string("each worker");

  for (const CXXRecordDecl *Class : torch::copiedPerWorker(Loader))
    for (const flow::CopiedMember &Member :
         flow::copiedMembers(Class, torch::isWorkersEntry)) {
      const std::string Name = "'" + Member.Field->getNameAsString() + "'";
      Finding F;
      F.Loc = Member.Field->getLocation();
      F.Strength = Member.What == flow::CopiedMember::Some ? Level::Advisory
                                                           : Level::Likely;
      if (Member.What == flow::CopiedMember::Random)
        F.Message = Each + " of the data loader has a copy of " + Name +
                    " and draws the same random numbers; seed a generator from "
                    "the index where it is used";
      else
        F.Message = Each + " of the data loader has a copy of " + Name +
                    "; a tensor or a std::shared_ptr to the data is shared";
      if (Member.Used)
        F.Steps.push_back({Member.Used->getExprLoc(),
                           "a worker uses its copy of " + Name + " here"});
      F.Steps.push_back({Loader->getBeginLoc(), "this loader copies '" +
                                                    Class->getNameAsString() +
                                                    "' for each worker"});
      F.Steps.push_back(
          {Count->Where->getExprLoc(), "the number of workers is set here"});
      tell(F);
    }
}

LIBTORCH_CHECK(DatasetWorkerCopyCheck);

} // namespace libtorch_tidy
