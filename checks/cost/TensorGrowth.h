//===- TensorGrowth.h - Tensors that a loop regrows -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_CHECKS_COST_TENSORGROWTH_H
#define LIBTORCH_TIDY_CHECKS_COST_TENSORGROWTH_H

#include "checks/base/Finding.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace libtorch_tidy {

/// What decides on libtorch-cat-in-loop.
inline constexpr struct CatInLoopReasons {
  Reason FewRounds{"few-rounds", Effect::Silent,
                   "The loop runs a constant number of times, four at most, "
                   "also over a vector that is only given braced lists as "
                   "short as that in the function or in the methods of the "
                   "class that this file shows."};
  Reason SetInLoop{"set-in-loop", Effect::Silent,
                   "The loop also sets, cuts or resets the tensor: skip "
                   "connections, sliding windows, batches that are flushed."};
  Reason NotFollowed{"not-followed", Effect::Silent,
                     "The loop mentions the tensor in a lambda, uses the whole "
                     "of which it is a part, or calls a method that may write "
                     "to it."};
  Reason LeavesLoop{"leaves-loop", Effect::Silent,
                    "The loop is left right after it."};
  Reason ReadByModule{"read-by-module", Effect::Silent,
                      "A module reads the whole tensor in each iteration, or a "
                      "window of it that may be as long, as a model that "
                      "continues a sequence does: what it computes costs more "
                      "than the copy."};
  Reason ReadAfter{"read-after-join", Effect::Silent,
                   "The iteration reads the tensor after the join: attention "
                   "needs all keys and values."};
  Reason Doubled{"joined-with-itself", Effect::Silent,
                 "The part is made of the tensor itself: doubling is linear in "
                 "the end."};
  Reason NamedCache{"named-cache", Effect::Silent,
                    "The loop reads the tensor, and it is called a cache."};
  Reason Dense{"dense-connections", Effect::Silent,
               "The loop reads the tensor, and it is in the `forward` of a "
               "module or runs over modules: each layer needs what all before "
               "it gave."};
  Reason ReadInLoop{"read-in-loop", Effect::NoFix,
                    "The loop reads the tensor, or asks for its size."};
  Reason Visible{"seen-halfway", Effect::NoFix,
                 "The tensor is not a local variable, or the loop is in a "
                 "`try` block: other code could see it halfway."};
  Reason PartShared{"part-shared", Effect::NoFix,
                    "The part is not known to be a tensor of its own. `cat` "
                    "copies it, the vector holds on to it: a view would keep "
                    "all of something larger alive, and a buffer that the next "
                    "iteration writes into would change."};
  Reason OtherForm{"other-form", Effect::NoFix,
                   "The part stands before the tensor, there are several, "
                   "several `cat` calls differ in their dimension, a comment "
                   "would be lost, or the code is not in plain statements."};
} CatInLoop{};

/// One `all = torch::cat({all, x})`.
struct GrowthStep {
  /// Null where an algorithm hands the result to the next call.
  const clang::CXXOperatorCallExpr *Assign = nullptr;
  const clang::CallExpr *Cat = nullptr;
  /// `all`, as the element of the list; null when it is in no list.
  const clang::Expr *Old = nullptr;
  /// x, when it is the only part and stands after `all`.
  const clang::Expr *Part = nullptr;
  /// The call is the whole value, written in the assignment.
  bool Plain = false;
};

/// A tensor that every iteration of a loop replaces by a longer copy.
struct TensorGrowth {
  /// The loop over whose iterations it grows: the outermost where nothing else
  /// is done with it, or else the innermost.
  const clang::Stmt *Loop = nullptr;
  /// What grows, as the first step writes it.
  const clang::Expr *Target = nullptr;
  llvm::SmallVector<GrowthStep, 2> Steps; ///< In source order.
  /// What reads elements within the loop, in source order.
  llvm::SmallVector<const clang::Expr *, 2> Reads;
  /// Asks for the size or the like of it within the loop.
  bool Queried = false;
  /// The first iteration sets it instead: the statement that does, an operand
  /// of `if` with a step as the other.
  const clang::Expr *FirstSet = nullptr;
  /// The list all of whose elements each iteration joins, where it is not the
  /// tensor that is joined with a part.
  const clang::VarDecl *Parts = nullptr;
  /// Why the loop is not to be reported.
  std::optional<Because> WhyNot;

  /// The first of Reads; null when the loop only collects.
  const clang::Expr *read() const {
    return Reads.empty() ? nullptr : Reads.front();
  }
};

/// The growth that \p Cat, a call of user code, is the first step of; nullopt
/// when there is none, and where a reason, which is recorded, silences it.
std::optional<TensorGrowth> growthBy(const clang::CallExpr *Cat,
                                     clang::ASTContext &Context);

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_COST_TENSORGROWTH_H
