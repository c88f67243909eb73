//===- Verifier.h - Does a fix do what it promises --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Tries fixes before anybody is offered them: applies them in memory, has the
/// unit analysed again, and compares. Knows neither Clang's front end nor the
/// driver: whoever has both hands in a function that analyses changed text.

#ifndef LIBTORCH_TIDY_FIXITS_VERIFIER_H
#define LIBTORCH_TIDY_FIXITS_VERIFIER_H

#include "clang/Tooling/Core/Replacement.h"
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace libtorch_tidy::fixits {

/// The text of files by absolute path: what is not listed is as on disk.
using FileTexts = std::map<std::string, std::string>;
/// The edits of each file, by absolute path.
using FileEdits = std::map<std::string, clang::tooling::Replacements>;

/// A finding, as far as it can be recognised after an edit.
struct Spot {
  std::string Check;
  std::string Path;    ///< Absolute.
  unsigned Offset = 0; ///< Bytes from the beginning of the file.
  std::string Message;
  FileEdits Fix = {};        ///< Perhaps none.
  std::string Function = {}; ///< Around it; perhaps none.
};

/// What an analysis of a unit says.
struct Reaction {
  std::vector<Spot> Found;
  /// Errors and warnings of the compiler. In which function is not known.
  std::vector<Spot> Problems;
};

/// A finding with the fix it proposes.
struct Proposal {
  Spot Of;
  FileEdits Edits;
};

enum class Verdict : unsigned char {
  Unverified, ///< Nobody tried.
  Verified,   ///< It compiles, the finding is gone, and no new one came.
  Rejected,   ///< It does not; the fix is withheld.
};

struct Judgement {
  Verdict What = Verdict::Unverified;
  std::string Reason; ///< Of a rejection.
  /// What was verified: the edits of the proposal, and of the fixes that it
  /// needs to be right.
  FileEdits Edits = {};
};

/// Judges the fixes of one unit.
class Verifier {
public:
  using Analyse = std::function<Reaction(const FileTexts &)>;

  /// \p Start: files that already differ from the disk; \p Found: what is found
  /// in them. \p Again analyses the unit with other texts (those of \p Start
  /// included), and asks the compiler for warnings, too.
  Verifier(FileTexts Start, std::vector<Spot> Found, Analyse Again)
      : Start(std::move(Start)), Again(std::move(Again)),
        Before(std::move(Found)) {}

  /// Judges each. They are tried together: each was made for the text without
  /// the others, so none can lend another what it lacks to compile. Where that
  /// fails, those that nothing is against are tried together first, and the
  /// others by rounds without two of one check in one function: at once where
  /// what is against each is known, else by halves.
  std::vector<Judgement> judge(llvm::ArrayRef<Proposal> Proposals);

  /// Several fixes at once.
  struct Selection {
    FileTexts Texts;           ///< Of all files that differ from the disk.
    std::vector<size_t> Taken; ///< Indices of proposals.
    /// Fixes that are right alone but not with those before them.
    std::vector<std::pair<size_t, std::string>> LeftOut;
  };
  /// Takes what fits together, earlier ones first, with the edits that \p
  /// Judged has. Those that it rejects are not tried. Where all together fail,
  /// they are added by halves.
  Selection select(llvm::ArrayRef<Proposal> Proposals,
                   llvm::ArrayRef<Judgement> Judged);

private:
  /// What is wrong with a text that was tried.
  struct Objection {
    std::string Reason;
    Spot What; ///< With a fix when that may end it.
    bool OfCompiler = false;
  };
  /// A proposal with the edits that are tried for it, which can be more.
  struct Attempt {
    size_t Number; ///< Of the proposal.
    FileEdits Edits;
    unsigned Tries = 0;
    std::string Reason = {}; ///< Against the proposal alone.
  };

  /// Tries \p P alone; where that leads to another finding which has a fix,
  /// with that fix, too.
  Judgement judgeAlone(const Proposal &P);
  /// Tries those of \p Some that can be applied together. Returns those that
  /// are still to be judged: all, when that fails, because of \p Against.
  std::vector<size_t> judgeTogether(llvm::ArrayRef<Proposal> Proposals,
                                    llvm::ArrayRef<size_t> Some,
                                    std::vector<Judgement> &Judged,
                                    std::vector<Objection> &Against);
  /// As judgeAlone() for each of \p Some, all in one text at a time. False, and
  /// nothing is judged, where two of them are in one function, or something is
  /// against none of them. \p Against is known of all together.
  bool judgeAtOnce(llvm::ArrayRef<Proposal> Proposals,
                   llvm::ArrayRef<size_t> Some, std::vector<Judgement> &Judged,
                   std::vector<Objection> Against);
  /// Is \p O, which \p All together brought, against \p P, of which \p Own are
  /// there: in its function, or for the compiler in what it inserts?
  static bool isAgainst(const Objection &O, const Proposal &P,
                        const FileEdits &All, const FileEdits &Own);
  /// Moves those of \p Some that nothing of \p Against is against to the
  /// front; how many these are.
  static size_t cleanFirst(llvm::ArrayRef<Proposal> Proposals,
                           std::vector<size_t> &Some,
                           llvm::ArrayRef<Objection> Against);
  void judgeSome(llvm::ArrayRef<Proposal> Proposals,
                 llvm::ArrayRef<size_t> Some, std::vector<Judgement> &Judged);
  /// Adds those of \p Some to \p To that go with \p Edits, which are its own
  /// and end \p Gone.
  void add(llvm::ArrayRef<Proposal> Proposals, llvm::ArrayRef<Judgement> Judged,
           llvm::ArrayRef<size_t> Some, FileEdits &Edits,
           std::vector<const Spot *> &Gone, Selection &To);
  /// What the compiler says without any fix; asked for when it says something
  /// with one.
  const std::vector<Spot> &problemsBefore();
  /// What is against \p Edits, which shall end the findings \p Gone: the
  /// compiler first. A finding that is still there has no fix.
  std::vector<Objection> objections(const FileEdits &Edits,
                                    llvm::ArrayRef<const Spot *> Gone,
                                    FileTexts &Texts);

  FileTexts Start;
  Analyse Again;
  std::vector<Spot> Before;
  std::optional<std::vector<Spot>> ProblemsBefore;
  /// What was found to be right together, by number, and the texts with it.
  std::vector<size_t> Together;
  FileTexts TogetherTexts;
};

/// Adds the edits of \p From to \p Into; false, with \p Into unchanged, when
/// two of them touch the same place.
bool mergeEdits(FileEdits &Into, const FileEdits &From);

/// \p Texts after \p Edits; files that it lacks are read from the disk. Line
/// ends of what is inserted follow those of the file.
llvm::Error applyEdits(FileTexts &Texts, const FileEdits &Edits);

/// \p Text, which is for insertion, with the line ends of the text \p File.
std::string withLineEndsOf(llvm::StringRef File, llvm::StringRef Text);

} // namespace libtorch_tidy::fixits

#endif // LIBTORCH_TIDY_FIXITS_VERIFIER_H
