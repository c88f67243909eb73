//===- DataLoaders.cpp - Datasets and their workers -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/torch/api/DataLoaders.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/Walk.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace libtorch_tidy::torch {

static void collect(const CXXRecordDecl *R,
                    llvm::SmallVectorImpl<const CXXRecordDecl *> &Copied) {
  if (!R || !R->hasDefinition())
    return;
  if (cpp::isOrDerivesFrom(R, "torch::data::datasets::MapDataset")) {
    collect(cpp::recordOf(cpp::typeArgument(R, 0)), Copied);
    collect(cpp::recordOf(cpp::typeArgument(R, 1)), Copied);
    return;
  }
  const CXXRecordDecl *Definition = R->getDefinition();
  if (!cpp::isOfLibrary(Definition) && !Definition->isLambda())
    Copied.push_back(Definition);
}

llvm::SmallVector<const CXXRecordDecl *, 2>
copiedPerWorker(const CallExpr *Call) {
  llvm::SmallVector<const CXXRecordDecl *, 2> Copied;
  const CXXRecordDecl *Loader = cpp::recordOf(cpp::pointeeOf(Call->getType()));
  if (cpp::isOrDerivesFrom(Loader, "torch::data::StatelessDataLoader"))
    collect(cpp::recordOf(cpp::typeArgument(Loader, 0)), Copied);
  return Copied;
}

bool isWorkersEntry(const CXXMethodDecl *Method) {
  if (Method->getOverloadedOperator() == OO_Call)
    return true;
  return cpp::isOneOf(cpp::nameOf(Method),
                      {"get", "get_batch", "apply", "apply_batch"});
}

static bool isLoaderOptions(QualType T) {
  return cpp::isOrDerivesFrom(T, "torch::data::DataLoaderOptions");
}

const Expr *loaderOptions(const CallExpr *Call) {
  auto Written = cpp::writtenArguments(Call);
  return !Written.empty() && isLoaderOptions(Written.back()->getType())
             ? Written.back()
             : nullptr;
}

WorkersSetter asWorkersSetter(const Expr *E) {
  WorkersSetter Chain = {nullptr, E};
  while (const auto *Call = dyn_cast_or_null<CXXMemberCallExpr>(
             cpp::stripImplicit(Chain.Object))) {
    if (!isLoaderOptions(Call->getImplicitObjectArgument()->getType()))
      break;
    if (!Chain.Workers && cpp::calleeName(Call) == "workers" &&
        Call->getNumArgs() == 1)
      Chain.Workers = Call->getArg(0);
    Chain.Object = Call->getImplicitObjectArgument();
  }
  return Chain;
}

bool asksForConcurrency(const Expr *E) {
  return cpp::anyOf<CallExpr>(E, [](const CallExpr *Call) {
    return cpp::calleeName(Call) == "hardware_concurrency";
  });
}

bool isRandomEngine(QualType T) {
  const CXXRecordDecl *R = T.isNull() ? nullptr : T->getAsCXXRecordDecl();
  return cpp::isOfLibrary(R) &&
         cpp::isOneOf(cpp::nameOf(R),
                      {"mersenne_twister_engine", "linear_congruential_engine",
                       "subtract_with_carry_engine", "discard_block_engine",
                       "independent_bits_engine", "shuffle_order_engine",
                       "mt19937_engine", "philox_engine"});
}

} // namespace libtorch_tidy::torch
