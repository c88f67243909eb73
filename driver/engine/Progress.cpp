//===- Progress.cpp - How far a run is ------------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/engine/Progress.h"
#include "driver/project/Messages.h"
#include "llvm/Support/raw_ostream.h"

using llvm::StringRef;

namespace libtorch_tidy::driver {

/// Back to the first column, and everything from there on erased.
static constexpr llvm::StringLiteral StartLine = "\r\033[K";

Progress::Progress(const ProgressOptions &Options, size_t Total,
                   llvm::vfs::FileSystem &FS)
    : Total(Total), OnTerminal(llvm::errs().is_displayed()) {
  Shown = Options.Show.value_or(OnTerminal && Total > 1 && !Options.Quiet);
  if (auto Folder = FS.getCurrentWorkingDirectory())
    Here = *Folder + "/";
}

Progress::~Progress() {
  if (Shown && OnTerminal)
    llvm::errs() << StartLine;
}

void Progress::tell(const llvm::Twine &Text) {
  if (!Shown)
    return;
  std::string Line =
      ("[" + llvm::Twine(Count) + "/" + llvm::Twine(Total) + "] " + Text).str();
  // Written at once: lines of several processes on a terminal stay whole.
  llvm::errs() << (OnTerminal ? StartLine.str() + Line : Line + "\n");
}

void Progress::finished(StringRef File, unsigned Findings, StringRef How) {
  ++Count;
  File.consume_front(Here);
  tell(printable(File) + "  " + counted(Findings, "finding") +
       (How.empty() ? "" : ", ") + How);
}

void Progress::begun(StringRef What) { tell(What); }

} // namespace libtorch_tidy::driver
