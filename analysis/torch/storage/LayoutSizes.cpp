//===- LayoutSizes.cpp - What other sizes make of a layout ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Calls.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/storage/LayoutReader.h"
#include "analysis/torch/storage/Sharing.h"
#include "analysis/torch/storage/Storage.h"
#include "llvm/Support/MathExtras.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::torch {

Number LayoutReader::numberOf(const Expr *E) const {
  E = cpp::stripImplicit(E);
  if (const Number N = cpp::constantInt(E, Context))
    return N;
  const SizeAsked Size = askedForSize(E);
  Number D = Size.Of ? cpp::constantInt(Size.Dimension, Context) : Number();
  if (!D)
    return std::nullopt;
  const Layout Of = Operand(Size.Of);
  if (*D < 0 && !Of.Open)
    *D += Of.Dims.size();
  return Of.Coarse == Layout::Packed && *D >= 0 && *D < int64_t(Of.Dims.size())
             ? Of.Dims[*D].Size
             : std::nullopt;
}

bool LayoutReader::resize(StringRef Name) {
  if (Name == "index_select")
    choose();
  else if (Name == "repeat")
    repeat();
  else if (cpp::isOneOf(Name, {"sum", "mean", "prod", "max", "min", "amax",
                               "amin", "argmax", "argmin", "median", "mode",
                               "any", "all", "logsumexp"}))
    reduce();
  else
    return false;
  return true;
}

void LayoutReader::sized(const Expr *Sizes) {
  const Number All = L.numel();
  const bool WasUnit = L.hasUnit();
  L = Layout::of(Layout::Packed, nullptr, L.Sure);
  const auto Elements = cpp::listElements(Sizes);
  if (llvm::any_of(Elements, [](const Expr *E) {
        return !E->getType()->isIntegralOrEnumerationType();
      })) {
    L.SomeUnit = WasUnit;
    return;
  }
  llvm::SmallVector<Number, 4> Known;
  for (const Expr *E : Elements)
    Known.push_back(numberOf(E));
  // -1 stands for what is left.
  auto *const Rest = llvm::find(Known, -1);
  if (All && Rest != Known.end()) {
    int64_t Others = 1;
    for (const Number &N : Known)
      if (&N != Rest && (!N || llvm::MulOverflow(Others, *N, Others)))
        Others = 0;
    if (Others > 0)
      *Rest = *All / Others;
  }
  for (const Number &N : Known) {
    add(N);
    L.Dims.back().MayBeOne = N == -1;
  }
  L.Open = false;
}

void LayoutReader::join(Number D, unsigned Count, bool IsNew) {
  const auto At = place(D, IsNew);
  if (!At) {
    L = L.unlike(Layout::Packed);
  } else if (IsNew) {
    L.Dims.insert(L.Dims.begin() + *At, {0, Count});
  } else {
    L.Dims[*At] = {0, std::nullopt};
  }
}

void LayoutReader::view() {
  // view(dtype) may change the last size.
  if (Args.size() != 1 || !isArrayRef(Args[0]->getType()))
    return giveUp();
  const auto Sizes = cpp::listElements(Args[0]);
  if (Sizes.size() == 1 && Sizes[0]->getType()->isIntegerType())
    return flatten();
  if (L.isPacked())
    sized(Args[0]);
  else
    giveUp();
}

/// Copies what lies in another order; what has gaps may keep them.
void LayoutReader::flatten() {
  const bool All = Args.empty() || isArrayRef(Args[0]->getType()) ||
                   (number(0) == 0 && number(1) == -1);
  if (!(L.isPacked() || (All && L.isDense())))
    return giveUp();
  const Number Count = L.numel();
  L = All ? Layout::of(Layout::Packed, nullptr, L.Sure)
          : L.unlike(Layout::Packed);
  if (All) {
    add(Count);
    L.Open = false;
  }
}

void LayoutReader::choose() {
  const auto At = place(number(0));
  const Number Count =
      Args.size() > 1 ? Operand(Args[1]).numel() : std::nullopt;
  if (At) {
    L.Dims[*At] = {0, Count};
    L.Dims[*At].MayBeOne = !Count;
  } else {
    L = L.unlike(Layout::Packed);
    L.SomeUnit |= Count == 1;
  }
}

void LayoutReader::repeat() {
  const auto Times = Args.size() == 1 && isArrayRef(Args[0]->getType())
                         ? cpp::listElements(Args[0])
                         : llvm::SmallVector<const Expr *, 4>();
  if (L.Open || Times.size() < L.Dims.size()) {
    L = L.unlike(Layout::Packed);
    return;
  }
  for (size_t New = Times.size() - L.Dims.size(); New; --New)
    L.Dims.insert(L.Dims.begin(), {0, 1});
  for (unsigned I = 0; I < Times.size(); ++I) {
    const Number By = numberOf(Times[I]);
    Number &Size = L.Dims[I].Size;
    Size = By && Size && *By < 1 << 15 && *Size < 1 << 15 ? Number(*By * *Size)
                                                          : std::nullopt;
    L.Dims[I].Level = 0;
  }
}

/// Dimensions go, or have one element then.
void LayoutReader::reduce() {
  const bool Keeps = Args.size() > 1 && Args[1]->getType()->isBooleanType() &&
                     numberOf(Args[1]) == 1;
  llvm::SmallVector<const Expr *, 4> Which;
  if (!Args.empty())
    Which = cpp::listElements(Args[0]);
  llvm::SmallVector<unsigned, 4> Places;
  for (const Expr *E : Which)
    if (const auto At =
            E->getType()->isIntegerType() ? place(numberOf(E)) : std::nullopt)
      Places.push_back(*At);
  if (Args.empty() || Places.empty() || Places.size() != Which.size()) {
    L = L.unlike(Layout::Packed);
    L.SomeUnit |= Keeps;
    return;
  }
  llvm::sort(Places, std::greater<>());
  for (unsigned At : Places)
    if (Keeps)
      L.Dims[At] = {Layout::Unit, 1};
    else
      L.Dims.erase(L.Dims.begin() + At);
}

std::optional<Layout> resized(StringRef Name, const Layout &Of,
                              LayoutReader::Exprs Args, LayoutOfOperand Operand,
                              const ASTContext &Context) {
  LayoutReader R(Of, Args, Operand, Context);
  return R.resize(Name) ? std::optional(R.L) : std::nullopt;
}

Layout joined(StringRef Name, LayoutReader::Exprs Args, LayoutOfOperand Operand,
              const ASTContext &Context) {
  const bool IsNew = Name == "stack";
  if (Args.empty() || !(IsNew || cpp::isOneOf(Name, {"cat", "concat"})))
    return Layout();
  const auto Parts = cpp::listElements(Args[0]);
  Layout All;
  for (const Expr *Part : Parts) {
    if (!isTensor(Part->getType()))
      return Layout();
    const Layout Of = Operand(Part);
    if (Part == Parts[0])
      All = Of.packed();
    All.Sure &= Of.isPacked() && Of.Sure;
    All.SomeUnit |= Of.hasUnit();
  }
  LayoutReader R(All, {}, Operand, Context);
  R.join(Args.size() > 1 ? cpp::constantInt(Args[1], Context) : 0, Parts.size(),
         IsNew);
  R.L.SomeUnit &= R.L.Open;
  return R.L.packed();
}

Layout packedOf(const Expr *Sizes, bool Sure, const ASTContext &Context) {
  Layout Start;
  Start.Sure = Sure;
  const auto Unseen = [](const Expr *) { return Layout(); };
  LayoutReader R(Start, {}, Unseen, Context);
  R.sized(Sizes);
  return R.L;
}

Layout stridedOf(const Expr *Sizes, const Expr *Strides,
                 const ASTContext &Context) {
  const auto Counts = cpp::listElements(Sizes);
  const auto Steps = cpp::listElements(Strides);
  Layout L;
  L.Sure = true;
  L.Open = false;
  llvm::SmallVector<std::pair<int64_t, unsigned>, 4> Places;
  if (Counts.size() != Steps.size())
    return Layout::unknown();
  for (unsigned I = 0; I < Counts.size(); ++I) {
    if (!Counts[I]->getType()->isIntegralOrEnumerationType())
      return Layout::unknown();
    const Number Size = cpp::constantInt(Counts[I], Context),
                 Step = cpp::constantInt(Steps[I], Context);
    L.Dims.push_back({Step == 0 ? Layout::Repeated : Layout::Unit, Size});
    if (Size == 1 || Step == 0)
      continue;
    if (!Step || *Step < 0)
      return Layout::unknown();
    Places.push_back({*Step, I});
  }
  llvm::stable_sort(
      Places, [](const auto &A, const auto &B) { return A.first > B.first; });
  for (unsigned I = 0; I < Places.size(); ++I) {
    const auto [Step, At] = Places[I];
    Layout::Dim &D = L.Dims[At];
    D.Level = L.Levels++;
    if (I + 1 == Places.size())
      D.Stepped = Step != 1;
    if (I == 0)
      continue;
    int64_t Span;
    if (!D.Size || llvm::MulOverflow(Step, *D.Size, Span))
      return Layout::unknown();
    const int64_t Outer = Places[I - 1].first;
    // Windows that reach into the next one, or elements between others.
    if (Outer < Span)
      return Outer % Step == 0 ? Layout::of(Layout::Expanded, nullptr, true)
                               : Layout::unknown();
    D.Cut = Outer > Span;
  }
  return L;
}

} // namespace libtorch_tidy::torch
