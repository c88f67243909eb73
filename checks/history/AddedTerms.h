//===- AddedTerms.h - What an accumulation adds -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_CHECKS_HISTORY_ADDEDTERMS_H
#define LIBTORCH_TIDY_CHECKS_HISTORY_ADDEDTERMS_H

#include "analysis/flow/history/FunctionFlow.h"

namespace libtorch_tidy {

/// What \p A adds: to a sum, the term, where that is one operator. Null when it
/// has no such expression.
const clang::Expr *termOf(const flow::Accumulation &A,
                          const flow::FunctionFlow &Flow);

/// Does \p A add the result of an operator, with memory and history of its own,
/// not leaf \p Leaf itself or a copy of it? Also as one of several parts, of a
/// struct or of what a call is given.
bool addsComputed(const flow::Accumulation &A, const flow::Label &Leaf,
                  const flow::FunctionFlow &Flow);

/// Does \p A add a variable that \p Source's backward() goes through, with no
/// other value between the two? It throws where there is no history.
bool isProven(const flow::Accumulation &A, const flow::Label &Source,
              const flow::FunctionFlow &Flow);

/// The backward() that shows that \p A adds history of which no source is seen;
/// null when none does.
const flow::Label *provenSource(const flow::Accumulation &A,
                                const flow::FunctionFlow &Flow);

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_HISTORY_ADDEDTERMS_H
