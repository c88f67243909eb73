//===- Answers.h - What is said of a document, and offered ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_DRIVER_LSP_ANSWERS_H
#define LIBTORCH_TIDY_DRIVER_LSP_ANSWERS_H

#include "driver/lsp/Protocol.h"

namespace libtorch_tidy::driver::lsp {

inline constexpr const char *QuickFix = "quickfix";
inline constexpr const char *FixAll = "source.fixAll.libtorch-tidy";

/// Does `textDocument/codeAction` with these parameters want \p Kind, and has
/// the user asked for it by that name?
bool wantsKind(const Json &Params, llvm::StringRef Kind);
bool namesKind(const Json &Params, llvm::StringRef Kind);

/// Can `textDocument/codeAction` be answered before the fixes were tried?
bool canAnswerUntried(const Json &Params, const ClientAbilities &Client);

/// The answer to `textDocument/codeAction`. \p Found is what was found in \p
/// Doc as it is (see answer()): a list, and \p All, all fixes together.
Json codeActions(const Document &Doc, const Json &Found, const Json &All,
                 const Json &Params, const Documents &Open,
                 const ClientAbilities &Client);

/// The answer to `codeAction/resolve`, when the fixes of \p Doc were tried;
/// null when its fix is not right.
Json resolvedAction(const Document &Doc, const Json &Found, Json Action,
                    const Documents &Open, const ClientAbilities &Client);

/// The answer to `textDocument/hover`: the pages of the checks that have a
/// finding there; null when there is none.
Json hover(const Json &Found, const Json &Params,
           const ClientAbilities &Client);

/// All that an analysis depends on, besides the disk.
struct Question {
  std::string File;   ///< The path of one of \p Open.
  std::string Folder; ///< Of the workspace around it; empty when there is none.
  const Documents &Open;
  bool TryFixes; ///< Only fixes that were tried are part of the answer.
  const ClientAbilities &Client;
  const char *Argv0; ///< With MainAddress: where this program is.
  void *MainAddress;
};

/// Analyses the document, with the texts that are open, and says what was found
/// as JSON:
///
///   files    by path, a list of {diagnostic, fix}: a diagnostic of the
///            protocol and, when a fix was tried and is right, its {title,
///            edits}, where edits are text edits of the protocol, by path. Of
///            one that is not tried yet there is the title only. The document
///            is always among them
///   all      the edits of all fixes that are right together
///   untried  whether there are fixes that were not tried
///   failed   whether a unit could not be analysed in full
///   notes    what is not about a place, for the log
///
/// It takes what it needs out of \p Options, changes the working directory and
/// asks the compiler: it is to be called in a process of its own.
std::string answer(const Question &Q, CommandLine &Options);

} // namespace libtorch_tidy::driver::lsp

#endif // LIBTORCH_TIDY_DRIVER_LSP_ANSWERS_H
