//===- Progress.cpp - How far a run is ------------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/frontend/Progress.h"
#include "llvm/Support/raw_ostream.h"

using llvm::StringRef;

namespace libtorch_tidy::driver {

/// Back to the first column, and everything from there on erased.
static constexpr llvm::StringLiteral StartLine = "\r\033[K";

Progress::Progress(const CommandLine &Options, size_t Total,
                   llvm::vfs::FileSystem &FS)
    : Total(Total), OnTerminal(llvm::errs().is_displayed()) {
  Shown =
      Options.ShowProgress.value_or(OnTerminal && Total > 1 && !Options.Quiet);
  if (auto Folder = FS.getCurrentWorkingDirectory())
    Here = *Folder + "/";
}

Progress::~Progress() {
  if (Shown && OnTerminal)
    llvm::errs() << StartLine;
}

void Progress::finished(StringRef File, unsigned Findings) {
  ++Count;
  if (!Shown)
    return;
  File.consume_front(Here);
  std::string Text = ("[" + llvm::Twine(Count) + "/" + llvm::Twine(Total) +
                      "] " + File + "  " + llvm::Twine(Findings) +
                      (Findings == 1 ? " finding" : " findings"))
                         .str();
  // Written at once: lines of several processes on a terminal stay whole.
  llvm::errs() << (OnTerminal ? StartLine.str() + Text : Text + "\n");
}

} // namespace libtorch_tidy::driver
