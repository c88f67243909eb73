//===- OptionGroups.cpp - Options about shards and runs, and helpers ------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/options/OptionGroups.h"
#include "driver/project/CompileCommands.h"
#include "driver/project/Messages.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace libtorch_tidy::driver {

Error refuse(StringRef Names, const Twine &Why) {
  SmallVector<StringRef, 0> All;
  SplitString(Names, All);
  for (StringRef Name : All)
    if (cl::getRegisteredOptions().lookup(Name)->getNumOccurrences())
      return makeError("--" + Name + Why);
  return Error::success();
}

void removeForeignOptions() {
  SmallVector<cl::Option *, 0> Foreign;
  for (auto &Entry : cl::getRegisteredOptions()) {
    cl::Option *O = Entry.second;
    if (O->ArgStr.starts_with("help") || O->ArgStr == "version")
      continue;
    if (!is_contained(O->Categories, &Category))
      Foreign.push_back(O);
  }
  for (cl::Option *O : Foreign)
    O->removeArgument();
}

void nameFiles(MutableArrayRef<const char *> Args, StringSaver &Names) {
  for (const char *&Arg : Args) {
    StringRef Name = Arg;
    if (Name == "--")
      break;
    // To pre-commit, a sketch for Arduino is C++, too.
    if ((Name.starts_with("-") || Name.starts_with("@")) &&
        (isCxxFile(Name) || Name.ends_with(".ino")) &&
        sys::fs::is_regular_file(Name))
      Arg = Names.save("./" + Name).data();
  }
}

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

static Opt<std::string> Shard(
    "shard", cl::value_desc("I/N"),
    cl::desc("Analyse the I-th of N parts of the units, and leave what is "
             "found in --shard-dir. Of a whole program this is one "
             "round"));
static Opt<unsigned>
    MergeShards("merge-shards", cl::value_desc("N"),
                cl::desc("Report what N shards have left in --shard-dir, as if "
                         "this process had analysed all"));
static Opt<std::string>
    ShardDir("shard-dir", cl::value_desc("dir"),
             cl::desc("Folder that all shards see; a new one for each run"));

Error readShards(ShardOptions &Result) {
  const bool IsShard = Shard.getNumOccurrences();
  const bool Merges = MergeShards.getNumOccurrences();
  if (IsShard && Merges)
    return makeError("--shard and --merge-shards exclude each other");
  if ((IsShard || Merges) != (ShardDir.getNumOccurrences() > 0))
    return makeError("--shard-dir goes with --shard or --merge-shards, and "
                     "they with it");
  if (ShardDir.getNumOccurrences() && ShardDir.empty())
    return makeError("--shard-dir needs a folder");
  Result.Folder = ShardDir;
  if (Merges) {
    if (!MergeShards)
      return makeError("--merge-shards needs a number above 0");
    Result.Count = MergeShards;
  }
  if (!IsShard)
    return Error::success();
  const auto [Index, Count] = StringRef(Shard).split('/');
  if (Index.getAsInteger(10, Result.Index) ||
      Count.getAsInteger(10, Result.Count) || !Result.Index ||
      Result.Index > Result.Count)
    return makeError("invalid value '" + Shard +
                     "' of --shard: expected I/N, as 2/4 for the second of "
                     "four");
  return refuse("sarif html format export-fixes baseline write-baseline fix "
                "fix-errors fix-notes fix-dry-run confirm fail-on",
                " does not go with --shard: it goes with "
                "--merge-shards");
}

} // namespace libtorch_tidy::driver
