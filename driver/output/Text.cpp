//===- Text.cpp - Findings as clang-tidy prints them ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "clang-tidy/ClangTidy.h"
#include "clang-tidy/ClangTidyDiagnosticConsumer.h"
#include "driver/llvm/Compat.h"
#include "driver/output/Reports.h"
#include "driver/project/Configuration.h"
#include "driver/project/Messages.h"
#include "driver/project/Paths.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <unistd.h>

using namespace clang::tidy;
using clang::tooling::DiagnosticMessage;

namespace libtorch_tidy::driver {

static DiagnosticMessage messageOf(const Place &Where, llvm::StringRef Text,
                                   llvm::ArrayRef<Highlight> Highlights,
                                   const fixits::FileEdits &Fix) {
  DiagnosticMessage Result(Text);
  Result.FilePath = Where.Spelled;
  Result.FileOffset = Where.Begin;
  for (const Highlight &H : Highlights) {
    clang::tooling::FileByteRange &Range = Result.Ranges.emplace_back();
    Range.FilePath = H.Spelled;
    Range.FileOffset = H.Begin;
    Range.Length = H.Length;
  }
  for (const auto &[Path, Edits] : Fix)
    Result.Fix[Path] = Edits;
  return Result;
}

/// The first line of \p Text that is not blank, in quotes.
static std::string quoted(llvm::StringRef Text) {
  const auto [Line, Rest] = Text.trim().split('\n');
  return ("'" + Line.rtrim() + (Rest.empty() ? "'" : " ...'")).str();
}

/// What an edit does that puts \p New in the place of \p Old.
static std::string inWords(llvm::StringRef Old, llvm::StringRef New) {
  if (Old.trim().empty())
    return "the fix inserts " + quoted(New) + " here";
  if (New.trim().empty())
    return "the fix removes " + quoted(Old) + " here";
  return "the fix replaces " + quoted(Old) + " with " + quoted(New) + " here";
}

/// As clang-tidy has them. It gives several names to what two checks say in
/// the same words; no two checks of ours do.
static std::vector<ClangTidyError> errorsOf(llvm::ArrayRef<Finding> Findings) {
  std::vector<ClangTidyError> Result;
  for (const Finding &F : Findings) {
    ClangTidyError &E = Result.emplace_back(
        F.Check, F.IsError ? ClangTidyError::Error : ClangTidyError::Warning,
        F.Directory, F.AsError);
    E.Message = messageOf(F.Where, F.Message, F.Highlights, F.Fix);
    for (const FindingStep &Step : F.Steps)
      E.Notes.push_back(
          messageOf(Step.Where, Step.Text, Step.Highlights, Step.Fix));
  }
  return Result;
}

/// Takes the edits that are not on the line of the message, or that begin
/// another one, out of \p E, and says in a note what each of them does.
/// clang-tidy's printer shows an edit below the line of its message only, and
/// none that has a line end; for others it takes the number of the first line
/// that any edit touches for that of the line that it shows.
static void describeDistantEdits(const Finding &F, ClangTidyError &E,
                                 llvm::vfs::FileSystem &FS) {
  for (auto &Entry : E.Message.Fix) {
    const llvm::StringRef Path = Entry.first();
    clang::tooling::Replacements &Edits = Entry.second;
    const auto Text = FS.getBufferForFile(Path);
    if (!Text)
      continue;
    const llvm::StringRef Code = (*Text)->getBuffer();
    auto IsOnLine = [&](const clang::tooling::Replacement &Edit) {
      const size_t First = std::min(F.Where.Begin, Edit.getOffset());
      const size_t Last = std::max(F.Where.Begin, Edit.getOffset());
      return Path == F.Where.Path && !Code.slice(First, Last).contains('\n') &&
             !Code.substr(Edit.getOffset(), Edit.getLength()).contains('\n') &&
             !Edit.getReplacementText().contains('\n');
    };
    clang::tooling::Replacements Shown;
    for (const clang::tooling::Replacement &Edit : Edits) {
      if (IsOnLine(Edit)) {
        llvm::consumeError(Shown.add(Edit));
        continue;
      }
      const llvm::StringRef Old =
          Code.substr(Edit.getOffset(), Edit.getLength());
      const size_t Blanks = Old.size() - Old.ltrim().size();
      Place Where = F.Where;
      // What goes with a line begins at the end of the one before.
      Where.Begin = Edit.getOffset() + (Blanks < Old.size() ? Blanks : 0);
      if (Path != F.Where.Path)
        Where.Spelled = Path;
      E.Notes.push_back(
          messageOf(Where, inWords(Old, Edit.getReplacementText()), {}, {}));
    }
    Edits = std::move(Shown);
  }
}

/// Says what the printer does not show of the fix of \p F, and why there is
/// none.
static void describeFix(const Finding &F, ClangTidyError &E,
                        llvm::vfs::FileSystem &FS) {
  describeDistantEdits(F, E, FS);
  if (const std::string Why = whyWithheld(F); !Why.empty())
    E.Notes.push_back(messageOf(F.Where, Why, {}, {}));
}

/// Puts what a terminal can show in the place of names and messages that it
/// cannot. The printer reads the files that it names, so those whose names
/// change are there under both in the result.
static llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem>
show(std::vector<ClangTidyError> &Errors,
     llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS) {
  llvm::IntrusiveRefCntPtr<llvm::vfs::InMemoryFileSystem> Renamed;
  auto Rename = [&](std::string &Path, llvm::StringRef Directory) {
    const std::string Shown = printable(Path);
    if (Shown == Path)
      return;
    const auto Real = compat::absolutePath(Directory, Path),
               There = compat::absolutePath(Directory, Shown);
    if (auto Text = FS->getBufferForFile(Real)) {
      if (!Renamed)
        Renamed = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
      Renamed->addFile(There, /*ModificationTime=*/0, std::move(*Text));
    }
    Path = Shown;
  };
  auto Show = [&](DiagnosticMessage &M, llvm::StringRef Directory) {
    M.Message = printable(M.Message);
    Rename(M.FilePath, Directory);
    for (clang::tooling::FileByteRange &Range : M.Ranges)
      Rename(Range.FilePath, Directory);
  };
  for (ClangTidyError &E : Errors) {
    Show(E.Message, E.BuildDirectory);
    for (DiagnosticMessage &Note : E.Notes)
      Show(Note, E.BuildDirectory);
  }
  if (!Renamed)
    return FS;
  auto Result = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(FS);
  Result->pushOverlay(Renamed);
  return Result;
}

/// Makes the names of \p E that are relative to where its unit is compiled
/// relative to \p Here, in which the user reads them; absolute when they lie
/// outside. The text names files of several build folders. Where the place of
/// the finding is named so, other places are, too: the names of distant edits
/// are absolute, and those of headers may be.
static void relateTo(llvm::StringRef Here, ClangTidyError &E,
                     llvm::vfs::FileSystem &FS) {
  const bool IsRelative = !llvm::sys::path::is_absolute(E.Message.FilePath);
  auto Relate = [&](std::string &Path) {
    if (!Path.empty() && (IsRelative || !llvm::sys::path::is_absolute(Path)))
      Path = relativePath(canonicalPath(Path, E.BuildDirectory, FS), Here);
  };
  auto RelateAll = [&](DiagnosticMessage &M) {
    Relate(M.FilePath);
    for (clang::tooling::FileByteRange &Range : M.Ranges)
      Relate(Range.FilePath);
  };
  RelateAll(E.Message);
  llvm::for_each(E.Notes, RelateAll);
  E.BuildDirectory = Here.str();
}

void printText(llvm::ArrayRef<Finding> Findings, const Configuration &Config,
               llvm::StringRef File, bool ToStderr, const FileSystem &FS) {
  ClangTidyContext Context(Config.createProvider(FS));
  Context.setCurrentFile(File);
  int Saved = -1;
  if (ToStderr) { // clang-tidy's printer knows no other stream.
    llvm::outs().flush();
    Saved = ::dup(STDOUT_FILENO);
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
  }
  std::vector<ClangTidyError> Errors = errorsOf(Findings);
  for (auto [F, E] : llvm::zip_equal(Findings, Errors))
    describeFix(F, E, *FS);
  if (const std::string Here = canonicalPath(".", "", *FS); !Here.empty())
    for (ClangTidyError &E : Errors)
      relateTo(Here, E, *FS);
  unsigned WarningsAsErrors = 0;
  handleErrors(Errors, Context, FB_NoFix, WarningsAsErrors, show(Errors, FS));
  if (!ToStderr)
    return;
  llvm::outs().flush();
  if (Saved >= 0) {
    ::dup2(Saved, STDOUT_FILENO);
    ::close(Saved);
  }
}

std::string toReplacements(llvm::ArrayRef<Finding> Findings,
                           llvm::StringRef MainFile) {
  std::string Result;
  llvm::raw_string_ostream OS(Result);
  exportReplacements(MainFile, errorsOf(Findings), OS);
  return Result;
}

void printStats(const ClangTidyStats &Stats) {
  if (!Stats.errorsIgnored())
    return;
  llvm::raw_ostream &OS = llvm::errs();
  OS << "Suppressed " << Stats.errorsIgnored() << " warnings (";
  const char *Separator = "";
  auto Say = [&](unsigned Count, const char *Why) {
    if (!Count)
      return;
    OS << Separator << Count << Why;
    Separator = ", ";
  };
  Say(Stats.ErrorsIgnoredNonUserCode, " in non-user code");
  Say(Stats.ErrorsIgnoredLineFilter, " due to line filter");
  Say(Stats.ErrorsIgnoredNOLINT, " NOLINT");
  Say(Stats.ErrorsIgnoredCheckFilter, " with check filters");
  OS << ").\n";
  if (Stats.ErrorsIgnoredNonUserCode)
    OS << "Use -header-filter=.* to display findings from all non-system "
          "headers.\n";
}

void printStatistics(llvm::ArrayRef<Finding> Findings, llvm::raw_ostream &OS) {
  std::map<std::pair<std::string, Level>, size_t> Counts;
  for (const Finding &F : Findings)
    if (F.Kind == FindingKind::Defect)
      ++Counts[{F.Check, F.Strength}];
  std::vector<std::pair<std::pair<std::string, Level>, size_t>> Rows(
      Counts.begin(), Counts.end());
  llvm::stable_sort(
      Rows, [](const auto &A, const auto &B) { return A.second > B.second; });
  for (const auto &[Of, Count] : Rows)
    OS << llvm::format_decimal(Count, 6) << "  level "
       << static_cast<unsigned>(Of.second) << "  " << Of.first << '\n';
}

void printCompileErrors(llvm::ArrayRef<Finding> Findings,
                        const Configuration &Config, llvm::StringRef File,
                        const FileSystem &FS) {
  std::vector<Finding> Errors;
  llvm::copy_if(Findings, std::back_inserter(Errors), [](const Finding &F) {
    return F.Kind == FindingKind::CompileError;
  });
  printText(Errors, Config, File, /*ToStderr=*/true, FS);
}

} // namespace libtorch_tidy::driver
