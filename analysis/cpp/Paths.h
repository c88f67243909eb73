//===- Paths.h - The ways that control takes --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_ANALYSIS_CPP_PATHS_H
#define LIBTORCH_TIDY_ANALYSIS_CPP_PATHS_H

#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <memory>
#include <optional>

namespace clang {
class CFG;
} // namespace clang

namespace libtorch_tidy::cpp {

/// What the elements of a graph are.
enum class Grain : unsigned char {
  Statements, ///< Whole statements and what they branch on; destructors and
              ///< constructor initialisers, too; no edges that are never taken.
  Expressions, ///< Every expression by itself, and nothing else.
  Everything,  ///< As Statements, with every expression by itself, its operands
               ///< before it, and where the life of each variable ends.
};
/// The control-flow graph of \p F; null when it cannot be built.
std::unique_ptr<clang::CFG> buildGraph(const clang::FunctionDecl *F,
                                       Grain Elements);

/// The ways that control takes through one function. Exceptions are not
/// followed; a handler is a start of its own.
class Paths {
public:
  explicit Paths(const clang::FunctionDecl *In);
  ~Paths();

  /// May what \p D holds when control comes to the start of statement \p From
  /// be read before it is overwritten or released? \p D is a variable or a
  /// field of `*this`; one that outlives the function is read by whoever comes
  /// after, unless the function is called again first, and unless it \p IsName:
  /// only another name, of something that is asked about by itself. True also
  /// when it cannot be known.
  bool isReadFrom(const clang::ValueDecl *D, const clang::Stmt *From,
                  bool IsName = false) const;

  /// Is there a way from after \p From to a statement or expression that
  /// \p IsGoal accepts, on which \p D is neither overwritten nor released?
  /// Null for \p From means from the declaration of \p D.
  bool holdsUntil(const clang::ValueDecl *D, const clang::Expr *From,
                  llvm::function_ref<bool(const clang::Stmt *)> IsGoal) const;

  /// Is there a way from after \p From to a statement or expression that
  /// \p IsGoal accepts, or, with \p OrOut, out of the function? Not by calls
  /// that do not return: exit(), abort().
  bool leadsTo(const clang::Expr *From,
               llvm::function_ref<bool(const clang::Stmt *)> IsGoal,
               bool OrOut = false) const;

  /// Is there a way from after \p From to a statement or expression that
  /// \p IsGoal accepts, on which there is nothing that \p IsEnd accepts? False
  /// where it cannot be known.
  bool leadsWithout(const clang::Expr *From,
                    llvm::function_ref<bool(const clang::Stmt *)> IsEnd,
                    llvm::function_ref<bool(const clang::Stmt *)> IsGoal) const;

  /// The statements and expressions that \p IsSource accepts and after which
  /// there is a way to \p Goal without another one; null among them for the
  /// start of the function. nullopt where it cannot be known.
  std::optional<llvm::SmallVector<const clang::Stmt *, 4>>
  lastBefore(const clang::Stmt *Goal,
             llvm::function_ref<bool(const clang::Stmt *)> IsSource) const;

private:
  /// What was asked before.
  struct Memory;

  const clang::FunctionDecl *In;
  std::unique_ptr<clang::CFG> Graph; ///< Null when it cannot be built.
  std::unique_ptr<Memory> Known;
};

} // namespace libtorch_tidy::cpp

#endif // LIBTORCH_TIDY_ANALYSIS_CPP_PATHS_H
