//===- DataLoaders.cpp - Datasets and their workers -----------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/torch/api/DataLoaders.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Types.h"
#include "analysis/torch/api/TorchTypes.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::torch {

/// Argument \p I of a template specialisation; null for others.
static QualType typeArgument(const CXXRecordDecl *R, unsigned I) {
  const auto *Spec = dyn_cast_or_null<ClassTemplateSpecializationDecl>(R);
  if (!Spec || I >= Spec->getTemplateArgs().size())
    return {};
  const TemplateArgument &Arg = Spec->getTemplateArgs().get(I);
  return Arg.getKind() == TemplateArgument::Type ? Arg.getAsType() : QualType();
}

static void collect(const CXXRecordDecl *R,
                    llvm::SmallVectorImpl<const CXXRecordDecl *> &Copied) {
  if (!R || !R->hasDefinition())
    return;
  if (cpp::isOrDerivesFrom(R, "torch::data::datasets::MapDataset")) {
    collect(cpp::recordOf(typeArgument(R, 0)), Copied);
    collect(cpp::recordOf(typeArgument(R, 1)), Copied);
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
    collect(cpp::recordOf(typeArgument(Loader, 0)), Copied);
  return Copied;
}

bool isWorkersEntry(const CXXMethodDecl *Method) {
  if (Method->getOverloadedOperator() == OO_Call)
    return true;
  const IdentifierInfo *Id = Method->getIdentifier();
  return Id && llvm::StringSwitch<bool>(Id->getName())
                   .Cases("get", "get_batch", "apply", "apply_batch", true)
                   .Default(false);
}

static bool isLoaderOptions(QualType T) {
  return cpp::isOrDerivesFrom(cpp::recordOf(T),
                              "torch::data::DataLoaderOptions");
}

const Expr *loaderOptions(const CallExpr *Call) {
  auto Written = cpp::writtenArguments(Call);
  return !Written.empty() && isLoaderOptions(Written.back()->getType())
             ? Written.back()
             : nullptr;
}

WorkersSetter asWorkersSetter(const Expr *E) {
  const auto *Call = dyn_cast_or_null<CXXMemberCallExpr>(cpp::stripImplicit(E));
  if (!Call || !isLoaderOptions(Call->getImplicitObjectArgument()->getType()))
    return {};
  WorkersSetter Result;
  if (cpp::calleeName(Call) == "workers" && Call->getNumArgs() == 1)
    Result.Workers = Call->getArg(0);
  Result.Object = Call->getImplicitObjectArgument();
  return Result;
}

bool asksForConcurrency(const Expr *E) {
  const auto *Call = dyn_cast<CallExpr>(E);
  if (Call && cpp::calleeName(Call) == "hardware_concurrency")
    return true;
  return llvm::any_of(E->children(), [](const Stmt *Child) {
    const auto *Part = dyn_cast_or_null<Expr>(Child);
    return Part && asksForConcurrency(Part);
  });
}

bool isRandomEngine(QualType T) {
  const CXXRecordDecl *R = T.isNull() ? nullptr : T->getAsCXXRecordDecl();
  if (!R || !R->getIdentifier() || (!cpp::isOfLibrary(R)))
    return false;
  return llvm::StringSwitch<bool>(R->getName())
      .Cases("mersenne_twister_engine", "linear_congruential_engine", true)
      .Cases("subtract_with_carry_engine", "discard_block_engine", true)
      .Cases("independent_bits_engine", "shuffle_order_engine", true)
      .Cases("mt19937_engine", "philox_engine", true)
      .Default(false);
}

} // namespace libtorch_tidy::torch
