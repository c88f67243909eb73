//===- OpFacts.cpp - What each ATen operator does -------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/torch/api/OpFacts.h"
#include "analysis/torch/api/TorchTypes.h"
#include "clang/AST/DeclCXX.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::torch {

namespace {

enum Flags : unsigned {
  InPlace = 1 << 0,
  Factory = 1 << 1,
  SavesNothing = 1 << 2,
  PinsBuffer = 1 << 3,
  Reduces = 1 << 4,
  CopiesRarely = 1 << 5,
  TakesPart = 1 << 6,
  ShowsWhole = 1 << 7,
  SameElements = 1 << 8,
  KeepsLayout = 1 << 9,
  Resizes = 1 << 10,
  Heavy = 1 << 11,
  KeepsArguments = 1 << 12,
  Metadata = 1 << 13
};

OpFacts row(StringRef Name, uint32_t Outputs, uint32_t NonDifferentiable,
            Sharing Shares, PureKind Pure, unsigned Flags) {
  auto Is = [&](unsigned Flag) { return (Flags & Flag) != 0; };
  return {Name,
          Outputs,
          NonDifferentiable,
          Shares,
          Pure,
          Is(InPlace),
          Is(Factory),
          Is(SavesNothing),
          Is(PinsBuffer),
          Is(Reduces),
          Is(CopiesRarely),
          Is(TakesPart),
          Is(ShowsWhole),
          Is(SameElements),
          Is(KeepsLayout),
          Is(Resizes),
          Is(Heavy),
          Is(KeepsArguments),
          Is(Metadata)};
}

/// The names in \p Text, of which each is a part of a literal.
llvm::SmallVector<StringRef, 0> namesIn(StringRef Text) {
  llvm::SmallVector<StringRef, 0> Names;
  Text.split(Names, ' ');
  return Names;
}

const OpFacts *factsIn(llvm::ArrayRef<OpFacts> Table, StringRef Name) {
  const OpFacts *Found = llvm::partition_point(
      Table, [&](const OpFacts &Facts) { return Facts.Name < Name; });
  return Found != Table.end() && Found->Name == Name ? Found : nullptr;
}

std::vector<OpFacts> makeTable() {
  std::vector<OpFacts> Table;
#define OPS(OUTPUTS, NONDIFFERENTIABLE, SHARES, PURE, FLAGS, NAMES)            \
  for (const StringRef Name : namesIn(NAMES))                                  \
    Table.push_back(row(Name, OUTPUTS, NONDIFFERENTIABLE, Sharing::SHARES,     \
                        PureKind::PURE, FLAGS));
#include "analysis/torch/api/OpFacts.inc"
  llvm::sort(Table, [](const OpFacts &A, const OpFacts &B) {
    return A.Name < B.Name;
  });
#define SAVED(KIND, KIND_IN_PLACE, NAMES)                                      \
  for (const StringRef Name : namesIn(NAMES)) {                                \
    OpFacts &Facts = const_cast<OpFacts &>(*factsIn(Table, Name));             \
    Facts.Saves = Saved::KIND;                                                 \
    Facts.SavesInPlace = Saved::KIND_IN_PLACE;                                 \
  }
#include "analysis/torch/api/OpFacts.inc"
  return Table;
}

/// A method of tensors, or a function of one.
bool isOfTensor(const FunctionDecl *Callee) {
  if (const auto *Method = dyn_cast<CXXMethodDecl>(Callee))
    return isTensorClass(Method->getParent());
  return llvm::any_of(Callee->parameters(), [](const ParmVarDecl *P) {
    return isTensor(P->getType());
  });
}

} // namespace

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

llvm::ArrayRef<OpFacts> allOpFacts() {
  static const std::vector<OpFacts> Table = makeTable();
  return Table;
}

bool resamples(const OpFacts &Facts) {
  return Facts.Name == "interpolate" || Facts.Name.starts_with("upsample_") ||
         Facts.Name.starts_with("_upsample_") ||
         Facts.Name.starts_with("grid_sample");
}

const OpFacts *opFacts(StringRef Name) { return factsIn(allOpFacts(), Name); }

const OpFacts *opFacts(const FunctionDecl *Callee) {
  if (!Callee || !isTorchDecl(Callee))
    return nullptr;
  if (OverloadedOperatorKind Kind = Callee->getOverloadedOperator()) {
    // LibTorch overloads operators for its scalars and containers, too.
    bool IsMethod = isa<CXXMethodDecl>(Callee);
    return isOfTensor(Callee)
               ? opFacts(operatorName(Kind, Callee->getNumParams() + IsMethod))
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
  const OpFacts *Found = opFacts(Id->getName());
  // view_symint(), expand_symint(): the same operator with sizes that may be
  // symbols (2.x).
  if (StringRef Plain = Id->getName(); !Found && Plain.consume_back("_symint"))
    Found = opFacts(Plain);
  // torch::dtype() and TensorOptions::device() ask no tensor.
  return Found && Found->Metadata && !isOfTensor(Callee) ? nullptr : Found;
}

} // namespace libtorch_tidy::torch
