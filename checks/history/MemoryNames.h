//===- MemoryNames.h - Which variables own which memory ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The local variables of a function that own tensors, in groups of those that
/// may own the same memory: `out` and `scores` after `scores =
/// out.toTensor()`. A group says where its memory comes from, how large it may
/// be, and whether something else may hold it, too. Without paths.

#ifndef LIBTORCH_TIDY_CHECKS_HISTORY_MEMORYNAMES_H
#define LIBTORCH_TIDY_CHECKS_HISTORY_MEMORYNAMES_H

#include "analysis/flow/unit/UnitModel.h"
#include "analysis/torch/api/OpFacts.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

namespace libtorch_tidy {

class MemoryNames;
/// Those of the functions of a unit that were asked about.
using MemoryNamesOf =
    llvm::DenseMap<const clang::FunctionDecl *, std::unique_ptr<MemoryNames>>;

/// How much memory a value takes, by what makes it. Ordered.
enum class Amount : unsigned char {
  None,   ///< It is empty.
  Small,  ///< A number, indices, what a reduction leaves.
  Filled, ///< What a factory makes: as much as its sizes say.
  Some,   ///< As much as the operands of an operator.
  Large,  ///< The result of a module or a convolution, several tensors.
};

/// What the operator that \p Value is the result of does; null for other
/// values.
const torch::OpFacts *factsOf(const clang::Expr *Value);
/// What the elements are of that \p Call, of a library, gives one of, or an
/// iterator to; null for other calls.
const clang::Expr *elementsOf(const clang::CallExpr *Call);
/// The tuple, vector or struct that \p E, an element of one, is taken from; \p
/// E without what cpp::stripImplicit() removes for others.
const clang::Expr *wholeValue(const clang::Expr *E);
/// A scalar, an index, a loss: too small to matter. Also one of the parts that
/// a loss returns.
bool isSmall(const clang::Expr *Value);
/// An operator that carries the weight of a network, or makes an image.
bool isWeighty(const clang::Expr *Value);
/// A tensor of its own that an operator or a module computes from others and
/// that is of their size: not numbers, indices, masks, views.
bool isComputed(const clang::Expr *Value);

/// Where the memory of a value comes from.
struct MemorySource {
  bool Foreign = false; ///< Perhaps something that the function does not own.
  uint64_t Params = 0;  ///< Bit I: perhaps the argument for parameter I.
  bool Fresh = false;   ///< Perhaps it is made there.

  void join(const MemorySource &O) {
    Foreign |= O.Foreign;
    Params |= O.Params;
    Fresh |= O.Fresh;
  }
};

class MemoryNames {
public:
  /// Why the memory of a group may live on when its variables let go of it.
  enum class Holder : unsigned char {
    None,
    Lambda,   ///< A lambda captures it.
    Returned, ///< It is returned, and nothing else.
    Other,    ///< It is stored, handed to code that may keep it, or it may be
              ///< gone already.
  };
  enum class Use : unsigned char {
    Read,
    Number,      ///< Only asks for a size or another property.
    Overwritten, ///< The mention is written and not read.
  };
  struct Mention {
    /// Names the variable, or is where a lambda that captures it may run.
    const clang::Expr *Ref;
    unsigned Var;
    Use How;
    /// What something else holds from here on: what the variable holds, or one
    /// part of it.
    enum class Kept : unsigned char {
      Nothing,
      Part,
      All
    } Stores = Kept::Nothing;
  };
  /// An expression that gives a variable something to hold.
  struct Gift {
    const clang::Expr *Where; ///< Null for the declaration.
    const clang::Expr *Value; ///< Null when it cannot be pointed at.
    bool Whole;               ///< What it held is gone.
    /// How much of it is made there.
    Amount Fresh = Amount::None;
    bool OneFresh = false; ///< Of its parts only one is made there.
    llvm::SmallVector<unsigned, 2> From = {}; ///< The variables it may be of.
    /// Where these hold nothing that matters, neither does what is made there;
    /// empty where that does not hang on variables.
    llvm::SmallVector<unsigned, 2> Sizes = {};
  };
  struct Group {
    MemorySource From;
    Amount Size = Amount::None;
    Holder Else = Holder::None;
    /// Code that cannot be seen got it, and gave nothing back.
    bool Unseen = false;
    llvm::SmallVector<unsigned, 2> Vars;
  };

  static const MemoryNames &of(const clang::FunctionDecl *F,
                               flow::UnitModel &Unit, MemoryNamesOf &Known);

  llvm::ArrayRef<const clang::VarDecl *> vars() const { return Vars; }
  /// The number of the variable that \p D names or is a part of.
  std::optional<unsigned> indexOf(const clang::ValueDecl *D) const;
  /// The group of variable \p Var.
  const Group &groupOf(unsigned Var) const {
    return Groups.find(leader(Var))->second;
  }
  unsigned leader(unsigned Var) const {
    while (Leaders[Var] != Var)
      Var = Leaders[Var];
    return Var;
  }
  const llvm::MapVector<unsigned, Group> &groups() const { return Groups; }
  /// In source order.
  llvm::ArrayRef<Mention> mentions() const { return Mentions; }
  /// What the declaration of \p Var gives it.
  const Gift &startOf(unsigned Var) const { return Starts[Var]; }
  /// What \p Var is given after its declaration.
  llvm::ArrayRef<Gift> givenTo(unsigned Var) const { return Given[Var]; }
  /// What may hold, at any point, whatever \p Var holds.
  Holder sharerOf(unsigned Var) const { return Shared[Var]; }
  /// The expressions after which \p Var holds nothing.
  llvm::ArrayRef<const clang::Expr *> dropsOf(unsigned Var) const {
    return Drops[Var];
  }
  /// The loops over the elements of \p Var.
  llvm::ArrayRef<const clang::Stmt *> loopsOver(unsigned Var) const {
    return Loops[Var];
  }

private:
  MemoryNames(const clang::FunctionDecl *F, flow::UnitModel &Unit,
              MemoryNamesOf &Known);

  void collect();
  void collectMentions();
  void collectCaptures();
  std::optional<Use> useIn(const clang::LambdaExpr *Lambda, unsigned Var);
  void group();
  void addWrites(unsigned Var);
  void follow(const clang::Expr *E, unsigned Var, Mention *M);
  const clang::Expr *followCall(const clang::Expr *E,
                                const clang::CallExpr *Call, unsigned Var,
                                Mention *M);
  bool isOnlyOf(const clang::Expr *Arg, unsigned Var) const;
  std::optional<const clang::Expr *> followElements(const clang::CallExpr *Call,
                                                    unsigned Var);
  bool mayEmpty(const clang::CallExpr *Call, unsigned Var) const;
  const clang::Expr *followInto(const clang::Expr *E,
                                const clang::CallExpr *Call, unsigned Var);
  const clang::Expr *followUserCall(const clang::Expr *E,
                                    const clang::CallExpr *Call, unsigned Var);
  void initialises(const clang::Stmt *Declared, const clang::Expr *E,
                   unsigned Var);
  void goesTo(const clang::Expr *To, const clang::Expr *Value, unsigned Var);
  void measure(Gift &New);
  void findSizes(Gift &New);
  Amount amountOf(unsigned Var);
  Amount amountOf(const clang::Expr *E, unsigned Depth);
  Amount amountOf(const clang::MemberExpr *Part, unsigned Depth);
  Amount freshAmountOf(const clang::Expr *E, unsigned Depth = 0);
  bool hasOneFresh(const clang::Expr *E);
  Amount amountOfCall(const clang::CallExpr *Call, unsigned Depth);
  template <typename Range>
  Amount largestOf(const Range &Parts, unsigned Depth);
  MemorySource sourceOfCall(const clang::CallExpr *Call, unsigned Depth) const;
  MemorySource sourceOfResult(const clang::CallExpr *Call,
                              const clang::FunctionDecl *Callee,
                              llvm::ArrayRef<const clang::Expr *> Args,
                              unsigned Depth) const;
  MemorySource all(llvm::ArrayRef<const clang::Expr *> Parts,
                   unsigned Depth) const;
  /// Those of \p Callee; null when its body is not here, or is being looked at.
  const MemoryNames *namesIn(const clang::FunctionDecl *Callee) const;
  /// Does the function keep what it is given for its parameter number
  /// \p Param?
  bool keeps(unsigned Param) const;
  void unite(unsigned A, unsigned B) { Leaders[leader(A)] = leader(B); }
  void holds(unsigned Var, Holder Else) {
    Held[Var] = std::max(Held[Var], Else);
    Shared[Var] = std::max(Shared[Var], Else);
  }
  /// The mention that is followed stores \p Value, what \p Var holds at this
  /// point or a part of that.
  void stores(unsigned Var, const clang::Expr *Value);
  MemorySource sourceOf(const clang::Expr *E, unsigned Depth = 0) const;

  cpp::Body &In;
  flow::UnitModel &Unit;
  MemoryNamesOf &Known;
  std::vector<const clang::VarDecl *> Vars;
  llvm::DenseMap<const clang::ValueDecl *, unsigned> Indices;
  std::vector<unsigned> Leaders;
  std::vector<Holder> Held, Shared;
  std::vector<bool> FromCaller; ///< Parameters that are not replaced.
  std::vector<bool> Seen;       ///< By code that cannot be seen.
  std::vector<Gift> Starts;
  std::vector<llvm::SmallVector<Gift, 2>> Given;
  /// What goes from a variable to another one; without Where at its
  /// declaration.
  struct Flow {
    const clang::Expr *Where;
    unsigned From, To;
  };
  std::vector<Flow> Flows;
  Mention *Followed = nullptr;
  std::vector<llvm::SmallVector<const clang::Expr *, 2>> Drops;
  std::vector<llvm::SmallVector<const clang::Stmt *, 1>> Loops;
  std::vector<Mention> Mentions;
  llvm::SmallPtrSet<const clang::Expr *, 16> Overwritten;
  llvm::MapVector<unsigned, Group> Groups;
  std::vector<std::optional<Amount>> Amounts; ///< Of the variables.
  llvm::DenseMap<std::pair<unsigned, const clang::ValueDecl *>, Amount>
      PartAmounts;
  /// While it is asked what an amount hangs on: the variables, which count as
  /// nothing.
  llvm::SmallVectorImpl<unsigned> *Sizing = nullptr;
  MemorySource Result;
  Amount ResultSize = Amount::None;
  bool IsKnown = false; ///< The groups are made.
};

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_HISTORY_MEMORYNAMES_H
