//===- Discarded.h - Statements whose value nobody uses ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What libtorch-discarded-result asks about an expression whose value is
/// dropped, its reasons, and the writes that go where nobody sees them.

#ifndef LIBTORCH_TIDY_CHECKS_HISTORY_DISCARDED_H
#define LIBTORCH_TIDY_CHECKS_HISTORY_DISCARDED_H

#include "analysis/cpp/Body.h"
#include "checks/base/LibtorchCheck.h"

namespace libtorch_tidy::discarded {

inline constexpr struct DiscardedResultReasons {
  Reason Computes{"arithmetic", Effect::Likely,
                  "It is cheap arithmetic on elements (`add`, `mul`, `neg`, "
                  "`exp`, `clone`, ...), a cheap function of "
                  "`torch::nn::functional` (`F::normalize`, `F::dropout`, "
                  "`F::relu`, ...), or returns values and indices (`max`, "
                  "`min`, `sort`, `topk`, ...)."};
  Reason Computed{
      "runs-model", Effect::Silent,
      "Its tensor or an argument is computed by the same expression "
      "(`net->forward(x).cpu();`): that is run to warm up, to wait "
      "or to measure."};
  Reason OwnSake{"run-for-its-own-sake", Effect::Silent,
                 "It is the only statement of a lambda, or of a loop over "
                 "something else, or stands straight in a `try` block."};
  Reason ModuleToo{"module-too", Effect::Silent,
                   "It is in a template, which is also made for modules or "
                   "other types, where the same call changes its object."};
  Reason InTemplate{"in-template", Effect::NoFix,
                    "It is in a template, and a tensor by the template's "
                    "arguments: in other files it may be something else."};
  Reason Timed{"timed-code", Effect::Silent,
               "It is not `detach`, and the function reads a clock before it "
               "and after it, and uses what it read before, or one around the "
               "lambda that it stands in reads one: it is measured."};
  Reason Sent{"converted-and-gone", Effect::Silent,
              "It converts a local tensor that nothing reads afterwards, or "
              "writes into a copy of one."};
  Reason NotRead{"not-read-again", Effect::NoFix,
                 "The tensor is a local copy that nothing reads afterwards."};
  Reason Moves{"moves-to-device", Effect::NoFix,
               "It moves the tensor to a device, or to that of another tensor "
               "(`x.to(y)`): what it meets later may still be on the CPU, and "
               "the program would throw."};
  Reason Fills{"fill-or-arithmetic", Effect::NoFix,
               "It fills or does arithmetic: the result could be assigned or "
               "written in place, which differs for other tensors over the "
               "same storage."};
  Reason Twice{"evaluated-twice", Effect::NoFix,
               "The tensor is reached through a subscript or a function that "
               "may do more when it is evaluated twice (`states[next++]`)."};
  Reason NotAssignable{"not-assignable", Effect::NoFix,
                       "The tensor is const, or captured by a lambda that "
                       "cannot change it, or of another type than the "
                       "result."};
  Reason Copy{"copied-element", Effect::NoFix,
              "It is a loop variable that is a copy, or an element of a "
              "temporary list such as `net->parameters()`."};
  Reason Needed{"backward-needs-it", Effect::NoFix,
                "It is `detach`, and something back-propagates what has its "
                "history from this tensor alone: without it `backward()` "
                "throws."};
  Reason Renames{"names-another", Effect::Likely,
                 "`=` gives a variable that names a view, and that nothing "
                 "reads afterwards, another tensor: `row = x[0]; row = y;`."};
  Reason SameTensor{
      "view-of-the-same", Effect::Silent,
      "What the variable is given is a part of the same tensor, or a "
      "copy of one: it goes from part to part."};
  Reason TensorValue{"tensor-value", Effect::NoFix,
                     "What is written is a tensor: `copy_` converts its type, "
                     "`index_put_` throws."};
  Reason OtherWrite{"no-such-operator", Effect::NoFix,
                    "No operator does both in one: `x.masked_select(mask)"
                    ".mul_(2)`; or the copy is of another type."};
  Reason OfModule{"of-a-module", Effect::NoFix,
                  "The tensor is one of a module: a parameter that is written "
                  "in place throws while gradient mode is on."};
} DiscardedResult{};

/// Is \p Call std::get, a method of a standard container, or value() of an
/// element of LibTorch's dictionaries: its result is a part of what it is asked
/// of?
bool isStdAccess(const clang::CallExpr *Call);

/// Is \p Call a part of an expression that uses its value? Asked first: most
/// are, and what stands around them all may be very deep.
bool isOperand(const clang::Expr *Call, clang::ASTContext &Context);

/// Where a call stands whose value is dropped.
class Place {
public:
  Place(const clang::CallExpr *Call, const cpp::Body &In);

  /// The whole expression whose value is dropped; null when it is used.
  const clang::Expr *const Discarded;

  /// Code that runs an operator for the sake of running it: the only statement
  /// of a lambda or of a loop over something else, or one straight in a try
  /// block, which asks whether it throws.
  /// Not where the loop takes it to one tensor after the other.
  bool runsForItsOwnSake(const clang::ValueDecl *Of,
                         const clang::Expr *Tensor) const;

  /// The loop whose variable, or a part of it, \p D is; null for others.
  const clang::CXXForRangeStmt *loopOf(const clang::ValueDecl *D) const;
  /// A loop variable that names the elements of what stays.
  bool namesElements(const clang::ValueDecl *D) const;
  /// Is \p Var read again after the statement runs, as far as its text shows?
  bool isReadLater(const clang::VarDecl *Var) const;

private:
  const cpp::Body &In;
  llvm::SmallVector<const clang::Stmt *, 4> Loops; ///< Innermost first.
};

/// Is it measured how long \p Call, in \p In, takes: does a function around a
/// lambda read a clock, or the function itself before and after \p Call?
bool isTimed(const clang::CallExpr *Call, const cpp::Body &In);

/// The variable or member at the root of \p E: `a` in a.b[i], std::get<0>(a)
/// and a.detach().cpu(). Null for `this` and for all that is computed.
const clang::ValueDecl *rootOf(const clang::Expr *E, bool &IsMember,
                               flow::TensorWork &Amounts);

/// Can \p E be written twice: a variable or a chain of members and constant
/// or plain subscripts, nothing computed?
bool isRepeatable(const clang::Expr *E);

/// What is wrong with \p Call, an operator that writes in place or an
/// assignment, whose value is dropped: it writes into a copy that is dropped,
/// too, or gives a view another tensor where writing into it is meant.
std::optional<Finding> lostWrite(const clang::CallExpr *Call,
                                 clang::ASTContext &Context,
                                 flow::UnitModel &Unit);

} // namespace libtorch_tidy::discarded

#endif // LIBTORCH_TIDY_CHECKS_HISTORY_DISCARDED_H
