//===- Body.h - What one may ask of a function body -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Questions about one function by syntax: what stands around a statement,
/// what runs before what, what a variable is given and where a value comes
/// from. What LibTorch makes of the values is asked in analysis/torch, where
/// they go on all paths in analysis/flow.

#ifndef LIBTORCH_TIDY_ANALYSIS_CPP_BODY_H
#define LIBTORCH_TIDY_ANALYSIS_CPP_BODY_H

#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Loops.h"
#include "analysis/cpp/Paths.h"
#include "analysis/cpp/Walk.h"
#include "analysis/cpp/Writes.h"
#include "clang/AST/ParentMap.h"
#include "llvm/ADT/DenseMap.h"
#include <map>

namespace libtorch_tidy::cpp {

/// The values that a variable is ever given.
struct Values {
  llvm::SmallVector<const clang::Expr *, 2> Given;
  /// False when there may be others: it is a parameter or not local, or it is
  /// changed by other means than assignments.
  bool Complete = true;
};

class Body {
public:
  /// The body of \p F, a definition. It is made when it is first asked for, and
  /// lives as long as the unit.
  static Body &of(const clang::FunctionDecl *F);
  /// Of the function around \p S; null outside functions. A lambda is a
  /// function.
  static Body *around(const clang::Stmt *S, clang::ASTContext &Context);

  const clang::FunctionDecl *function() const { return F; }
  const clang::Stmt *root() const { return Root; }
  clang::ASTContext &context() const { return F->getASTContext(); }
  /// Is the function made of a template, or in something that is?
  bool isInstantiated() const;

  //===--------------------------------------------------------------------===//
  // What stands where
  //===--------------------------------------------------------------------===//

  /// The statement around \p S: of an initialiser that of the declaration, of
  /// a lambda's body the lambda. Null for the body itself.
  const clang::Stmt *parentOf(const clang::Stmt *S) const {
    return Parents.getParent(const_cast<clang::Stmt *>(S));
  }
  /// The innermost Node around \p S; null when there is none.
  template <typename Node> const Node *around(const clang::Stmt *S) const {
    while ((S = parentOf(S)))
      if (const auto *N = llvm::dyn_cast<Node>(S))
        return N;
    return nullptr;
  }
  /// The statement around \p S but for parentheses, implicit casts, temporaries
  /// and cleanups.
  const clang::Stmt *outerOf(const clang::Stmt *S) const;
  /// What uses the value of \p E: what is around it but for parentheses, moves
  /// and what stripImplicit() removes.
  const clang::Stmt *userOf(const clang::Expr *E) const;
  /// The call that \p E is the object or an argument of; null when something
  /// else uses its value.
  const clang::CallExpr *callOn(const clang::Expr *E) const;
  /// The variable that \p S declares, and in whose initialiser \p E is; null
  /// for none.
  const clang::VarDecl *initializedBy(const clang::Stmt *S,
                                      const clang::Expr *E) const;
  /// Is \p S \p Outer or a part of it?
  bool isWithin(const clang::Stmt *S, const clang::Stmt *Outer) const;
  /// The call that runs the function, a lambda's, as the body of a loop:
  /// std::for_each. Null for others.
  const clang::CallExpr *repeatedBy() const;
  /// The parameter that has what the function returned the time before, where
  /// std::accumulate or its like runs it; null for others.
  const clang::ParmVarDecl *foldedInto() const;
  /// The innermost loop that runs \p S in each round; null when there is none.
  /// The body of a lambda that is repeatedBy() a call is a loop, too.
  const clang::Stmt *loopAround(const clang::Stmt *S) const;
  /// Does control surely leave \p Loop, around \p S, right after \p S?
  bool leavesAfter(const clang::Stmt *S, const clang::Stmt *Loop) const;
  /// The statement that declares \p Var: a DeclStmt, or the handler that
  /// catches it. Null for parameters and variables of other functions.
  const clang::Stmt *declarationOf(const clang::VarDecl *Var) const {
    return Declared.lookup(Var);
  }
  /// The innermost statement whose end ends the life of local variable \p Var;
  /// null for parameters and variables of other functions.
  const clang::Stmt *scopeOf(const clang::VarDecl *Var) const;

  //===--------------------------------------------------------------------===//
  // Variables and values
  //===--------------------------------------------------------------------===//

  /// A variable or parameter of this function that ends with it and is no
  /// reference.
  bool isOwn(const clang::ValueDecl *D) const;
  /// What names \p D, or a binding of it, in all of the body, in source order.
  llvm::ArrayRef<const clang::DeclRefExpr *>
  mentionsOf(const clang::ValueDecl *D);
  /// The writes to \p D in all of the body, in source order.
  llvm::ArrayRef<Write> writesTo(const clang::ValueDecl *D);
  /// Does local variable \p Var always hold what its declaration gives it?
  bool isSetOnce(const clang::VarDecl *Var);
  /// Does member \p Field surely get another value after \p Set, before the
  /// function returns?
  bool isOverwrittenAfter(const clang::FieldDecl *Field,
                          const clang::Expr *Set);
  /// What \p Var is given by its declaration and by assignments. Being emptied
  /// or moved from gives it nothing.
  Values valuesOf(const clang::VarDecl *Var);
  /// Where the value of \p E comes from, through the local variables that
  /// always hold what they start with, references and moves: the first
  /// expression that is something else.
  const clang::Expr *originOf(const clang::Expr *E);

  /// What the range-based for goes over whose variable \p Var is, a binding of
  /// it included; null for other variables.
  const clang::Expr *rangeOf(const clang::ValueDecl *Var) const;

  /// The ways that control takes; not in templates.
  const Paths &paths();

  explicit Body(const clang::FunctionDecl *F);

private:
  /// Fills Spans.
  void number() const;

  const clang::FunctionDecl *F;
  const clang::Stmt *Root;
  clang::ParentMap Parents;
  llvm::DenseMap<const clang::VarDecl *, const clang::Stmt *> Declared;
  /// The numbers of each statement and of the last one in it: once isWithin()
  /// has gone ManySteps up, as it does in chains and sums of extreme length.
  mutable llvm::DenseMap<const clang::Stmt *, std::pair<unsigned, unsigned>>
      Spans;
  mutable unsigned Steps = 0;
  static constexpr unsigned ManySteps = 100000;
  mutable std::optional<const clang::CallExpr *> Repeater; ///< Once asked.
  std::optional<WritesByTarget> Writes; ///< Once somebody asks.
  std::optional<
      llvm::DenseMap<const clang::ValueDecl *,
                     llvm::SmallVector<const clang::DeclRefExpr *, 4>>>
      Mentions; ///< The same.
  std::unique_ptr<Paths> Ways;
};

/// What \p Field is given by its initialisers and by assignments, in the
/// methods of its class whose bodies this unit has. Complete speaks of these
/// alone.
Values valuesOf(const clang::FieldDecl *Field);

/// Do the texts of \p A and \p B follow each other: does \p A begin before \p B
/// does? What a macro makes stands where the macro is used.
bool comesBefore(const clang::Stmt *A, const clang::Stmt *B,
                 const clang::SourceManager &SM);
/// Is \p Loc in the text of \p S?
bool isWithin(clang::SourceLocation Loc, const clang::Stmt *S,
              const clang::SourceManager &SM);

} // namespace libtorch_tidy::cpp

#endif // LIBTORCH_TIDY_ANALYSIS_CPP_BODY_H
