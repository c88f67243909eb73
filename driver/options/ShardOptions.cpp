//===- ShardOptions.cpp - Parts of a run on several machines --------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/options/OptionGroups.h"
#include "driver/project/Error.h"

using namespace llvm;

namespace libtorch_tidy::driver {

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
