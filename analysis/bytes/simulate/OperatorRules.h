//===- OperatorRules.h - What one operator makes and keeps ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The frame for the rules of Simulation::run(). A rule is a function of one
/// call of an operator: it reads the arguments, makes the results, and records
/// what autograd keeps. Each family of operators has a table of its rules, in
/// its own file. A rule that lacks an argument goes on with something harmless:
/// the first trouble is the answer.

#ifndef LIBTORCH_TIDY_ANALYSIS_BYTES_SIMULATE_OPERATORRULES_H
#define LIBTORCH_TIDY_ANALYSIS_BYTES_SIMULATE_OPERATORRULES_H

#include "analysis/bytes/simulate/Simulation.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"

namespace libtorch_tidy::bytes {

using Sizes = std::vector<int64_t>;

/// More tensors are not followed that one operator gives.
inline constexpr int64_t MostTensors = 1LL << 16;

//===----------------------------------------------------------------------===//
// Tensors as expressions
//===----------------------------------------------------------------------===//

class OperatorCall;

/// A handle of a tensor in a rule. Its methods, and the operators and functions
/// below, run another operator as a part of the rule's own, under LibTorch's
/// names; where that fails, it is the rule's trouble. A temporary lives as long
/// as an at::Tensor does in the same expression: that decides the peak.
class Tensor : public TensorPtr {
public:
  Tensor() = default;
  Tensor(std::nullptr_t) {}
  Tensor(OperatorCall &Op, TensorPtr T) : TensorPtr(std::move(T)), Op(&Op) {}

  /// Runs the operator \p Which of this tensor and \p With, whose own tensor
  /// it takes the place of.
  Tensor run(llvm::StringRef Which, Arguments With = {}) const;
  std::vector<Tensor> runs(llvm::StringRef Which, Arguments With) const;

#define LIBTORCH_TIDY_OF_ONE(NAME)                                             \
  Tensor NAME() const { return run(#NAME); }
#define LIBTORCH_TIDY_WITH(NAME, OTHER, TYPE)                                  \
  Tensor NAME(TYPE With) const { return run(#NAME, {{OTHER, With}}); }
  LIBTORCH_TIDY_OF_ONE(abs)
  LIBTORCH_TIDY_OF_ONE(clamp_min)
  LIBTORCH_TIDY_OF_ONE(clamp_min_)
  LIBTORCH_TIDY_OF_ONE(contiguous)
  LIBTORCH_TIDY_OF_ONE(detach)
  LIBTORCH_TIDY_OF_ONE(exp)
  LIBTORCH_TIDY_OF_ONE(log)
  LIBTORCH_TIDY_OF_ONE(log_sigmoid)
  LIBTORCH_TIDY_OF_ONE(logical_not)
  LIBTORCH_TIDY_OF_ONE(mean)
  LIBTORCH_TIDY_OF_ONE(relu)
  LIBTORCH_TIDY_OF_ONE(sigmoid_)
  LIBTORCH_TIDY_OF_ONE(sign)
  LIBTORCH_TIDY_OF_ONE(sqrt_)
  LIBTORCH_TIDY_OF_ONE(sum)
  LIBTORCH_TIDY_OF_ONE(tanh)
  LIBTORCH_TIDY_OF_ONE(tanh_)
  LIBTORCH_TIDY_WITH(add_, "other", const Tensor &)
  LIBTORCH_TIDY_WITH(mul_, "other", const Tensor &)
  LIBTORCH_TIDY_WITH(eq, "other", int64_t)
  LIBTORCH_TIDY_WITH(le, "other", int64_t)
  LIBTORCH_TIDY_WITH(ne, "other", int64_t)
  LIBTORCH_TIDY_WITH(minimum, "other", const Tensor &)
  LIBTORCH_TIDY_WITH(pow, "other", double)
  LIBTORCH_TIDY_WITH(permute, "dims", Sizes)
  LIBTORCH_TIDY_WITH(reshape, "shape", Sizes)
  LIBTORCH_TIDY_WITH(view, "size", Sizes)
  LIBTORCH_TIDY_WITH(log_softmax, "dim", int64_t)
  LIBTORCH_TIDY_WITH(softmax, "dim", int64_t)
  LIBTORCH_TIDY_WITH(squeeze, "dim", int64_t)
  LIBTORCH_TIDY_WITH(unsqueeze, "dim", int64_t)
#undef LIBTORCH_TIDY_OF_ONE
#undef LIBTORCH_TIDY_WITH

  Tensor sum(Argument Dim, bool KeepDim = false) const {
    return run("sum", {{"dim", Dim}, {"keepdim", KeepDim}});
  }
  Tensor transpose(int64_t A, int64_t B) const {
    return run("transpose", {{"dim0", A}, {"dim1", B}});
  }
  /// Null of null.
  Tensor narrow(int64_t Dim, int64_t Start, int64_t Length) const {
    const Arguments With = {{"dim", Dim}, {"start", Start}, {"length", Length}};
    return *this ? run("narrow", With) : *this;
  }
  Tensor index_select(int64_t Dim, const Tensor &Index) const {
    return run("index_select", {{"dim", Dim}, {"index", Index}});
  }
  Tensor gather(int64_t Dim, const Tensor &Index) const {
    return run("gather", {{"dim", Dim}, {"index", Index}});
  }
  Tensor masked_fill(const Tensor &Mask, Argument Value) const {
    return run("masked_fill", {{"mask", Mask}, {"value", Value}});
  }
  Tensor masked_fill_(const Tensor &Mask, Argument Value) const {
    return run("masked_fill_", {{"mask", Mask}, {"value", Value}});
  }
  /// Along dimension 0.
  std::vector<Tensor> unbind() const { return runs("unbind", {{"dim", 0}}); }
  std::vector<Tensor> chunk(int64_t Count, int64_t Dim) const {
    return runs("chunk", {{"chunks", Count}, {"dim", Dim}});
  }

  OperatorCall *Op = nullptr; ///< Set, unless it is null.
};

#define LIBTORCH_TIDY_OF_TWO(SIGN, NAME)                                       \
  inline Tensor operator SIGN(const Tensor &A, const Tensor &B) {              \
    return A.run(NAME, {{"other", B}});                                        \
  }                                                                            \
  inline Tensor operator SIGN(const Tensor &A, double B) {                     \
    return A.run(NAME, {{"other", B}});                                        \
  }
LIBTORCH_TIDY_OF_TWO(+, "add")
LIBTORCH_TIDY_OF_TWO(-, "sub")
LIBTORCH_TIDY_OF_TWO(*, "mul")
LIBTORCH_TIDY_OF_TWO(/, "div")
#undef LIBTORCH_TIDY_OF_TWO
Tensor operator-(double A, const Tensor &B);
inline Tensor operator-(const Tensor &A) { return A.run("neg"); }
Tensor linear(const Tensor &X, const Tensor &Weight, const Tensor &Bias);
inline Tensor bmm(const Tensor &A, const Tensor &B) {
  return A.run("bmm", {{"mat2", B}});
}
Tensor cat(const std::vector<Tensor> &All, int64_t Dim);
/// Along dimension 0.
Tensor stack(const std::vector<Tensor> &All);
inline Tensor where(const Tensor &Condition, const Tensor &A, const Tensor &B) {
  return A.run("where", {{"condition", Condition}, {"other", B}});
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// An input of an operator, and how its gradient comes about.
struct Differentiated {
  TensorPtr Of; ///< Null: an argument that is not there.
  GradientKind Kind = GradientKind::Fresh;
  /// Of its gradient's memory, where that is more than its elements take.
  uint64_t Bytes = 0;
  std::vector<int> Axes = {}; ///< Of a view, as an edge has them.
  Sizes Strides = {};         ///< Of a fresh one that lies in another order.
  /// What it is computed of, element by element; null is what comes. Empty: as
  /// the table of the rule says.
  std::vector<TensorPtr> From = {};
};
inline Differentiated madeOf(TensorPtr T, std::vector<TensorPtr> From,
                             GradientKind Kind = GradientKind::Fresh) {
  return {std::move(T), Kind, 0, {}, {}, std::move(From)};
}

/// How the gradient of a tensor of sizes \p Own is made of one of sizes \p Of,
/// which it was repeated to: added up over the dimensions that it has not, and
/// seen without them.
inline GradientKind kindOfRepeated(const Sizes &Own, const Sizes &Of) {
  return Own.size() < Of.size() ? GradientKind::Seen : GradientKind::Fresh;
}

/// Memory that the graph keeps: that of a tensor, or a block. Null for none.
struct KeptMemory : BlockPtr {
  KeptMemory(BlockPtr Block) : BlockPtr(std::move(Block)) {}
  KeptMemory(const TensorPtr &T) : BlockPtr(T ? T->Memory : nullptr) {}
};

struct OperatorRule;
struct RuleTable;

/// One call of an operator.
class OperatorCall {
public:
  OperatorCall(Simulation &S, llvm::StringRef Name, const Arguments &Given)
      : S(S), Name(Name), Given(Given) {}

  OperatorResult run();
  /// Runs the rule of another name for this call.
  OperatorResult runAs(llvm::StringRef Other);

  Simulation &S;
  const llvm::StringRef Name;
  /// As the rule is called in its table: without a trailing "_".
  llvm::StringRef Base;
  unsigned Dimensions = 0; ///< 2 of "conv2d".
  const OperatorRule *Rule = nullptr;
  const RuleTable *Table = nullptr; ///< Of the rule.
  const Arguments &Given;
  std::optional<OperatorResult> Trouble;

  /// True for names that end in "_".
  bool isInPlace() const { return Name.ends_with("_"); }
  bool isOnGpu() const { return S.Device == DeviceKind::Cuda; }
  /// Of LibTorch.
  bool isSince(unsigned Major, unsigned Minor) const {
    return S.isSince({Major, Minor});
  }
  /// Since 2.0 means, scattered elements and sums over several pieces of halves
  /// are computed in a copy of floats on the CPU.
  bool widens(ElementType Type) const {
    return isSince(2, 0) && !isOnGpu() && isFloating(Type) &&
           Type.Bytes < Float32.Bytes;
  }
  /// Such copies of \p Count elements; 0 where there are none.
  uint64_t widened(int64_t Count, ElementType Type) const;
  /// The same for the sum over the dimensions of \p T for which \p Axes has -1.
  uint64_t widenedToSum(const TensorPtr &T, llvm::ArrayRef<int> Axes) const {
    return widenedToSum(T->Shape.Type.value_or(Float32), T->sizes(), T->Strides,
                        Axes);
  }
  uint64_t widenedToSum(ElementType Type, const Sizes &Of, const Sizes &Strides,
                        llvm::ArrayRef<int> Axes) const;
  /// The same for a gradient of sizes \p From that lies as \p Strides say, and
  /// is added up to the sizes of \p T.
  uint64_t widenedToReduce(ElementType Type, const Sizes &From,
                           const Sizes &Strides, const TensorPtr &T) const;

  // Arguments, by the names that LibTorch's declarations have for one
  // parameter: "self input".
  /// Null where it is absent, and, with trouble, where it is not known.
  Cell find(llvm::StringRef Names);
  Tensor tensor(llvm::StringRef Names);
  Tensor self() { return tensor("self input"); }
  /// Null where it is absent or not defined.
  Tensor maybeTensor(llvm::StringRef Names);
  std::vector<Tensor> tensors(llvm::StringRef Names);
  /// \p T; null, and with trouble, where its size is not known.
  Tensor withMemory(const TensorPtr &T);
  /// The tensor that \p A is; null where it is something else or null.
  Tensor tensorIn(const Cell &A);
  std::optional<int64_t> maybeInteger(llvm::StringRef Names);
  int64_t integer(llvm::StringRef Names, int64_t Default = 0) {
    return maybeInteger(Names).value_or(Default);
  }
  bool flag(llvm::StringRef Names, bool Default = false) {
    return integer(Names, Default) != 0;
  }
  std::optional<double> maybeReal(llvm::StringRef Names);
  /// \p Count of them, where one number stands for all; 0: as many as are
  /// there.
  std::optional<Sizes> maybeIntegers(llvm::StringRef Names, size_t Count = 0);
  Sizes integers(llvm::StringRef Names, size_t Count = 0, int64_t Default = 0) {
    return maybeIntegers(Names, Count).value_or(Sizes(Count, Default));
  }
  std::optional<ElementType> type();
  llvm::StringRef text(llvm::StringRef Names);
  /// A dimension, of \p Count, counted from the end where it is negative.
  size_t dimension(int64_t D, size_t Count);
  /// Kernels, strides and the like, with which sizes are multiplied. False,
  /// and trouble, when one is beyond all sense.
  bool areSmall(llvm::ArrayRef<Sizes> All);

  // Trouble, which they return: what came first.
  const OperatorResult &notFollowed(const llvm::Twine &Why);
  /// The same about an argument, such as "is not known".
  const OperatorResult &notFollowed(llvm::StringRef Names,
                                    const llvm::Twine &How);
  const OperatorResult &throws(const llvm::Twine &Why);
  const OperatorResult &doesNotTake(const TensorPtr &T);
  /// A kernel that is larger than \p X.
  const OperatorResult &leavesNothing(const TensorPtr &X, const Sizes &Kernel);
  /// Are \p X and the weights \p W both of integers, or both not? Else it
  /// throws.
  bool haveOneKind(const TensorPtr &X, const TensorPtr &W);
  /// Is \p X not known to be of integers? Else it throws.
  bool isReal(const TensorPtr &X);
  void doesNotFit(const TensorPtr &A, const TensorPtr &B);
  /// The sizes to which \p All, of which some may be null, are broadcast.
  /// nullopt, and trouble, where they do not fit or there is trouble already.
  std::optional<Sizes> fitted(llvm::ArrayRef<TensorPtr> All);

  // Results.
  Tensor make(Sizes Of, const TensorPtr &Like);
  Tensor make(Sizes Of, ElementType Type);
  /// What is computed of \p From, element by element: in the order of the
  /// first that has one, without gaps. Null is a number.
  Tensor makeOf(Sizes Of, ElementType Type, llvm::ArrayRef<TensorPtr> From);
  /// In the order of the elements of \p Like, without its gaps.
  Tensor makeLike(const TensorPtr &Like,
                  std::optional<ElementType> Type = std::nullopt);
  /// A view of \p Of, without a record.
  Tensor view(const TensorPtr &Of, Sizes To, std::vector<int64_t> Strides);
  /// A part of \p T, without a record. Where it starts does not change what it
  /// holds.
  Tensor part(const TensorPtr &T, size_t D, int64_t Length, int64_t Step = 1);
  /// A view of \p T without its dimension \p D, without a record.
  Tensor withoutDimension(const TensorPtr &T, size_t D);
  /// Memory that is in use as long as what is returned is held.
  BlockPtr allocate(uint64_t Bytes) { return S.allocate(Bytes); }
  /// The same of memory that a kernel needs for itself.
  BlockPtr scratch(uint64_t Bytes) { return S.scratch(Bytes); }
  /// Such memory for the elements of \p T in order; null where they are.
  BlockPtr copyInOrder(const TensorPtr &T);
  /// To the type of autocast; null for null.
  Tensor lowered(const Tensor &T) {
    return S.Autocast ? Tensor(*this, S.cast(T, *S.Autocast)) : T;
  }

  /// Notes that the memory of what runs now is known but for a few percent,
  /// where \p T is an image whose channels are last, and, if \p OfGradient, has
  /// a gradient.
  void estimateChannelsLast(const TensorPtr &T, llvm::StringRef Why,
                            bool OfGradient = false) {
    if (T->isChannelsLast() &&
        (!OfGradient || (S.GradMode && T->needsGradient())))
      S.estimate(Why);
  }
  /// The same of a part of it.
  void estimatePart(const TensorPtr &T) {
    estimateChannelsLast(T,
                         "a gradient comes through a part of an image whose "
                         "channels are last",
                         /*OfGradient=*/true);
  }

  // The graph.
  bool records(llvm::ArrayRef<Differentiated> Inputs) const;
  /// Returns \p Results.
  OperatorResult record(llvm::ArrayRef<TensorPtr> Results,
                        llvm::ArrayRef<Differentiated> Inputs,
                        llvm::ArrayRef<KeptMemory> Kept = {},
                        uint64_t Scratch = 0,
                        std::optional<uint64_t> CopyScratch = std::nullopt);
  OperatorResult record(llvm::ArrayRef<TensorPtr> Results,
                        llvm::ArrayRef<Differentiated> Inputs,
                        llvm::ArrayRef<KeptMemory> Kept, ScratchRule Scratch);

  // Other operators; where one fails, that is this one's trouble.
  std::vector<Tensor> runs(llvm::StringRef Which, const Arguments &With);
  Tensor run(llvm::StringRef Which, const Arguments &With);
};

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// A row of a family's table.
struct OperatorRule {
  /// Separated by spaces. "conv#d" stands for conv1d, conv2d and conv3d;
  /// "multiply=mul": another name for mul.
  llvm::StringRef Names;
  OperatorResult (*Run)(OperatorCall &Op);
  /// What backward() needs besides the gradients, in sizes of the argument. A
  /// quarter stands for a byte for each element.
  double Scratch = 0;
};

/// How the elements of gradients lie that operators make.
enum class GradientOrder : unsigned char {
  InOrder,
  OfInput,    ///< As those of the input, where they are dense.
  OfGradient, ///< As those of what comes, element by element.
};

/// A family of operators.
struct RuleTable {
  llvm::ArrayRef<OperatorRule> Rules;
  /// They have forms in place, whose names have a "_" more.
  bool InPlace = false;
  /// None is followed where the argument "dim" is not known.
  bool NeedsDimension = true;
  GradientOrder Order = GradientOrder::InOrder;
};
/// Is there a rule for the operator of that name?
bool hasRule(llvm::StringRef Name);
extern const RuleTable TruthRules, ElementRules, ReductionRules, ShapeRules,
    IndexRules, ConvolutionRules, SpatialRules, NetworkRules, LossRules,
    ComposedRules, RecurrentRules, AttentionRules;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

uint64_t bytesOf(const TensorPtr &T);
int64_t elementsIn(const TensorPtr &T);
/// The bytes of the gradient of \p T; 0 where it needs none, and for null.
uint64_t gradientBytes(const TensorPtr &T);
inline ElementType typeOf(const TensorPtr &T) {
  return T->Shape.Type.value_or(Float32);
}
/// The numbers of a list of integers, or one integer; nullopt for others, and
/// for null.
std::optional<Sizes> integersIn(const Cell &A);
/// The tensors of a list of them, or one tensor; none of others.
std::vector<TensorPtr> tensorsIn(const Cell &A);
/// The bytes of \p T in \p Type; 0 where it is of that already.
uint64_t convertedBytes(const TensorPtr &T, ElementType Type);
/// The type of a result of two operands, as LibTorch promotes.
ElementType promoted(const TensorInstance &A, const TensorInstance &B);
/// What a copy of \p T with its elements in order takes for the moment: a large
/// transposed matrix goes through a buffer.
uint64_t bytesToTranspose(const TensorPtr &T);
/// The strides with which \p T is seen as of sizes \p To, as
/// at::detail::computeStride has it; nullopt when it has to be copied.
std::optional<std::vector<int64_t>> stridesOfView(const TensorPtr &T,
                                                  const Sizes &To);
/// The strides of what is computed of elements that lie as \p All say: those of
/// the first that has an order, as at::TensorIterator::reorder_dimensions()
/// finds it.
Sizes orderOf(const Sizes &Of, llvm::ArrayRef<Sizes> All);
/// How a gradient for \p E lies of sizes \p Of, those of what has come.
Sizes orderOf(const Sizes &Of, const GradientNode::Edge &E,
              const TensorPtr &Come);
/// The strides with which \p T is seen as of sizes \p Of, to which it is
/// broadcast.
Sizes repeatedStrides(const TensorPtr &T, const Sizes &Of);
/// \p T without its memory, for what is computed in backward(). Null of null.
Tensor withoutMemory(const Tensor &T);
/// The bytes of \p Count elements of as many bytes; 0 where nothing has as
/// many.
uint64_t elementsOf(int64_t Count, unsigned Each);
/// All of \p Count dimensions but \p D, which may be none of them.
std::vector<int> axesWithout(size_t Count, size_t D);
/// The last \p Count of \p Of.
Sizes lastOf(const Sizes &Of, size_t Count);
int64_t productOf(llvm::ArrayRef<int64_t> Of);
std::string shown(llvm::ArrayRef<int64_t> Of);
/// The sizes of a result of both; nullopt when they do not fit.
std::optional<Sizes> broadcast(llvm::ArrayRef<int64_t> A,
                               llvm::ArrayRef<int64_t> B);

/// What backward() of an operator has at once, in the order in which it makes
/// gradients. They are as large as the result and of its type, until those of
/// an operand that was broadcast are added up, and those of another type
/// converted.
class InBackward {
public:
  InBackward(const OperatorCall &Op, const GradientNode &Node,
             const TensorPtr &Come)
      : Op(Op), Next(Node.Edges.begin()), End(Node.Edges.end()), Come(Come),
        Of(Come->sizes()) {}

  /// A gradient is made, with so much besides it. \p Type: without one, that
  /// of the result.
  void make(uint64_t Besides, std::optional<ElementType> Type = std::nullopt) {
    Peak = std::max(Peak, Live + size(Type) + Besides);
    Live += size(Type);
  }
  /// The same of \p Count of them, which take \p Most.
  void makeAll(unsigned Count, uint64_t Most) {
    Peak = std::max(Peak, Most);
    Live += Count * size(std::nullopt);
  }
  /// The gradient of \p T, the next of the node's inputs, gets the sizes of \p
  /// T. \p IsMade: with memory of its own before that.
  void reduce(const Tensor &T, bool IsMade = true,
              std::optional<ElementType> Made = std::nullopt) {
    if (!T || !T->needsGradient() || Next == End)
      return;
    const ElementType Type = Made.value_or(typeOf(Come));
    const GradientNode::Edge &E = *Next++;
    const bool Grows = T->sizes() != Of;
    const bool Converts = typeOf(T).Name != Type.Name;
    if (IsMade || Grows)
      Counted += bytesOf(T);
    const uint64_t Added = elementsOf(elementsIn(T), Type.Bytes);
    if (Grows) {
      Live += Added;
      const Sizes Lies = IsMade ? orderOf(Of, E, Come) : Come->Strides;
      Peak = std::max(Peak, Live + Op.widenedToReduce(Type, Of, Lies, T));
      if (IsMade)
        Live -= size(Made);
    }
    if (Converts && (IsMade || Grows)) {
      Live += bytesOf(T);
      Peak = std::max(Peak, Live);
      Live -= Grows ? Added : size(Made);
    }
  }
  /// Besides the gradients.
  uint64_t scratch() const { return Peak > Counted ? Peak - Counted : 0; }

private:
  uint64_t size(std::optional<ElementType> Type) const {
    return elementsOf(productOf(Of), Type.value_or(typeOf(Come)).Bytes);
  }

  const OperatorCall &Op;
  std::vector<GradientNode::Edge>::const_iterator Next;
  const std::vector<GradientNode::Edge>::const_iterator End;
  const TensorPtr Come;
  const Sizes Of;
  uint64_t Live = 0, Peak = 0, Counted = 0;
};

} // namespace libtorch_tidy::bytes

#endif // LIBTORCH_TIDY_ANALYSIS_BYTES_SIMULATE_OPERATORRULES_H
