//===- MemoryDomain.h - Statements of the memory domain ---------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The memory domain as Fixpoint.h asks for it, and the visit after the
/// fixpoint that writes down what dangles and what callers are to know.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_FLOW_MEMORY_MEMORYDOMAIN_H
#define LIBTORCH_TIDY_ANALYSIS_FLOW_MEMORY_MEMORYDOMAIN_H

#include "analysis/flow/Fixpoint.h"
#include "analysis/flow/memory/MemoryValues.h"
#include "analysis/torch/modules/Modules.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/MapVector.h"

namespace libtorch_tidy::flow {

/// The findings about each borrowing expression, of which one is reported: the
/// first in the source that comes after the borrowing, else the first.
class MemoryReports {
public:
  explicit MemoryReports(const clang::SourceManager &SM) : SM(SM) {}

  /// \p D shows at \p At.
  void add(Dangling D, clang::SourceLocation At);
  /// In the order of what borrows.
  std::vector<Dangling> take();

private:
  bool comesBefore(const clang::Expr *Source, clang::SourceLocation A,
                   clang::SourceLocation B) const;

  const clang::SourceManager &SM;
  llvm::MapVector<const clang::Expr *,
                  std::pair<clang::SourceLocation, Dangling>>
      BySource;
};

class MemoryDomain {
public:
  using State = MemoryState;

  MemoryDomain(const clang::FunctionDecl *F, clang::ASTContext &Context,
               MemorySummaries Callees, const MemoryBody &Body,
               const Sharing &Shared)
      : F(F), Context(Context), Body(Body), Values(Context, Callees, Shared) {}

  // The domain, as Fixpoint.h asks for it.
  State start() const;
  State transfer(const clang::CFGBlock &Block, State In);
  bool join(State &Into, const State &From) { return Into.join(From); }
  bool isTaken(const clang::CFGBlock &, const clang::CFGBlock &) {
    return true;
  }
  State atThrow(const State &Before, const State &After,
                const clang::CXXTryStmt &Try);

  /// Visits all blocks once more and writes down what happens there.
  void report(const FlowGraph &Graph, const States<State> &In, MemoryOf &Into);

private:
  // Statements.
  void visit(const clang::Stmt *Statement);
  void visitExpr(const clang::Expr *E);
  void declare(const clang::VarDecl *Var, const clang::Stmt *Statement);
  void visitReturn(const clang::ReturnStmt *Return);
  void assign(const clang::Expr *Left, const clang::Expr *Right,
              clang::SourceLocation At);
  // MemoryCalls.cpp: the table of calls, and the handlers of its rows.
  void visitCall(const clang::CallExpr *Call);
  std::optional<cpp::Done> insertion(const cpp::Call &C,
                                     const cpp::Insertion &Added);
  void forgetObject(const cpp::Call &C);
  void resizeObject(const cpp::Call &C);
  void freeArgument(const cpp::Call &C);
  void registration(const cpp::Call &C, const torch::Registration &R);
  void visitArguments(const cpp::Call &C);
  void visitSummary(const cpp::Call &C);
  void leaveScope(const clang::VarDecl *Var, clang::SourceLocation At);
  void leaveFunction();

  // Effects.
  enum class As { Declared, Assigned, Element };
  void keep(Keeper By, const clang::Expr *Value, clang::SourceLocation At,
            As How, const clang::Stmt *Statement = nullptr);
  void keep(Keeper By, const Borrow &B, clang::SourceLocation At, As How,
            const clang::Stmt *Statement = nullptr);
  void store(const clang::Expr *Container, const clang::Expr *Value,
             const clang::CallExpr *Into, clang::SourceLocation At);
  void setTensor(const clang::VarDecl *Var, const clang::Expr *Value);
  void replaceTensor(const clang::VarDecl *Var, const clang::Expr *Value,
                     clang::SourceLocation At);
  void setPointer(const clang::VarDecl *Var, const clang::Expr *Value);
  void freed(const clang::Expr *Pointer, clang::SourceLocation At);
  void resized(const clang::VarDecl *Var, clang::SourceLocation At);

  // Reports: they do nothing before the fixpoint is reached.
  void used(const clang::Expr *E, const clang::ValueDecl *D,
            clang::SourceLocation At);
  void report(const Held &H, Dangling::How Why, clang::SourceLocation UsedAt,
              clang::SourceLocation At);
  /// It shows at \p ShownAt, or where it is kept.
  void report(const Borrow &B, Dangling::How Why, clang::SourceLocation At,
              std::string By = {}, const clang::Stmt *Statement = nullptr,
              clang::SourceLocation ShownAt = {});
  void lend(const Borrow &B, unsigned To, llvm::StringRef Field = {});
  std::optional<unsigned> indexOf(const clang::ValueDecl *Param) const;

  const clang::FunctionDecl *F;
  clang::ASTContext &Context;
  const MemoryBody &Body;
  MemoryValues Values;
  State S;
  /// Null before the fixpoint is reached.
  MemoryReports *Found = nullptr;
  MemorySummary Summary; ///< Gathered with the reports.
  /// How many returns lend the same, by its place in Summary.Lends.
  std::vector<unsigned> ReturnsThat;
};

} // namespace libtorch_tidy::flow

#endif // LIBTORCH_TIDY_ANALYSIS_FLOW_MEMORY_MEMORYDOMAIN_H
