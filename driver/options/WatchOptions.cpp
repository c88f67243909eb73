//===- WatchOptions.cpp - Options about a run of a program ----------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/options/OptionGroups.h"
#include "driver/project/Error.h"

using namespace llvm;

namespace libtorch_tidy::driver {

static Opt<std::string>
    Confirm("confirm", cl::value_desc("file"),
            cl::desc("Say which findings a run of the program confirms, and "
                     "what grew that none explains, by the report of "
                     "<libtorch-tidy/watch.h>"));
static Opt<bool> WatchReport(
    "watch-report",
    cl::desc("Say what grew in a run of a program and which lines made it, by "
             "the report of <libtorch-tidy/watch.h> that is given instead of "
             "source files. With --html: a page with charts as well"));
static Opt<std::string>
    Root("root", cl::value_desc("dir"),
         cl::desc("Of --watch-report: paths below this folder are relative to "
                  "it. Default: the current one"));
static Opt<std::string>
    WatchJson("watch-json", cl::value_desc("file"),
              cl::desc("Of --watch-report: write the report with its lines as "
                       "JSON; - is the standard output"));

Error readWatched(ArrayRef<std::string> Files, StringRef Html,
                  WatchReportOptions &Result, std::string &ToConfirm) {
  if (isGivenEmpty(Confirm))
    return makeError("--confirm needs the name of a file");
  if (isGivenEmpty(WatchJson))
    return makeError("--watch-json needs the name of a file, or -");
  ToConfirm = Confirm;
  if (!WatchReport)
    return refuse("root watch-json", " goes with --watch-report");
  if (Error E = refuse("confirm budget sarif format output export-fixes fix "
                       "fix-errors fix-notes fix-dry-run baseline "
                       "write-baseline diff staged pre-commit whole-program "
                       "shard merge-shards emit-library-pch list-checks "
                       "dump-config verify-config explain why",
                       " does not go with --watch-report"))
    return E;
  if (Files.size() != 1)
    return makeError("--watch-report takes one report of a run");
  if (Html == "-" && WatchJson == "-")
    return makeError("only one of --html and --watch-json can be written to "
                     "the standard output");
  Result = {true, Files.front(), Html.str(), WatchJson, Root};
  return Error::success();
}

} // namespace libtorch_tidy::driver
