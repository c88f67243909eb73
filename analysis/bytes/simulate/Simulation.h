//===- Simulation.h - Tensors without their elements ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What LibTorch's operators do to memory, without doing it: tensors that have
/// sizes and strides and no elements, the memory that they share, the graph
/// that autograd builds of them, and backward() over it. Bytes are those that
/// operators ask the allocator of the CPU for, with oneDNN switched off unless
/// the device says otherwise, in LibTorch 1.13.1, 2.6.0 and 2.14.1;
/// test/budget/steps.test compares them with the library.

#ifndef LIBTORCH_TIDY_ANALYSIS_BYTES_SIMULATE_SIMULATION_H
#define LIBTORCH_TIDY_ANALYSIS_BYTES_SIMULATE_SIMULATION_H

#include "analysis/bytes/Bytes.h"
#include "analysis/bytes/library/ModuleParameters.h"
#include <functional>
#include <memory>
#include <set>

namespace libtorch_tidy::bytes {

struct Block;

/// A larger number is no size, and nothing is computed with it.
inline constexpr int64_t MostOfDimension = 1LL << 40;

inline constexpr size_t MaxTimePoints = 400;

/// Of places: what runs there is the backward of it.
inline constexpr unsigned BackwardPlace = 1U << 31;

/// How LibTorch asks a GPU for memory: in segments, of which it gives out parts
/// and which it keeps. The rules of c10/cuda/CUDACachingAllocator.cpp in
/// 1.13.1 with its defaults, on one stream: without a limit of the device,
/// where it would give back what is free, and without emptyCache().
class CachingAllocator {
public:
  /// What it gives out for \p Bytes.
  static uint64_t rounded(uint64_t Bytes);
  /// Gives out a part of a segment, and returns its address. \p Bytes is above
  /// 0.
  uint64_t allocate(uint64_t Bytes);
  /// Of the part at \p Address: up to 1 MB more than was asked for, where the
  /// rest of a segment is too small to be one of its own.
  uint64_t sizeOf(uint64_t Address) const { return Sizes.at(Address); }
  void free(uint64_t Address);
  /// The bytes of all segments, which is what the process takes of the device.
  uint64_t reserved() const { return Reserved; }

private:
  std::map<uint64_t, uint64_t> Sizes; ///< Of all parts, by their addresses.
  /// The sizes and addresses of those that are free.
  using Pool = std::set<std::pair<uint64_t, uint64_t>>;
  Pool Small, Large;
  uint64_t Reserved = 0;
};

/// How much memory is in use. A place is a number that its user knows: what
/// runs while memory is asked for.
class Memory {
public:
  /// With \p Caches, memory is given out by LibTorch's allocator for GPUs.
  explicit Memory(bool Caches)
      : Allocator(Caches ? std::make_unique<CachingAllocator>() : nullptr) {}

  uint64_t live() const { return Live; }
  uint64_t peak() const { return Peak; }
  /// What the allocator has asked the device for; 0 without one.
  uint64_t reserved() const { return Allocator ? Allocator->reserved() : 0; }
  unsigned placeOfPeak() const { return PlaceOfPeak; }
  /// The peak of what comes.
  void restartPeak() {
    Peak = Live;
    PlaceOfPeak = Place;
  }
  /// The peak and the time line up to here.
  struct Course {
    uint64_t Peak;
    unsigned PlaceOfPeak;
    std::optional<std::vector<TimeRow>> TimeLine;
  };
  Course course() const { return {Peak, PlaceOfPeak, TimeLine}; }
  void setCourse(Course To) {
    Peak = To.Peak;
    PlaceOfPeak = To.PlaceOfPeak;
    TimeLine = std::move(To.TimeLine);
  }
  /// What comes is written down, until it is taken, in the order of time: at
  /// most MaxTimePoints; of more, neighbours are one. A place that runs several
  /// times has as many.
  void startTimeLine() { TimeLine.emplace(); }
  /// Places are as setPlace() was given them, BackwardPlace included.
  std::vector<TimeRow> takeTimeLine();
  unsigned place() const { return Place; }
  void setPlace(unsigned Now) { Place = Now; }
  /// More was asked for than a machine could address; the rest counts nothing.
  bool isTooLarge() const { return TooLarge; }
  const std::set<const Block *> &blocks() const { return Blocks; }

private:
  friend struct Block;
  void change(uint64_t Now);
  uint64_t Live = 0, Peak = 0;
  unsigned Place = 0, PlaceOfPeak = 0;
  bool TooLarge = false;
  std::set<const Block *> Blocks;
  std::optional<std::vector<TimeRow>> TimeLine;
  const std::unique_ptr<CachingAllocator> Allocator;
};

/// Memory of a tensor: what c10::Storage has. It is in use as long as somebody
/// holds it.
struct Block {
  Block(std::shared_ptr<Memory> Of, uint64_t Bytes);
  ~Block();
  Block(const Block &) = delete;
  Block &operator=(const Block &) = delete;

  const std::shared_ptr<Memory> Of;
  uint64_t Bytes;
  const unsigned Place; ///< Where it was asked for.

private:
  std::optional<uint64_t> Address; ///< In a CachingAllocator.
};
using BlockPtr = std::shared_ptr<Block>;

class OperatorCall;
struct GradientNode;
using NodePtr = std::shared_ptr<GradientNode>;

/// A tensor. Copies of a handle share it.
struct TensorInstance {
  TensorShape Shape;
  /// Absent: not known.
  std::optional<bool> RequiresGrad = false;

  // Of a tensor that takes part in a pass:
  std::vector<int64_t> Strides; ///< In elements, as many as there are sizes.
  BlockPtr Memory;              ///< Views share it.
  NodePtr Maker;                ///< The node that computes its gradient.
  unsigned MakerOutput = 0;
  BlockPtr Gradient; ///< Of a leaf.
  /// Of a gradient: it is a view, whose base lives as long as it does.
  bool HasBase = false;
  /// Of a PackedSequence, whose data it is: its steps. Every sequence in it
  /// counts as one of full length. 0 for others.
  int64_t PackedSteps = 0;

  /// Its sizes, of which all are known.
  std::vector<int64_t> sizes() const;
  bool isContiguous() const;
  /// The same for an image whose channels come last.
  bool hasChannelsLast() const;
  /// Such an image whose elements are in no other order as well.
  bool isChannelsLast() const { return hasChannelsLast() && !isContiguous(); }
  /// Its elements fill a piece of memory without holes.
  bool isDense() const;
  bool needsGradient() const { return Maker || RequiresGrad.value_or(false); }
};

/// Why a write to x[0] is not followed: the graph of x would have it.
inline constexpr llvm::StringLiteral WrittenIntoPart =
    "what the graph keeps of a write into a part of a tensor is not known";

/// The strides of a tensor of \p Sizes whose elements are in their order.
std::vector<int64_t> contiguousStrides(llvm::ArrayRef<int64_t> Sizes);
/// The same of an image whose channels are last.
std::vector<int64_t> channelsLastStrides(llvm::ArrayRef<int64_t> Sizes);
/// c10::MemoryFormat.
enum : int64_t { InOrder, Preserved, ChannelsLast, ChannelsLast3d };

/// How a node makes the gradient of one of its inputs.
enum class GradientKind : unsigned char {
  Fresh,    ///< In memory of its own.
  Seen,     ///< The same, and then seen with other sizes or in another order.
  Alias,    ///< The incoming gradient itself.
  View,     ///< A view of it: in parts, repeated, or in another order.
  Reshaped, ///< The same elements with other sizes: a copy, if it has to be.
  Constant, ///< One number for all elements.
};

/// What backward() of \p Node needs besides the gradients, when \p Come comes.
/// It holds no tensor's memory.
using ScratchRule = std::function<uint64_t(
    const OperatorCall &Op, const GradientNode &Node, const TensorPtr &Come)>;

/// What autograd keeps of an operator until backward().
struct GradientNode {
  struct Edge {
    GradientKind Kind = GradientKind::Fresh;
    NodePtr To;         ///< Null for a leaf.
    unsigned Input = 0; ///< Of To: which of its results.
    TensorPtr Leaf;
    uint64_t Bytes = 0;
    TensorShape Shape;
    std::vector<int64_t> Strides; ///< Of a fresh one.
    /// The strides of what it is computed of, element by element, if it is: of
    /// the sizes of what comes, which itself is the one without any. It lies in
    /// the order of the first that has one.
    std::vector<std::vector<int64_t>> From;
    /// Of a view: of each dimension, the one of what comes whose stride it has;
    /// -1 for one that repeats.
    std::vector<int> Axes;
  };

  ~GradientNode();

  uint64_t Sequence = 0; ///< Later ones run first.
  unsigned Place = 0;
  unsigned Results = 1;
  std::vector<Edge> Edges;
  std::vector<BlockPtr> Kept;
  /// What its backward needs besides the gradients, at most.
  uint64_t Scratch = 0;
  /// The same where what comes has to be copied, as the gradient of a sum.
  uint64_t CopyScratch = 0;
  /// Instead of both, where it depends on how what comes lies.
  ScratchRule ScratchOf;
  /// Is a gradient read as it lies? By most, if it is contiguous or, of an
  /// image, its channels come last.
  bool (*Reads)(const TensorInstance &Gradient) = nullptr;
  /// With which sizes what comes is seen before that; empty: with its own.
  std::vector<int64_t> SeenAs;
  /// Of a custom function: runs its backward() with the gradients of its
  /// results, and gives those of Edges, null for none.
  std::function<std::vector<TensorPtr>(llvm::ArrayRef<TensorPtr>)> Run;
  /// With Run, and of results that count as zeros where nothing has come.
  std::vector<TensorShape> ResultShapes;
};

/// An argument of an operator: a value without pointers, objects and modules,
/// and unknown where a part of it is. Never null. What rules give other
/// operators converts to one.
struct Argument : Cell {
  Argument() : Cell(valueOf(Value::Unknown)) {}
  Argument(Cell V) : Cell(std::move(V)) {}
  template <class T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
  Argument(T Number) : Cell(integer(Number)) {}
  Argument(double Number) : Cell(real(Number)) {}
  Argument(ElementType Element) : Cell(typeValue(Element)) {}
  Argument(TensorPtr T)
      : Cell(T ? tensorValue(std::move(T)) : valueOf(Value::Null)) {}
  template <class T> Argument(const std::vector<T> &All) : Cell(listOf({})) {
    for (const T &Each : All)
      get()->Elements.push_back(Argument(Each));
  }
};
using Arguments = std::map<std::string, Argument>;

/// What an operator gives.
struct OperatorResult {
  enum Kind : unsigned char {
    NotFollowed, ///< There is no rule for it; Why says what is missing, if so.
    Throws,      ///< The sizes do not fit: Why says how.
    One,
    Several, ///< A tuple, or a list.
  } What = NotFollowed;
  std::vector<TensorPtr> Tensors;
  std::string Why;

  OperatorResult() = default;
  OperatorResult(Kind What, std::string Why)
      : What(What), Why(std::move(Why)) {}
  OperatorResult(TensorPtr T) : What(One), Tensors({std::move(T)}) {}
  template <class Handle>
  OperatorResult(const std::vector<Handle> &All)
      : What(Several), Tensors(All.begin(), All.end()) {}
};

/// The tensors of a pass.
class Simulation {
public:
  Simulation(DeviceKind Device, torch::Release Library)
      : Device(Device), Library(Library),
        Bytes(std::make_shared<Memory>(Device == DeviceKind::Cuda)) {}

  Memory &memory() { return *Bytes; }
  const Memory &memory() const { return *Bytes; }
  const DeviceKind Device;
  const torch::Release Library;
  bool HasConvolutions = false; ///< Of float32, up to now.
  bool isSince(torch::Release First) const { return Library >= First; }
  /// Rules are those of it, where they do not ask.
  static constexpr torch::Release Measured = {1, 13};

  /// Autograd records.
  bool GradMode = true;

  /// Mixed precision: until the end operators run in \p Type where autocast has
  /// them do so.
  void beginAutocast(ElementType Type) { Autocast = Type; }
  void endAutocast() {
    Autocast.reset();
    clearCasts();
  }
  /// The same as a program does it, which may do it in other orders: null is
  /// off, and what was cast stays until clearCasts().
  void setAutocast(std::optional<ElementType> Type, bool Caches) {
    Autocast = Type;
    CachesCasts = Caches;
  }
  void clearCasts() { Casts.clear(); }

  /// A tensor with memory of its own that is contiguous.
  TensorPtr make(std::vector<int64_t> Sizes, ElementType Type);
  /// Gives \p T, a parameter or a buffer, its memory, if its size is known.
  void place(TensorInstance &T);
  BlockPtr allocate(uint64_t Bytes);
  /// Memory that an operator needs while it runs; null where that is not known.
  BlockPtr scratch(uint64_t Bytes);

  /// Runs the operator \p Name: "conv2d", "relu_", "add". Its arguments go by
  /// the names of the parameters that LibTorch declares, and of the options of
  /// its functionals.
  OperatorResult run(llvm::StringRef Name, const Arguments &Given);

  /// What runs now takes at most what is counted, since sizes depend on values.
  void atMost(llvm::StringRef Why) {
    Bounds.emplace(Bytes->place(), Why.str());
  }
  /// What runs now is known to take somewhat more or less than is counted.
  void estimate(llvm::StringRef Why) {
    Estimates.emplace(Bytes->place(), Why.str());
  }
  /// Where, by the numbers of places, and why.
  using Remarks = std::set<std::pair<unsigned, std::string>>;
  const Remarks &bounds() const { return Bounds; }
  const Remarks &estimates() const { return Estimates; }

  /// What sum() of each of \p Results needs for itself.
  void addUp(llvm::ArrayRef<TensorPtr> Results);
  /// backward() of the sum of \p Results, or with the gradients \p Given. Those
  /// that need no gradient count nothing. \p KeepsGraph: for another one.
  void backward(llvm::ArrayRef<TensorPtr> Results,
                llvm::ArrayRef<TensorPtr> Given = {}, bool KeepsGraph = false);
  /// The bytes of a number that is added to \p T, or multiplied by it, while
  /// that runs: a double, and the same in the type of \p T.
  uint64_t bytesOfNumber(const TensorInstance &T) const;

  /// The node of a custom function, before its forward() runs.
  NodePtr makeNode();
  /// That \p Node gives the gradients of \p Inputs from those of \p Results.
  void record(const NodePtr &Node, llvm::ArrayRef<TensorPtr> Inputs,
              llvm::ArrayRef<TensorPtr> Results);

private:
  friend class OperatorCall;
  /// As autocast does it, where it is on; \p T itself where not.
  TensorPtr cast(const TensorPtr &T, ElementType To);
  std::shared_ptr<Memory> Bytes;
  uint64_t Sequence = 0;
  Remarks Bounds, Estimates;
  std::optional<ElementType> Autocast;
  /// Casts of parameters, which autocast caches.
  std::map<std::weak_ptr<TensorInstance>, TensorPtr,
           std::owner_less<std::weak_ptr<TensorInstance>>>
      Casts;
  bool CachesCasts = true;
  bool InAutocast = false; ///< An operator that autocast knows runs.
};

} // namespace libtorch_tidy::bytes

#endif // LIBTORCH_TIDY_ANALYSIS_BYTES_SIMULATE_SIMULATION_H
