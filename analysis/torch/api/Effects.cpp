//===- Effects.cpp - What a call of LibTorch does -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/torch/api/Effects.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Types.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Autograd.h"
#include "analysis/torch/autograd/Hooks.h"
#include "analysis/torch/modules/Modules.h"
#include "analysis/torch/storage/Owners.h"
#include "analysis/torch/storage/Sharing.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::torch {

bool keepsArguments(const CallExpr *Call) {
  const OpFacts *Facts = opFacts(Call);
  if (Facts)
    return Facts->KeepsArguments;
  std::optional<Registration> Registered = asRegistration(Call);
  return (Registered && Registered->What == Registration::Buffer) ||
         asContextList(Call, ContextList::Saved);
}

bool endsHistory(const CXXMemberCallExpr *Call) {
  return cpp::isOneOf(cpp::calleeName(Call), {"reset", "detach_"});
}

bool replacesData(const CXXMemberCallExpr *Call) {
  if (callsTorch(Call, "set_data"))
    return true;
  const Expr *Object = cpp::receiverOf(Call);
  return Object && callsTorch(Call, "to") && isModule(Object->getType());
}

bool asksForGraph(const CallExpr *Call) { return callsTorch(Call, "grad_fn"); }

bool asksForHistory(const CallExpr *Call) {
  return callsTorch(Call, {"is_leaf", "requires_grad", "grad_fn", "output_nr",
                           "grad", "retains_grad", "is_inference", "_version"});
}

Work workOf(const CallExpr *Call) {
  const FunctionDecl *Callee = Call->getDirectCallee();
  if (!Callee)
    return Work::None;
  if (isBackward(Call) || asModuleCall(Call) ||
      callsTorch(Call, "data_parallel"))
    return Work::Heavy;
  if (const OpFacts *Facts = opFacts(Callee)) {
    if (Facts->Heavy)
      return Work::Heavy;
    bool Allocates = Facts->Outputs > 0 && mayHoldTensor(Call->getType()) &&
                     (!Facts->mayShare() || !viewedBy(Call));
    return Allocates ? Work::Some : Work::None;
  }
  // A user's function that is defined elsewhere, a std::function, Python.
  if (isTorchDecl(Callee) || Callee->getReturnType()->isReferenceType())
    return Work::None;
  const auto *Method = dyn_cast<CXXMethodDecl>(Callee);
  bool CallsOperator = Method && Method->getOverloadedOperator() == OO_Call;
  if (CallsOperator &&
      Callee->getQualifiedNameAsString().compare(0, 10, "pybind11::") == 0)
    return Work::Some;
  bool InStd = Callee->isInStdNamespace() && !CallsOperator;
  return !InStd && ownsTensors(Call->getType()) ? Work::Some : Work::None;
}

bool runsFunctional(const CallExpr *Call) {
  const FunctionDecl *Callee = Call->getDirectCallee();
  return isTorchDecl(Callee) &&
         cpp::nameOf(dyn_cast<NamespaceDecl>(Callee->getDeclContext())) ==
             "functional";
}

/// torch::nn::functional::normalize(x) and others that write nothing unless
/// their options say so: `inplace`, `out`. Not those that are run for the time
/// they take, and batch_norm, which keeps statistics.
static bool isPureFunctional(const CallExpr *Call) {
  static constexpr llvm::StringRef Names[] = {
      "normalize",  "dropout",    "dropout2d",     "dropout3d",
      "relu",       "relu6",      "alpha_dropout", "feature_alpha_dropout",
      "leaky_relu", "elu",        "selu",          "celu",
      "gelu",       "silu",       "mish",          "glu",
      "softmax",    "softmin",    "log_softmax",   "softplus",
      "layer_norm", "group_norm", "instance_norm", "local_response_norm",
      "pad",        "one_hot"};
  if (!runsFunctional(Call) ||
      !llvm::is_contained(Names, cpp::calleeName(Call)) ||
      Call->getNumArgs() == 0)
    return false;
  return llvm::none_of(
      llvm::drop_begin(Call->arguments()), [](const Expr *Options) {
        const Expr *E = cpp::stripImplicit(Options);
        while (const auto *Set = dyn_cast_or_null<CXXMemberCallExpr>(E)) {
          if (cpp::isOneOf(cpp::calleeName(Set), {"inplace", "out"}))
            return true;
          E = cpp::stripImplicit(Set->getImplicitObjectArgument());
        }
        return isa_and_nonnull<DeclRefExpr, MemberExpr>(E) ||
               isTensor(Options->getType());
      });
}

/// x.max(1) and others that return a tuple of values and indices, and do
/// nothing else: not those that are given tensors to write to.
static bool returnsValueAndIndex(const OpFacts &Facts, const CallExpr *Call) {
  static constexpr llvm::StringRef Names[] = {
      "kthvalue", "max", "median", "min", "mode", "nanmedian", "sort", "topk"};
  return Facts.Outputs == 2 && llvm::is_contained(Names, Facts.Name) &&
         cpp::isStdDecl(cpp::recordOf(Call->getType()));
}

std::optional<PureOp> asPureOp(const CallExpr *Call) {
  const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
  if (Callee && Callee->getIdentifier() && isTensor(Call->getType()) &&
      isPureFunctional(Call))
    // Some take their input by value.
    return PureOp{PureKind::Computes, cpp::calleeName(Call),
                  cpp::stripImplicit(Call->getArg(0))};
  const OpFacts *Facts = opFacts(Callee);
  // An operator's sign is not a name: compilers warn of `x + y;` by themselves.
  if (!Facts || !Callee->getIdentifier())
    return std::nullopt;
  PureKind Kind = Facts->Pure;
  if (Facts->Outputs > 1) {
    if (!returnsValueAndIndex(*Facts, Call))
      return std::nullopt;
    Kind = PureKind::Computes;
  } else if (Kind == PureKind::No || Facts->Outputs != 1 ||
             !isTensor(Call->getType())) {
    return std::nullopt;
  }
  const Expr *Tensor = nullptr;
  if (const auto *Method = dyn_cast<CXXMemberCallExpr>(Call)) {
    Tensor = Method->getImplicitObjectArgument();
  } else {
    const auto *Space = dyn_cast<NamespaceDecl>(Callee->getDeclContext());
    if ((cpp::nameOf(Space) != "at" && !isStableTensor(Call->getType())) ||
        Call->getNumArgs() == 0)
      return std::nullopt;
    Tensor = Call->getArg(0);
  }
  if (!Tensor || !isTensor(Tensor->getType()))
    return std::nullopt;
  return PureOp{Kind, cpp::calleeName(Call), Tensor};
}

const Expr *writtenInPlace(const CallExpr *Call) {
  const OpFacts *Facts = opFacts(Call);
  const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(Callee);
  const bool Copies = Method && cpp::isAssignment(Call) &&
                      Method->getRefQualifier() == RQ_RValue;
  if (!Copies && !(Facts && Facts->InPlace))
    return nullptr;
  const Expr *Written = cpp::calledOn(Call);
  if (!Written && Call->getNumArgs() > 0)
    Written = Call->getArg(0);
  return Written && isTensor(Written->getType()) ? Written : nullptr;
}

bool selectsElements(const CallExpr *Call) {
  const OpFacts *Facts = opFacts(Call);
  return Facts &&
         cpp::isOneOf(Facts->Name, {"index", "index_select", "masked_select",
                                    "gather", "take", "take_along_dim"});
}

StringRef filledInstead(const CallExpr *Call) {
  const OpFacts *Facts = opFacts(Call);
  return llvm::StringSwitch<StringRef>(Facts ? Facts->Name : "")
      .Case("index", "index_put_")
      .Case("masked_select", "masked_fill_")
      .Case("gather", "scatter_")
      .Default("");
}

std::optional<Concatenation> asConcatenation(const CallExpr *Call) {
  const bool IsStack = cpp::calleeName(Call) == "stack";
  // concatenate is of 2.x.
  if (!callsTorch(Call, {"stack", "cat", "concat", "concatenate", "hstack",
                         "vstack", "row_stack", "dstack", "column_stack"}) ||
      isa<CXXMethodDecl>(Call->getDirectCallee()) || Call->getNumArgs() == 0 ||
      !isTensor(Call->getType()))
    return std::nullopt;
  llvm::SmallVector<const Expr *, 4> Written = cpp::writtenArguments(Call);
  return Concatenation{Call->getArg(0),
                       Written.size() > 1 ? Written[1] : nullptr, !IsStack};
}

} // namespace libtorch_tidy::torch
