//===- Answers.h - What is offered at a place of a document -----*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_LSP_ANSWERS_H
#define LIBTORCH_TIDY_DRIVER_LSP_ANSWERS_H

#include "driver/lsp/Client.h"

namespace libtorch_tidy::driver::lsp {

inline constexpr const char *QuickFix = "quickfix";
inline constexpr const char *FixAll = "source.fixAll.libtorch-tidy";

/// Does `textDocument/codeAction` with these parameters want \p Kind, and has
/// the user asked for it by that name?
bool wantsKind(const Json &Params, llvm::StringRef Kind);
bool namesKind(const Json &Params, llvm::StringRef Kind);

/// The answer to `textDocument/codeAction`. \p Found is what was found in \p
/// Doc as it is (see DocumentAnalysis.h): a list, and \p All, all fixes
/// together.
Json codeActions(const Document &Doc, const Json &Found, const Json &All,
                 const Json &Params, const Documents &Open,
                 const ClientAbilities &Client);

/// The answer to `textDocument/hover`: the pages of the checks that have a
/// finding there; null when there is none.
Json hover(const Json &Found, const Json &Params,
           const ClientAbilities &Client);

} // namespace libtorch_tidy::driver::lsp

#endif // LIBTORCH_TIDY_DRIVER_LSP_ANSWERS_H
