//===- OperatorRules.cpp - Arguments, results, records --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/bytes/simulate/OperatorRules.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

namespace libtorch_tidy::bytes {

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

uint64_t bytesOf(const TensorPtr &T) { return T->Shape.bytes().value_or(0); }

uint64_t gradientBytes(const TensorPtr &T) {
  return T && T->needsGradient() ? bytesOf(T) : 0;
}

uint64_t elementsOf(int64_t Count, unsigned Each) {
  return Count > 0 && Count < (1LL << 50) ? static_cast<uint64_t>(Count) * Each
                                          : 0;
}

std::vector<int> axesWithout(size_t Count, size_t D) {
  std::vector<int> Axes;
  for (size_t I = 0; I < Count; ++I)
    if (I != D)
      Axes.push_back(I);
  return Axes;
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
  const unsigned CategoryX = categoryOf(X), CategoryY = categoryOf(Y);
  if (CategoryX != CategoryY)
    return CategoryX > CategoryY ? X : Y;
  // A tensor without dimensions counts only by its category.
  const bool ScalarA = A.sizes().empty(), ScalarB = B.sizes().empty();
  if (ScalarA != ScalarB)
    return ScalarA ? Y : X;
  return X.Bytes >= Y.Bytes ? X : Y;
}

int64_t elementsIn(const TensorPtr &T) { return productOf(T->sizes()); }

uint64_t convertedBytes(const TensorPtr &T, ElementType Type) {
  if (typeOf(T).Name == Type.Name)
    return 0;
  return T->Shape.elements().value_or(0) * Type.Bytes;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

std::optional<Sizes> integersIn(const Cell &A) {
  const MaybeSizes All = A ? sizesOf(A) : std::nullopt;
  if (!All || llvm::is_contained(*All, Size()))
    return std::nullopt;
  Sizes Result;
  for (const Size &N : *All)
    Result.push_back(*N);
  return Result;
}

std::vector<TensorPtr> tensorsIn(const Cell &A) {
  if (!A || (A->What != Value::Tensor && A->What != Value::List))
    return {};
  std::vector<TensorPtr> Result;
  for (const Cell &Each :
       A->What == Value::List ? ArrayRef(A->Elements) : ArrayRef(A)) {
    if (Each->What != Value::Tensor)
      return {};
    Result.push_back(Each->Handle);
  }
  return Result;
}

Tensor OperatorCall::tensorIn(const Cell &A) {
  if (!A || A->What != Value::Tensor)
    return nullptr;
  return {*this, A->Handle};
}

const OperatorResult &OperatorCall::notFollowed(const Twine &Why) {
  if (!Trouble)
    Trouble = OperatorResult(OperatorResult::NotFollowed, Why.str());
  return *Trouble;
}

bool OperatorCall::areSmall(ArrayRef<Sizes> All) {
  constexpr int64_t Most = 1LL << 20;
  for (const Sizes &Each : All)
    for (const int64_t N : Each)
      if (N < -Most || N > Most) {
        notFollowed("a number that '" + Name + "' is given is too large");
        return false;
      }
  return true;
}

const OperatorResult &OperatorCall::notFollowed(StringRef Names,
                                                const Twine &How) {
  return notFollowed("'" + Names.split(' ').first + "' of '" + Name + "' " +
                     How);
}

const OperatorResult &OperatorCall::throws(const Twine &Why) {
  if (!Trouble)
    Trouble = OperatorResult(OperatorResult::Throws, Why.str());
  return *Trouble;
}

const OperatorResult &OperatorCall::leavesNothing(const TensorPtr &X,
                                                  const Sizes &Kernel) {
  return throws("'" + Name + "' of " + shown(X->sizes()) +
                " with a kernel of " + shown(Kernel) + " leaves nothing");
}

const OperatorResult &OperatorCall::doesNotTake(const TensorPtr &T) {
  return throws("'" + Name + "' is given a tensor of " + shown(T->sizes()));
}

bool OperatorCall::haveOneKind(const TensorPtr &X, const TensorPtr &W) {
  const auto &Given = X->Shape.Type, &Taken = W->Shape.Type;
  if (!Given || !Taken || isFloating(*Given) == isFloating(*Taken))
    return true;
  throws("'" + Name + "' has weights of " + Taken->Name +
         ", and is given a tensor of " + Given->Name);
  return false;
}

bool OperatorCall::isReal(const TensorPtr &X) {
  if (!X->Shape.Type || isFloating(*X->Shape.Type))
    return true;
  throws("'" + Name + "' does not take a tensor of " + X->Shape.Type->Name);
  return false;
}

void OperatorCall::doesNotFit(const TensorPtr &A, const TensorPtr &B) {
  throws("'" + Name + "' does not fit sizes " + shown(A->sizes()) + " and " +
         shown(B->sizes()));
}

std::optional<Sizes> OperatorCall::fitted(ArrayRef<TensorPtr> All) {
  std::optional<Sizes> Result = Sizes();
  for (const TensorPtr &T : All)
    if (Result && T)
      Result = broadcast(*Result, T->sizes());
  if (!Result)
    doesNotFit(All[0], All[1]);
  return Trouble ? std::nullopt : Result;
}

Cell OperatorCall::find(StringRef Names) {
  for (const StringRef Which : llvm::split(Names, ' '))
    if (auto It = Given.find(Which.str()); It != Given.end()) {
      if (It->second->What != Value::Unknown)
        return It->second;
      notFollowed(Which,
                  "is not known" +
                      (It->second->Why.empty() ? "" : ": " + It->second->Why));
      return nullptr;
    }
  return nullptr;
}

Tensor OperatorCall::withMemory(const TensorPtr &T) {
  if (T->Memory)
    return {*this, T};
  notFollowed("the size of a tensor that '" + Name + "' is given is not known");
  return nullptr;
}

Tensor OperatorCall::maybeTensor(StringRef Names) {
  const Cell A = find(Names);
  if (!A || A->What == Value::Null)
    return nullptr;
  // The option of a module whose tensor has the same name: bias(false).
  if (A->What == Value::Integer && Names == "bias")
    return nullptr;
  // A number where a tensor is taken is one without dimensions.
  if (isNumber(A))
    return {*this, S.make({}, A->What == Value::Integer ? Int64 : Float32)};
  if (A->What != Value::Tensor) {
    notFollowed(Names, "is not a tensor");
    return nullptr;
  }
  return A->Handle->Shape.Defined ? withMemory(A->Handle) : nullptr;
}

Tensor OperatorCall::tensor(StringRef Names) {
  if (Tensor T = maybeTensor(Names))
    return T;
  notFollowed(Names, "is not known");
  return {*this, S.make({}, Float32)};
}

std::vector<Tensor> OperatorCall::tensors(StringRef Names) {
  std::vector<Tensor> All;
  for (const TensorPtr &T : tensorsIn(find(Names)))
    All.push_back(withMemory(T));
  if (All.empty())
    notFollowed("the tensors that '" + Name + "' is given are not known");
  return Trouble ? std::vector<Tensor>() : All;
}

std::optional<int64_t> OperatorCall::maybeInteger(StringRef Names) {
  const Cell A = find(Names);
  if (A && A->What == Value::Real)
    return static_cast<int64_t>(A->RealNumber);
  const std::optional<Sizes> All = integersIn(A);
  return All && All->size() == 1 ? std::optional(All->front()) : std::nullopt;
}

std::optional<double> OperatorCall::maybeReal(StringRef Names) {
  const Cell A = find(Names);
  return isNumber(A) ? std::optional(realOf(A)) : std::nullopt;
}

std::optional<Sizes> OperatorCall::maybeIntegers(StringRef Names,
                                                 size_t Count) {
  const Cell A = find(Names);
  if (!A || A->What == Value::Null)
    return std::nullopt;
  const std::optional<Sizes> All = integersIn(A);
  if (!All) {
    notFollowed(Names, "is not known");
    return std::nullopt;
  }
  for (const int64_t N : *All)
    if (N > MostOfDimension || N < -MostOfDimension) {
      notFollowed(Names, "is too large");
      return std::nullopt;
    }
  if (Count && All->empty())
    return std::nullopt;
  if (!Count || All->size() == Count)
    return All;
  if (All->size() > 1)
    notFollowed(Names, "has " + Twine(All->size()) + " numbers");
  return Sizes(Count, All->front());
}

std::optional<ElementType> OperatorCall::type() {
  // Called dtype, options, scalar_type, type_meta.
  for (const auto &[Which, A] : Given)
    if ((A->What == Value::Type || A->What == Value::Options) && A->Element)
      return A->Element;
  return std::nullopt;
}

StringRef OperatorCall::text(StringRef Names) {
  const Cell A = find(Names);
  return A && (A->What == Value::Text || A->What == Value::Other)
             ? StringRef(A->Name) // Given holds it.
             : "";
}

size_t OperatorCall::dimension(int64_t D, size_t Count) {
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

Tensor OperatorCall::make(Sizes Of, const TensorPtr &Like) {
  return make(std::move(Of), typeOf(Like));
}

Tensor OperatorCall::make(Sizes Of, ElementType Type) {
  for (const int64_t Size : Of)
    if (Size < 0 || Size > MostOfDimension) {
      throws("'" + Name + "' gives a tensor of " + shown(Of));
      return {*this, S.make({}, Type)};
    }
  return {*this, S.make(std::move(Of), Type)};
}

Tensor OperatorCall::makeLike(const TensorPtr &Like,
                              std::optional<ElementType> Type) {
  return makeOf(Like->sizes(), Type ? *Type : typeOf(Like), {Like});
}

Tensor OperatorCall::view(const TensorPtr &Of, Sizes To,
                          std::vector<int64_t> Strides) {
  auto T = std::make_shared<TensorInstance>();
  T->Shape.Sizes = std::vector<Size>(To.begin(), To.end());
  T->Shape.Type = Of->Shape.Type;
  T->Strides = std::move(Strides);
  T->Memory = Of->Memory;
  return {*this, T};
}

Tensor OperatorCall::part(const TensorPtr &T, size_t D, int64_t Length,
                          int64_t Step) {
  estimatePart(T);
  Sizes To = T->sizes();
  std::vector<int64_t> Strides = T->Strides;
  if (D < To.size()) {
    To[D] = Length;
    Strides[D] *= Step;
  }
  return view(T, To, Strides);
}

Tensor OperatorCall::withoutDimension(const TensorPtr &T, size_t D) {
  Sizes To = T->sizes();
  std::vector<int64_t> Strides = T->Strides;
  To.erase(To.begin() + D);
  Strides.erase(Strides.begin() + D);
  return view(T, To, Strides);
}

BlockPtr OperatorCall::copyInOrder(const TensorPtr &T) {
  if (T->isContiguous())
    return nullptr;
  BlockPtr Copy = scratch(bytesOf(T));
  scratch(bytesToTranspose(T));
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

bool OperatorCall::records(ArrayRef<Differentiated> Inputs) const {
  return S.GradMode && llvm::any_of(Inputs, [](const Differentiated &D) {
           return D.Of && D.Of->needsGradient();
         });
}

/// To where the gradient of \p T goes.
static GradientNode::Edge edgeTo(const TensorPtr &T) {
  GradientNode::Edge E;
  E.To = T->Maker;
  E.Input = T->MakerOutput;
  if (!E.To)
    E.Leaf = T;
  E.Bytes = bytesOf(T);
  E.Shape = T->Shape;
  E.Strides = contiguousStrides(T->sizes());
  return E;
}

/// \p Node makes the gradient of \p Results, as far as they have one.
static void setMaker(ArrayRef<TensorPtr> Results, const NodePtr &Node) {
  for (unsigned I = 0; I < Results.size(); ++I) {
    if (!isFloating(typeOf(Results[I])))
      continue;
    Results[I]->Maker = Node;
    Results[I]->MakerOutput = I;
  }
}

NodePtr Simulation::makeNode() {
  auto Node = std::make_shared<GradientNode>();
  Node->Sequence = ++Sequence;
  Node->Place = memory().place();
  return Node;
}

void Simulation::record(const NodePtr &Node, ArrayRef<TensorPtr> Inputs,
                        ArrayRef<TensorPtr> Results) {
  Node->Results = Results.size();
  for (const TensorPtr &T : Inputs)
    if (T->needsGradient())
      Node->Edges.push_back(edgeTo(T));
  for (const TensorPtr &T : Results)
    Node->ResultShapes.push_back(T->Shape);
  setMaker(Results, Node);
}

OperatorResult OperatorCall::record(ArrayRef<TensorPtr> Results,
                                    ArrayRef<Differentiated> Inputs,
                                    ArrayRef<KeptMemory> Kept, uint64_t Scratch,
                                    std::optional<uint64_t> CopyScratch) {
  const OperatorResult All = Results.size() == 1
                                 ? OperatorResult(Results.front())
                                 : OperatorResult(Results.vec());
  if (Trouble || !records(Inputs))
    return All;
  const NodePtr Node = S.makeNode();
  Node->Results = Results.size();
  Node->Scratch = Scratch;
  Node->CopyScratch = CopyScratch.value_or(Scratch);
  Node->Kept.assign(Kept.begin(), Kept.end());
  for (const Differentiated &D : Inputs) {
    if (!D.Of || !D.Of->needsGradient())
      continue;
    if (!D.Of->Maker && llvm::is_contained(Results, D.Of)) {
      throws("'" + Name +
             "' works in place on a tensor that requires a "
             "gradient of its own");
      return All;
    }
    GradientNode::Edge E = edgeTo(D.Of);
    E.Kind = D.Kind;
    E.Bytes = std::max(E.Bytes, D.Bytes);
    E.Axes = D.Axes;
    const GradientOrder Order = Table ? Table->Order : GradientOrder::InOrder;
    const Sizes Of = Results.front()->sizes();
    for (const TensorPtr &T : D.From)
      E.From.push_back(T ? repeatedStrides(T, Of) : Sizes());
    if (Order == GradientOrder::OfGradient && E.From.empty())
      E.From = {{}, repeatedStrides(D.Of, Of)};
    if (!E.From.empty() && E.Kind == GradientKind::Fresh)
      E.Kind = kindOfRepeated(D.Of->sizes(), Of);
    if (D.Of->hasChannelsLast() ||
        (Order != GradientOrder::InOrder && D.Of->isDense()))
      E.Strides = D.Of->Strides;
    if (!D.Strides.empty())
      E.Strides = D.Strides;
    Node->Edges.push_back(std::move(E));
  }
  setMaker(Results, Node);
  return All;
}

OperatorResult OperatorCall::record(ArrayRef<TensorPtr> Results,
                                    ArrayRef<Differentiated> Inputs,
                                    ArrayRef<KeptMemory> Kept,
                                    ScratchRule Scratch) {
  const OperatorResult All = record(Results, Inputs, Kept);
  if (!Trouble && records(Inputs) && Results.front()->Maker)
    Results.front()->Maker->ScratchOf = std::move(Scratch);
  return All;
}

//===----------------------------------------------------------------------===//
// Other operators
//===----------------------------------------------------------------------===//

std::vector<Tensor> OperatorCall::runs(StringRef Which, const Arguments &With) {
  std::vector<Tensor> All;
  if (Trouble)
    return All;
  OperatorResult Result = S.run(Which, With);
  if (Result.What != OperatorResult::One &&
      Result.What != OperatorResult::Several) {
    Trouble = std::move(Result);
    return All;
  }
  for (TensorPtr &T : Result.Tensors)
    All.emplace_back(*this, std::move(T));
  return All;
}

Tensor OperatorCall::run(StringRef Which, const Arguments &With) {
  std::vector<Tensor> All = runs(Which, With);
  return All.empty() ? Tensor(*this, S.make({}, Float32))
                     : std::move(All.front());
}

std::vector<Tensor> Tensor::runs(StringRef Which, Arguments With) const {
  With.erase("input");
  With["self"] = *this;
  return Op->runs(Which, With);
}

Tensor Tensor::run(StringRef Which, Arguments With) const {
  With.erase("input");
  With["self"] = *this;
  return Op->run(Which, With);
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

namespace {

/// The rule of a name, and the table that has it.
struct RulePlace {
  const OperatorRule *Rule = nullptr;
  const RuleTable *Table = nullptr;
  StringRef Base;
  unsigned Dimensions = 0; ///< The number that is a part of the name.
};

} // namespace

static RulePlace placeOf(StringRef Name) {
  static const auto Places = [] {
    llvm::StringMap<RulePlace> Result;
    for (const RuleTable *Table :
         {&TruthRules, &ElementRules, &ReductionRules, &ShapeRules, &IndexRules,
          &ConvolutionRules, &SpatialRules, &NetworkRules, &LossRules,
          &ComposedRules, &RecurrentRules, &AttentionRules})
      for (const OperatorRule &Rule : Table->Rules)
        for (const StringRef Written : llvm::split(Rule.Names, ' ')) {
          const auto [Name, As] = Written.split('=');
          const auto [Before, After] = Name.split('#');
          if (Before == Name)
            Result[Name] = {&Rule, Table, As.empty() ? Name : As, 0};
          else
            for (unsigned D = 1; D <= 3; ++D)
              Result[(Before + Twine(D) + After).str()] = {&Rule, Table, Name,
                                                           D};
        }
    return Result;
  }();
  RulePlace Found = Places.lookup(Name);
  if (!Found.Rule && Name.consume_back("_")) {
    Found = placeOf(Name);
    if (!Found.Table || !Found.Table->InPlace)
      return {};
  }
  return Found;
}

bool hasRule(StringRef Name) { return placeOf(Name).Rule; }

OperatorResult OperatorCall::runAs(StringRef Other) {
  const RulePlace Found = placeOf(Other);
  if (!Found.Table || Found.Table->NeedsDimension)
    find("dim");
  if (!Found.Rule)
    return {};
  Rule = Found.Rule;
  Table = Found.Table;
  Base = Found.Base;
  Dimensions = Found.Dimensions;
  return Rule->Run(*this);
}

OperatorResult OperatorCall::run() {
  OperatorResult Result = runAs(Name);
  return Trouble ? *Trouble : Result;
}

} // namespace libtorch_tidy::bytes
