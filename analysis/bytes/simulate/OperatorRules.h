//===- OperatorRules.h - What one operator makes and keeps ------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The frame for the rules of Simulation::run(). A rule reads its arguments,
/// makes its results, and records what autograd keeps. One that lacks an
/// argument goes on with something harmless: the first trouble is the answer.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_BYTES_SIMULATE_OPERATORRULES_H
#define LIBTORCH_TIDY_ANALYSIS_BYTES_SIMULATE_OPERATORRULES_H

#include "analysis/bytes/simulate/Simulation.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"

namespace libtorch_tidy::bytes {

using Sizes = std::vector<int64_t>;

/// More tensors are not followed that one operator gives.
inline constexpr int64_t MostTensors = 1LL << 16;

uint64_t bytesOf(const TensorPtr &T);

/// An input of an operator, and how its gradient comes about.
struct Differentiated {
  TensorPtr Of; ///< Null: an argument that is not there.
  GradientKind Kind = GradientKind::Fresh;
  /// Of its gradient's memory, where that is more than its elements take.
  uint64_t Bytes = 0;
};

inline ElementType typeOf(const TensorPtr &T) {
  return T->Shape.Type.value_or(Float32);
}

class Operator {
public:
  Operator(Simulation &S, llvm::StringRef Name, const Arguments &Given)
      : S(S), Name(Name), Given(Given) {}

  OperatorResult run();

private:
  /// In place, as the names of LibTorch's methods say.
  bool isInPlace() const { return Name.ends_with("_"); }
  /// Its name without the "_" of that.
  llvm::StringRef base() const { return Name.drop_back(isInPlace()); }
  using Rule = OperatorResult (Operator::*)();
  /// nullopt for null.
  std::optional<OperatorResult> runRule(Rule R) {
    return R ? std::optional((this->*R)()) : std::nullopt;
  }

  // OperatorRules.cpp: arguments, results, the graph.
  const Argument *find(llvm::ArrayRef<llvm::StringRef> Names);
  TensorPtr tensor(llvm::ArrayRef<llvm::StringRef> Names);
  TensorPtr self() { return tensor({"self", "input"}); }
  /// Null where it is absent or not defined.
  TensorPtr maybeTensor(llvm::ArrayRef<llvm::StringRef> Names);
  std::vector<TensorPtr> tensors(llvm::ArrayRef<llvm::StringRef> Names);
  std::optional<int64_t> maybeInteger(llvm::ArrayRef<llvm::StringRef> Names);
  int64_t integer(llvm::ArrayRef<llvm::StringRef> Names, int64_t Default);
  bool flag(llvm::StringRef Which, bool Default) {
    return integer({Which}, Default) != 0;
  }
  std::optional<double> maybeReal(llvm::ArrayRef<llvm::StringRef> Names);
  /// \p Count of them, where one number stands for all; 0: as many as are
  /// there.
  std::optional<Sizes> maybeIntegers(llvm::ArrayRef<llvm::StringRef> Names,
                                     size_t Count = 0);
  Sizes integers(llvm::ArrayRef<llvm::StringRef> Names, size_t Count,
                 int64_t Default);
  std::optional<ElementType> type();
  /// A dimension of \p T, counted from its end where it is negative.
  size_t dimension(int64_t D, size_t Count);
  std::string text(llvm::ArrayRef<llvm::StringRef> Names);

  /// Kernels, strides and the like, with which sizes are multiplied. False,
  /// and trouble, when one is beyond all sense.
  bool areSmall(llvm::ArrayRef<Sizes> All);

  /// Trouble, which they return: what came first.
  const OperatorResult &notFollowed(const llvm::Twine &Why);
  const OperatorResult &throws(const llvm::Twine &Why);
  void doesNotFit(const TensorPtr &A, const TensorPtr &B);
  /// The sizes to which \p All, of which some may be null, are broadcast.
  /// nullopt, and trouble, where they do not fit or there is trouble already.
  std::optional<Sizes> fitted(llvm::ArrayRef<TensorPtr> All);
  /// The sizes of \p T before its last \p Dimensions, which are one or two:
  /// samples and channels. nullopt, and trouble, where they are not.
  std::optional<Sizes> outerSizes(const TensorPtr &T, unsigned Dimensions);

  TensorPtr make(Sizes Of, const TensorPtr &Like) {
    return make(std::move(Of), typeOf(Like));
  }
  TensorPtr make(Sizes Of, ElementType Type);
  /// In the order of the elements of \p Like, where they are dense.
  TensorPtr makeLike(const TensorPtr &Like,
                     std::optional<ElementType> Type = std::nullopt);
  /// A view of \p Of.
  TensorPtr view(const TensorPtr &Of, Sizes To, std::vector<int64_t> Strides);
  /// \p T with its elements in order: itself, or a copy.
  TensorPtr contiguous(const TensorPtr &T);
  /// Memory for such a copy, while the operator runs; null where there is no
  /// copy.
  BlockPtr copyInOrder(const TensorPtr &T) {
    return T->isContiguous() ? nullptr : S.scratch(bytesOf(T));
  }
  bool records(llvm::ArrayRef<Differentiated> Inputs) const;
  void record(llvm::ArrayRef<TensorPtr> Results,
              llvm::ArrayRef<Differentiated> Inputs,
              llvm::ArrayRef<BlockPtr> Kept = {}, uint64_t Scratch = 0,
              std::optional<uint64_t> SparseScratch = std::nullopt);
  /// Memory that is in use for a moment.
  void scratch(uint64_t Bytes) { S.scratch(Bytes); }

  OperatorResult one(TensorPtr T);
  OperatorResult several(std::vector<TensorPtr> All);

  // ElementOperators.cpp: element by element, reductions.
  std::optional<OperatorResult> runElementwise();
  OperatorResult unary(char Keeps, double Scratch);
  OperatorResult compare();
  OperatorResult logSigmoid();
  std::optional<OperatorResult> runMasking();
  OperatorResult dropout();
  OperatorResult where();
  OperatorResult prelu();
  std::optional<OperatorResult> runReduction();
  Sizes reducedSizes(const TensorPtr &T, llvm::StringRef DimName);
  OperatorResult reduce();
  OperatorResult reduceWithIndices();
  OperatorResult softmax();
  OperatorResult glu();

  // ArithmeticOperators.cpp: of two or three tensors.
  std::optional<OperatorResult> runArithmetic();
  /// What is kept of \p T, where the operator works in place: a copy.
  BlockPtr beforeWrites(const TensorPtr &T,
                        llvm::ArrayRef<Differentiated> Inputs);
  OperatorResult withNumber(llvm::StringRef Base, const Argument *First,
                            const Argument *Second);
  struct Operands;
  void recordSum(bool Subtracts, const Operands &Of);
  void recordProduct(llvm::StringRef Base, const Operands &Of);
  OperatorResult binary(llvm::StringRef Base);
  OperatorResult weighed();

  // ShapeOperators.cpp: views.
  std::optional<OperatorResult> runShape();
  OperatorResult viewed(const TensorPtr &T, Sizes To,
                        std::vector<int64_t> Strides,
                        GradientKind Kind = GradientKind::View);
  OperatorResult seen(const TensorPtr &T, Sizes To,
                      std::vector<int64_t> Strides);
  /// Where a view starts does not change what it holds.
  TensorPtr narrow(const TensorPtr &T, size_t D, int64_t Length,
                   int64_t Step = 1);
  /// A view of \p T without its dimension \p D, without a record.
  TensorPtr withoutDimension(const TensorPtr &T, size_t D);
  std::optional<std::vector<int64_t>> stridesOfView(const TensorPtr &T,
                                                    const Sizes &To);
  OperatorResult reshape(const TensorPtr &T, Sizes To);
  OperatorResult flatten();
  OperatorResult unflatten();
  OperatorResult unsqueeze();
  OperatorResult squeeze();
  OperatorResult expand();
  OperatorResult permute();
  OperatorResult split();

  // IndexOperators.cpp: picking, putting, joining, copying.
  std::optional<OperatorResult> runIndexing();
  OperatorResult slice();
  struct Indexed;
  void becomes(Indexed &Of, Sizes To, std::vector<int64_t> Strides,
               GradientKind Kind);
  bool indexBy(Indexed &Of, const Argument &P, size_t Left);
  std::optional<size_t> consumedBy(llvm::ArrayRef<Argument> Parts,
                                   const Sizes &From);
  OperatorResult index();
  OperatorResult pick();
  OperatorResult put();
  std::optional<OperatorResult> runCopying();
  OperatorResult cat();
  OperatorResult repeat();
  OperatorResult convert();
  OperatorResult makeNew();

  // ConvolutionOperators.cpp.
  std::optional<OperatorResult> runConvolution();
  struct Convolved;
  bool readConvolution(Convolved &Of);
  bool sizeConvolution(Convolved &Of);
  void layOutConvolution(Convolved &Of);
  TensorPtr convolve(const Convolved &Of);
  OperatorResult convolution(unsigned Dimensions, bool IsTransposed);

  // NetworkOperators.cpp: products of matrices, normalisation, embeddings.
  std::optional<OperatorResult> runNetwork();
  OperatorResult linear();
  BlockPtr laidOut(const TensorPtr &T, const Sizes &Of, const Sizes &Batch);
  OperatorResult matmul(TensorPtr A, TensorPtr B);
  OperatorResult matmul();
  OperatorResult addedMatmul();
  OperatorResult outer();
  OperatorResult bilinear();
  OperatorResult normalise();
  OperatorResult instanceNorm();
  OperatorResult embedding();
  OperatorResult embeddingBag();
  OperatorResult shufflePixels();

  // PoolingOperators.cpp: pooling, resizing, padding, sampling.
  std::optional<OperatorResult> runPooling();
  OperatorResult pool(unsigned Dimensions, bool Max, bool Adaptive);
  OperatorResult fractionalPool(unsigned Dimensions);
  OperatorResult unpool(unsigned Dimensions);
  OperatorResult powerPool(unsigned Dimensions);
  OperatorResult interpolate();
  OperatorResult pad();
  TensorPtr resizedFrom(const TensorPtr &X, Sizes To);
  OperatorResult unfold();
  OperatorResult fold();
  OperatorResult sampleGrid();
  OperatorResult affineGrid();

  // LossOperators.cpp.
  std::optional<OperatorResult> runLoss();
  std::optional<OperatorResult> runMarginLoss();
  enum class Reduction : unsigned char { None, Mean, Sum, BatchMean };
  Reduction reduction();
  OperatorResult reduced(const TensorPtr &Each);
  OperatorResult loss();
  OperatorResult crossEntropy();
  OperatorResult smoothedCrossEntropy(const TensorPtr &LogProbabilities,
                                      const TensorPtr &Target);
  OperatorResult softMargin();
  OperatorResult connectionist();
  OperatorResult poisson();

  // ComposedOperators.cpp: functions of others.
  std::optional<OperatorResult> runComposed();
  OperatorResult cosineSimilarity();
  OperatorResult adaptiveLogSoftmax();
  OperatorResult localResponseNorm();
  OperatorResult crossMapNorm();
  OperatorResult gumbelSoftmax();
  OperatorResult distances();
  OperatorResult einsum();
  TensorPtr sumOfProducts(TensorPtr A, TensorPtr B, const Sizes &Summed);

  // RecurrentOperators.cpp: what is composed of others, and LSTM, attention.
  std::optional<OperatorResult> runRecurrent();
  std::vector<TensorPtr> parts(llvm::StringRef Which, Arguments With);
  TensorPtr part(llvm::StringRef Which, Arguments With);
  /// An operator of one tensor, of two, or of a tensor and a number.
  TensorPtr apply(llvm::StringRef Which, const TensorPtr &X);
  TensorPtr apply(llvm::StringRef Which, const TensorPtr &A,
                  const TensorPtr &B);
  TensorPtr apply(llvm::StringRef Which, const TensorPtr &A, double B);
  TensorPtr apply(llvm::StringRef Which, double A, const TensorPtr &B);
  /// An operator of a tensor along one dimension.
  TensorPtr along(llvm::StringRef Which, const TensorPtr &X, int64_t Dimension);
  TensorPtr linearOf(const TensorPtr &X, const TensorPtr &Weight,
                     const TensorPtr &Bias);
  TensorPtr transposeOf(const TensorPtr &X, int64_t A, int64_t B);
  TensorPtr viewOf(const TensorPtr &X, Sizes To);
  TensorPtr reshapeOf(const TensorPtr &X, Sizes To);
  /// A part of dimension 0; null for null.
  TensorPtr narrowOf(const TensorPtr &X, int64_t Start, int64_t Length);
  TensorPtr catOf(std::vector<TensorPtr> All, int64_t Dimension);
  /// Along dimension 0.
  TensorPtr stackOf(std::vector<TensorPtr> All);
  std::vector<TensorPtr> unbindOf(const TensorPtr &X);
  std::vector<TensorPtr> chunksOf(const TensorPtr &X, int64_t Count,
                                  int64_t Dimension);
  struct Hidden;
  Hidden step(llvm::StringRef Kind, const Hidden &Before,
              llvm::function_ref<TensorPtr()> FromInput, const TensorPtr &W,
              const TensorPtr &B);
  struct Recurrence;
  TensorPtr recurrentWeight(llvm::StringRef Of, int64_t Layer, bool Back);
  void startRecurrence(Recurrence &R, const TensorPtr &X, int64_t Width);
  bool recurrentLayer(Recurrence &R, TensorPtr &X, int64_t Layer);
  OperatorResult recurrent();
  OperatorResult recurrentCell();
  OperatorResult packed();
  OperatorResult padded();
  std::vector<TensorPtr> projected(const TensorPtr &Q, const TensorPtr &K,
                                   const TensorPtr &V, const TensorPtr &W,
                                   const TensorPtr &B);
  TensorPtr maskedScores(TensorPtr Scores, const Sizes &ByHead);
  OperatorResult attention();

  Simulation &S;
  const llvm::StringRef Name;
  const Arguments &Given;
  std::optional<OperatorResult> Trouble;
};

/// Not null, and a number.
bool isNumber(const Argument *A);
/// The tensor that \p A is; null where it is something else or null.
TensorPtr tensorIn(const Argument *A);
/// Arguments of an operator that another one runs.
Argument argument(int64_t Number);
Argument realArgument(double Number);
Argument argument(Sizes Numbers);
Argument argument(TensorPtr T);
Argument argument(std::vector<TensorPtr> All);
Argument argument(ElementType Type);
/// The bytes of \p T in \p Type; 0 where it is of that already.
uint64_t convertedBytes(const TensorPtr &T, ElementType Type);
/// The type of a result of two operands, as LibTorch promotes.
ElementType promoted(const TensorInstance &A, const TensorInstance &B);
/// What a copy of \p T with its elements in order takes for the moment: a large
/// transposed matrix goes through a buffer.
uint64_t bytesToTranspose(const TensorPtr &T);
/// The bytes of \p Count elements of as many bytes; 0 where nothing has as
/// many.
uint64_t elementsOf(int64_t Count, unsigned Each);
inline uint64_t floats(int64_t Count) { return elementsOf(Count, 4); }
/// The last \p Count of \p Of.
Sizes lastOf(const Sizes &Of, size_t Count);
int64_t productOf(llvm::ArrayRef<int64_t> Of);
std::string shown(llvm::ArrayRef<int64_t> Of);
/// The sizes of a result of both; nullopt when they do not fit.
std::optional<Sizes> broadcast(llvm::ArrayRef<int64_t> A,
                               llvm::ArrayRef<int64_t> B);

} // namespace libtorch_tidy::bytes

#endif // LIBTORCH_TIDY_ANALYSIS_BYTES_SIMULATE_OPERATORRULES_H
