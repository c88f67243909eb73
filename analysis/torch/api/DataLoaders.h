//===- DataLoaders.h - Datasets and their workers ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_ANALYSIS_TORCH_API_DATALOADERS_H
#define LIBTORCH_TIDY_ANALYSIS_TORCH_API_DATALOADERS_H

#include "clang/AST/DeclCXX.h"
#include "clang/AST/Expr.h"
#include "llvm/ADT/SmallVector.h"

namespace libtorch_tidy::torch {

inline constexpr llvm::StringLiteral MakeDataLoader =
    "::torch::data::make_data_loader";

/// The users' classes that each worker of the loader that \p Call makes gets a
/// copy of: the dataset, and under map() the one below and the transform.
/// StatelessDataLoader copies the dataset into the closure of every worker.
/// Empty for stateful datasets and SharedBatchDataset, which are shared.
llvm::SmallVector<const clang::CXXRecordDecl *, 2>
copiedPerWorker(const clang::CallExpr *Call);

/// Is \p Method one that a worker calls on its copy: get, get_batch of a
/// dataset, apply, apply_batch, operator() of a transform?
bool isWorkersEntry(const clang::CXXMethodDecl *Method);

/// The DataLoaderOptions of make_data_loader; null when they are left out.
const clang::Expr *loaderOptions(const clang::CallExpr *Call);

/// What a chain of setters asks for, as options.batch_size(8).workers(4).
struct WorkersSetter {
  const clang::Expr *Workers; ///< The argument of the last workers(), or null.
  const clang::Expr *Object;  ///< Where the chain begins.
};
WorkersSetter asWorkersSetter(const clang::Expr *E);

/// std::thread::hardware_concurrency() in \p E: more than one, as a rule.
bool asksForConcurrency(const clang::Expr *E);

/// A generator of random numbers that a copy repeats: an engine of <random>,
/// at::mt19937. Not torch::Generator, whose copies are the same generator.
bool isRandomEngine(clang::QualType T);

} // namespace libtorch_tidy::torch

#endif // LIBTORCH_TIDY_ANALYSIS_TORCH_API_DATALOADERS_H
