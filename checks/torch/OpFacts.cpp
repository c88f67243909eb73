//===- OpFacts.cpp - What each ATen operator does to memory ---------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/torch/OpFacts.h"
#include "checks/torch/TorchTypes.h"
#include "clang/AST/DeclCXX.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::torch {

namespace {

enum Flags : unsigned {
  View = 1,
  InPlace = 2,
  Factory = 4,
  SavesNothing = 8,
  PinsBuffer = 16,
  Reduces = 32
};

constexpr OpFacts Table[] = {
#define OP(NAME, OUTPUTS, NONDIFFERENTIABLE, FLAGS)                            \
  {NAME,                                                                       \
   ((FLAGS) & View) != 0,                                                      \
   ((FLAGS) & InPlace) != 0,                                                   \
   ((FLAGS) & Factory) != 0,                                                   \
   ((FLAGS) & SavesNothing) != 0,                                              \
   ((FLAGS) & PinsBuffer) != 0,                                                \
   OUTPUTS,                                                                    \
   NONDIFFERENTIABLE,                                                          \
   ((FLAGS) & Reduces) != 0},
#include "checks/torch/OpFacts.inc"
#undef OP
};

/// The operator that `a + b` and its kin call.
StringRef operatorName(OverloadedOperatorKind Kind, unsigned NumOperands) {
  switch (Kind) {
  case OO_Plus:
    return "add";
  case OO_Minus:
    return NumOperands == 1 ? "neg" : "sub";
  case OO_Star:
    return NumOperands == 1 ? "" : "mul";
  case OO_Slash:
    return "div";
  case OO_Percent:
    return "remainder";
  case OO_PlusEqual:
    return "add_";
  case OO_MinusEqual:
    return "sub_";
  case OO_StarEqual:
    return "mul_";
  case OO_SlashEqual:
    return "div_";
  case OO_AmpEqual:
    return "bitwise_and_";
  case OO_PipeEqual:
    return "bitwise_or_";
  case OO_CaretEqual:
    return "bitwise_xor_";
  case OO_EqualEqual:
    return "eq";
  case OO_ExclaimEqual:
    return "ne";
  case OO_Less:
    return "lt";
  case OO_LessEqual:
    return "le";
  case OO_Greater:
    return "gt";
  case OO_GreaterEqual:
    return "ge";
  case OO_Amp:
    return NumOperands == 1 ? "" : "bitwise_and";
  case OO_Pipe:
    return "bitwise_or";
  case OO_Caret:
    return "bitwise_xor";
  case OO_Tilde:
    return "bitwise_not";
  case OO_Exclaim:
    return "logical_not";
  case OO_Subscript:
    return "select";
  default:
    return "";
  }
}

} // namespace

llvm::ArrayRef<OpFacts> allOpFacts() { return Table; }

const OpFacts *opFacts(StringRef Name) {
  const OpFacts *Found = llvm::partition_point(
      Table, [&](const OpFacts &Facts) { return Facts.Name < Name; });
  return Found != std::end(Table) && Found->Name == Name ? Found : nullptr;
}

const OpFacts *opFacts(const FunctionDecl *Callee) {
  if (!Callee || !isTorchDecl(Callee))
    return nullptr;
  if (OverloadedOperatorKind Kind = Callee->getOverloadedOperator()) {
    // Only of tensors: LibTorch overloads operators for its scalars and
    // containers, too.
    const auto *Method = dyn_cast<CXXMethodDecl>(Callee);
    bool OfTensor =
        Method && isOrDerivesFrom(Method->getParent(), "at::TensorBase");
    if (!Method)
      OfTensor = llvm::any_of(Callee->parameters(), [](const ParmVarDecl *P) {
        return isTensor(P->getType());
      });
    return OfTensor ? opFacts(operatorName(Kind, Callee->getNumParams() +
                                                     (Method ? 1 : 0)))
                    : nullptr;
  }
  const IdentifierInfo *Id = Callee->getIdentifier();
  if (!Id)
    return nullptr;
  // torch::linalg::norm is not torch::norm.
  const auto *Scope = dyn_cast<NamespaceDecl>(Callee->getDeclContext());
  if (Scope && Scope->getIdentifier()) {
    StringRef Family = Scope->getName();
    if (Family == "linalg" || Family == "fft" || Family == "special") {
      llvm::SmallString<48> Full(Family);
      Full += '_';
      Full += Id->getName();
      if (const OpFacts *Found = opFacts(Full))
        return Found;
    }
  }
  return opFacts(Id->getName());
}

} // namespace libtorch_tidy::torch
