//===- NolintWriter.cpp - NOLINT comments for what is found ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/engine/NolintWriter.h"
#include "driver/engine/FixRounds.h"
#include "driver/findings/NolintAudit.h"
#include "driver/project/Messages.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/WithColor.h"
#include <set>

using clang::tooling::Replacement;
using llvm::StringRef;

namespace libtorch_tidy::driver {

/// A backslash, or the trigraph for one, goes on with the next line.
static bool isContinued(StringRef Line) {
  Line = Line.rtrim();
  return Line.ends_with("\\") || Line.ends_with("?\?/");
}

StringRef troubleWithReason(StringRef Reason) {
  if (Reason.trim().empty())
    return " needs a reason: it is written into the comments";
  if (Reason.contains("NOLINT"))
    return ": the reason cannot contain NOLINT";
  if (Reason.contains("*/") || isContinued(Reason))
    return ": the reason cannot end a comment, or continue on the next line";
  return printable(Reason) == Reason
             ? ""
             : ": the reason has to be one line of printable text";
}

/// What one line has to suppress.
struct NolintWriter::Wish {
  unsigned Offset = 0; ///< Of a finding.
  std::set<std::string> Checks;
  /// Where they are, and of what check.
  std::vector<std::pair<std::string, std::string>> Findings;
};

namespace {

/// The text of one file, and where comments fit.
class CommentedText {
public:
  explicit CommentedText(StringRef T) : Text(T.str()) {
    StringRef Code = text();
    clang::Lexer Raw(clang::SourceLocation(), lexedLanguage(), Code.begin(),
                     Code.begin(), Code.end());
    Raw.SetCommentRetentionState(true);
    clang::Token Tok;
    for (bool IsLast = false; !IsLast;) {
      IsLast = Raw.LexFromRawLexer(Tok);
      const unsigned End = Raw.getCurrentBufferOffset();
      const bool IsComment = Tok.is(clang::tok::comment);
      if (IsComment || clang::tok::isLiteral(Tok.getKind()))
        Tokens.push_back({End - Tok.getLength(), End, IsComment});
    }
    Comments = nolintComments(Code);
  }

  StringRef text() const { return Text.text(); }
  SourceText::Position position(unsigned At) const { return Text.position(At); }

  /// Names \p Checks in a comment about the byte \p Offset, if there is one.
  std::optional<std::vector<Replacement>>
  extend(StringRef Path, unsigned Offset, llvm::ArrayRef<std::string> Checks,
         StringRef Reason) const {
    for (const NolintComment &C : Comments) {
      const Token *Around = around(C.Offset);
      if (!C.covers(Offset) || C.isBare() || !Around || !Around->IsComment ||
          (C.What != NolintComment::Line && C.What != NolintComment::NextLine))
        continue;
      const NolintItem &Last = C.Items.back();
      const unsigned ListEnd = Last.Offset + Last.Text.size();
      std::vector<Replacement> Result = {Replacement(
          Path, ListEnd, 0,
          (Last.Text.empty() ? "" : ", ") + llvm::join(Checks, ", "))};
      // What the author says goes on, on the line of the word.
      StringRef Said = text().slice(text().find(')', ListEnd) + 1, Around->End);
      const bool IsWhole = !Said.contains('\n');
      Said = Said.take_until([](char C) { return C == '\n'; }).rtrim();
      if (IsWhole && Said.consume_back("*/"))
        Said = Said.rtrim();
      if (!isContinued(Said) && !Said.contains(Reason))
        Result.emplace_back(Path, Said.end() - text().begin(), 0,
                            ((Said.empty() ? ": " : "; ") + Reason).str());
      return Result;
    }
    return std::nullopt;
  }

  /// A new comment for the line of the byte \p Offset: at its end, or above.
  std::optional<Replacement> insert(StringRef Path, unsigned Offset,
                                    llvm::ArrayRef<std::string> Checks,
                                    StringRef Reason) const {
    const unsigned Line = position(Offset).Line;
    const StringRef Whole = Text.lines(Line, Line), Code = Text.line(Line);
    const unsigned Begin = Code.begin() - text().begin(),
                   End = Begin + Code.size();
    const std::string Rest = ("(" + llvm::join(Checks, ", ") +
                              (Reason.empty() ? ")" : "): ") + Reason)
                                 .str();
    if (!around(End) && !isContinued(Code))
      return Replacement(Path, End, 0, " // NOLINT" + Rest);
    const StringRef Before = Line > 1 ? Text.line(Line - 1) : "";
    if (around(Begin) || isContinued(Before) ||
        Before.contains("NOLINTNEXTLINE"))
      return std::nullopt;
    return Replacement(
        Path, Begin, 0,
        Whole.take_while([](char C) { return C == ' ' || C == '\t'; }).str() +
            "// NOLINTNEXTLINE" + Rest + "\n");
  }

  /// Does a comment say already that \p Check is not to be heard there?
  bool isSuppressed(unsigned Offset, StringRef Check) const {
    return llvm::any_of(Comments, [&](const NolintComment &C) {
      return C.covers(Offset) &&
             llvm::any_of(C.Items,
                          [&](const NolintItem &I) { return I.names(Check); });
    });
  }

private:
  /// A comment or a literal.
  struct Token {
    unsigned Begin, End;
    bool IsComment;
  };

  /// What neither begins nor ends at \p At, and has text on both sides.
  const Token *around(unsigned At) const {
    auto It = llvm::partition_point(
        Tokens, [&](const Token &T) { return T.End <= At; });
    return It != Tokens.end() && It->Begin < At ? &*It : nullptr;
  }

  SourceText Text;
  std::vector<Token> Tokens;
  std::vector<NolintComment> Comments;
};

} // namespace

std::vector<Replacement> nolintEdits(StringRef Text, StringRef Path,
                                     unsigned Offset,
                                     llvm::ArrayRef<std::string> Checks,
                                     StringRef Reason) {
  const CommentedText Here(Text);
  if (llvm::any_of(Checks, [&](const std::string &Check) {
        return Here.isSuppressed(Offset, Check);
      }))
    return {}; // What is there has no effect.
  if (auto More = Here.extend(Path, Offset, Checks, Reason))
    return *More;
  if (auto New = Here.insert(Path, Offset, Checks, Reason))
    return {*New};
  return {};
}

void NolintWriter::addTo(const std::string &Path,
                         std::map<unsigned, Wish> Wishes, Hunks &Lines) {
  auto Leave = [&](const Wish &W, StringRef Why) {
    for (const auto &[Where, Check] : W.Findings)
      Notes.push_back(Where + ": no NOLINT comment is added: " + Why.str() +
                      " [" + Check + "]");
  };
  const SourceText *Analysed = Texts.get(Path);
  if (!Analysed || !IsOurs(Path)) {
    for (const auto &[Line, W] : Wishes)
      Leave(W, "the file is not one of this project");
    return;
  }
  std::string &Now =
      Changed.try_emplace(Path, Analysed->text().str()).first->second;
  const CommentedText Text(Now);
  fixits::FileEdits Edits;
  std::vector<Hunk> Touched;
  unsigned Shift = 0;
  for (auto &[Line, W] : Wishes) {
    if (llvm::any_of(W.Checks, [&, &W = W](const std::string &Check) {
          return Text.isSuppressed(W.Offset, Check);
        })) {
      Leave(W, "the one that is there has no effect");
      continue;
    }
    const std::vector<std::string> Checks(W.Checks.begin(), W.Checks.end());
    std::vector<Replacement> Wanted;
    auto More = Text.extend(Path, W.Offset, Checks, Reason);
    if (More)
      Wanted = std::move(*More);
    else if (auto New = Text.insert(Path, W.Offset, Checks, Reason))
      Wanted = {*New};
    if (Wanted.empty()) {
      Leave(W, "its line is within a macro, a literal or a comment of several "
               "lines");
      continue;
    }
    clang::tooling::Replacements &All = Edits[Path];
    clang::tooling::Replacements Before = All;
    bool Fits = true;
    for (const Replacement &R : Wanted)
      if (llvm::Error E = All.add(R)) {
        llvm::consumeError(std::move(E)); // The next round adds it.
        Fits = false;
      }
    if (!Fits) {
      All = std::move(Before);
      continue;
    }
    ++(More ? Extended : Added);
    const Replacement &Edit = Wanted.front();
    const unsigned Where = Text.position(Edit.getOffset()).Line + Shift;
    if (Edit.getReplacementText().contains('\n'))
      Touched.push_back({Where - 1 - Shift++, 0, Where, 1});
    else
      Touched.push_back({Where - Shift, 1, Where, 1});
  }
  if (Edits.empty())
    return;
  // Edits of one file that do not overlap.
  llvm::cantFail(fixits::applyEdits(Changed, Edits));
  Lines[Path] = std::move(Touched);
}

void NolintWriter::add(llvm::ArrayRef<Finding> Findings, Hunks &Lines) {
  std::map<std::string, std::map<unsigned, Wish>> Wishes;
  for (const Finding &F : Findings) {
    if (F.Kind != FindingKind::Defect || F.Known || F.Where.Path.empty())
      continue;
    Wish &W = Wishes[F.Where.Path][F.Where.Line];
    W.Offset = F.Where.Begin;
    W.Checks.insert(F.Check);
    W.Findings.emplace_back(placeOf(F), F.Check);
  }
  for (auto &[Path, OfFile] : Wishes)
    addTo(Path, std::move(OfFile), Lines);
}

std::vector<Finding> NolintWriter::run(std::vector<Finding> Findings,
                                       Analyse Again) {
  // What stands for others can stand for what stands for others.
  constexpr unsigned MaxRounds = 10;
  for (unsigned Round = 0; Round < MaxRounds; ++Round) {
    Notes.clear();
    Hunks Lines;
    add(Findings, Lines);
    if (Lines.empty())
      return Findings;
    std::optional<std::vector<Finding>> After = Again(Changed, Lines);
    if (!After) {
      Notes = {"no NOLINT comments are added: with them, not all files could "
               "be analysed"};
      Changed.clear();
      Added = Extended = 0;
      return Findings;
    }
    Findings = std::move(*After);
  }
  return Findings;
}

bool NolintWriter::finish(bool Quiet) const {
  for (const std::string &Note : Notes)
    llvm::WithColor::note(llvm::errs(), "libtorch-tidy")
        << printable(Note) << '\n';
  fixits::FileTexts Written;
  for (const auto &[Path, Text] : Changed)
    if (Text != Texts.get(Path)->text())
      Written.insert({Path, Text});
  if (!writeSources(Written, Texts, "no NOLINT comment is added to it"))
    return false;
  if (Quiet)
    return true;
  llvm::errs() << "libtorch-tidy: added " << counted(Added, "NOLINT comment");
  if (Extended)
    llvm::errs() << " and extended " << Extended;
  if (!Written.empty())
    llvm::errs() << " in " << counted(Written.size(), "file");
  llvm::errs() << '\n';
  return true;
}

} // namespace libtorch_tidy::driver
