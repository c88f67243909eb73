//===- Backward.cpp - Gradients on their way ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/bytes/simulate/OperatorRules.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include <queue>

using llvm::ArrayRef;

namespace libtorch_tidy::bytes {

/// A gradient on its way: null where none has come, and without memory where it
/// is the expanded 1 of a sum. A leaf takes over one that nobody else has.
using Gradient = TensorPtr;

static Gradient lying(const TensorShape &Shape, Sizes Strides,
                      BlockPtr Memory) {
  auto T = std::make_shared<TensorInstance>();
  T->Shape = Shape;
  // A custom function may give what does not fit.
  const Sizes Of = T->sizes();
  T->Strides =
      Of.size() == Strides.size() ? std::move(Strides) : contiguousStrides(Of);
  T->Memory = std::move(Memory);
  return T;
}

static Gradient seen(Gradient View) {
  View->HasBase = true;
  return View;
}

static Sizes sizesOf(const TensorShape &Shape) {
  TensorInstance T;
  T.Shape = Shape;
  return T.sizes();
}

Tensor withoutMemory(const Tensor &T) {
  if (!T)
    return T;
  auto Same = std::make_shared<TensorInstance>();
  Same->Shape = T->Shape;
  Same->Strides = T->Strides;
  Same->RequiresGrad = T->needsGradient();
  return {*T.Op, Same};
}

Sizes orderOf(const Sizes &Of, ArrayRef<Sizes> All) {
  // Is dimension A slower than B? 0: no operand tells.
  auto Compare = [&](size_t A, size_t B) {
    for (const Sizes &Strides : All) {
      if (Strides.size() != Of.size() || !Strides[A] || !Strides[B])
        continue;
      if (Strides[A] != Strides[B])
        return Strides[A] > Strides[B] ? 1 : -1;
      if (Of[A] > Of[B])
        return 1;
    }
    return 0;
  };
  std::vector<size_t> Order; // The fastest first.
  for (size_t I = Of.size(); I-- > 0;) {
    Order.push_back(I);
    for (size_t At = Order.size() - 1, Before = At; Before-- > 0;) {
      const int Slower = Compare(Order[Before], Order[At]);
      if (Slower < 0)
        break;
      if (Slower > 0) {
        std::swap(Order[Before], Order[At]);
        At = Before;
      }
    }
  }
  Sizes Strides(Of.size());
  int64_t Next = 1;
  for (const size_t D : Order) {
    Strides[D] = Next;
    Next = productOf({Next, std::max<int64_t>(Of[D], 1)});
  }
  return Strides;
}

/// May \p Leaf keep \p Given as its gradient? As
/// torch::autograd::utils::obeys_layout_contract() has it.
static bool liesLike(const TensorInstance &Given, const TensorInstance &Leaf) {
  if (!Leaf.isDense())
    return Given.isContiguous();
  const Sizes Of = Given.sizes();
  if (Of.size() != Leaf.Strides.size())
    return Given.isContiguous();
  for (size_t I = 0; I < Of.size(); ++I)
    if (Of[I] == 1 ? Given.Strides[I] == 0
                   : Given.Strides[I] != Leaf.Strides[I])
      return false;
  return true;
}

static Gradient reshaped(Simulation &S, const Gradient &From,
                         const TensorShape &To) {
  const Sizes Of = sizesOf(To);
  if (std::optional<Sizes> Strides = stridesOfView(From, Of))
    return seen(lying(To, std::move(*Strides), From->Memory));
  return lying(To, contiguousStrides(Of), S.allocate(To.bytes().value_or(0)));
}

Sizes orderOf(const Sizes &Of, const GradientNode::Edge &E,
              const TensorPtr &Come) {
  std::vector<Sizes> From = E.From;
  for (Sizes &Each : From)
    if (Each.empty())
      Each = Come->Strides;
  return orderOf(Of, From);
}

/// What an edge makes of what has come.
static Gradient gradientOf(Simulation &S, const GradientNode::Edge &E,
                           const Gradient &Come) {
  if (E.Kind == GradientKind::Fresh || E.Kind == GradientKind::Seen) {
    const Sizes Of = sizesOf(E.Shape);
    // What is added up lies in order.
    Gradient Own = lying(E.Shape,
                         E.From.empty() || !Come      ? E.Strides
                         : Of == sizesOf(Come->Shape) ? orderOf(Of, E, Come)
                                                      : contiguousStrides(Of),
                         S.allocate(E.Bytes));
    return E.Kind == GradientKind::Seen ? seen(std::move(Own)) : Own;
  }
  if (E.Kind == GradientKind::Constant)
    return lying(E.Shape, Sizes(E.Strides.size()), nullptr);
  if (E.Kind == GradientKind::Alias || !Come)
    return Come;
  if (E.Kind == GradientKind::View) {
    Sizes Strides;
    for (const int Axis : E.Axes)
      Strides.push_back(Axis < 0 ||
                                Axis >= static_cast<int>(Come->Strides.size())
                            ? 0
                            : Come->Strides[Axis]);
    return seen(lying(E.Shape, std::move(Strides), Come->Memory));
  }
  return reshaped(S, Come, E.Shape);
}

namespace {

/// Runs nodes as torch::autograd::Engine does: of those whose gradients are
/// complete, the one that was recorded last.
class Engine {
public:
  Engine(Simulation &S, bool KeepsGraph) : S(S), KeepsGraph(KeepsGraph) {}

  void run(ArrayRef<TensorPtr> Results, ArrayRef<TensorPtr> Given) {
    count(Results);
    std::vector<Gradient>
        Held; ///< Those that are given: nobody takes them over.
    std::map<uint64_t, NodePtr> Roots; ///< Several results may be of one node.
    for (const auto &[I, T] : llvm::enumerate(Results)) {
      Gradient Seed =
          I < Given.size()
              ? lying(Given[I]->Shape, Given[I]->Strides, Given[I]->Memory)
              : lying(T->Shape, Sizes(T->Strides.size()), nullptr);
      if (I < Given.size())
        Held.push_back(Seed);
      if (T->Maker) {
        arrives(T->Maker, T->MakerOutput, std::move(Seed),
                T->Shape.bytes().value_or(0));
        Roots.emplace(T->Maker->Sequence, T->Maker);
      } else if (T->RequiresGrad.value_or(false) &&
                 arrives(*T, std::move(Seed), T->Shape.bytes().value_or(0))) {
        complete(*T);
      }
    }
    for (const auto &[Sequence, Node] : Roots)
      if (Waiting[Node.get()] == 0)
        Ready.push({Node, nullptr});
    Roots.clear();
    while (!Ready.empty()) {
      const Task Next = Ready.top();
      Ready.pop();
      if (Next.Node)
        execute(*Next.Node);
      else
        complete(*Next.Leaf);
    }
  }

private:
  /// How many gradients each node waits for.
  void count(ArrayRef<TensorPtr> Roots) {
    std::vector<NodePtr> Pending;
    for (const TensorPtr &T : Roots)
      if (T->Maker)
        Pending.push_back(T->Maker);
      else
        ++Leaves[T.get()].Waiting;
    while (!Pending.empty()) {
      const NodePtr Node = std::move(Pending.back());
      Pending.pop_back();
      if (!Seen.insert(Node.get()).second)
        continue;
      for (const GradientNode::Edge &E : Node->Edges)
        if (E.To) {
          ++Waiting[E.To.get()];
          Pending.push_back(E.To);
        } else {
          ++Leaves[E.Leaf.get()].Waiting;
        }
    }
  }

  /// Adds \p Given to what has come for \p Node so far.
  void arrives(const NodePtr &Node, unsigned Input, Gradient &&Given,
               uint64_t Size) {
    std::vector<Gradient> &All = Buffers[Node.get()];
    All.resize(std::max<size_t>(All.size(), Node->Results));
    Gradient &Old = All[std::min<size_t>(Input, All.size() - 1)];
    add(Old, std::move(Given), Size);
  }
  /// The same from another node.
  void send(const NodePtr &Node, unsigned Input, Gradient &&Given,
            uint64_t Size) {
    arrives(Node, Input, std::move(Given), Size);
    if (--Waiting[Node.get()] == 0)
      Ready.push({Node, nullptr});
  }

  void add(Gradient &Sum, Gradient &&Given, uint64_t Size) {
    if (!Given)
      return;
    if (!Sum) {
      Sum = std::move(Given);
      return;
    }
    // Since 2.0 what has come before takes it up, if nobody else has that, not
    // even as the base of a view: can_accumulate_inplace() of
    // torch/csrc/autograd/input_buffer.cpp.
    if (S.isSince({2, 0}) && Sum.use_count() == 1 && !Sum->HasBase &&
        Sum->isDense() && Sum->Memory && Sum->Memory.use_count() == 1)
      return;
    Sum =
        lying(Sum->Shape, orderOf(Sum->sizes(), {Sum->Strides, Given->Strides}),
              S.allocate(Size));
  }

  /// Adds \p Given to what has come for \p Leaf so far. Is that all of it?
  bool arrives(const TensorInstance &Leaf, Gradient &&Given, uint64_t Size) {
    LeafState &State = Leaves[&Leaf];
    add(State.Sum, std::move(Given), Size);
    return --State.Waiting == 0;
  }

  /// \p Leaf keeps what has come for it, or adds it to what it has.
  void complete(TensorInstance &Leaf) {
    const Gradient Given = std::move(Leaves[&Leaf].Sum);
    Leaves.erase(&Leaf);
    if (!Given || Leaf.Gradient)
      return; // In place.
    if (Given->Memory && Given.use_count() == 1 && liesLike(*Given, Leaf))
      Leaf.Gradient = std::move(Given->Memory);
    else
      Leaf.Gradient = S.allocate(Leaf.Shape.bytes().value_or(0));
  }

  /// The backward() of a custom function, which is given zeros where nothing
  /// has come.
  void runFunction(const GradientNode &Node, ArrayRef<Gradient> Incoming,
                   std::vector<Gradient> &Outgoing) {
    std::vector<TensorPtr> Given;
    for (size_t I = 0; I < Node.ResultShapes.size(); ++I) {
      const TensorShape &Shape = Node.ResultShapes[I];
      if (const Gradient &Come = I < Incoming.size() ? Incoming[I] : nullptr)
        Given.push_back(lying(Shape, Come->Strides,
                              Come->Memory ? Come->Memory : S.allocate(0)));
      else
        Given.push_back(lying(Shape, contiguousStrides(sizesOf(Shape)),
                              S.allocate(Shape.bytes().value_or(0))));
    }
    const std::vector<TensorPtr> Made = Node.Run(Given);
    for (size_t I = 0; I < Outgoing.size() && I < Made.size(); ++I)
      if (const TensorPtr &T = Made[I]) {
        Outgoing[I] = lying(T->Shape, T->Strides, T->Memory);
        for (const Gradient &Each : Incoming)
          if (Each && Each->Memory == T->Memory && Each->Strides == T->Strides)
            Outgoing[I] = Each;
      }
  }

  static uint64_t bytesOfZeros(const GradientNode &Node,
                               ArrayRef<Gradient> Incoming) {
    uint64_t Bytes = 0;
    for (size_t I = 0; I < Node.ResultShapes.size() && !Node.Run; ++I)
      if (I >= Incoming.size() || !Incoming[I])
        Bytes += Node.ResultShapes[I].bytes().value_or(0);
    return Bytes;
  }

  /// What has passed through \p Node is of the type \p From of its result: a
  /// gradient gets the type of what it is for.
  void convert(const GradientNode &Node, const std::optional<ElementType> &From,
               std::vector<Gradient> &Outgoing) {
    for (size_t I = 0; I < Node.Edges.size() && !Node.Run; ++I) {
      const GradientNode::Edge &E = Node.Edges[I];
      if (!Outgoing[I] || !From || !E.Shape.Type ||
          E.Kind == GradientKind::Fresh || E.Kind == GradientKind::Seen ||
          E.Shape.Type->Name == From->Name)
        continue;
      Gradient Converted =
          lying(E.Shape, orderOf(sizesOf(E.Shape), {Outgoing[I]->Strides}),
                S.allocate(E.Bytes));
      Outgoing[I] = std::move(Converted);
    }
  }

  void execute(GradientNode &Node) {
    S.memory().setPlace(Node.Place | BackwardPlace);
    std::vector<Gradient> Incoming = std::move(Buffers[&Node]);
    Buffers.erase(&Node);
    std::vector<Gradient> Outgoing(Node.Edges.size());
    const auto Come = llvm::find_if(
        Incoming, [](const Gradient &G) -> bool { return G != nullptr; });
    Gradient First = Come == Incoming.end() ? nullptr : *Come;
    if (First && !Node.SeenAs.empty()) {
      TensorShape Shape = First->Shape;
      Shape.Sizes = std::vector<Size>(Node.SeenAs.begin(), Node.SeenAs.end());
      First = reshaped(S, First, Shape);
      Incoming.clear();
    }
    const bool IsCopied = First && !(Node.Reads ? Node.Reads(*First)
                                                : First->isContiguous() ||
                                                      First->hasChannelsLast());
    // Where nothing has come, nothing goes on, but of a custom function.
    const Arguments None;
    if (Node.Run)
      runFunction(Node, Incoming, Outgoing);
    else if (First)
      for (size_t I = 0; I < Node.Edges.size(); ++I)
        Outgoing[I] = gradientOf(S, Node.Edges[I], First);
    if (Node.Run || First)
      S.scratch((Node.ScratchOf && First
                     ? Node.ScratchOf(OperatorCall(S, "", None), Node, First)
                 : IsCopied ? Node.CopyScratch
                            : Node.Scratch) +
                bytesOfZeros(Node, Incoming));
    if (First)
      convert(Node, First->Shape.Type, Outgoing);
    First = nullptr;
    Incoming.clear();
    if (!KeepsGraph) {
      Node.Kept.clear();
      Node.Run = nullptr;
    }
    // What is added to something else lives until all have been sent, but where
    // one is seen otherwise, which is the work of a node that runs after.
    const bool IsOne =
        llvm::none_of(Node.Edges, [](const GradientNode::Edge &E) {
          return E.Kind == GradientKind::Seen;
        });
    for (size_t I = 0; I < Node.Edges.size(); ++I) {
      const GradientNode::Edge &E = Node.Edges[I];
      if (E.To)
        send(E.To, E.Input, std::move(Outgoing[I]), E.Bytes);
      else if (arrives(*E.Leaf, std::move(Outgoing[I]), E.Bytes))
        Ready.push({nullptr, E.Leaf});
      if (!IsOne)
        Outgoing[I] = {};
    }
  }

  /// A node, or a leaf that all of its gradient has come for.
  struct Task {
    NodePtr Node;
    TensorPtr Leaf;

    uint64_t sequence() const { return Node ? Node->Sequence : UINT64_MAX; }
    bool operator<(const Task &Other) const {
      return sequence() < Other.sequence();
    }
  };
  /// What has come for a leaf, which may be used several times.
  struct LeafState {
    Gradient Sum;
    unsigned Waiting = 0;
  };

  Simulation &S;
  const bool KeepsGraph;
  llvm::DenseMap<const GradientNode *, std::vector<Gradient>> Buffers;
  llvm::DenseMap<const GradientNode *, unsigned> Waiting;
  llvm::DenseMap<const TensorInstance *, LeafState> Leaves;
  std::set<const GradientNode *> Seen;
  /// As LibTorch has it: of leaves, which are equal, the one is first that a
  /// heap has first.
  std::priority_queue<Task> Ready;
};

} // namespace

void Simulation::backward(ArrayRef<TensorPtr> Results,
                          ArrayRef<TensorPtr> Given, bool KeepsGraph) {
  Engine(*this, KeepsGraph).run(Results, Given);
}

uint64_t Simulation::bytesOfNumber(const TensorInstance &T) const {
  constexpr unsigned OfDouble = 8;
  const unsigned Own = T.Shape.Type ? T.Shape.Type->Bytes : OfDouble;
  return Device == DeviceKind::Cuda ? 0
         : Own == OfDouble          ? Own
                                    : OfDouble + Own;
}

} // namespace libtorch_tidy::bytes
