//===- OpFacts.cpp - What each ATen operator does -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/torch/api/OpFacts.h"
#include "analysis/cpp/Calls.h"
#include "analysis/torch/api/TorchTypes.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

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
  Metadata = 1 << 13,
  KeepsOrder = 1 << 14,
  Packs = 1 << 15
};

OpFacts row(StringRef Name, uint32_t Outputs, uint32_t NonDifferentiable,
            Sharing Shares, PureKind Pure, unsigned Flags) {
  // In the order of Flags.
  static constexpr bool OpFacts::*Columns[] = {
      &OpFacts::InPlace,        &OpFacts::Factory,    &OpFacts::SavesNothing,
      &OpFacts::PinsBuffer,     &OpFacts::Reduces,    &OpFacts::CopiesRarely,
      &OpFacts::TakesPart,      &OpFacts::ShowsWhole, &OpFacts::SameElements,
      &OpFacts::KeepsLayout,    &OpFacts::Resizes,    &OpFacts::Heavy,
      &OpFacts::KeepsArguments, &OpFacts::Metadata,   &OpFacts::KeepsOrder,
      &OpFacts::Packs};
  OpFacts Facts{Name, Outputs, NonDifferentiable, Shares, Pure};
  for (size_t I = 0; I < std::size(Columns); ++I)
    Facts.*Columns[I] = Flags >> I & 1;
  return Facts;
}

const OpFacts *factsIn(llvm::ArrayRef<OpFacts> Table, StringRef Name) {
  const OpFacts *Found = llvm::partition_point(
      Table, [&](const OpFacts &Facts) { return Facts.Name < Name; });
  return Found != Table.end() && Found->Name == Name ? Found : nullptr;
}

std::vector<OpFacts> makeTable() {
  std::vector<OpFacts> Table;
#define OPS(OUTPUTS, NONDIFFERENTIABLE, SHARES, PURE, FLAGS, NAMES)            \
  for (const StringRef Name : llvm::split(NAMES, ' '))                         \
    Table.push_back(row(Name, OUTPUTS, NONDIFFERENTIABLE, Sharing::SHARES,     \
                        PureKind::PURE, FLAGS));
#include "analysis/torch/api/OpFacts.inc"
  llvm::sort(Table, [](const OpFacts &A, const OpFacts &B) {
    return A.Name < B.Name;
  });
#define SAVED(KIND, KIND_IN_PLACE, NAMES)                                      \
  for (const StringRef Name : llvm::split(NAMES, ' ')) {                       \
    OpFacts &Facts = const_cast<OpFacts &>(*factsIn(Table, Name));             \
    Facts.Saves = Saved::KIND;                                                 \
    Facts.SavesInPlace = Saved::KIND_IN_PLACE;                                 \
  }
#define COLUMNS(RESULTS, NAMES)                                                \
  for (const StringRef Name : llvm::split(NAMES, ' '))                         \
    const_cast<OpFacts &>(*factsIn(Table, Name)).Columns = RESULTS;
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
  static constexpr std::pair<OverloadedOperatorKind, StringRef> Names[] = {
      {OO_Plus, "add"},
      {OO_Minus, "sub"},
      {OO_Star, "mul"},
      {OO_Slash, "div"},
      {OO_Percent, "remainder"},
      {OO_PlusEqual, "add_"},
      {OO_MinusEqual, "sub_"},
      {OO_StarEqual, "mul_"},
      {OO_SlashEqual, "div_"},
      {OO_AmpEqual, "bitwise_and_"},
      {OO_PipeEqual, "bitwise_or_"},
      {OO_CaretEqual, "bitwise_xor_"},
      {OO_EqualEqual, "eq"},
      {OO_ExclaimEqual, "ne"},
      {OO_Less, "lt"},
      {OO_LessEqual, "le"},
      {OO_Greater, "gt"},
      {OO_GreaterEqual, "ge"},
      {OO_Amp, "bitwise_and"},
      {OO_Pipe, "bitwise_or"},
      {OO_Caret, "bitwise_xor"},
      {OO_Tilde, "bitwise_not"},
      {OO_Exclaim, "logical_not"},
      {OO_Subscript, "select"}};
  if (NumOperands == 1 && Kind == OO_Minus)
    return "neg";
  if (NumOperands == 1 && (Kind == OO_Star || Kind == OO_Amp))
    return "";
  for (const auto &[Operator, Name] : Names)
    if (Operator == Kind)
      return Name;
  return "";
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
  const StringRef Family =
      cpp::nameOf(dyn_cast<NamespaceDecl>(Callee->getDeclContext()));
  if (cpp::isOneOf(Family, {"linalg", "fft", "special"}))
    if (const OpFacts *Found = opFacts((Family + "_" + Id->getName()).str()))
      return Found;
  const OpFacts *Found = opFacts(Id->getName());
  // view_symint(), expand_symint(): the same operator with sizes that may be
  // symbols (2.x).
  if (StringRef Plain = Id->getName(); !Found && Plain.consume_back("_symint"))
    Found = opFacts(Plain);
  // torch::dtype() and TensorOptions::device() ask no tensor.
  return Found && Found->Metadata && !isOfTensor(Callee) ? nullptr : Found;
}

const OpFacts *opFacts(const CallExpr *Call) {
  return Call ? opFacts(Call->getDirectCallee()) : nullptr;
}

} // namespace libtorch_tidy::torch
