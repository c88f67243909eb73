//===- LayoutSteps.cpp - What views make of a layout ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/torch/storage/LayoutSteps.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Types.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/storage/Sharing.h"
#include "analysis/torch/storage/Storage.h"
#include <utility>

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::torch {

using Number = std::optional<int64_t>;
using Exprs = llvm::ArrayRef<const Expr *>;

namespace {

bool isNone(const Expr *E) {
  const Expr *Inner = cpp::stripImplicit(E);
  return Inner && cpp::isOrDerivesFrom(Inner->getType(),
                                       {"c10::nullopt_t", "std::nullopt_t"});
}

/// An argument that may not be there, and may not be a constant.
struct Bound {
  bool Given = false;
  Number Value;
};

/// The layout of the result of a call, made step by step.
class Reader {
public:
  Reader(Layout Start, Exprs Args, LayoutOfOperand Operand,
         const ASTContext &Context)
      : L(std::move(Start)), Args(Args), Operand(Operand), Context(Context) {}

  /// Does what operator \p Name does to the dimensions; false for others.
  bool rearrange(StringRef Name) {
    IsSelect = Name == "select";
    if (Name.ends_with("chunk"))
      IsByCount = true;
    else if (Name.ends_with("split") && !Name.starts_with("tensor"))
      IsByCount = false;
    static constexpr struct {
      StringRef Name;
      void (Reader::*Do)();
    } Rows[] = {
        {"permute", &Reader::permute},    {"transpose", &Reader::transpose},
        {"swapaxes", &Reader::transpose}, {"swapdims", &Reader::transpose},
        {"t", &Reader::transposeMatrix},  {"mT", &Reader::transposeLast},
        {"mH", &Reader::transposeLast},   {"adjoint", &Reader::transposeLast},
        {"numpy_T", &Reader::reverse},    {"movedim", &Reader::move},
        {"moveaxis", &Reader::move},      {"select", &Reader::select},
        {"unbind", &Reader::select},      {"slice", &Reader::slice},
        {"narrow", &Reader::narrow},      {"chunk", &Reader::split},
        {"split", &Reader::split},        {"tensor_split", &Reader::split},
        {"unsafe_chunk", &Reader::split}, {"unsafe_split", &Reader::split},
        {"squeeze", &Reader::squeeze},    {"unsqueeze", &Reader::unsqueeze},
        {"expand", &Reader::expand},      {"broadcast_to", &Reader::expand},
        {"index", &Reader::index},        {"view", &Reader::view},
        {"reshape", &Reader::view},       {"flatten", &Reader::flatten},
        {"ravel", &Reader::flatten},
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

  /// The same for results that are packed.
  bool resize(StringRef Name) {
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

  /// \p Sizes as a list in braces; else nothing is known but the order.
  void sized(const Expr *Sizes) {
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
    if (const auto *Rest = llvm::find(Known, -1); All && Rest != Known.end()) {
      int64_t Others = 1;
      for (const Number &N : Known)
        Others = N && *N < 1 << 30
                     ? std::min<int64_t>(Others * (*N == -1 ? 1 : *N), 1 << 30)
                     : 0;
      if (Others > 0)
        Known[Rest - Known.begin()] = *All / Others;
    }
    for (const Number &N : Known)
      add(N);
    L.Open = false;
  }

  /// A dimension more, of \p Count tensors; or the elements of as many in it.
  void join(Number D, unsigned Count, bool IsNew) {
    const auto At = place(D, IsNew);
    if (!At) {
      L = L.unlike(Layout::Packed);
    } else if (IsNew) {
      L.Dims.insert(L.Dims.begin() + *At, {0, Count});
    } else {
      L.Dims[*At] = {0, std::nullopt};
    }
  }

  Layout L;

private:
  /// A constant, or a size that is known.
  Number numberOf(const Expr *E) const {
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
    return Of.Coarse == Layout::Packed && *D >= 0 &&
                   *D < int64_t(Of.Dims.size())
               ? Of.Dims[*D].Size
               : std::nullopt;
  }
  Number number(unsigned I, Number Default = std::nullopt) const {
    return I < Args.size() ? numberOf(Args[I]) : Default;
  }
  Bound bound(unsigned I) const {
    if (I >= Args.size() || isNone(Args[I]))
      return {};
    return {true, number(I)};
  }
  void giveUp() { L = L.unlike(Layout::Unknown); }

  /// A dimension within all others.
  void add(Number Size) {
    if (Size && *Size < 0)
      Size.reset();
    L.Dims.push_back({Size == 1 ? Layout::Unit : L.Levels++, Size});
  }

  /// The place of dimension \p D in Dims; nullopt when it is not known. A new
  /// dimension may stand one further on: \p More.
  std::optional<unsigned> place(Number D, unsigned More = 0) {
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
  void permutedSomehow() {
    L = L.unlike(L.isPacked() ? Layout::Permuted : Layout::Unknown);
  }

  void permute() {
    const auto Numbers = Args.empty() ? llvm::SmallVector<const Expr *, 4>()
                                      : cpp::listElements(Args[0]);
    std::vector<int64_t> Order;
    for (const Expr *E : Numbers) {
      const Number D = cpp::constantInt(E, Context);
      if (!D)
        return giveUp();
      Order.push_back(*D < 0 ? *D + int64_t(Numbers.size()) : *D);
    }
    reorder(Order);
  }

  void reorder(llvm::ArrayRef<int64_t> Order) {
    if (Order.empty() || !place(int64_t(Order.size()) - 1))
      return giveUp();
    L.Open = false;
    if (L.Dims.size() != Order.size())
      return giveUp();
    llvm::SmallVector<Layout::Dim, 4> Dims;
    for (int64_t D : Order)
      if (D >= 0 && D < int64_t(Order.size()))
        Dims.push_back(L.Dims[D]);
    if (Dims.size() != Order.size())
      return giveUp();
    L.Dims = std::move(Dims);
  }

  void swap(Number A, Number B) {
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

  void transpose() { swap(number(0), number(1)); }
  void transposeLast() { swap(-1, -2); }
  void transposeMatrix() {
    if (L.Coarse == Layout::Packed && L.Open && place(1))
      L.Open = false;
    if (L.rank() != 1u)
      transposeLast();
  }
  void reverse() {
    if (!L.rank())
      return permutedSomehow();
    std::reverse(L.Dims.begin(), L.Dims.end());
  }

  void move() {
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

  void take(Number D) {
    if (const auto At = place(D))
      L.Dims.erase(L.Dims.begin() + *At);
    else if (D == -1 && L.Open && L.isPacked())
      L = L.unlike(Layout::Sliced);
    else
      giveUp();
  }
  /// Also x[i] and unbind(), whose first dimension is the default.
  void select() { take(Args.size() == 2 || !IsSelect ? number(0, 0) : 0); }

  void cut(Number D, Bound Start, Bound End, Bound Step) {
    const auto At = place(D);
    if (!At || (Step.Given && !Step.Value))
      return giveUp();
    Layout::Dim &X = L.Dims[*At];
    const int64_t By = Step.Given ? *Step.Value : 1;
    if (X.Level < 0) {
      if (X.Size == 1 && Start.Given && Start.Value && *Start.Value > 0)
        X.Size = 0;
      else if (X.Size != 1)
        X.Size.reset();
      return;
    }
    // It may be empty, or one.
    if (!X.Size && (X.Cut || X.Stepped))
      return giveUp();
    const bool FromStart = !Start.Given || Start.Value == 0;
    const bool ToEnd =
        !End.Given || (End.Value && (*End.Value > 1 << 30 ||
                                     (X.Size && *End.Value >= *X.Size)));
    X.Stepped |= By != 1;
    if (!FromStart || !ToEnd) {
      X.Cut = true;
      const bool Surely =
          (Start.Given && Start.Value && *Start.Value != 0) ||
          (End.Given && End.Value && (X.Size || *End.Value < 0));
      L.MayBeWhole |= !Surely;
    }
    const Number From = FromStart ? 0 : Start.Value;
    const Number Until = ToEnd ? X.Size
                         : X.Size && End.Value && *End.Value >= 0
                             ? std::min(*X.Size, *End.Value)
                             : End.Value;
    // Of an unknown size there may be fewer than asked for.
    const bool WasKnown = X.Size.has_value();
    X.Size.reset();
    if (From && Until && *From >= 0 && *Until >= *From)
      if (const int64_t Most = (*Until - *From + By - 1) / By;
          WasKnown || Most <= 1)
        X.Size = Most;
  }
  void slice() { cut(number(0, 0), bound(1), bound(2), bound(3)); }
  void narrow() {
    const Number Start = number(1), Length = number(2);
    Bound End{true, std::nullopt};
    if (Start && Length && *Start >= 0)
      End.Value = *Start + *Length;
    cut(number(0), {true, Start}, End, {});
    // Its length is known where its start is not.
    if (const auto At = place(number(0)); At && Length)
      L.Dims[*At].Size = Length;
  }
  /// Of each part.
  void split() {
    const auto At = place(number(1, 0));
    if (!At || (!Args.empty() && isTensor(Args[0]->getType())))
      return giveUp();
    Layout::Dim &D = L.Dims[*At];
    if (D.Level < 0)
      return;
    const Number By = number(0);
    D.Cut = true;
    L.MayBeWhole |= !By;
    const Number Of = std::exchange(D.Size, std::nullopt);
    if (!By || *By <= 0 || !IsByCount)
      return;
    if (*IsByCount && !Of)
      return;
    // Of each but the last, which has what is left.
    const int64_t Each = *IsByCount ? (*Of + *By - 1) / *By : *By;
    if (Each == 1 || (Of && Each > 0 && *Of % Each == 0))
      D.Size = Of ? std::min(Each, *Of) : Each;
    else
      L.SomeUnit |= Each > 0 && (!Of || *Of % Each == 1);
  }

  void squeeze() {
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
  /// Dimensions of one element come or go, which ones is not known.
  void squeezedSomehow() { L = L.unlike(L.kind()); }

  void unsqueeze() {
    const Number D = number(0);
    if (const auto At = place(D, 1))
      L.Dims.insert(L.Dims.begin() + *At, {Layout::Unit, 1});
    else {
      squeezedSomehow();
      L.SomeUnit = true;
    }
  }

  void choose() {
    const auto At = place(number(0));
    const Number Count =
        Args.size() > 1 ? Operand(Args[1]).numel() : std::nullopt;
    if (At) {
      L.Dims[*At] = {0, Count};
    } else {
      L = L.unlike(Layout::Packed);
      L.SomeUnit |= Count == 1;
    }
  }

  void repeat() {
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
      Size = By && Size && *By < 1 << 15 && *Size < 1 << 15
                 ? Number(*By * *Size)
                 : std::nullopt;
      L.Dims[I].Level = 0;
    }
  }

  /// Dimensions go, or have one element then.
  void reduce() {
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

  void expand() {
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
      L.MayBeWhole |= !To;
    }
  }

  /// x.index({...}), whose tensors copy: nothing is said then.
  void index() {
    if (Args.size() != 1)
      return giveUp();
    unsigned At = 0;
    const auto Indices = cpp::listElements(Args[0]);
    for (const Expr *E : Indices) {
      const Expr *Index = cpp::stripImplicit(E);
      if (L.Coarse != Layout::Packed)
        return giveUp();
      if (isNone(Index)) {
        if (!place(At, 1))
          return giveUp();
        L.Dims.insert(L.Dims.begin() + At++, {Layout::Unit, 1});
      } else if (Index->getType()->isIntegerType()) {
        take(At);
      } else if (cpp::isOrDerivesFrom(Index->getType(),
                                      "at::indexing::Slice")) {
        const auto *Made = dyn_cast<CXXConstructExpr>(Index);
        if (!Made || Made->getConstructor()->isCopyOrMoveConstructor())
          return giveUp();
        const auto Given = cpp::writtenArguments(Made);
        Reader Part(L, Given, Operand, Context);
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
          return giveUp();
        At = L.Dims.size() - After;
      } else {
        return giveUp();
      }
    }
  }

  void view() {
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
  void flatten() {
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

  Exprs Args;
  LayoutOfOperand Operand;
  const ASTContext &Context;

  bool IsSelect = false; ///< select(d, i) or x[i], not unbind(d).
  /// Of chunk(n) and split(size); nullopt for others.
  std::optional<bool> IsByCount;
};

} // namespace

std::optional<Layout> rearranged(StringRef Name, const Layout &Of, Exprs Args,
                                 LayoutOfOperand Operand,
                                 const ASTContext &Context) {
  Reader R(Of, Args, Operand, Context);
  return R.rearrange(Name) ? std::optional(R.L) : std::nullopt;
}

std::optional<Layout> resized(StringRef Name, const Layout &Of, Exprs Args,
                              LayoutOfOperand Operand,
                              const ASTContext &Context) {
  Reader R(Of, Args, Operand, Context);
  return R.resize(Name) ? std::optional(R.L) : std::nullopt;
}

Layout joined(StringRef Name, Exprs Args, LayoutOfOperand Operand,
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
  Reader R(All, {}, Operand, Context);
  R.join(Args.size() > 1 ? cpp::constantInt(Args[1], Context) : 0, Parts.size(),
         IsNew);
  R.L.SomeUnit &= R.L.Open;
  return R.L.packed();
}

Layout packedOf(const Expr *Sizes, bool Sure, const ASTContext &Context) {
  Layout Start;
  Start.Sure = Sure;
  const auto Unseen = [](const Expr *) { return Layout(); };
  Reader R(Start, {}, Unseen, Context);
  R.sized(Sizes);
  return R.L;
}

} // namespace libtorch_tidy::torch
