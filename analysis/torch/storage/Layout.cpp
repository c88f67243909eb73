//===- Layout.cpp - How the elements of a tensor lie in memory ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/torch/storage/Layout.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Types.h"
#include "analysis/torch/api/OpFacts.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/storage/LayoutSteps.h"
#include "analysis/torch/storage/Sharing.h"
#include "analysis/torch/storage/Storage.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/MathExtras.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::torch {

using Number = std::optional<int64_t>;

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

Layout Layout::of(Kind K, const CallExpr *By, bool Sure) {
  Layout L;
  L.Coarse = K;
  L.By = By;
  L.Sure = Sure;
  return L;
}

/// Has \p D a place of its own, and more than one element?
static bool isReal(const Layout::Dim &D) {
  return D.Level >= 0 && !(D.Size == 1);
}

bool Layout::hasUnit() const {
  return SomeUnit || llvm::any_of(Dims, [](const Dim &D) {
           return D.MayBeOne || (D.Size && *D.Size <= 1);
         });
}

Layout::Kind Layout::kind(unsigned Unsaid, Cuts Take) const {
  if (Coarse != Packed)
    return Coarse;
  // Nothing is in order.
  if (llvm::any_of(Dims, [](const Dim &D) { return D.Size == 0; }))
    return Packed;
  llvm::SmallBitVector Whole(Levels);
  int First = Levels, Last = -1;
  bool Ordered = true, Stepped = false;
  for (const Dim &D : Dims) {
    const bool LeavesOne =
        D.MayBeOne && (Take == OneOrAll || (Take == AllOrOne && !D.MayBeWhole));
    const bool IsOne = LeavesOne || D.Size.value_or(Unsaid) == 1;
    if (D.Level == Repeated && !IsOne)
      return Expanded;
    if (D.Level >= 0 &&
        (!D.Cut || (D.MayBeWhole && Take != Part && !LeavesOne)))
      Whole.set(D.Level);
    if (D.Level < 0 || IsOne)
      continue;
    Ordered &= D.Level > Last;
    Stepped |= D.Stepped;
    Last = std::max(Last, D.Level);
    First = std::min(First, D.Level);
  }
  for (int Level = First + 1; Level < Levels; ++Level)
    if (!Whole.test(Level))
      return Sliced;
  return Stepped ? Sliced : Ordered ? Packed : Permuted;
}

Number Layout::numel() const {
  if (!rank())
    return std::nullopt;
  int64_t Product = 1;
  for (const Dim &D : Dims)
    if (!D.Size || llvm::MulOverflow(Product, *D.Size, Product))
      return std::nullopt;
  return Product;
}

bool Layout::rowsLieTogether() const {
  if (Coarse != Packed)
    return false;
  if (Open)
    return true;
  for (const Dim &D : llvm::reverse(Dims))
    if (D.Level == Repeated || isReal(D))
      return D.Level == Levels - 1 && !D.Stepped;
  return true;
}

Layout Layout::unlike(Kind K) const {
  Layout L = of(K, By, Sure);
  L.SomeUnit = hasUnit();
  return L;
}

Layout Layout::packed() const {
  Layout L = compacted();
  if (L.Coarse != Packed)
    L = unlike(Packed);
  L.Levels = 0;
  for (Dim &D : L.Dims)
    if (D.Level >= 0)
      D.Level = L.Levels++;
  L.By = nullptr;
  return L;
}

Layout Layout::compacted() const {
  Layout L = *this;
  if (Coarse == Sliced || Coarse == Expanded)
    return unlike(Unknown);
  if (Coarse != Packed)
    return L;
  llvm::SmallVector<int, 4> Kept;
  for (Dim &D : L.Dims) {
    if (D.Level == Repeated)
      return unlike(Unknown);
    if (!isReal(D))
      D.Level = Unit;
    else
      Kept.push_back(D.Level);
    D.Cut = D.Stepped = D.MayBeWhole = false;
  }
  llvm::sort(Kept);
  for (Dim &D : L.Dims)
    if (D.Level >= 0)
      D.Level = llvm::find(Kept, D.Level) - Kept.begin();
  L.Levels = Kept.size();
  return L;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

namespace {

enum MemoryFormat { Contiguous, Preserve };

bool isMemoryFormat(QualType T) {
  const auto *Enum = T.getNonReferenceType()->getAs<EnumType>();
  return Enum && isTorchDecl(Enum->getDecl()) &&
         cpp::nameOf(Enum->getDecl()) == "MemoryFormat";
}

/// The tensors among the operands of \p C.
llvm::SmallVector<const Expr *, 2> tensorsOf(const cpp::Call &C) {
  llvm::SmallVector<const Expr *, 2> Tensors;
  if (C.Object && isTensor(C.Object->getType()))
    Tensors.push_back(C.Object);
  for (const Expr *Arg : C.written())
    if (isTensor(Arg->getType()))
      Tensors.push_back(Arg);
  return Tensors;
}

/// Factories, and tensors over memory of others.
Layout made(const cpp::Call &C, const ASTContext &Context) {
  const Expr *Sizes = nullptr;
  for (const Expr *Arg : C.written())
    if (isArrayRef(Arg->getType())) {
      if (Sizes) {
        // Who asks for another order of one piece means that order.
        Layout L = stridedOf(Sizes, Arg, Context);
        L.By = L.isStrided() ? cast<CallExpr>(C.E) : nullptr;
        return L.isDense() ? Layout::unknown() : L;
      }
      Sizes = Arg;
    }
  Layout L;
  L.Sure = true;
  if (Sizes && C.Name != "tensor") {
    L = packedOf(Sizes, /*Sure=*/true, Context);
  } else if (C.Name == "eye" && C.Written > 0) {
    const Expr *Sides[] = {C.Args[0], C.Args[0]};
    if (C.Written > 1 && C.Args[1]->getType()->isIntegerType())
      Sides[1] = C.Args[1];
    for (const Expr *Side : Sides) {
      const Number N = cpp::constantInt(Side, Context);
      L.Dims.push_back({N == 1 ? Layout::Unit : L.Levels++, N});
    }
    L.Open = false;
  } else if (cpp::isOneOf(C.Name, {"arange", "linspace", "logspace", "range",
                                   "randperm"})) {
    Number Count;
    if (C.Name == "arange" && C.Written > 0 &&
        (C.Written == 1 || !C.Args[1]->getType()->isIntegerType()))
      Count = cpp::constantInt(cpp::stripImplicit(C.Args[0]), Context);
    L.Dims.push_back({L.Levels++, Count});
    L.Open = false;
  }
  return L;
}

/// What another order of memory is asked for by an argument; nullopt where none
/// is.
std::optional<int64_t> formatAsked(const cpp::Call &C,
                                   const ASTContext &Context) {
  for (const Expr *Arg : C.written())
    if (const Expr *Inner = cpp::stripImplicit(Arg);
        Inner && isMemoryFormat(Inner->getType()))
      return cpp::constantInt(Inner, Context).value_or(-1);
  return std::nullopt;
}

} // namespace

Layout layoutOf(const CallExpr *Call, unsigned Result,
                llvm::function_ref<Layout(const Expr *)> Asked,
                const ASTContext &Context) {
  const OpFacts *Facts = opFacts(Call);
  if (!Facts)
    return Layout();
  // Each is asked once: an operand may be an operator, which asks for its own.
  llvm::SmallDenseMap<const Expr *, Layout, 4> Known;
  auto Operand = [&](const Expr *E) {
    if (const auto It = Known.find(E); It != Known.end())
      return It->second;
    return Known[E] = Asked(E);
  };
  const cpp::Call C(Call);
  StringRef Name = Facts->Name;
  const auto Format = formatAsked(C, Context);
  if (Format && *Format != Contiguous && *Format != Preserve)
    return Layout::unknown();
  const auto Tensors = tensorsOf(C);
  const bool IsMade = Facts->Factory && !Facts->KeepsOrder;
  if (IsMade || wrapsMemory(Call))
    return Name == "empty_permuted" ? Layout::unknown() : made(C, Context);
  if (Tensors.empty())
    return joined(Name, C.written(), Operand, Context);
  Layout Of = Operand(Tensors[0]);
  const bool WasStrided = Of.isStrided();
  auto MadeBy = [&](Layout L) {
    if (!L.isStrided())
      L.By = nullptr;
    else if (!WasStrided || !Of.By || L.kind() != Of.kind())
      L.By = Call;
    return L;
  };
  // Of which nothing is said, and whose sizes are not known.
  Layout Other;
  Other.SomeUnit = llvm::any_of(
      Tensors, [&](const Expr *E) { return Operand(E).hasUnit(); });

  llvm::SmallVector<const Expr *, 4> Args(C.written());
  if (!Args.empty() && Args[0] == Tensors[0])
    Args.erase(Args.begin());
  if (!Args.empty() && isa<CXXOperatorCallExpr>(Call) &&
      Args[0] == Call->getArg(0))
    Args.erase(Args.begin());
  if (Facts->Columns >> Result & 1) {
    Layout L = Layout::of(Layout::Columns, Call, Of.Sure);
    return L;
  }
  if (Facts->Packs || Name == "contiguous" ||
      (Format == Contiguous && Facts->KeepsOrder &&
       Facts->Shares == Sharing::None)) {
    Layout L = Other;
    // Of the same sizes.
    if (Facts->KeepsOrder ||
        cpp::isOneOf(Name, {"contiguous", "softmax", "log_softmax", "cumsum",
                            "cumprod", "masked_fill", "masked_scatter", "tril",
                            "triu", "scatter", "scatter_add", "index_add",
                            "index_copy", "layer_norm"})) {
      L = Of.packed();
    } else if (const auto Sized =
                   resized(Name, Of.packed(), Args, Operand, Context)) {
      L = Sized->packed();
    }
    L.Sure = true;
    return L;
  }
  if (Format == Contiguous)
    return Layout::unknown();
  const bool InPlace = Facts->Shares == Sharing::Handle;
  StringRef Base = Name;
  if (InPlace && !changesLayout(Call))
    return Of;
  if (InPlace)
    Base.consume_back("_");
  if (cpp::isOneOf(Base, {"detach", "alias", "data", "variable_data",
                          "tensor_data", "requires_grad"}))
    return Of;

  if (Base == "as_strided" && Args.size() > 1)
    return MadeBy(stridedOf(Args[0], Args[1], Context));
  if (const auto Seen = rearranged(Base, Of, Args, Operand, Context))
    return MadeBy(*Seen);
  if (Facts->KeepsOrder || cpp::isOneOf(Name, {"cpu", "cuda"})) {
    Layout L = Of.compacted();
    // The same tensor, with its gaps, where there is nothing to do.
    if (Facts->Shares == Sharing::Perhaps && !(L == Of) && !Of.isPacked())
      L = L.isStrided() ? Layout::of(Layout::Permuted, Of.By, Of.Sure)
                        : Layout::unknown();
    for (const Expr *Other : llvm::drop_begin(Tensors)) {
      const Layout With = Operand(Other);
      L.Sure &= With.Sure && (With.isPacked() || With == Of);
    }
    return MadeBy(L);
  }
  // Views of other kinds, and what may lie as its operand does.
  return Facts->Shares == Sharing::Memory ||
                 Facts->Shares == Sharing::Unknown || !Of.isPacked()
             ? Layout::unknown()
             : Other;
}

bool changesLayout(const CallExpr *Call) {
  const OpFacts *Facts = opFacts(Call);
  return Facts && (Facts->InPlace || Facts->Resizes) &&
         cpp::isOneOf(Facts->Name,
                      {"transpose_", "t_", "swapaxes_", "swapdims_", "squeeze_",
                       "unsqueeze_", "as_strided_", "resize_", "resize_as_",
                       "set_", "set_data", "reset"});
}

const Expr *askedForLayout(const CallExpr *Call) {
  const Expr *Tensor = tensorAskedBy(Call);
  StringRef Name = cpp::calleeName(Call);
  return Tensor && (cpp::isOneOf(Name, {"is_contiguous", "stride", "strides",
                                        "sym_strides", "sym_stride",
                                        "sym_is_contiguous", "accessor",
                                        "generic_packed_accessor",
                                        "is_non_overlapping_and_dense",
                                        "suggest_memory_format"}) ||
                    Name.starts_with("packed_accessor"))
             ? Tensor
             : nullptr;
}

bool keepsTensor(const CallExpr *Call) {
  const OpFacts *Facts = opFacts(Call);
  return Facts && !changesLayout(Call) &&
         (Facts->Shares == Sharing::Handle ||
          cpp::isOneOf(Facts->Name, {"detach", "data"}));
}

const Expr *countedWhole(const CallExpr *Call) {
  return cpp::isOneOf(cpp::calleeName(Call), {"numel", "nbytes"})
             ? tensorAskedBy(Call)
             : nullptr;
}

const Expr *askedForSizes(const CallExpr *Call) {
  return cpp::isOneOf(cpp::calleeName(Call), {"size", "sizes"})
             ? tensorAskedBy(Call)
             : nullptr;
}

const Expr *packedBy(const CallExpr *Call) {
  return cpp::calleeName(Call) == "contiguous" &&
                 cpp::writtenArguments(Call).empty()
             ? tensorOf(Call)
             : nullptr;
}

llvm::SmallVector<unsigned, 4> permutation(const CallExpr *Call,
                                           const ASTContext &Context) {
  const OpFacts *Facts = opFacts(Call);
  return Facts && Facts->Name == "permute" && Call->getNumArgs() > 0
             ? orderOf(Call->getArg(Call->getNumArgs() - 1), Context)
             : llvm::SmallVector<unsigned, 4>();
}

const Expr *dataOf(const CallExpr *Call) {
  const StringRef Name = cpp::calleeName(Call);
  return Call && Call->getType()->isPointerType() &&
                 cpp::isOneOf(Name, {"data_ptr", "const_data_ptr",
                                     "mutable_data_ptr", "data"})
             ? tensorAskedBy(Call)
             : nullptr;
}

} // namespace libtorch_tidy::torch
