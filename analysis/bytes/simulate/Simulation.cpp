//===- Simulation.cpp - Memory, autocast ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/bytes/simulate/OperatorRules.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"
#include <map>

using llvm::ArrayRef;
using llvm::StringRef;

namespace libtorch_tidy::bytes {

// The names are those of CUDACachingAllocator.cpp.
static constexpr uint64_t MinBlockSize = 512;          ///< And its multiples.
static constexpr uint64_t SmallSize = 1ULL << 20;      ///< Up to it.
static constexpr uint64_t SmallBuffer = 2ULL << 20;    ///< A segment of those.
static constexpr uint64_t MinLargeAlloc = 10ULL << 20; ///< Below it:
static constexpr uint64_t LargeBuffer = 20ULL << 20;   ///< a segment of this.
static constexpr uint64_t RoundLarge = 2ULL << 20;     ///< Others, rounded.

uint64_t CachingAllocator::rounded(uint64_t Bytes) {
  return Bytes > UINT64_MAX - MinBlockSize ? Bytes
                                           : llvm::alignTo(Bytes, MinBlockSize);
}

uint64_t CachingAllocator::allocate(uint64_t Bytes) {
  const uint64_t Wanted = rounded(Bytes);
  const bool IsSmall = Wanted <= SmallSize;
  Pool &In = IsSmall ? Small : Large;
  uint64_t Size, Address;
  if (const auto Best = In.lower_bound({Wanted, 0}); Best != In.end()) {
    std::tie(Size, Address) = *Best;
    In.erase(Best);
  } else {
    Size = IsSmall                  ? SmallBuffer
           : Wanted < MinLargeAlloc ? LargeBuffer
                                    : llvm::alignTo(Wanted, RoundLarge);
    // Segments do not touch each other.
    Address = 2 * Reserved;
    Reserved += Size;
  }
  const uint64_t Rest = Size - Wanted;
  if (IsSmall ? Rest >= MinBlockSize : Rest > SmallSize) {
    Sizes[Address + Wanted] = Rest;
    In.insert({Rest, Address + Wanted});
    Size = Wanted;
  }
  Sizes[Address] = Size;
  return Address;
}

void CachingAllocator::free(uint64_t Address) {
  auto Part = Sizes.find(Address);
  // What is given out of the large ones is larger.
  Pool &In = Part->second <= SmallSize ? Small : Large;
  // Neighbours that are free become a part of it.
  if (const auto Next = std::next(Part);
      Next != Sizes.end() && Next->first == Address + Part->second &&
      In.erase({Next->second, Next->first})) {
    Part->second += Next->second;
    Sizes.erase(Next);
  }
  if (Part != Sizes.begin())
    if (const auto Before = std::prev(Part);
        Before->first + Before->second == Address &&
        In.erase({Before->second, Before->first})) {
      Before->second += Part->second;
      Sizes.erase(Part);
      Part = Before;
    }
  In.insert({Part->second, Part->first});
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Beyond all machines, and far from where sums of it overflow.
static constexpr uint64_t MostBytes = 1ULL << 60;

Block::Block(std::shared_ptr<Memory> Of, uint64_t Bytes)
    : Of(std::move(Of)), Bytes(Bytes), Place(this->Of->Place) {
  Memory &M = *this->Of;
  if (Bytes > MostBytes || M.Live + Bytes > MostBytes) {
    M.TooLarge = true;
    this->Bytes = 0;
  }
  M.Blocks.insert(this);
  if (M.Allocator && this->Bytes) {
    Address = M.Allocator->allocate(this->Bytes);
    this->Bytes = M.Allocator->sizeOf(*Address);
  }
  M.change(M.Live + this->Bytes);
}

Block::~Block() {
  if (Address)
    Of->Allocator->free(*Address);
  Of->Blocks.erase(this);
  Of->change(Of->Live - Bytes);
}

/// Neighbours of \p Line become one, so that it has half as many.
static void halve(std::vector<TimeRow> &Line) {
  size_t Kept = 0;
  for (size_t I = 0; I < Line.size(); I += 2) {
    TimeRow Point = Line[I];
    if (I + 1 < Line.size()) {
      if (Line[I + 1].Most > Point.Most)
        Point = Line[I + 1];
      Point.After = Line[I + 1].After;
    }
    Line[Kept++] = Point;
  }
  Line.resize(Kept);
}

void Memory::change(uint64_t Now) {
  const uint64_t Before = Live;
  Live = Now;
  if (Live > Peak) {
    Peak = Live;
    PlaceOfPeak = Place;
  }
  if (!TimeLine)
    return;
  if (TimeLine->empty() || TimeLine->back().Place != Place) {
    if (TimeLine->size() >= 16 * MaxTimePoints)
      halve(*TimeLine);
    TimeLine->push_back({Place, false, Before, Live});
  }
  TimeRow &Last = TimeLine->back();
  Last.Most = std::max(Last.Most, Live);
  Last.After = Live;
}

std::vector<TimeRow> Memory::takeTimeLine() {
  std::vector<TimeRow> Result;
  if (TimeLine)
    Result = std::move(*TimeLine);
  TimeLine.reset();
  while (Result.size() > MaxTimePoints)
    halve(Result);
  return Result;
}

std::vector<int64_t> TensorInstance::sizes() const {
  std::vector<int64_t> Result;
  if (Shape.Sizes)
    for (const Size &S : *Shape.Sizes)
      Result.push_back(S.value_or(0));
  return Result;
}

std::vector<int64_t> contiguousStrides(ArrayRef<int64_t> Sizes) {
  std::vector<int64_t> Result(Sizes.size());
  int64_t Stride = 1;
  for (size_t I = Sizes.size(); I-- > 0;) {
    Result[I] = Stride;
    // No tensor has as many.
    if (__builtin_mul_overflow(Stride, std::max<int64_t>(Sizes[I], 1), &Stride))
      Stride = 1;
  }
  return Result;
}

/// Do the elements of \p T lie one after the other, dimension by dimension in
/// \p Order, the slowest first?
static bool lieInOrder(const TensorInstance &T, ArrayRef<size_t> Order) {
  int64_t Stride = 1;
  const std::vector<int64_t> Sizes = T.sizes();
  for (const size_t I : llvm::reverse(Order)) {
    if (Sizes[I] == 0)
      return true;
    if (Sizes[I] != 1 && T.Strides[I] != Stride)
      return false;
    Stride *= Sizes[I];
  }
  return true;
}

bool TensorInstance::isContiguous() const {
  return lieInOrder(*this,
                    llvm::to_vector(llvm::seq<size_t>(0, Strides.size())));
}

bool TensorInstance::hasChannelsLast() const {
  return Strides.size() == 4 && lieInOrder(*this, {0, 2, 3, 1});
}

bool TensorInstance::isDense() const {
  std::vector<std::pair<int64_t, int64_t>> Dimensions;
  const std::vector<int64_t> Sizes = sizes();
  for (size_t I = 0; I < Sizes.size(); ++I)
    if (Sizes[I] != 1)
      Dimensions.emplace_back(Strides[I], Sizes[I]);
  llvm::sort(Dimensions);
  int64_t Expected = 1;
  for (const auto &[Stride, Count] : Dimensions) {
    if (Stride != Expected)
      return false;
    Expected *= Count;
  }
  return true;
}

BlockPtr Simulation::allocate(uint64_t Count) {
  if (Device == DeviceKind::Cuda)
    Count = CachingAllocator::rounded(Count);
  return std::make_shared<Block>(Bytes, Count);
}

BlockPtr Simulation::scratch(uint64_t Count) {
  return Device == DeviceKind::Cuda ? nullptr : allocate(Count);
}

TensorPtr Simulation::make(std::vector<int64_t> Sizes, ElementType Type) {
  auto T = std::make_shared<TensorInstance>();
  T->Strides = contiguousStrides(Sizes);
  T->Shape.Sizes = std::vector<Size>(Sizes.begin(), Sizes.end());
  T->Shape.Type = Type;
  T->Memory = allocate(T->Shape.bytes().value_or(UINT64_MAX));
  return T;
}

void Simulation::place(TensorInstance &T) {
  const std::optional<uint64_t> Count = T.Shape.bytes();
  if (!Count || !T.Shape.Sizes || !T.Shape.Type)
    return;
  T.Strides = contiguousStrides(T.sizes());
  T.Memory = allocate(*Count);
}

//===----------------------------------------------------------------------===//
// The graph
//===----------------------------------------------------------------------===//

/// A long chain of nodes is not freed by a recursion as long.
GradientNode::~GradientNode() {
  std::vector<NodePtr> Pending;
  auto Take = [&](GradientNode &N) {
    for (Edge &E : N.Edges)
      if (E.To && E.To.use_count() == 1)
        Pending.push_back(std::move(E.To));
  };
  Take(*this);
  while (!Pending.empty()) {
    const NodePtr Next = std::move(Pending.back());
    Pending.pop_back();
    Take(*Next);
  }
}

//===----------------------------------------------------------------------===//
// Autocast
//===----------------------------------------------------------------------===//

namespace {

/// What autocast does before an operator runs.
enum class CastPolicy : unsigned char {
  None,   ///< It does not know the operator: those inside may be cast.
  Lower,  ///< All tensors to the type of autocast.
  Single, ///< All to float32.
  Widest, ///< All to the widest type among them.
  Result, ///< The result is of float32, without a conversion of its own.
};

/// Operators that LibTorch 1.13.1 registers for autocast (the kernels of
/// DispatchKey::AutocastCPU and AutocastCUDA), and losses by the names of their
/// functionals, too. What happens to tensors is in ATen/autocast_mode.h.
struct CastRow {
  StringRef Names;
  CastPolicy OnCpu, OnCuda;
};

} // namespace

static constexpr CastRow CastRows[] = {
    {"conv1d conv2d conv3d conv_tbc linear matmul mm bmm addmm addbmm baddbmm "
     "scaled_dot_product_attention",
     CastPolicy::Lower, CastPolicy::Lower},
    {"mv addmv addr einsum prelu gru_cell lstm_cell rnn_tanh_cell "
     "rnn_relu_cell",
     CastPolicy::None, CastPolicy::Lower},
    {"conv_transpose1d conv_transpose2d conv_transpose3d", CastPolicy::Single,
     CastPolicy::Lower},
    {"mse_loss l1_loss smooth_l1_loss huber_loss nll_loss kl_div "
     "poisson_nll_loss binary_cross_entropy_with_logits soft_margin_loss "
     "cosine_embedding_loss hinge_embedding_loss margin_ranking_loss "
     "multi_margin_loss multilabel_margin_loss triplet_margin_loss cdist",
     CastPolicy::Single, CastPolicy::Single},
    {"avg_pool3d max_pool3d adaptive_avg_pool3d adaptive_max_pool3d "
     "binary_cross_entropy cross_entropy cross_entropy_loss ctc_loss trace",
     CastPolicy::Single, CastPolicy::None},
    {"acos asin cosh erfinv exp expm1 log log10 log1p log2 reciprocal rsqrt "
     "sinh tan pow softplus layer_norm group_norm norm cosine_similarity dist "
     "logsumexp renorm",
     CastPolicy::None, CastPolicy::Single},
    {"cat stack index_copy", CastPolicy::Widest, CastPolicy::None},
    {"grid_sample grid_sampler", CastPolicy::Single, CastPolicy::Widest},
    {"addcdiv addcmul atan2 bilinear cross dot index_put scatter_add tensordot",
     CastPolicy::None, CastPolicy::Widest},
    {"prod", CastPolicy::Single, CastPolicy::Result},
    {"softmax log_softmax sum cumsum cumprod", CastPolicy::None,
     CastPolicy::Result},
};

static CastPolicy policyOf(StringRef Name, DeviceKind Device) {
  for (const CastRow &Row : CastRows)
    if (llvm::is_contained(llvm::split(Row.Names, ' '), Name))
      return Device == DeviceKind::Cuda ? Row.OnCuda : Row.OnCpu;
  return CastPolicy::None;
}

/// Autocast leaves float64, complex numbers and integers alone.
static bool isEligible(const TensorPtr &T) {
  return T && T->Shape.Defined && T->Shape.Type && isFloating(*T->Shape.Type) &&
         T->Shape.Type->Bytes <= 4 &&
         !StringRef(T->Shape.Type->Name).contains("complex");
}

static bool isEligible(const Cell &A) {
  return A->What == Value::Tensor && isEligible(A->Handle);
}

static TensorPtr converted(Simulation &S, const TensorPtr &T, ElementType To) {
  const OperatorResult Result =
      OperatorCall(S, "to", {{"self", T}, {"dtype", To}}).run();
  return Result.What == OperatorResult::One ? Result.Tensors.front() : T;
}

TensorPtr Simulation::cast(const TensorPtr &T, ElementType To) {
  if (!Autocast || InAutocast || !isEligible(T) ||
      T->Shape.Type->Name == To.Name)
    return T;
  // Those of parameters are kept, until the region of autocast ends.
  const bool IsKept = To.Name == Autocast->Name && !T->Maker &&
                      T->Shape.Type->Name == Float32.Name &&
                      T->RequiresGrad.value_or(false) && CachesCasts;
  if (IsKept)
    if (const auto It = Casts.find(T); It != Casts.end())
      return It->second;
  TensorPtr Result = converted(*this, T, To);
  if (IsKept)
    Casts[T] = Result;
  return Result;
}

/// torch::nn's linear() of what is not a matrix is matmul(), and the bias is
/// added to the result as it is.
static OperatorResult addBias(Simulation &S, Arguments Given) {
  const Argument Bias = Given["bias"];
  Given.erase("bias");
  OperatorResult Result = S.run("linear", Given);
  if (Result.What != OperatorResult::One)
    return Result;
  return S.run("add_", {{"self", Result.Tensors.front()}, {"other", Bias}});
}

OperatorResult Simulation::run(StringRef Name, const Arguments &Given) {
  const CastPolicy Policy =
      Autocast && !InAutocast ? policyOf(Name, Device) : CastPolicy::None;
  if (Policy == CastPolicy::None)
    return OperatorCall(*this, Name, Given).run();
  const auto Input = Given.find("input"), Bias = Given.find("bias");
  const bool IsLinear = Name == "linear" && Input != Given.end();
  if (IsLinear && Bias != Given.end() && isEligible(Bias->second) &&
      isEligible(Input->second) && Input->second->Handle->sizes().size() != 2)
    return addBias(*this, Given);
  Arguments With = Given;
  const ElementType To = Policy == CastPolicy::Lower ? *Autocast : Float32;
  std::vector<Cell *> Eligible;
  for (auto &[Of, A] : With) {
    if (A->What == Value::List)
      A = cell(*A);
    for (Cell &T : A->What == Value::List ? llvm::MutableArrayRef(A->Elements)
                                          : llvm::MutableArrayRef<Cell>(A))
      if (isEligible(T)) {
        // It is a transposed view that is cast, which is not kept.
        if (IsLinear && Of == "weight")
          T = tensorValue(converted(*this, T->Handle, To));
        else
          Eligible.push_back(&T);
      }
  }
  if (Policy == CastPolicy::Widest &&
      llvm::none_of(Eligible, [](const Cell *T) {
        return (*T)->Handle->Shape.Type->Bytes == Float32.Bytes;
      }))
    Eligible.clear();
  if (Policy == CastPolicy::Result) {
    if (!Eligible.empty() && !With.count("dtype"))
      With["dtype"] = Float32;
    Eligible.clear();
  }
  for (Cell *T : Eligible)
    *T = tensorValue(cast((*T)->Handle, To));
  // What the operator runs itself is not cast again.
  InAutocast = true;
  const auto Leave = llvm::make_scope_exit([&] { InAutocast = false; });
  return OperatorCall(*this, Name, With).run();
}

} // namespace libtorch_tidy::bytes
