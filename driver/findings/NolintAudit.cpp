//===- NolintAudit.cpp - NOLINT comments that serve no purpose ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/findings/NolintAudit.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include <set>

using llvm::StringRef;

namespace libtorch_tidy::driver {

const CatalogEntry &nolintAuditEntry() {
  static constexpr llvm::StringLiteral Tags[] = {"maintainability"};
  static const CatalogEntry Entry = {
      "libtorch-nolint",
      Level::Advisory,
      "a NOLINT comment suppresses no finding of the check it names, names one "
      "that does not exist, or hides a finding without naming its check",
      "A comment that suppresses nothing will hide the next defect that "
      "someone writes there, and a comment without a name hides those of all "
      "checks.",
      FixKind::None,
      Tags,
      nullptr,
      [] { return llvm::ArrayRef<Reason>(); }};
  return Entry;
}

namespace {
/// How much of what a comment covers a unit has seen.
enum class Sight { None, Part, All };
} // namespace

static Sight sightOf(const NolintComment &C, const NolintAudit::File &File) {
  Sight Result = Sight::All;
  for (const auto &[From, To] : File.Skipped) {
    if (From <= C.From && C.To <= To)
      return Sight::None;
    if (From < C.To && C.From < To)
      Result = Sight::Part;
  }
  return Result;
}

void NolintAudit::add(const View &Unit) {
  for (const File &Read : Unit.Files) {
    const SourceText *Text = Texts.get(Read.Path);
    if (!Text)
      continue;
    auto [It, New] = Files.try_emplace(Read.Path);
    FileState &State = It->second;
    if (New)
      for (NolintComment &C : nolintComments(Text->text())) {
        CommentState &Added = State.Comments.emplace_back();
        Added.Items.resize(C.Items.size());
        Added.Comment = std::move(C);
      }
    if (State.Unit.empty() || Unit.Unit < State.Unit) {
      State.Unit = Unit.Unit;
      State.Spelled = Read.Spelled;
    }
    State.IsSource |= Read.Path == Unit.Unit;
    State.IsReported |= Read.IsReported;
    State.AsError |= Unit.AsError;
    for (auto [C, Function] : llvm::zip(State.Comments, Read.Functions))
      if (C.Function.empty())
        C.Function = Function;
    for (CommentState &C : State.Comments) {
      const Sight Seen = sightOf(C.Comment, Read);
      if (Seen == Sight::None)
        continue;
      C.Seen = true;
      for (auto [Item, About] : llvm::zip_equal(C.Comment.Items, C.Items))
        About.Undecided |=
            Seen == Sight::Part ||
            llvm::any_of(catalog(), [&, &Item = Item](const CatalogEntry &E) {
              return Item.names(E.Name) &&
                     !llvm::is_contained(Unit.LookedFor, E.Name);
            });
    }
  }
  for (const Heard &H : Unit.Said) {
    auto It = Files.find(H.Path);
    if (It == Files.end())
      continue;
    bool IsNamed = false;
    for (CommentState &C : It->second.Comments)
      if (C.Comment.covers(H.Offset) && !C.Comment.isBare())
        for (auto [Item, About] : llvm::zip_equal(C.Comment.Items, C.Items))
          if (Item.names(H.Check))
            IsNamed = About.Used = true;
    if (!IsNamed && !H.TooWeak)
      for (CommentState &C : It->second.Comments)
        if (C.Comment.covers(H.Offset) && C.Comment.isBare())
          C.Hidden.emplace(H.Offset, H.Check);
  }
}

/// The check that is meant by a name that no check has, if it is much like one.
static std::string guess(StringRef Name) {
  std::vector<StringRef> Names;
  for (const CatalogEntry &E : catalog())
    Names.push_back(E.Name);
  return didYouMean(Name, Names);
}

static StringRef coveredPart(const NolintComment &C) {
  return C.What == NolintComment::NextLine ? "on the next line"
         : C.What == NolintComment::Begin  ? "in this block"
                                           : "on this line";
}

static std::string listed(const std::set<std::string> &Names) {
  std::string Result;
  size_t Left = Names.size();
  for (const std::string &Name : Names) {
    Result += "'" + Name + "'";
    if (--Left)
      Result += Left > 1 ? ", " : " and ";
  }
  return Result;
}

/// What is wrong with \p Item of \p Comment; empty when nothing is.
static std::string complaint(const NolintComment &Comment,
                             const NolintItem &Item, bool IsUnused) {
  if (!Item.isOurs())
    return {};
  if (Item.isNegative())
    return ("'" + Item.Text + "' has no effect: " + Comment.Word +
            " comments cannot exclude checks")
        .str();
  if (llvm::none_of(catalog(),
                    [&](const CatalogEntry &E) { return Item.names(E.Name); }))
    return Item.Text.contains('*')
               ? ("no check matches '" + Item.Text + "' in this " +
                  Comment.Word)
                     .str()
               : ("there is no check '" + Item.Text + "', which this " +
                  Comment.Word + " names" + guess(Item.Text))
                     .str();
  if (IsUnused)
    return ("unused " + Comment.Word + ": '" + Item.Text + "' finds nothing " +
            coveredPart(Comment))
        .str();
  return {};
}

std::vector<Finding> NolintAudit::findings(const Failures &FailedUnits) const {
  std::vector<Finding> Result;
  for (const auto &[FilePath, File] : Files) {
    if (!File.IsReported)
      continue;
    const std::string &Path = FilePath;
    auto PlaceOf = [&, &File = File](unsigned Begin, unsigned Length) -> Place {
      const SourceText::Position At = Texts.get(Path)->position(Begin);
      return {Path, Begin, Begin + Length, At.Line, At.Column, File.Spelled};
    };
    auto Say = [&, &File = File](const CommentState &C, unsigned Begin,
                                 unsigned Length,
                                 const llvm::Twine &Message) -> Finding & {
      Finding &F = Result.emplace_back();
      F.Check = nolintAuditEntry().Name.str();
      F.Strength = nolintAuditEntry().StrongestLevel;
      F.AsError = File.AsError;
      F.Message = Message.str();
      F.Where = PlaceOf(Begin, Length);
      F.Highlights = {{File.Spelled, Begin, Length}};
      F.Function = C.Function;
      F.Unit = File.Unit;
      return F;
    };
    // A failed unit may use what only it sees.
    const bool IsSeenInFull =
        FailedUnits.empty() || (File.IsSource && !FailedUnits.count(Path));
    for (const CommentState &C : File.Comments) {
      const NolintComment &Comment = C.Comment;
      if (Comment.What == NolintComment::End)
        continue; // Its begin has the same list.
      if (!C.Hidden.empty()) {
        std::set<std::string> Checks;
        for (const auto &[Offset, Check] : C.Hidden)
          Checks.insert(Check);
        const bool One = Checks.size() == 1;
        Finding &F = Say(
            C, Comment.Offset, Comment.Word.size(),
            Comment.Word + " without " + (One ? "a name" : "names") +
                " hides what " + listed(Checks) + (One ? " finds " : " find ") +
                coveredPart(Comment) + "; write " + Comment.Word + "(" +
                (One ? *Checks.begin() : std::string("...")) + ")");
        if (Comment.What == NolintComment::Begin)
          for (const auto &[Offset, Check] : C.Hidden)
            F.Steps.push_back({PlaceOf(Offset, 1),
                               "'" + Check + "' finds this",
                               {{File.Spelled, Offset, 1}}});
      }
      for (auto [Item, About] : llvm::zip_equal(Comment.Items, C.Items)) {
        // A begin without an end is an error of its own.
        const bool IsWhole = Comment.What != NolintComment::Begin || Comment.To;
        const std::string Text = complaint(Comment, Item,
                                           C.Seen && IsSeenInFull && IsWhole &&
                                               !About.Used && !About.Undecided);
        if (!Text.empty())
          Say(C, Item.Offset, Item.Text.size(), Text);
      }
    }
  }
  return Result;
}

} // namespace libtorch_tidy::driver
