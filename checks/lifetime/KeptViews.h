//===- KeptViews.h - Small tensors that hold large memory -------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Finds parts of tensors that are kept when the tensor itself is gone, so that
/// they alone hold its whole memory; losses that are kept with their unreduced
/// buffer; and parts that are written to a file with the whole tensor.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_LIFETIME_KEPTVIEWS_H
#define LIBTORCH_TIDY_CHECKS_LIFETIME_KEPTVIEWS_H

#include "clang/AST/Decl.h"
#include "clang/AST/ExprCXX.h"
#include <string>
#include <vector>

namespace libtorch_tidy {

struct KeptView {
  enum Kind {
    Part, ///< A part of a tensor.
    Loss, ///< A reduced loss.
    Saved ///< A part that is written to a file.
  } What;
  const clang::Expr *Kept;       ///< What is stored or saved, as written.
  const clang::CallExpr *Source; ///< The call that takes the part; the loss.
  /// The local variable whose memory it is; null for a temporary.
  const clang::VarDecl *Owner = nullptr;
  /// Else what makes that temporary; null where it is not seen.
  const clang::Expr *Temporary = nullptr;
  std::string Keeper; ///< Part, Loss: what keeps it, as the user would write.
  /// It is one of many: added to a container. Else it replaces the last one.
  bool Grows = false;
  /// The tensor is written to when the part is kept already, which a copy would
  /// not show.
  bool ChangesLater = false;
  /// The index is a constant 0, as one takes the only sample of a batch.
  bool MayBeWhole = false;
  /// A conversion is in between that copies where it has to: contiguous().
  bool MayBeCopied = false;
  /// It may carry a graph, which is what costs most then.
  bool MayCarryGraph = false;
};

/// All of them in the body of \p F, a function of user code that is not a
/// template.
std::vector<KeptView> findKeptViews(const clang::FunctionDecl *F,
                                    const clang::ASTContext &Context);

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_LIFETIME_KEPTVIEWS_H
