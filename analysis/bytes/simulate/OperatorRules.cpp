//===- OperatorRules.cpp - Arguments, results, records --------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/bytes/simulate/OperatorRules.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

namespace libtorch_tidy::bytes {

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

uint64_t bytesOf(const TensorPtr &T) { return T->Shape.bytes().value_or(0); }

uint64_t elementsOf(int64_t Count, unsigned Each) {
  return Count > 0 && Count < (1LL << 50) ? static_cast<uint64_t>(Count) * Each
                                          : 0;
}

Sizes lastOf(const Sizes &Of, size_t Count) {
  return {Of.end() - std::min(Count, Of.size()), Of.end()};
}

int64_t productOf(ArrayRef<int64_t> Of) {
  int64_t Result = 1;
  for (const int64_t N : Of)
    if (N < 0 || __builtin_mul_overflow(Result, N, &Result))
      return INT64_MAX; // No tensor has as many.
  return Result;
}

std::string shown(ArrayRef<int64_t> Of) {
  std::string Result = "[";
  for (const int64_t N : Of)
    Result += (Result.size() > 1 ? ", " : "") + std::to_string(N);
  return Result + "]";
}

std::optional<Sizes> broadcast(ArrayRef<int64_t> A, ArrayRef<int64_t> B) {
  const auto Both = broadcast(std::vector<Size>(A.begin(), A.end()),
                              std::vector<Size>(B.begin(), B.end()));
  if (!Both)
    return std::nullopt;
  Sizes Result;
  for (const Size &S : *Both)
    Result.push_back(*S);
  return Result;
}

/// Booleans, integers, floating point, complex.
static unsigned categoryOf(ElementType Type) {
  return Type.Name.contains("complex") ? 3
         : Type.Name.contains("float") ? 2
         : Type.Name == "bool"         ? 0
                                       : 1;
}

ElementType promoted(const TensorInstance &A, const TensorInstance &B) {
  const ElementType X = A.Shape.Type.value_or(Float32);
  const ElementType Y = B.Shape.Type.value_or(Float32);
  const bool ScalarA = A.sizes().empty(), ScalarB = B.sizes().empty();
  const unsigned CategoryX = categoryOf(X), CategoryY = categoryOf(Y);
  // A tensor without dimensions counts only by its category.
  if (ScalarA != ScalarB) {
    if (ScalarA)
      return CategoryX > CategoryY ? X : Y;
    return CategoryY > CategoryX ? Y : X;
  }
  if (CategoryX != CategoryY)
    return CategoryX > CategoryY ? X : Y;
  return X.Bytes >= Y.Bytes ? X : Y;
}

uint64_t convertedBytes(const TensorPtr &T, ElementType Type) {
  if (typeOf(T).Name == Type.Name)
    return 0;
  return T->Shape.elements().value_or(0) * Type.Bytes;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

bool isNumber(const Argument *A) {
  return A && (A->What == Argument::Integer || A->What == Argument::Real);
}

TensorPtr tensorIn(const Argument *A) {
  return A && A->What == Argument::Tensor ? A->Handles.front() : nullptr;
}

Argument argument(int64_t Number) {
  Argument A;
  A.What = Argument::Integer;
  A.Number = Number;
  return A;
}

Argument realArgument(double Number) {
  Argument A;
  A.What = Argument::Real;
  A.RealNumber = Number;
  return A;
}

Argument argument(Sizes Numbers) {
  Argument A;
  A.What = Argument::Integers;
  A.Numbers = std::move(Numbers);
  return A;
}

Argument argument(TensorPtr T) {
  Argument A;
  A.What = T ? Argument::Tensor : Argument::None;
  A.Handles = {std::move(T)};
  return A;
}

Argument argument(ElementType Type) {
  Argument A;
  A.What = Argument::Type;
  A.Element = Type;
  return A;
}

Argument argument(std::vector<TensorPtr> All) {
  Argument A;
  A.What = Argument::Tensors;
  A.Handles = std::move(All);
  return A;
}

const OperatorResult &Operator::notFollowed(const Twine &Why) {
  if (!Trouble)
    Trouble = OperatorResult{OperatorResult::NotFollowed, {}, Why.str()};
  return *Trouble;
}

bool Operator::areSmall(ArrayRef<Sizes> All) {
  constexpr int64_t Most = 1LL << 20;
  for (const Sizes &Each : All)
    for (const int64_t N : Each)
      if (N < -Most || N > Most) {
        notFollowed("a number that '" + Name + "' is given is too large");
        return false;
      }
  return true;
}

const OperatorResult &Operator::throws(const Twine &Why) {
  if (!Trouble)
    Trouble = OperatorResult{OperatorResult::Throws, {}, Why.str()};
  return *Trouble;
}

void Operator::doesNotFit(const TensorPtr &A, const TensorPtr &B) {
  throws("'" + Name + "' does not fit sizes " + shown(A->sizes()) + " and " +
         shown(B->sizes()));
}

std::optional<Sizes> Operator::fitted(ArrayRef<TensorPtr> All) {
  std::optional<Sizes> Result = Sizes();
  for (const TensorPtr &T : All)
    if (Result && T)
      Result = broadcast(*Result, T->sizes());
  if (!Result)
    doesNotFit(All[0], All[1]);
  return Trouble ? std::nullopt : Result;
}

std::optional<Sizes> Operator::outerSizes(const TensorPtr &T,
                                          unsigned Dimensions) {
  const Sizes All = T->sizes();
  if (All.size() == Dimensions + 1 || All.size() == Dimensions + 2)
    return Sizes(All.begin(), All.end() - Dimensions);
  throws("'" + Name + "' is given a tensor of " + shown(All));
  return std::nullopt;
}

const Argument *Operator::find(ArrayRef<StringRef> Names) {
  for (const StringRef Which : Names)
    if (auto It = Given.find(Which.str()); It != Given.end()) {
      if (It->second.What != Argument::Unknown)
        return &It->second;
      notFollowed("'" + Which + "' of '" + Name + "' is not known" +
                  (It->second.Text.empty() ? "" : ": " + It->second.Text));
      return nullptr;
    }
  return nullptr;
}

TensorPtr Operator::maybeTensor(ArrayRef<StringRef> Names) {
  const Argument *A = find(Names);
  if (!A || A->What == Argument::None)
    return nullptr;
  // The option of a module whose tensor has the same name: bias(false).
  if (A->What == Argument::Integer && Names.front() == "bias")
    return nullptr;
  // A number where a tensor is taken is one without dimensions.
  if (isNumber(A))
    return S.make({}, A->What == Argument::Integer ? Int64 : Float32);
  if (A->What != Argument::Tensor || A->Handles.empty()) {
    notFollowed("'" + Names.front() + "' of '" + Name + "' is not a tensor");
    return nullptr;
  }
  const TensorPtr &T = A->Handles.front();
  if (!T->Shape.Defined)
    return nullptr;
  if (!T->Memory) {
    notFollowed("the size of a tensor that '" + Name +
                "' is given is not known");
    return nullptr;
  }
  return T;
}

TensorPtr Operator::tensor(ArrayRef<StringRef> Names) {
  if (TensorPtr T = maybeTensor(Names))
    return T;
  notFollowed("'" + Names.front() + "' of '" + Name + "' is not known");
  return S.make({}, Float32);
}

std::vector<TensorPtr> Operator::tensors(ArrayRef<StringRef> Names) {
  const Argument *A = find(Names);
  if (!A || (A->What != Argument::Tensors && A->What != Argument::Tensor)) {
    notFollowed("the tensors that '" + Name + "' is given are not known");
    return {};
  }
  for (const TensorPtr &T : A->Handles)
    if (!T->Memory) {
      notFollowed("the size of a tensor that '" + Name +
                  "' is given is not known");
      return {};
    }
  return A->Handles;
}

std::optional<int64_t> Operator::maybeInteger(ArrayRef<StringRef> Names) {
  const Argument *A = find(Names);
  if (!A || A->What == Argument::None)
    return std::nullopt;
  if (A->What == Argument::Integer)
    return A->Number;
  if (A->What == Argument::Real)
    return static_cast<int64_t>(A->RealNumber);
  if (A->What == Argument::Integers && A->Numbers.size() == 1)
    return A->Numbers.front();
  return std::nullopt;
}

int64_t Operator::integer(ArrayRef<StringRef> Names, int64_t Default) {
  return maybeInteger(Names).value_or(Default);
}

std::optional<double> Operator::maybeReal(ArrayRef<StringRef> Names) {
  const Argument *A = find(Names);
  if (A && A->What == Argument::Real)
    return A->RealNumber;
  if (A && A->What == Argument::Integer)
    return static_cast<double>(A->Number);
  return std::nullopt;
}

std::optional<Sizes> Operator::maybeIntegers(ArrayRef<StringRef> Names,
                                             size_t Count) {
  const Argument *A = find(Names);
  if (!A || A->What == Argument::None)
    return std::nullopt;
  const bool IsOne = A->What == Argument::Integer;
  for (const int64_t N : IsOne ? ArrayRef(A->Number) : ArrayRef(A->Numbers))
    if (N > MostOfDimension || N < -MostOfDimension) {
      notFollowed("'" + Names.front() + "' of '" + Name + "' is too large");
      return std::nullopt;
    }
  if (IsOne)
    return Sizes(Count ? Count : 1, A->Number);
  if (A->What == Argument::Integers) {
    if (Count > 1 && A->Numbers.size() == 1)
      return Sizes(Count, A->Numbers.front());
    if (A->Numbers.empty() && Count)
      return std::nullopt;
    if (Count && A->Numbers.size() != Count)
      notFollowed("'" + Names.front() + "' of '" + Name + "' has " +
                  Twine(A->Numbers.size()) + " numbers");
    else
      return A->Numbers;
    return Sizes(Count, A->Numbers.front());
  }
  notFollowed("'" + Names.front() + "' of '" + Name + "' is not known");
  return std::nullopt;
}

Sizes Operator::integers(ArrayRef<StringRef> Names, size_t Count,
                         int64_t Default) {
  if (std::optional<Sizes> Known = maybeIntegers(Names, Count))
    return *Known;
  return Sizes(Count, Default);
}

std::optional<ElementType> Operator::type() {
  // Called dtype, options, scalar_type, type_meta.
  for (const auto &[Which, A] : Given)
    if (A.What == Argument::Type && A.Element)
      return A.Element;
  return std::nullopt;
}

std::string Operator::text(ArrayRef<StringRef> Names) {
  const Argument *A = find(Names);
  return A && A->What == Argument::Name ? A->Text : "";
}

size_t Operator::dimension(int64_t D, size_t Count) {
  const auto Most = static_cast<int64_t>(std::max<size_t>(Count, 1));
  if (D < -Most || D >= Most) {
    throws("'" + Name + "' is given dimension " + Twine(D) +
           " of a tensor that has " + Twine(Count));
    return 0;
  }
  return D < 0 ? D + Most : D;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

TensorPtr Operator::make(Sizes Of, ElementType Type) {
  for (const int64_t Size : Of)
    if (Size < 0 || Size > MostOfDimension) {
      throws("'" + Name + "' gives a tensor of " + shown(Of));
      return S.make({}, Type);
    }
  return S.make(std::move(Of), Type);
}

TensorPtr Operator::makeLike(const TensorPtr &Like,
                             std::optional<ElementType> Type) {
  const TensorPtr T = S.make(Like->sizes(), Type ? *Type : typeOf(Like));
  if (Like->isDense())
    T->Strides = Like->Strides;
  return T;
}

TensorPtr Operator::view(const TensorPtr &Of, Sizes To,
                         std::vector<int64_t> Strides) {
  auto T = std::make_shared<TensorInstance>();
  T->Shape.Sizes = std::vector<Size>(To.begin(), To.end());
  T->Shape.Type = Of->Shape.Type;
  T->Strides = std::move(Strides);
  T->Memory = Of->Memory;
  return T;
}

TensorPtr Operator::contiguous(const TensorPtr &T) {
  if (T->isContiguous())
    return T;
  const TensorPtr Copy = make(T->sizes(), T);
  scratch(bytesToTranspose(T));
  record({Copy}, {{T, GradientKind::Alias}});
  return Copy;
}

uint64_t bytesToTranspose(const TensorPtr &T) {
  const Sizes Of = T->sizes();
  constexpr int64_t Tile = 60; // As at::native::copy_transpose_valid has it.
  if (Of.size() != 2 || T->Strides[0] != 1 || T->Strides[1] != Of[0] ||
      T->isContiguous() || productOf(Of) < Tile * Tile)
    return 0;
  return elementsOf(Tile * Tile, typeOf(T).Bytes);
}

bool Operator::records(ArrayRef<Differentiated> Inputs) const {
  return S.GradMode && llvm::any_of(Inputs, [](const Differentiated &D) {
           return D.Of && D.Of->needsGradient();
         });
}

void Operator::record(ArrayRef<TensorPtr> Results,
                      ArrayRef<Differentiated> Inputs, ArrayRef<BlockPtr> Kept,
                      uint64_t Scratch, std::optional<uint64_t> SparseScratch) {
  if (Trouble || !records(Inputs))
    return;
  auto Node = std::make_shared<GradientNode>();
  Node->Sequence = ++S.Sequence;
  Node->Place = S.memory().place();
  Node->Results = Results.size();
  Node->Scratch = Scratch;
  Node->SparseScratch = SparseScratch.value_or(Scratch);
  Node->Kept.assign(Kept.begin(), Kept.end());
  for (const Differentiated &D : Inputs) {
    if (!D.Of || !D.Of->needsGradient())
      continue;
    if (!D.Of->Maker && llvm::is_contained(Results, D.Of)) {
      throws("'" + Name +
             "' works in place on a tensor that requires a "
             "gradient of its own");
      return;
    }
    GradientNode::Edge E;
    E.Kind = D.Kind;
    E.To = D.Of->Maker;
    E.Input = D.Of->MakerOutput;
    if (!E.To)
      E.Leaf = D.Of;
    E.Bytes = std::max(bytesOf(D.Of), D.Bytes);
    Node->Edges.push_back(std::move(E));
  }
  for (unsigned I = 0; I < Results.size(); ++I) {
    if (!isFloating(typeOf(Results[I])))
      continue;
    Results[I]->Maker = Node;
    Results[I]->MakerOutput = I;
  }
}

OperatorResult Operator::one(TensorPtr T) {
  if (Trouble)
    return *Trouble;
  OperatorResult Result;
  Result.What = OperatorResult::One;
  Result.Tensors = {std::move(T)};
  return Result;
}

OperatorResult Operator::several(std::vector<TensorPtr> All) {
  if (Trouble)
    return *Trouble;
  OperatorResult Result;
  Result.What = OperatorResult::Several;
  Result.Tensors = std::move(All);
  return Result;
}

OperatorResult Operator::run() {
  // The first that knows the name.
  static constexpr std::optional<OperatorResult> (Operator::*Groups[])() = {
      &Operator::runElementwise, &Operator::runArithmetic,
      &Operator::runReduction,   &Operator::runMasking,
      &Operator::runShape,       &Operator::runIndexing,
      &Operator::runCopying,     &Operator::runConvolution,
      &Operator::runNetwork,     &Operator::runPooling,
      &Operator::runLoss,        &Operator::runComposed,
      &Operator::runRecurrent};
  std::optional<OperatorResult> Result;
  for (const auto Group : Groups)
    if (!Result)
      Result = (this->*Group)();
  if (Trouble)
    return *Trouble;
  return Result.value_or(OperatorResult());
}

} // namespace libtorch_tidy::bytes
