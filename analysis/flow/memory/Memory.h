//===- Memory.h - References to memory that others own ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The domain of memory: it follows pointers into tensors, array references and
/// tensors over foreign buffers along all paths of a function, through its
/// calls of functions of the unit, and finds those that are used, returned or
/// stored when what owns the memory is gone.

#ifndef LIBTORCH_TIDY_ANALYSIS_FLOW_MEMORY_MEMORY_H
#define LIBTORCH_TIDY_ANALYSIS_FLOW_MEMORY_MEMORY_H

#include "analysis/cpp/Body.h"
#include "analysis/cpp/Fields.h"
#include "analysis/torch/storage/Layout.h"
#include "analysis/torch/storage/Sharing.h"
#include "analysis/torch/storage/Storage.h"
#include "clang/AST/Decl.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <set>
#include <string>
#include <vector>

namespace libtorch_tidy::flow {

struct MemorySummary;
/// The summaries of functions that are called; null for unknown ones.
using MemorySummaries =
    llvm::function_ref<const MemorySummary *(const clang::FunctionDecl *)>;

/// What fields of classes are given in all of the unit; Complete where nothing
/// else gives them a value.
using FieldValues =
    llvm::function_ref<const cpp::Values &(const clang::FieldDecl *)>;

/// A value that refers to memory of something else.
struct Borrow {
  enum Kind {
    Blob,     ///< A tensor made by from_blob.
    Data,     ///< A pointer to the data of a tensor.
    Shape,    ///< Sizes, strides or storage of a tensor object.
    Elements, ///< The elements of a TorchScript tuple.
    List,     ///< An ArrayRef over a list or vector.
    Given     ///< Whatever the caller's pointer or view refers to.
  } What = Data;
  /// The call or construction that borrows.
  const clang::Expr *Source = nullptr;
  /// Source with the calls on it that keep borrowing, in its own statement.
  const clang::Expr *Top = nullptr;
  /// The local variable or parameter that owns the memory, or points to memory
  /// that was allocated (Heap). Null when a temporary does.
  const clang::VarDecl *Owner = nullptr;
  const clang::Expr *Temporary = nullptr;
  bool Heap = false;
  torch::Fresh Sure = torch::Fresh::Yes;
  torch::TensorTraits Traits; ///< Blob only.
  /// The operator that copies only when there is something to do, if the
  /// answer depends on one.
  std::string Through;
  /// Where in the value it is: a path (see Places.h), empty for the value
  /// itself, or for a part that is not known.
  std::string In;
  /// Shape only: sizes, strides ...
  std::string Part;
  /// Blob only: it begins where the buffer begins.
  bool AtStart = true;
  /// The function of this unit that Source calls, if it lends the memory of
  /// its argument.
  const clang::FunctionDecl *Lender = nullptr;
  /// Why Sure is Likely: something else may hold the memory, or it may remain.
  enum Doubt {
    Module,   ///< The user's module that returned it.
    SomeWays, ///< Lender lends it on some of its ways only.
    Backward, ///< A backward pass that is still to come.
    Resize,   ///< Memory moves when it grows.
    Element   ///< It is kept in one element, and another may be read.
  } Unless = Module;

  /// It is no more than Likely because of \p Why.
  void doubt(Doubt Why) {
    if (Sure > torch::Fresh::Likely)
      Unless = Why;
    Sure = std::min(Sure, torch::Fresh::Likely);
  }
};

/// The effects of a function on memory, as callers know them. It names
/// the parameters by number and their parts by paths, and nothing else of the
/// syntax tree, so that it can be written to a file as it is.
struct MemorySummary {
  /// Where lent memory goes when it does not go to a parameter.
  static constexpr unsigned Result = ~0u, This = ~0u - 1;
  /// Memory of an argument is referred to when the function is over.
  struct Lent {
    unsigned Of = 0;      ///< The parameter that owns it.
    unsigned To = Result; ///< Result, This, or the parameter that keeps it.
    std::string Field;    ///< The path in To; empty for all of it.
    Borrow::Kind What = Borrow::Data;
    torch::Fresh Sure = torch::Fresh::Yes;
    std::string Through, Part; ///< As in Borrow.
    bool AtStart = true;
    torch::TensorTraits Traits;

    bool operator==(const Lent &O) const {
      return Of == O.Of && To == O.To && Field == O.Field && What == O.What &&
             Sure == O.Sure;
    }
  };
  std::vector<Lent> Lends;
  std::set<unsigned> Resizes; ///< Tensors whose memory it may move.
  std::set<unsigned> Frees;   ///< Pointers that it frees on all ways.
  /// Parameters whose tensors, images or containers may have other holders
  /// afterwards, and those that a later backward may hold.
  std::set<unsigned> Keeps, Operands;
  /// How sure is it that the tensor that it returns is alone?
  torch::Fresh Made = torch::Fresh::No;
  /// Its use of the order in which elements lie in memory.
  struct Layouts {
    /// Tensors and pointers whose memory it reads as one piece, and those of
    /// which it does not matter in which order.
    std::set<unsigned> Reads, Spans;
    std::set<unsigned> Asks; ///< Tensors that it asks for their strides.
    /// How the tensor that it returns lies on all ways, if one can say so.
    torch::Layout::Kind Returns = torch::Layout::Unknown;
    bool Surely = false;
    /// It lies in several orders, none of which is packed.
    bool Differs = false;
    /// It may have a dimension of one element that no argument has.
    bool SomeUnit = false;
    /// Returns is not known; on some ways it does not lie in order.
    bool MayBeStrided = false;
    /// The parameter that it returns as it was given; else Result.
    unsigned Same = ~0u;
  } Order;
  bool Available = true;

  bool available() const { return Available; }
  bool saysTheSame(const MemorySummary &Earlier) const {
    return Lends == Earlier.Lends && Resizes == Earlier.Resizes &&
           Frees == Earlier.Frees && Keeps == Earlier.Keeps &&
           Operands == Earlier.Operands && Made == Earlier.Made &&
           cpp::fieldsOf(Order) == cpp::fieldsOf(Earlier.Order);
  }
  /// Nothing is lent, moved or freed.
  bool saysNothing() const {
    return Lends.empty() && Resizes.empty() && Frees.empty();
  }
};

/// Tensors and OpenCV's images are counted handles, and containers can be moved
/// from: the memory of such a variable need not die with it. This tells for
/// which variables of a function that may be so.
struct Sharing {
  /// How often a tensor or image, or a view of it, is copied to somewhere: a
  /// variable, a container, a result, unseen code, a lambda.
  llvm::DenseMap<const clang::VarDecl *, unsigned> Copies;
  /// Moved, swapped, released, returned or captured.
  llvm::DenseSet<const clang::VarDecl *> Leaving;
  /// Operands of an operator, so that backward may keep them.
  llvm::DenseSet<const clang::VarDecl *> Operands;

  bool isCopied(const clang::VarDecl *Var) const { return Copies.count(Var); }

  /// Without \p Callees every function of the user may keep what it is given.
  static Sharing in(const clang::FunctionDecl *F,
                    MemorySummaries Callees = nullptr);
};

struct Dangling {
  enum How {
    Temporary, ///< The owner is gone with the full expression.
    Loop,      ///< The same, in the range of a range-for.
    Returned,  ///< The owner is gone when the function returns.
    Stored,    ///< Kept in what outlives the function.
    Scope,     ///< The owner goes out of scope before the use.
    Assigned,  ///< The owner got another value before the use.
    Resized,   ///< The owner was resized before the use.
    Freed,     ///< The owner was freed before the use.
    Reused     ///< Each iteration writes the buffer that all kept ones share.
  } Why;
  Borrow What;
  /// The keeper of the borrow, as the user would write it; empty for a result.
  std::string Keeper;
  /// Where it is kept, or returned by another statement than it is made in.
  clang::SourceLocation KeptAt;
  /// The declaration or range-for that keeps it, as a whole statement of a
  /// block; null when it is kept otherwise.
  const clang::Stmt *Statement = nullptr;
  clang::SourceLocation EndsAt = {}; ///< Where the owner changed or died.
  clang::SourceLocation UsedAt = {}; ///< A later use.
  const clang::Stmt *Body = nullptr; ///< The function's; null outside one.
};

/// Memory of a tensor is read, or written, as if its elements lay there one
/// after the other, in order.
struct StridedRead {
  enum Way {
    Copied,  ///< By memcpy() and its like, or a stream.
    Ranged,  ///< From a pointer to another: std::vector(p, p + n).
    Indexed, ///< p[i], where i runs over all elements.
    Formula, ///< p[y * width + x], of the sizes of the tensor.
    Viewed,  ///< By an image or a matrix over it.
    Helper,  ///< By a function that is given the pointer or the tensor.
    // What may be meant for the order in memory:
    Guessed, ///< p[y * width + x], of other numbers.
    Fixed,   ///< p[1].
    Foreign, ///< Perhaps, by one that is not seen and gets no strides.
  } How = Copied;
  enum Source {
    Operators, ///< As Lies says.
    Script,    ///< The result of a TorchScript module.
    Gradient,  ///< What reaches a backward() of the user's.
    Parameter, ///< A parameter of this function.
    Like,      ///< Made like a parameter that is packed elsewhere.
  } From = Operators;
  const clang::Expr *At = nullptr; ///< What reads.
  torch::Layout Lies;
  bool SomeWays = false;    ///< It lies so on some paths only.
  bool HangsOnCuts = false; ///< See Layout.
  /// The call that hands out the pointer; null where a function gets the
  /// tensor.
  const clang::CallExpr *Data = nullptr;
  const clang::Expr *Tensor = nullptr; ///< As written there.
  std::string Reader; ///< The function or class that reads; may be empty.
  bool Asks = false;  ///< The tensor is asked for its strides.
  const clang::FunctionDecl *In = nullptr;
};

/// What a function does with memory, for callers and for reports.
struct MemoryOf : MemorySummary {
  std::vector<Dangling> Danglings;  ///< In source order of what borrows.
  std::vector<StridedRead> Strided; ///< In source order; one for a pointer.
};

/// Analyses the body and the member initialisers of \p F, a function of user
/// code that is not a template.
MemoryOf analyseMemory(const clang::FunctionDecl *F, MemorySummaries Callees,
                       FieldValues Fields);

/// Does the initialiser of \p Var, a variable outside functions, refer to a
/// temporary?
std::vector<Dangling> findDangling(const clang::VarDecl *Var,
                                   MemorySummaries Callees);

} // namespace libtorch_tidy::flow

#endif // LIBTORCH_TIDY_ANALYSIS_FLOW_MEMORY_MEMORY_H
