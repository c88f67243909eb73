//===- Streams.cpp - Streams of devices, and who waits --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/torch/devices/Streams.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/Walk.h"
#include "analysis/torch/api/OpFacts.h"
#include "analysis/torch/api/TensorTraits.h"
#include "analysis/torch/api/TorchTypes.h"
#include "clang/AST/ASTContext.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::torch {

bool isStream(QualType T) {
  if (T.isNull())
    return false;
  if (T->isPointerType())
    return cpp::isOneOf(cpp::nameOf(cpp::recordOf(T->getPointeeType())),
                        {"CUstream_st", "ihipStream_t"});
  return cpp::isOrDerivesFrom(
      T, {"c10::Stream", "c10::cuda::CUDAStream", "c10::hip::HIPStream"});
}

bool isStreamGuard(QualType T) {
  return cpp::isOrDerivesFrom(
      T,
      {"c10::StreamGuard", "c10::OptionalStreamGuard", "c10::MultiStreamGuard",
       "c10::cuda::CUDAStreamGuard", "c10::cuda::OptionalCUDAStreamGuard",
       "c10::cuda::CUDAMultiStreamGuard"});
}

const CallExpr *takenFromPool(const Expr *E) {
  const auto *Call = dyn_cast_or_null<CallExpr>(cpp::stripImplicit(E));
  // Stubs of CUDA's headers are code of the user.
  const FunctionDecl *F = Call ? Call->getDirectCallee() : nullptr;
  return cpp::isNamed(F, "c10::cuda::getStreamFromPool") ||
                 cpp::isNamed(F, "c10::hip::getStreamFromPool")
             ? Call
             : nullptr;
}

/// The parameter called \p Name of \p Call, as it is passed; null when there is
/// none.
static const Expr *argumentFor(const CallExpr *Call, StringRef Name) {
  const FunctionDecl *F = Call->getDirectCallee();
  for (unsigned I = 0; F && I < F->getNumParams() && I < Call->getNumArgs();
       ++I)
    if (F->getParamDecl(I)->getName() == Name)
      return Call->getArg(I);
  return nullptr;
}

std::optional<AsyncCopy> asAsyncCopy(const CallExpr *Call,
                                     const ASTContext &Context) {
  const Expr *Object = tensorOf(Call);
  const bool Copies = Object && callsTorch(Call, "copy_");
  if (!Object || (!Copies && !callsTorch(Call, "to")))
    return std::nullopt;
  const Expr *Flag = argumentFor(Call, "non_blocking");
  if (!Flag || isa<CXXDefaultArgExpr>(Flag) ||
      cpp::constantBool(Flag, Context) != true)
    return std::nullopt;
  if (Copies)
    return AsyncCopy{Call, Call->getArg(0), Object};
  AsyncCopy Found{Call, Object};
  Asked A;
  for (const Expr *Arg : cpp::writtenArguments(Call))
    if (isDeviceType(cpp::stripImplicit(Arg)->getType()) ||
        isDeviceType(Arg->getType()) || isTensorOptions(Arg->getType()))
      readAsked(Arg, Context, A);
  Found.ToHost = A.AnyDevice && A.Cpu && !A.Unknown;
  Found.ToDevice = A.Cuda && !A.Unknown;
  return Found;
}

bool mayWait(const CallExpr *Call, const ASTContext &Context) {
  const FunctionDecl *Callee = Call->getDirectCallee();
  const StringRef Name = cpp::calleeName(Call);
  // cudaStreamSynchronize(), event.block(stream), stream_synchronize().
  if (Name.contains_insensitive("synchroni") || Name.contains("wait") ||
      Name.contains("Wait") || cpp::isOneOf(Name, {"block", "query"}))
    return true;
  if (!Callee)
    return true;
  if (callsTorch(Call, {"item", "cpu", "nonzero", "masked_select", "equal",
                        "allclose", "is_nonzero", "unique"}))
    return true;
  if (callsTorch(Call, {"to", "copy_"}))
    return !asAsyncCopy(Call, Context);
  return !isTorchDecl(Callee) && !cpp::isStdDecl(Callee) &&
         !Callee->isExternC() && !Callee->getBuiltinID();
}

bool copiesElements(const CallExpr *Call) {
  return callsTorch(Call, {"to", "cuda", "copy_"});
}

bool makesPinned(const Expr *E, const ASTContext &Context) {
  const auto *Call = dyn_cast_or_null<CallExpr>(cpp::stripImplicit(E));
  if (callsTorch(Call, "pin_memory"))
    return true;
  const OpFacts *Facts = opFacts(Call);
  return Facts && Facts->Factory &&
         cpp::anyOf<CXXMemberCallExpr>(Call, [&](const CallExpr *Option) {
           return callsTorch(Option, "pinned_memory") &&
                  Option->getNumArgs() > 0 &&
                  cpp::constantBool(Option->getArg(0), Context) == true;
         });
}

bool recordsStream(const CallExpr *Call) {
  return callsTorch(Call, {"record_stream", "recordStream"});
}

} // namespace libtorch_tidy::torch
