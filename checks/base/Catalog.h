//===- Catalog.h - The one table of checks ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Every check of libtorch-tidy, once. Registration with clang-tidy,
/// `--list-checks`, `--explain` and the SARIF rules are derived from this
/// table, which the build makes of the heads of the pages in docs/checks.

#ifndef LIBTORCH_TIDY_CHECKS_BASE_CATALOG_H
#define LIBTORCH_TIDY_CHECKS_BASE_CATALOG_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <memory>
#include <type_traits>

namespace clang::tidy {
class ClangTidyCheck;
class ClangTidyContext;
} // namespace clang::tidy

namespace libtorch_tidy {

/// How sure a finding is, and so how loudly it is reported. A check has a
/// level, and one of its findings may be weaker than that, never stronger.
enum class Level : unsigned char {
  Certain = 0,  ///< A defect whenever it executes.
  Likely = 1,   ///< Reported by default, with level 0.
  Advisory = 2, ///< On request only.
};

/// The weakest level that is reported, unless an option names another.
inline constexpr Level DefaultLevel = Level::Likely;

/// What a check can offer in addition to its message.
enum class FixKind : unsigned char {
  None,
  Sometimes, ///< Where the edit can be shown to be safe.
};

/// What a reason does to a finding.
enum class Effect : unsigned char {
  Certain, ///< Of level 0, unless another reason lowers it.
  Likely,  ///< Lowers it to level 1.
  Advice,  ///< Lowers it to level 2.
  Silent,  ///< There is none.
  NoFix,   ///< It has no fix.
};

/// One row of the table of a check: what raises, lowers or silences its
/// findings. The page of the check shows the rows, --why names them.
struct Reason {
  llvm::StringLiteral Name; ///< Such as "unseen-callee".
  Effect Does;
  llvm::StringLiteral When; ///< When it applies: one sentence, in Markdown.
};

/// The rows of a table: a structure whose members are all Reasons.
template <typename Table> llvm::ArrayRef<Reason> rowsOf(const Table &Rows) {
  static_assert(std::is_standard_layout_v<Table> &&
                sizeof(Table) % sizeof(Reason) == 0);
  return {reinterpret_cast<const Reason *>(&Rows),
          sizeof(Table) / sizeof(Reason)};
}

/// One check. All text is plain ASCII without a trailing full stop, except
/// \p Why which is whole sentences.
struct CatalogEntry {
  llvm::StringLiteral Name;    ///< clang-tidy name, "libtorch-...".
  Level StrongestLevel;        ///< The strongest level of its findings.
  llvm::StringLiteral Summary; ///< What the defect is, in one line.
  llvm::StringLiteral Why;     ///< Why it costs memory, true for C++.
  FixKind Fix;
  llvm::ArrayRef<llvm::StringLiteral>
      Tags; ///< SARIF tags in addition to the common.
  std::unique_ptr<clang::tidy::ClangTidyCheck> (*Create)(
      llvm::StringRef Name, clang::tidy::ClangTidyContext *Context);
  llvm::ArrayRef<Reason> (*Reasons)();
};

/// All checks, ordered by name.
llvm::ArrayRef<CatalogEntry> catalog();

/// The entry called \p Name, or null.
const CatalogEntry *findInCatalog(llvm::StringRef Name);

/// The entry of the check that has \p Row in its table, or null.
const CatalogEntry *findCheckWith(const Reason &Row);

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_BASE_CATALOG_H
