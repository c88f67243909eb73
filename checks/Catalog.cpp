//===- Catalog.cpp - The one table of checks ------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/Catalog.h"
#include "clang-tidy/ClangTidyCheck.h"
#include "llvm/ADT/STLExtras.h"

using llvm::StringLiteral;

namespace libtorch_tidy {

// LIBTORCH_CHECK defines them.
#define CHECK(Class)                                                           \
  std::unique_ptr<clang::tidy::ClangTidyCheck> make##Class(                    \
      llvm::StringRef Name, clang::tidy::ClangTidyContext *Context);
#include "checks/CheckList.inc"
#undef CHECK

namespace {

constexpr StringLiteral LeakTags[] = {"autograd", "external/cwe/cwe-401"};
constexpr StringLiteral OwnershipTags[] = {"modules", "external/cwe/cwe-401"};
constexpr StringLiteral PeakTags[] = {"autograd", "external/cwe/cwe-400"};
constexpr StringLiteral DeviceTags[] = {"performance", "external/cwe/cwe-400"};
constexpr StringLiteral CastTags[] = {"autocast", "external/cwe/cwe-401"};
constexpr StringLiteral CacheTags[] = {"performance", "external/cwe/cwe-400"};
constexpr StringLiteral SizeTags[] = {"external/cwe/cwe-400"};
constexpr StringLiteral GrowthTags[] = {"performance", "external/cwe/cwe-400"};
constexpr StringLiteral RecoveryTags[] = {"error-handling",
                                          "external/cwe/cwe-400"};
constexpr StringLiteral HandlerTags[] = {"error-handling",
                                         "external/cwe/cwe-755"};
constexpr StringLiteral LifetimeTags[] = {"correctness",
                                          "external/cwe/cwe-416"};
constexpr StringLiteral StorageTags[] = {"performance", "external/cwe/cwe-400"};
constexpr StringLiteral ResultTags[] = {"correctness", "external/cwe/cwe-252"};
constexpr StringLiteral WorkerTags[] = {"data-loading", "external/cwe/cwe-400"};
constexpr StringLiteral StateTags[] = {"optimizer", "external/cwe/cwe-401"};
constexpr StringLiteral ParallelTags[] = {"data-parallel", "correctness"};

const CatalogEntry Entries[] = {
    {"libtorch-accumulated-history", Level::Certain,
     "a differentiable tensor is accumulated over iterations and never "
     "back-propagated",
     "Adding a tensor that carries autograd history to one that outlives the "
     "iteration links the graphs of all iterations. If backward() already ran "
     "on the addend, graph metadata grows with every iteration; if it did "
     "not, the activations of every iteration stay in memory.",
     FixKind::Sometimes, LeakTags, makeAccumulatedHistoryCheck},
    {"libtorch-autocast-cache", Level::Likely,
     "autocast is switched on with no clear_cache() on the way out",
     "at::autocast has no guard class in C++. While it is on it caches the "
     "casts of leaf weights, and switching it off leaves the cache as it is: "
     "the casts stay in memory, also those of weights that are gone, and "
     "weights that have changed are used as they were.",
     FixKind::Sometimes, CastTags, makeAutocastCacheCheck},
    {"libtorch-autograd-context-cycle", Level::Certain,
     "a custom autograd function keeps tensors in saved_data",
     "The graph node owns the context and an output owns the graph node, so "
     "an output in saved_data is part of a cycle that is never freed. Other "
     "tensors there are not released by backward(), as those given to "
     "save_for_backward are.",
     FixKind::Sometimes, LeakTags, makeAutogradContextCycleCheck},
    {"libtorch-cat-in-loop", Level::Likely,
     "torch::cat regrows a tensor in each iteration",
     "Joining a tensor with one more part copies all of it into a new one. "
     "Over n iterations that allocates and copies memory quadratic in n; "
     "collected in a vector and joined once it is linear.",
     FixKind::Sometimes, GrowthTags, makeCatInLoopCheck},
    {"libtorch-create-graph-cycle", Level::Likely,
     "backward(create_graph=true) ties parameters and gradients in a cycle",
     "The gradients that such a backward() stores carry a graph that owns the "
     "parameters, which own the gradients. Until somebody resets the "
     "gradients, neither is freed, not even when nothing else refers to them.",
     FixKind::None, LeakTags, makeCreateGraphCycleCheck},
    {"libtorch-dangling-from-blob", Level::Certain,
     "a tensor made by from_blob outlives its buffer, or shares one that is "
     "written again",
     "from_blob copies nothing and owns nothing: the tensor reads the buffer "
     "for as long as it is used. A local vector, array or image is gone when "
     "the function returns, and a buffer that is reused changes every tensor "
     "that was made over it.",
     FixKind::Sometimes, LifetimeTags, makeDanglingFromBlobCheck},
    {"libtorch-dangling-tensor-data", Level::Certain,
     "a pointer or reference into a tensor, tuple or list that is gone",
     "data_ptr, sizes, strides, elements and ArrayRef refer to memory that the "
     "tensor, tuple or list owns. A temporary is gone at the end of its "
     "statement, and the pointer then reads freed memory.",
     FixKind::Sometimes, LifetimeTags, makeDanglingTensorDataCheck},
    {"libtorch-dataset-worker-copy", Level::Likely,
     "an RNG or a large owning member of a Dataset is copied into every "
     "DataLoader worker",
     "A loader of stateless datasets copies the dataset into the closure of "
     "every worker. Containers are duplicated with it, and a generator of "
     "random numbers repeats its stream in each copy. Tensors and smart "
     "pointers are handles, which the copies share.",
     FixKind::None, WorkerTags, makeDatasetWorkerCopyCheck},
    {"libtorch-discarded-result", Level::Certain,
     "the result of an operator that changes nothing is thrown away",
     "detach, to, cpu, view and their kin return a new tensor and leave the "
     "old one as it is, unlike Module::to and the operators that end in '_'. "
     "As a statement they do nothing: the history stays, the tensor stays on "
     "its device.",
     FixKind::Sometimes, ResultTags, makeDiscardedResultCheck},
    {"libtorch-empty-cache-in-loop", Level::Advisory,
     "emptyCache() in a hot loop",
     "emptyCache() gives the free blocks of the caching allocator back to the "
     "device, after waiting for it. It frees nothing that a tensor holds, and "
     "the next iteration has to allocate the same blocks from the device "
     "again.",
     FixKind::None, CacheTags, makeEmptyCacheInLoopCheck},
    {"libtorch-factory-then-to", Level::Advisory,
     "a tensor is made on the CPU only to be moved to a device",
     "A factory without a device in its options allocates and fills host "
     "memory. Moving the result copies it, so that both exist for a while; "
     "made on the device there is only one, and no transfer.",
     FixKind::Sometimes, DeviceTags, makeFactoryThenToCheck},
    {"libtorch-hook-capture-cycle", Level::Certain,
     "a hook or stored function keeps its own tensor or module alive",
     "A tensor keeps its hooks, and a hook keeps what it captures by value. A "
     "hook that captures its tensor, the module that owns it or a tensor "
     "computed from it is part of a cycle that is never freed. The same holds "
     "for a function stored in an object that it owns.",
     FixKind::Sometimes, LeakTags, makeHookCaptureCycleCheck},
    {"libtorch-ineffective-grad-guard", Level::Certain,
     "a guard for gradient mode that guards nothing, or never ends",
     "A guard lasts as long as its variable. Without a name, as a function "
     "declared by mistake, or alone in a block it covers no code, which then "
     "runs with gradients on; as a static it switches the thread for good.",
     FixKind::Sometimes, PeakTags, makeIneffectiveGradGuardCheck},
    {"libtorch-inference-without-no-grad", Level::Likely,
     "a forward whose result never reaches backward runs with gradients on",
     "eval() does not turn gradient mode off. Without a guard every layer "
     "saves its activations for a backward pass that never comes, and they "
     "live as long as the result does.",
     FixKind::Sometimes, PeakTags, makeInferenceWithoutNoGradCheck},
    {"libtorch-jit-unguarded-warmup", Level::Likely,
     "a TorchScript call before the guard that defeats the guard later",
     "The profiling executor of TorchScript specialises a module in its first "
     "calls. When gradient mode is on there, later calls build the autograd "
     "graph under a guard, too, and throw under InferenceMode.",
     FixKind::Sometimes, PeakTags, makeJitUnguardedWarmupCheck},
    {"libtorch-long-lived-intermediate", Level::Likely,
     "a tensor stays alive across later heavy work that does not need it",
     "A tensor declared before the loop it is made in, kept in a member or in "
     "a static, holds its storage and its graph while the next result is "
     "computed, so the peak holds both.",
     FixKind::Sometimes, PeakTags, makeLongLivedIntermediateCheck},
    {"libtorch-module-ownership-cycle", Level::Certain,
     "a module owns the module that owns it",
     "A holder and a shared_ptr own what they refer to. A child module that "
     "refers to its parent by one of them keeps the parent, which keeps the "
     "child, so that the parameters of both are never freed.",
     FixKind::None, OwnershipTags, makeModuleOwnershipCycleCheck},
    {"libtorch-oom-catch-type", Level::Certain,
     "a handler that can never see the out-of-memory error it is for",
     "What arrives depends on who runs out of memory: a device's allocator "
     "throws c10::OutOfMemoryError, the CPU's a plain c10::Error, and "
     "TorchScript's interpreter turns whatever fails in it into "
     "std::runtime_error. A handler for another type never runs, and neither "
     "does the recovery in it.",
     FixKind::None, HandlerTags, makeOomCatchTypeCheck},
    {"libtorch-oom-recovery-in-catch", Level::Likely,
     "out-of-memory recovery runs inside the handler while tensors it could "
     "free are alive",
     "Locals of the try block are gone when a C++ handler runs, but variables "
     "declared outside it, tensors owned by the exception, and Python frames "
     "under py::error_already_set are not. A retry from within the handler "
     "runs beside all of them.",
     FixKind::Sometimes, RecoveryTags, makeOomRecoveryInCatchCheck},
    {"libtorch-oversized-linear", Level::Advisory,
     "a Linear layer whose weight, gradient and optimizer state pass a "
     "threshold",
     "A Linear(m, n) holds m * n weights. Training adds a gradient of the same "
     "size, and Adam two more: four times the weight in all.",
     FixKind::None, SizeTags, makeOversizedLinearCheck},
    {"libtorch-pad-packed-total-length", Level::Likely,
     "pad_packed_sequence is called without total_length",
     "Without total_length each data_parallel replica pads to its own longest "
     "sequence, and gathering outputs of different lengths throws.",
     FixKind::Sometimes, ParallelTags, makePadPackedTotalLengthCheck},
    {"libtorch-retained-graph", Level::Likely,
     "retain_graph keeps a graph that is not needed again, or more and more of "
     "them",
     "backward() frees the saved activations unless retain_graph is true. "
     "Without a second backward() through the same graph they only stay "
     "longer; with state carried over iterations they pile up.",
     FixKind::Sometimes, LeakTags, makeRetainedGraphCheck},
    {"libtorch-stale-optimizer-state", Level::Likely,
     "parameters are replaced while the optimizer keeps their state",
     "An optimizer keeps its state, such as Adam's two moments, under the "
     "address of each parameter's tensor. When the parameters of a group are "
     "replaced, the entries of the old ones stay for as long as the optimizer "
     "lives.",
     FixKind::None, StateTags, makeStaleOptimizerStateCheck},
    {"libtorch-undetached-hidden-state", Level::Likely,
     "recurrent state is carried over training iterations without detach",
     "State that keeps its history links each iteration's graph to all before "
     "it. The next backward() goes through a freed graph and throws, or, with "
     "retain_graph, through one that grows without end.",
     FixKind::Sometimes, LeakTags, makeUndetachedHiddenStateCheck},
    {"libtorch-view-retains-storage", Level::Likely,
     "a small part of a tensor is kept, and with it the memory of the whole",
     "x[0], slice, narrow and the elements of chunk share the memory of the "
     "tensor they are taken from. One of them in a container or a member keeps "
     "all of it alive when the tensor is gone, and torch::save writes all of "
     "it.",
     FixKind::Sometimes, StorageTags, makeViewRetainsStorageCheck},
};

} // namespace

llvm::ArrayRef<CatalogEntry> catalog() { return Entries; }

const CatalogEntry *findInCatalog(llvm::StringRef Name) {
  const auto *It = llvm::find_if(
      Entries, [&](const CatalogEntry &E) { return E.Name == Name; });
  return It == std::end(Entries) ? nullptr : It;
}

} // namespace libtorch_tidy
