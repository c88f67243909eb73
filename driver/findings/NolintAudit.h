//===- NolintAudit.h - NOLINT comments that serve no purpose ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_DRIVER_FINDINGS_NOLINTAUDIT_H
#define LIBTORCH_TIDY_DRIVER_FINDINGS_NOLINTAUDIT_H

#include "driver/findings/Finding.h"
#include "driver/findings/SourceText.h"
#include <map>
#include <set>
#include <string>
#include <vector>

namespace libtorch_tidy::driver {

/// One entry of a list of checks.
struct NolintItem {
  llvm::StringRef Text; ///< Trimmed; a '-' in front is part of it.
  unsigned Offset = 0;

  /// clang-tidy takes no notice of what a list takes away.
  bool isNegative() const { return Text.starts_with("-"); }
  /// Can it mean nothing but checks of libtorch-tidy?
  bool isOurs() const {
    llvm::StringRef Name = Text.substr(isNegative()).ltrim();
    return Name.starts_with("libtorch-") || Name.starts_with("libtorch*");
  }
  /// Does it name \p Check, by a glob perhaps?
  bool names(llvm::StringRef Check) const;
};

struct NolintComment {
  enum Kind : unsigned char { Line, NextLine, Begin, End };
  Kind What = Line;
  unsigned Offset = 0; ///< Of the word, which is Word.
  llvm::StringRef Word;
  /// Without a list, and with the list `*`, every check is meant.
  bool HasList = false;
  std::vector<NolintItem> Items;
  /// The bytes at which findings are suppressed; none for an end, and for a
  /// begin that has none.
  unsigned From = 0, To = 0; ///< One past the last.

  bool covers(unsigned Byte) const { return From <= Byte && Byte < To; }
  bool isBare() const {
    return !HasList || (Items.size() == 1 && Items.front().Text == "*");
  }
};

/// The NOLINT comments of a file as clang-tidy 19 reads them
/// (NoLintDirectiveHandler): by the bytes alone, so that the word counts in
/// string literals, too. In order; \p Text must outlive them.
std::vector<NolintComment> nolintComments(llvm::StringRef Text);

/// How findings of the audit are called and explained. It is none of the
/// catalog: what it says is about a whole run, and clang-tidy has no such
/// thing.
const CatalogEntry &nolintAuditEntry();

/// Which NOLINT comments name a check of ours and suppress none of its
/// findings, hide a finding without a name, or name a check that does not
/// exist.
class NolintAudit {
public:
  /// What a check said in a unit, and the engine kept from the user.
  struct Heard {
    std::string Check, Path; ///< Path canonical.
    unsigned Offset = 0;
    bool TooWeak = false;    ///< For the level of this run.
    bool IsReported = false; ///< Would it be, with another level?
  };
  /// A user file that a unit has read; once for each time it was read.
  struct File {
    std::string Path;    ///< Canonical.
    std::string Spelled; ///< As in diagnostics, absolute.
    /// What the preprocessor skipped, from and to which byte.
    std::vector<std::pair<unsigned, unsigned>> Skipped;
    std::vector<std::string> Functions; ///< Around each comment.
    bool IsReported = false;            ///< Would findings in it be?
  };
  /// One unit that was analysed in full.
  struct View {
    std::string Unit; ///< Canonical.
    std::vector<File> Files;
    std::vector<Heard> Said;
    /// Checks that would have been heard, whatever the level of a finding.
    std::vector<std::string> LookedFor;
    bool AsError = false; ///< By WarningsAsErrors.
  };
  explicit NolintAudit(SourceTexts &Texts) : Texts(Texts) {}

  void add(const View &Unit);

  /// In order of files and places. \p FailedUnits may have had
  /// findings that comments of their headers suppress.
  std::vector<Finding> findings(const Failures &FailedUnits) const;

private:
  struct ItemState {
    bool Used = false, Undecided = false;
  };
  struct CommentState {
    NolintComment Comment;
    std::string Function; ///< Around it.
    bool Seen = false;
    std::vector<ItemState> Items;
    /// What a bare comment hides that no other comment names: place and check.
    std::set<std::pair<unsigned, std::string>> Hidden;
  };
  struct FileState {
    std::string Spelled, Unit;
    bool IsReported = false, IsSource = false, AsError = false;
    std::vector<CommentState> Comments;
  };
  SourceTexts &Texts;
  std::map<std::string, FileState> Files;
};

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_FINDINGS_NOLINTAUDIT_H
