//===- Release.cpp - Memory that is given back by hand --------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/torch/storage/Release.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Types.h"
#include "clang/AST/ASTContext.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::torch {

static constexpr StringRef ReleaseNames[] = {
    // Of a device.
    "cudaDeviceReset", "hipDeviceReset", "cuDevicePrimaryCtxReset",
    "cuDevicePrimaryCtxReset_v2",
    // Of memory.
    "free", "realloc", "aligned_free", "_aligned_free", "_mm_free", "cudaFree",
    "cudaFreeAsync", "cudaFreeHost", "cuMemFree", "cuMemFree_v2", "hipFree",
    "hipFreeAsync", "hipHostFree", "raw_delete"};
static constexpr size_t OfDevices = 4;

const llvm::ArrayRef<StringRef> ReleaseFunctions = ReleaseNames;

/// A function of C or of the standard library, or LibTorch's own: not one that
/// the user has written.
static bool isOfLibrary(const FunctionDecl *F) {
  if (!F || isa<CXXMethodDecl>(F) || F->hasBody())
    return false;
  return F->getDeclContext()->getRedeclContext()->isTranslationUnit() ||
         F->isExternC() || cpp::isStdDecl(F) ||
         F->getQualifiedNameAsString() ==
             "c10::cuda::CUDACachingAllocator::raw_delete";
}

const Expr *releasedBy(const CallExpr *Call) {
  return Call && Call->getNumArgs() > 0 &&
                 llvm::is_contained(ReleaseFunctions.drop_front(OfDevices),
                                    cpp::calleeName(Call)) &&
                 isOfLibrary(Call->getDirectCallee())
             ? Call->getArg(0)
             : nullptr;
}

bool resetsDevice(const CallExpr *Call) {
  return Call &&
         llvm::is_contained(ReleaseFunctions.take_front(OfDevices),
                            cpp::calleeName(Call)) &&
         isOfLibrary(Call->getDirectCallee());
}

} // namespace libtorch_tidy::torch
