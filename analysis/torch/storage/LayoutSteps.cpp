//===- LayoutSteps.cpp - What views make of a layout ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/torch/storage/LayoutSteps.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Types.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/storage/LayoutReader.h"
#include "analysis/torch/storage/Storage.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::torch {

bool isNone(const Expr *E) {
  const Expr *Inner = cpp::stripImplicit(E);
  return Inner && cpp::isOrDerivesFrom(Inner->getType(),
                                       {"c10::nullopt_t", "std::nullopt_t"});
}

bool LayoutReader::rearrange(StringRef Name) {
  IsSelect = Name == "select";
  if (Name.ends_with("chunk"))
    IsByCount = true;
  else if (Name.ends_with("split") && !Name.starts_with("tensor"))
    IsByCount = false;
  static constexpr struct {
    StringRef Name;
    void (LayoutReader::*Do)();
  } Rows[] = {
      {"permute", &LayoutReader::permute},
      {"transpose", &LayoutReader::transpose},
      {"swapaxes", &LayoutReader::transpose},
      {"swapdims", &LayoutReader::transpose},
      {"t", &LayoutReader::transposeMatrix},
      {"mT", &LayoutReader::transposeLast},
      {"mH", &LayoutReader::transposeLast},
      {"adjoint", &LayoutReader::transposeLast},
      {"numpy_T", &LayoutReader::reverse},
      {"movedim", &LayoutReader::move},
      {"moveaxis", &LayoutReader::move},
      {"select", &LayoutReader::select},
      {"unbind", &LayoutReader::select},
      {"slice", &LayoutReader::slice},
      {"narrow", &LayoutReader::narrow},
      {"chunk", &LayoutReader::split},
      {"split", &LayoutReader::split},
      {"tensor_split", &LayoutReader::split},
      {"unsafe_chunk", &LayoutReader::split},
      {"unsafe_split", &LayoutReader::split},
      {"squeeze", &LayoutReader::squeeze},
      {"unsqueeze", &LayoutReader::unsqueeze},
      {"expand", &LayoutReader::expand},
      {"broadcast_to", &LayoutReader::expand},
      {"index", &LayoutReader::index},
      {"view", &LayoutReader::view},
      {"reshape", &LayoutReader::view},
      {"flatten", &LayoutReader::flatten},
      {"ravel", &LayoutReader::flatten},
  };
  const bool WasStrided = L.isStrided();
  for (const auto &Row : Rows)
    if (Row.Name == Name) {
      (this->*Row.Do)();
      // It may be the unit that was moved.
      if (L.SomeUnit && !WasStrided && L.isStrided())
        giveUp();
      return true;
    }
  return false;
}

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

void LayoutReader::add(Number Size) {
  if (Size && *Size < 0)
    Size.reset();
  L.Dims.push_back({Size == 1 ? Layout::Unit : L.Levels++, Size});
}

std::optional<unsigned> LayoutReader::place(Number D, unsigned More) {
  if (!D || L.Coarse != Layout::Packed || *D >= 16)
    return std::nullopt;
  if (*D < 0) {
    if (L.Open)
      return std::nullopt;
    *D += L.Dims.size() + More;
  }
  while (L.Open && int64_t(L.Dims.size() + More) <= *D)
    add(std::nullopt);
  return *D >= 0 && *D < int64_t(L.Dims.size() + More)
             ? std::optional<unsigned>(*D)
             : std::nullopt;
}

/// The numbers are not known, or count from an end that is not: what was
/// packed is not so any more.
void LayoutReader::permutedSomehow() {
  L = L.unlike(L.isPacked() ? Layout::Permuted : Layout::Unknown);
}

void LayoutReader::reorder(llvm::ArrayRef<unsigned> Order) {
  if (Order.empty() || !place(int64_t(Order.size()) - 1))
    return giveUp();
  L.Open = false;
  if (L.Dims.size() != Order.size())
    return giveUp();
  llvm::SmallVector<Layout::Dim, 4> Dims;
  for (unsigned D : Order)
    Dims.push_back(L.Dims[D]);
  L.Dims = std::move(Dims);
}

void LayoutReader::swap(Number A, Number B) {
  if (A && B && *A == *B)
    return;
  // The larger first, which brings the other.
  if (A && B && *A < *B)
    std::swap(A, B);
  const auto First = place(A), Second = place(B);
  if (First && Second)
    std::swap(L.Dims[*First], L.Dims[*Second]);
  else if (A && B && L.Open)
    permutedSomehow();
  else
    giveUp();
}

void LayoutReader::transposeMatrix() {
  if (L.Coarse == Layout::Packed && L.Open && place(1))
    L.Open = false;
  if (L.rank() != 1u)
    transposeLast();
}

void LayoutReader::reverse() {
  if (!L.rank())
    return permutedSomehow();
  std::reverse(L.Dims.begin(), L.Dims.end());
}

void LayoutReader::move() {
  const Number From = number(0), To = number(1);
  if (!From || !To)
    return giveUp();
  const auto A = place(std::max(*From, *To)), B = place(std::min(*From, *To));
  if (!A || !B)
    return L.Open && *From != *To ? permutedSomehow() : giveUp();
  const unsigned Source = *From >= *To ? *A : *B,
                 Target = *From >= *To ? *B : *A;
  const Layout::Dim D = L.Dims[Source];
  L.Dims.erase(L.Dims.begin() + Source);
  L.Dims.insert(L.Dims.begin() + Target, D);
}

void LayoutReader::take(Number D) {
  if (const auto At = place(D))
    L.Dims.erase(L.Dims.begin() + *At);
  else if (D == -1 && L.Open && L.isPacked())
    L = L.unlike(Layout::Sliced);
  else
    giveUp();
}

void LayoutReader::cut(Number D, Bound Start, Bound End, Bound Step) {
  const auto At = place(D);
  if (!At || (Step.Given && (!Step.Value || *Step.Value < 1)))
    return giveUpPart();
  Layout::Dim &X = L.Dims[*At];
  const Number Size = X.Size;
  // It may be empty, or one.
  if (!Size && (X.Cut || X.Stepped))
    return giveUpPart();
  const auto Index = [&](const Bound &B, Number Default) -> Number {
    if (!B.Given || !B.Value)
      return B.Given ? std::nullopt : Default;
    if (Size)
      return std::clamp<int64_t>(*B.Value + (*B.Value < 0 ? *Size : 0), 0,
                                 *Size);
    return *B.Value < 0 ? std::nullopt : B.Value;
  };
  const Number From = Index(Start, 0), Until = Index(End, Size);
  const bool FromStart = From == 0;
  const bool ToEnd = !End.Given || (Size && Until == Size) ||
                     (End.Value && *End.Value > 1 << 30);
  const int64_t By = Step.Given ? *Step.Value : 1;
  X.Stepped |= By != 1;
  const bool IsPart = !(FromStart && ToEnd);
  if (IsPart && X.Level >= 0) {
    const auto Surely = [&](const Bound &B, bool Nothing, bool OfUnknown) {
      return B.Given && B.Value && !Nothing && (Size || OfUnknown);
    };
    const bool IsSure =
        Surely(Start, FromStart, Start.Value > 0 || Start.Value == -1) ||
        Surely(End, ToEnd, End.Value < 0);
    X.MayBeWhole = !IsSure && (!X.Cut || X.MayBeWhole);
    X.Cut = true;
  }
  // Of an unknown size there may be fewer than asked for.
  X.Size.reset();
  if (From && Until && *Until <= 1 << 30)
    if (const int64_t Most =
            *Until > *From ? (*Until - *From + By - 1) / By : 0;
        Size || Most <= 1)
      X.Size = Most;
  if (Start.Value == -1 && ToEnd && !Size)
    X.Size = 1;
  X.MayBeOne = !X.Size && (IsPart || X.Stepped || X.MayBeOne);
}

void LayoutReader::narrow() {
  const Number Start = number(1), Length = number(2);
  Bound End{true, std::nullopt};
  if (Start && Length && *Start >= 0)
    End.Value = *Start + *Length;
  cut(number(0), {true, Start}, End, {});
  // Its length is known where its start is not.
  if (const auto At = place(number(0)); At && Length) {
    L.Dims[*At].Size = Length;
    L.Dims[*At].MayBeOne = false;
  }
}

/// Of each part.
void LayoutReader::split() {
  const auto At = place(number(1, 0));
  if (!At || (!Args.empty() && isTensor(Args[0]->getType())))
    return giveUpPart();
  Layout::Dim &D = L.Dims[*At];
  if (D.Level == Layout::Unit)
    return;
  const Number By = number(0), Of = D.Size;
  const bool IsKnown = By && *By > 0 && IsByCount;
  Number Each;
  if (IsKnown)
    Each = !*IsByCount ? By : Of ? Number((*Of + *By - 1) / *By) : std::nullopt;
  if (Each && Of && *Each >= *Of)
    return;
  if (D.Level >= 0) {
    D.MayBeWhole = !(IsKnown && (*IsByCount || Of)) && (!D.Cut || D.MayBeWhole);
    D.Cut = true;
  }
  // The last has what is left.
  const bool IsEven =
      Each && *Each > 0 && (Each == 1 || (Of && *Of % *Each == 0));
  D.Size = IsEven ? Each : std::nullopt;
  D.MayBeOne = !IsEven && !(Each && *Each > 0 && Of && *Of % *Each != 1);
}

void LayoutReader::squeeze() {
  if (!Args.empty()) {
    const auto At = place(number(0));
    if (!At)
      return squeezedSomehow();
    // Where the size is not known, it is there to go.
    const Layout::Dim D = L.Dims[*At];
    if (D.Size && *D.Size != 1)
      return;
    if (D.Level >= 0 && !D.Cut) { // Its level had one element.
      for (Layout::Dim &Other : L.Dims)
        Other.Level -= Other.Level > D.Level;
      --L.Levels;
    }
    L.Dims.erase(L.Dims.begin() + *At);
    return;
  }
  if (L.Coarse != Layout::Packed)
    return;
  if (L.Open || llvm::any_of(L.Dims, [](const auto &D) { return !D.Size; }))
    return squeezedSomehow();
  llvm::erase_if(L.Dims, [](const auto &D) { return D.Size == 1; });
}

void LayoutReader::unsqueeze() {
  const Number D = number(0);
  if (const auto At = place(D, 1))
    L.Dims.insert(L.Dims.begin() + *At, {Layout::Unit, 1});
  else {
    squeezedSomehow();
    L.SomeUnit = true;
  }
}

void LayoutReader::expand() {
  if (Args.empty() || L.Coarse != Layout::Packed || L.Open)
    return giveUp();
  const auto Sizes = cpp::listElements(Args[0]);
  if (Sizes.size() < L.Dims.size())
    return giveUp();
  for (size_t New = Sizes.size() - L.Dims.size(); New; --New)
    L.Dims.insert(L.Dims.begin(), {Layout::Repeated, std::nullopt});
  for (unsigned I = 0; I < Sizes.size(); ++I) {
    const Number To = cpp::constantInt(Sizes[I], Context);
    Layout::Dim &D = L.Dims[I];
    if (To == -1 || (To && To == D.Size))
      continue;
    // What is not known to have one element may keep its size.
    if (D.Level >= 0)
      return giveUp();
    D = {Layout::Repeated, To};
  }
}

/// x.index({...}), whose tensors copy: nothing is said then.
/// What is not known may have been cut down to one element, or got a dimension
/// of one.
void LayoutReader::index() {
  if (Args.size() != 1)
    return giveUpPart();
  unsigned At = 0;
  const auto Indices = cpp::listElements(Args[0]);
  for (const Expr *E : Indices) {
    const Expr *Index = cpp::stripImplicit(E);
    if (L.Coarse != Layout::Packed)
      return giveUpPart();
    if (isNone(Index)) {
      if (!place(At, 1))
        return giveUpPart();
      L.Dims.insert(L.Dims.begin() + At++, {Layout::Unit, 1});
    } else if (Index->getType()->isIntegerType()) {
      take(At);
    } else if (cpp::isOrDerivesFrom(Index->getType(), "at::indexing::Slice")) {
      const auto *Made = dyn_cast<CXXConstructExpr>(Index);
      if (!Made || Made->getConstructor()->isCopyOrMoveConstructor())
        return giveUpPart();
      const auto Given = cpp::writtenArguments(Made);
      LayoutReader Part(L, Given, Operand, Context);
      Part.cut(At++, Part.bound(0), Part.bound(1), Part.bound(2));
      L = Part.L;
    } else if (isa<clang::StringLiteral>(Index) ||
               cpp::isOrDerivesFrom(Index->getType(),
                                    "at::indexing::EllipsisIndexType")) {
      const size_t After = Indices.end() - llvm::find(Indices, E) - 1;
      if (After == 0)
        return;
      if (L.Open && After == 1 && Indices.back()->getType()->isIntegerType())
        return take(-1);
      if (L.Open || L.Dims.size() < After)
        return giveUpPart();
      At = L.Dims.size() - After;
    } else {
      return giveUpPart();
    }
  }
}

llvm::SmallVector<unsigned, 4> orderOf(const Expr *List,
                                       const ASTContext &Context) {
  const auto Numbers = cpp::listElements(List);
  const int64_t Rank = Numbers.size();
  llvm::SmallVector<unsigned, 4> Order;
  for (const Expr *E : Numbers) {
    const Number D = cpp::constantInt(E, Context);
    if (!D || *D < -Rank || *D >= Rank)
      return {};
    Order.push_back(*D < 0 ? *D + Rank : *D);
  }
  return Order;
}

std::optional<Layout> rearranged(StringRef Name, const Layout &Of,
                                 LayoutReader::Exprs Args,
                                 LayoutOfOperand Operand,
                                 const ASTContext &Context) {
  LayoutReader R(Of, Args, Operand, Context);
  return R.rearrange(Name) ? std::optional(R.L) : std::nullopt;
}

} // namespace libtorch_tidy::torch
