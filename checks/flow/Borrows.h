//===- Borrows.h - What refers to memory it does not own --------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Follows pointers into tensors, array references and tensors over foreign
/// buffers through one function, statement by statement, and finds those that
/// are used, returned or stored when what owns the memory is gone.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_FLOW_BORROWS_H
#define LIBTORCH_TIDY_CHECKS_FLOW_BORROWS_H

#include "checks/torch/Sharing.h"
#include "checks/torch/Storage.h"
#include "clang/AST/Decl.h"
#include <string>
#include <vector>

namespace libtorch_tidy::flow {

/// A value that refers to memory of something else.
struct Borrow {
  enum Kind {
    Blob,     ///< A tensor made by from_blob.
    Data,     ///< A pointer to the data of a tensor.
    Shape,    ///< Sizes, strides or storage of a tensor object.
    Elements, ///< The elements of a TorchScript tuple.
    List      ///< An ArrayRef over a list or vector.
  } What = Data;
  /// The call or construction that borrows.
  const clang::Expr *Source = nullptr;
  /// Source with the calls on it that keep borrowing, in its own statement.
  const clang::Expr *Top = nullptr;
  /// The local variable that owns the memory, or points to memory that it
  /// allocated (Heap). Null when a temporary does.
  const clang::VarDecl *Owner = nullptr;
  const clang::Expr *Temporary = nullptr;
  bool Heap = false;
  torch::Fresh Sure = torch::Fresh::Yes;
  torch::TensorTraits Traits; ///< Blob only.
  /// The operator that copies only when there is something to do, if the
  /// answer depends on one.
  llvm::StringRef Through;
  /// Blob only: it begins where the buffer begins.
  bool AtStart = true;
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
  /// What keeps the borrow, as the user would write it; empty for a result.
  std::string Keeper;
  /// Where it is kept, or returned by another statement than it is made in.
  clang::SourceLocation KeptAt;
  /// The declaration or range-for that keeps it, as a whole statement of a
  /// block; null when it is kept otherwise.
  const clang::Stmt *Statement = nullptr;
  clang::SourceLocation EndsAt;      ///< Where the owner changed or died.
  clang::SourceLocation UsedAt;      ///< A later use.
  const clang::Stmt *Body = nullptr; ///< Of the function; null outside one.
};

/// All of them in the body and the member initialisers of \p F, a function of
/// user code that is not a template.
std::vector<Dangling> findDangling(const clang::FunctionDecl *F,
                                   const clang::ASTContext &Context);

/// Does the initialiser of \p Var, a variable outside functions, refer to a
/// temporary?
std::vector<Dangling> findDangling(const clang::VarDecl *Var,
                                   const clang::ASTContext &Context);

} // namespace libtorch_tidy::flow

#endif // LIBTORCH_TIDY_CHECKS_FLOW_BORROWS_H
