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

void printText(llvm::ArrayRef<ClangTidyError> Errors, ClangTidyContext &Context,
               bool ToStderr,
               llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS) {
  std::optional<OutputOnStderr> Redirect;
  if (ToStderr)
    Redirect.emplace();
  unsigned WarningsAsErrors = 0;
  handleErrors(Errors, Context, FB_NoFix, WarningsAsErrors, std::move(FS));
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
