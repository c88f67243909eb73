//===- Catalog.cpp - The one table of checks ------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/Catalog.h"
#include "AccumulatedHistoryCheck.h"
#include "DanglingFromBlobCheck.h"
#include "DanglingTensorDataCheck.h"
#include "DiscardedResultCheck.h"
#include "FactoryThenToCheck.h"
#include "IneffectiveGradGuardCheck.h"
#include "InferenceWithoutNoGradCheck.h"
#include "LongLivedIntermediateCheck.h"
#include "OomRecoveryInCatchCheck.h"
#include "PadPackedTotalLengthCheck.h"
#include "ViewRetainsStorageCheck.h"
#include "llvm/ADT/STLExtras.h"

using llvm::StringLiteral;

namespace libtorch_tidy {

namespace {

template <typename Check>
std::unique_ptr<clang::tidy::ClangTidyCheck>
create(llvm::StringRef Name, clang::tidy::ClangTidyContext *Context) {
  return std::make_unique<Check>(Name, Context);
}

constexpr StringLiteral LeakTags[] = {"autograd", "external/cwe/cwe-401"};
constexpr StringLiteral PeakTags[] = {"autograd", "external/cwe/cwe-400"};
constexpr StringLiteral DeviceTags[] = {"performance", "external/cwe/cwe-400"};
constexpr StringLiteral RecoveryTags[] = {"error-handling",
                                          "external/cwe/cwe-400"};
constexpr StringLiteral LifetimeTags[] = {"correctness",
                                          "external/cwe/cwe-416"};
constexpr StringLiteral StorageTags[] = {"performance", "external/cwe/cwe-400"};
constexpr StringLiteral ResultTags[] = {"correctness", "external/cwe/cwe-252"};
constexpr StringLiteral ParallelTags[] = {"data-parallel", "correctness"};

const CatalogEntry Entries[] = {
    {"libtorch-accumulated-history", Level::Certain,
     "a differentiable tensor is accumulated over iterations and never "
     "back-propagated",
     "Adding a tensor that carries autograd history to one that outlives the "
     "iteration links the graphs of all iterations. If backward() already ran "
     "on the addend, graph metadata grows with every iteration; if it did "
     "not, the activations of every iteration stay in memory.",
     FixKind::Sometimes, LeakTags, create<AccumulatedHistoryCheck>},
    {"libtorch-dangling-from-blob", Level::Certain,
     "a tensor made by from_blob outlives its buffer, or shares one that is "
     "written again",
     "from_blob copies nothing and owns nothing: the tensor reads the buffer "
     "for as long as it is used. A local vector, array or image is gone when "
     "the function returns, and a buffer that is reused changes every tensor "
     "that was made over it.",
     FixKind::Sometimes, LifetimeTags, create<DanglingFromBlobCheck>},
    {"libtorch-dangling-tensor-data", Level::Certain,
     "a pointer or reference into a tensor, tuple or list that is gone",
     "data_ptr, sizes, strides, elements and ArrayRef refer to memory that the "
     "tensor, tuple or list owns. A temporary is gone at the end of its "
     "statement, and the pointer then reads freed memory.",
     FixKind::Sometimes, LifetimeTags, create<DanglingTensorDataCheck>},
    {"libtorch-discarded-result", Level::Certain,
     "the result of an operator that changes nothing is thrown away",
     "detach, to, cpu, view and their kin return a new tensor and leave the "
     "old one as it is, unlike Module::to and the operators that end in '_'. "
     "As a statement they do nothing: the history stays, the tensor stays on "
     "its device.",
     FixKind::Sometimes, ResultTags, create<DiscardedResultCheck>},
    {"libtorch-factory-then-to", Level::Advisory,
     "a tensor is made on the CPU only to be moved to a device",
     "A factory without a device in its options allocates and fills host "
     "memory. Moving the result copies it, so that both exist for a while; "
     "made on the device there is only one, and no transfer.",
     FixKind::Sometimes, DeviceTags, create<FactoryThenToCheck>},
    {"libtorch-ineffective-grad-guard", Level::Certain,
     "a guard for gradient mode that guards nothing, or never ends",
     "A guard lasts as long as its variable. Without a name, as a function "
     "declared by mistake, or alone in a block it covers no code, which then "
     "runs with gradients on; as a static it switches the thread for good.",
     FixKind::Sometimes, PeakTags, create<IneffectiveGradGuardCheck>},
    {"libtorch-inference-without-no-grad", Level::Likely,
     "a forward whose result never reaches backward runs with gradients on",
     "eval() does not turn gradient mode off. Without a guard every layer "
     "saves its activations for a backward pass that never comes, and they "
     "live as long as the result does.",
     FixKind::Sometimes, PeakTags, create<InferenceWithoutNoGradCheck>},
    {"libtorch-long-lived-intermediate", Level::Likely,
     "a tensor stays alive across later heavy work that does not need it",
     "A tensor declared before the loop it is made in, kept in a member or in "
     "a static, holds its storage and its graph while the next result is "
     "computed, so the peak holds both.",
     FixKind::Sometimes, PeakTags, create<LongLivedIntermediateCheck>},
    {"libtorch-oom-recovery-in-catch", Level::Likely,
     "out-of-memory recovery runs inside the handler while tensors it could "
     "free are alive",
     "Locals of the try block are gone when a C++ handler runs, but variables "
     "declared outside it, tensors owned by the exception, and Python frames "
     "under py::error_already_set are not. A retry from within the handler "
     "runs beside all of them.",
     FixKind::Sometimes, RecoveryTags, create<OomRecoveryInCatchCheck>},
    {"libtorch-pad-packed-total-length", Level::Likely,
     "pad_packed_sequence is called without total_length",
     "Without total_length each data_parallel replica pads to its own longest "
     "sequence, and gathering outputs of different lengths throws.",
     FixKind::Sometimes, ParallelTags, create<PadPackedTotalLengthCheck>},
    {"libtorch-view-retains-storage", Level::Likely,
     "a small part of a tensor is kept, and with it the memory of the whole",
     "x[0], slice, narrow and the elements of chunk share the memory of the "
     "tensor they are taken from. One of them in a container or a member keeps "
     "all of it alive when the tensor is gone, and torch::save writes all of "
     "it.",
     FixKind::Sometimes, StorageTags, create<ViewRetainsStorageCheck>},
};

} // namespace

llvm::ArrayRef<CatalogEntry> catalog() { return Entries; }

const CatalogEntry *findInCatalog(llvm::StringRef Name) {
  const auto *It = llvm::find_if(
      Entries, [&](const CatalogEntry &E) { return E.Name == Name; });
  return It == std::end(Entries) ? nullptr : It;
}

} // namespace libtorch_tidy
