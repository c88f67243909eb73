//===- Layout.cpp - How the elements of a tensor lie in memory ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/torch/storage/Layout.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Types.h"
#include "analysis/torch/api/OpFacts.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/storage/Sharing.h"
#include "analysis/torch/storage/Storage.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::torch {

using Number = std::optional<int64_t>;
using Exprs = llvm::ArrayRef<const Expr *>;

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
  return llvm::any_of(Dims, [](const Dim &D) { return D.Size == 1; });
}

Layout::Kind Layout::kind(unsigned Unsaid) const {
  if (Coarse != Packed)
    return Coarse;
  // Nothing is in order.
  if (llvm::any_of(Dims, [](const Dim &D) { return D.Size == 0; }))
    return Packed;
  llvm::SmallBitVector Whole(Levels);
  int First = Levels, Last = -1;
  bool Ordered = true, Stepped = false;
  for (const Dim &D : Dims) {
    const bool IsOne = D.Size.value_or(Unsaid) == 1;
    if (D.Level == Repeated && !IsOne)
      return Expanded;
    if (D.Level < 0 || IsOne) {
      if (D.Level >= 0 && !D.Cut)
        Whole.set(D.Level);
      continue;
    }
    if (!D.Cut)
      Whole.set(D.Level);
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
  for (const Dim &D : Dims) {
    if (!D.Size || *D.Size > 1 << 30)
      return std::nullopt;
    Product = std::min<int64_t>(Product * *D.Size, int64_t(1) << 30);
  }
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

Layout Layout::compacted() const {
  Layout L = *this;
  L.MayBeWhole = false;
  if (Coarse == Sliced || Coarse == Expanded)
    return unknown();
  if (Coarse != Packed)
    return L;
  llvm::SmallVector<int, 4> Kept;
  for (Dim &D : L.Dims) {
    if (D.Level == Repeated)
      return unknown();
    if (!isReal(D))
      D.Level = Unit;
    else
      Kept.push_back(D.Level);
    D.Cut = D.Stepped = false;
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
  Reader(Layout Start, Exprs Args, const ASTContext &Context)
      : L(std::move(Start)), Args(Args), Context(Context) {}

  /// Does what operator \p Name does to the dimensions; false for others.
  bool rearrange(StringRef Name) {
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
    for (const auto &Row : Rows)
      if (Row.Name == Name) {
        (this->*Row.Do)();
        return true;
      }
    return false;
  }

  /// \p Sizes as a list in braces; else nothing is known but the order.
  void sized(const Expr *Sizes) {
    const bool Sure = L.Sure;
    L = Layout();
    L.Sure = Sure;
    const auto Elements = cpp::listElements(Sizes);
    if (llvm::any_of(Elements, [](const Expr *E) {
          return !E->getType()->isIntegralOrEnumerationType();
        }))
      return;
    for (const Expr *E : Elements)
      add(cpp::constantInt(E, Context));
    L.Open = false;
  }

  Layout L;

private:
  Number number(unsigned I, Number Default = std::nullopt) const {
    return I < Args.size()
               ? cpp::constantInt(cpp::stripImplicit(Args[I]), Context)
               : Default;
  }
  Bound bound(unsigned I) const {
    if (I >= Args.size() || isNone(Args[I]))
      return {};
    return {true, number(I)};
  }
  void giveUp() { L = Layout::unknown(); }

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
    L = L.isPacked() ? Layout::of(Layout::Permuted, nullptr, L.Sure)
                     : Layout::unknown();
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
      L = Layout::of(Layout::Sliced, nullptr, L.Sure);
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
      return;
    }
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
    X.Size.reset();
    if (From && Until && *From >= 0 && *Until >= *From)
      X.Size = (*Until - *From + By - 1) / By;
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
    if (L.Dims[*At].Level < 0)
      return;
    L.Dims[*At].Cut = true;
    L.Dims[*At].Size.reset();
    L.MayBeWhole |= !number(0);
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
  void squeezedSomehow() {
    const Layout::Kind Now = L.kind();
    L = Layout::of(Now, L.By, L.Sure);
  }

  void unsqueeze() {
    const Number D = number(0);
    if (const auto At = place(D, 1))
      L.Dims.insert(L.Dims.begin() + *At, {Layout::Unit, 1});
    else
      squeezedSomehow();
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
        return;
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
        Reader Part(L, Given, Context);
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
    const bool Sure = L.Sure;
    const Number Count = L.numel();
    L = Layout();
    L.Sure = Sure;
    if (All) {
      add(Count);
      L.Open = false;
    }
  }

  Exprs Args;
  const ASTContext &Context;

public:
  bool IsSelect = false; ///< select(d, i), not unbind(d).
};

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
      if (Sizes) // Strides.
        return Layout::unknown();
      Sizes = Arg;
    }
  Layout L;
  L.Sure = true;
  Reader R(L, {}, Context);
  if (Sizes && C.Name != "tensor") {
    R.sized(Sizes);
  } else if (C.Name == "eye" && C.Written > 0) {
    const Expr *Sides[] = {C.Args[0], C.Args[0]};
    if (C.Written > 1 && C.Args[1]->getType()->isIntegerType())
      Sides[1] = C.Args[1];
    for (const Expr *Side : Sides) {
      const Number N = cpp::constantInt(Side, Context);
      R.L.Dims.push_back({N == 1 ? Layout::Unit : R.L.Levels++, N});
    }
    R.L.Open = false;
  } else if (cpp::isOneOf(C.Name, {"arange", "linspace", "logspace", "range",
                                   "randperm"})) {
    Number Count;
    if (C.Name == "arange" && C.Written > 0 &&
        (C.Written == 1 || !C.Args[1]->getType()->isIntegerType()))
      Count = cpp::constantInt(cpp::stripImplicit(C.Args[0]), Context);
    R.L.Dims.push_back({R.L.Levels++, Count});
    R.L.Open = false;
  }
  return R.L;
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
                llvm::function_ref<Layout(const Expr *)> Operand,
                const ASTContext &Context) {
  const OpFacts *Facts = opFacts(Call);
  if (!Facts)
    return Layout();
  const cpp::Call C(Call);
  StringRef Name = Facts->Name;
  const auto Format = formatAsked(C, Context);
  if (Format && *Format != Contiguous && *Format != Preserve)
    return Layout::unknown();
  const auto Tensors = tensorsOf(C);
  const bool IsMade = Facts->Factory && !Facts->KeepsOrder;
  if (IsMade || wrapsMemory(Call))
    return cpp::isOneOf(
               Name, {"empty_strided", "new_empty_strided", "empty_permuted"})
               ? Layout::unknown()
               : made(C, Context);
  if (Tensors.empty())
    return Layout();
  Layout Of = Operand(Tensors[0]);
  const bool WasStrided = Of.isStrided();
  auto MadeBy = [&](Layout L) {
    if (!L.isStrided())
      L.By = nullptr;
    else if (!WasStrided || !Of.By || L.kind() != Of.kind())
      L.By = Call;
    return L;
  };

  if (Facts->Columns >> Result & 1) {
    Layout L = Layout::of(Layout::Columns, Call, Of.Sure);
    return L;
  }
  if (Facts->Packs || Name == "contiguous" ||
      (Format == Contiguous && Facts->KeepsOrder &&
       Facts->Shares == Sharing::None)) {
    Layout L;
    // Of the same sizes.
    if (Facts->KeepsOrder ||
        cpp::isOneOf(Name, {"contiguous", "softmax", "log_softmax", "cumsum",
                            "cumprod", "masked_fill", "masked_scatter", "roll",
                            "tril", "triu", "scatter", "scatter_add",
                            "index_add", "index_copy", "layer_norm"})) {
      L = Of.compacted();
      if (L.Coarse == Layout::Packed) {
        L.Levels = 0;
        for (Layout::Dim &D : L.Dims)
          if (D.Level >= 0)
            D.Level = L.Levels++;
      } else {
        L = Layout();
      }
      L.By = nullptr;
      L.MayBeWhole = false;
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

  llvm::SmallVector<const Expr *, 4> Args(C.written());
  if (!Args.empty() && Args[0] == Tensors[0])
    Args.erase(Args.begin());
  if (!Args.empty() && isa<CXXOperatorCallExpr>(Call) &&
      Args[0] == Call->getArg(0))
    Args.erase(Args.begin());
  Reader R(Of, Args, Context);
  R.IsSelect = Base == "select";
  if (R.rearrange(Base))
    return MadeBy(R.L);
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
  // Views of other kinds.
  return Facts->Shares == Sharing::Memory || Facts->Shares == Sharing::Unknown
             ? Layout::unknown()
             : Layout();
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

const Expr *packedBy(const CallExpr *Call) {
  return cpp::calleeName(Call) == "contiguous" &&
                 cpp::writtenArguments(Call).empty()
             ? tensorOf(Call)
             : nullptr;
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
