//===- Text.cpp - Findings as clang-tidy prints them ----------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/output/Text.h"
#include "llvm/Support/raw_ostream.h"
#include <unistd.h>

using namespace clang::tidy;
using clang::tooling::DiagnosticMessage;

namespace libtorch_tidy::driver {

namespace {

/// While it lives, what is written to llvm::outs() comes out of the standard
/// error. clang-tidy's printer knows no other stream.
class OutputOnStderr {
public:
  OutputOnStderr() {
    llvm::outs().flush();
    Saved = ::dup(STDOUT_FILENO);
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
  }
  ~OutputOnStderr() {
    llvm::outs().flush();
    if (Saved < 0)
      return;
    ::dup2(Saved, STDOUT_FILENO);
    ::close(Saved);
  }
  OutputOnStderr(const OutputOnStderr &) = delete;
  OutputOnStderr &operator=(const OutputOnStderr &) = delete;

private:
  int Saved;
};

} // namespace

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

void printText(llvm::ArrayRef<Finding> Findings, ClangTidyContext &Context,
               bool ToStderr,
               llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS) {
  std::optional<OutputOnStderr> Redirect;
  if (ToStderr)
    Redirect.emplace();
  unsigned WarningsAsErrors = 0;
  handleErrors(errorsOf(Findings), Context, FB_NoFix, WarningsAsErrors,
               std::move(FS));
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

} // namespace libtorch_tidy::driver
