//===- LayoutDomain.h - In which order memory is read -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The domain of layouts: it follows, along all paths of a function and through
/// its calls, how the elements of tensors lie in memory (torch::Layout), and
/// pointers to them, and finds where memory is read as if they lay there one
/// after the other.

#ifndef LIBTORCH_TIDY_ANALYSIS_FLOW_MEMORY_LAYOUTDOMAIN_H
#define LIBTORCH_TIDY_ANALYSIS_FLOW_MEMORY_LAYOUTDOMAIN_H

#include "analysis/cpp/Body.h"
#include "analysis/cpp/Conditions.h"
#include "analysis/flow/Fixpoint.h"
#include "analysis/flow/memory/Memory.h"
#include "analysis/flow/memory/Places.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace libtorch_tidy::flow {

/// A tensor, each one of a list of tensors, or a pointer into one.
struct LaidOut {
  torch::Layout Lies;
  bool SomeWays = false; ///< It lies so on some paths only.
  /// What holds on all paths on which it is strided, as far as is known.
  cpp::Conditions When = {};
  /// It is not packed on any path, but not alike: what operators make of it may
  /// be on some.
  bool Differs = false;
  StridedRead::Source From = StridedRead::Operators;
  /// The parameter whose memory it is, as the caller gave it; or null.
  const clang::ParmVarDecl *Given = nullptr;
  /// Of a pointer: the call that hands it out, null for a parameter, and the
  /// tensor as it is written there.
  const clang::CallExpr *Data = nullptr;
  const clang::Expr *Tensor = nullptr;
  bool IsPointer = false;

  bool operator==(const LaidOut &O) const {
    return Lies == O.Lies && SomeWays == O.SomeWays && When == O.When &&
           Differs == O.Differs && From == O.From && Given == O.Given &&
           Data == O.Data && Tensor == O.Tensor && IsPointer == O.IsPointer;
  }
};

struct LayoutState {
  std::vector<std::pair<Keeper, LaidOut>> Known;
  static constexpr size_t MaxKnown = 200;
  /// What the branches on the way here have decided.
  cpp::Conditions Decided = {};
  static constexpr size_t MaxDecided = 16;
  bool Impossible = false; ///< They contradict each other.

  /// \p What holds from here on.
  void decide(const cpp::Condition &What);
  const LaidOut *find(const Keeper &K) const;
  void forget(const Keeper &K);
  void set(const Keeper &K, LaidOut What);
  bool join(const LayoutState &Other);
};

/// Makes \p Into what lies either way, where what \p Here and \p There say is
/// decided on the ways; returns whether that changed it.
bool joinInto(LaidOut &Into, const LaidOut &From,
              const cpp::Conditions &Here = {},
              const cpp::Conditions &There = {});

class LayoutDomain {
public:
  using State = LayoutState;

  LayoutDomain(const clang::FunctionDecl *F, MemorySummaries Callees,
               FieldValues Fields);

  /// Can anything in \p F read the memory of a tensor, or hand one to what
  /// does?
  static bool concerns(const clang::FunctionDecl *F, MemorySummaries Callees);

  State start() const;
  void enter(const clang::CFGBlock &, State In) { S = std::move(In); }
  void visit(const clang::CFGElement &Element);
  State leave() { return std::move(S); }
  bool join(State &Into, const State &From) { return Into.join(From); }
  bool isTaken(const clang::CFGBlock &, const clang::CFGBlock &) {
    return true;
  }
  std::optional<State> along(const clang::CFGBlock &Block,
                             const clang::CFGBlock &Successor,
                             const State &After);
  void atThrow(llvm::MutableArrayRef<Thrown<State>> To);
  /// Visits all blocks once more and adds to \p Into what happens there.
  void report(const FlowGraph &Graph, const States<State> &In, MemoryOf &Into);

private:
  /// Asks what \p F gave to what \p By sees: nothing is known of its paths.
  LayoutDomain(const clang::FunctionDecl *F, const LayoutDomain &By);

  // LayoutOrigins.cpp: what other functions gave, on all paths. Nullopt where
  // nothing is known of it.
  std::optional<LaidOut> initialOf(const clang::VarDecl *Var) const;
  std::optional<LaidOut> heldBy(const clang::FieldDecl *Field) const;
  /// Does the function that has the captured \p D ask it for its strides?
  bool isAskedAround(const clang::ValueDecl *D) const;

  // Values.
  LaidOut valueOf(const clang::Expr *E, unsigned Result = 0) const;
  /// The same, worked out.
  LaidOut madeBy(const clang::Expr *E, unsigned Result) const;
  LaidOut resultOf(const clang::CallExpr *Call, unsigned Result) const;
  /// Are all tensors packed, as far as is known, that \p Call gets?
  bool getsPacked(const clang::CallExpr *Call) const;
  /// What pointer \p E points to; nullopt where that is no tensor's memory.
  std::optional<LaidOut> pointerOf(const clang::Expr *E) const;
  void store(const Keeper &K, const clang::Expr *Value);
  void declare(const clang::VarDecl *Var);
  void visitCall(const clang::CallExpr *Call);
  void addReturned(const LaidOut &Value);

  // LayoutReads.cpp: what reads memory as one piece.
  void lookAt(const clang::Expr *E);
  void readsOf(const clang::CallExpr *Call);
  void readElement(const clang::Expr *At, const clang::Expr *Pointer,
                   const clang::Expr *Index);
  void readArguments(const cpp::Call &C);
  bool readRange(const cpp::Call &C);
  void readView(const clang::CXXConstructExpr *E);
  std::optional<int64_t> number(const clang::Expr *E) const;
  bool countsAll(const clang::Expr *Count, const LaidOut &Of) const;
  bool runsOverAll(const clang::Expr *At, const clang::Expr *Index,
                   const LaidOut &Of) const;
  const clang::Expr *endOfParts(const clang::Expr *E) const;
  bool isAnyOrder(const clang::Expr *At, const clang::Expr *Index,
                  const LaidOut &Of) const;
  enum class Formula { None, Order, Other };
  Formula formulaIn(const clang::Expr *Index, const LaidOut &Of) const;
  bool isAsked(const clang::Expr *Tensor) const;
  void report(const clang::Expr *At, const LaidOut &Of, StridedRead::Way How,
              llvm::StringRef Reader, bool AnyOrder = false);

  cpp::Body &in() const { return cpp::Body::of(F); }
  std::optional<unsigned> indexOf(const clang::ValueDecl *D) const;

  /// What valueOf() found for parts of the expression that it was asked for,
  /// and how many of these it is within.
  mutable llvm::DenseMap<std::pair<const clang::Expr *, unsigned>, LaidOut>
      Values;
  mutable unsigned Asking = 0;

  const clang::FunctionDecl *F;
  const clang::ASTContext &Context;
  MemorySummaries Callees;
  FieldValues Fields;
  /// Another function asks, the last of so many.
  bool Elsewhere = false;
  unsigned Depth = 0;
  static constexpr unsigned MaxDepth = 4;
  /// A field that is given more often holds anything.
  static constexpr unsigned MaxGiven = 16;
  /// The variables and fields that are asked for their strides, and those of
  /// which packed copies are made.
  struct Looks {
    llvm::SmallPtrSet<const clang::ValueDecl *, 4> Asked, Packed;
  };
  const Looks &looks() const;
  mutable std::optional<Looks> KnownLooks;
  State S;
  MemoryOf *Out = nullptr; ///< Null before the fixpoint is reached.
  llvm::MapVector<const void *, StridedRead> Found;
  /// The kinds of what is returned.
  std::optional<LaidOut> Returned;
  bool ReturnsDiffer = false, ReturnsUnit = false;
  enum { Never, Sometimes, Always } ReturnsStrided = Never;
};

} // namespace libtorch_tidy::flow

#endif // LIBTORCH_TIDY_ANALYSIS_FLOW_MEMORY_LAYOUTDOMAIN_H
