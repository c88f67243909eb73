//===- Shards.h - One run on several machines -------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Each machine analyses a shard of the units and leaves what it found in a
/// folder that all of them see. Of a whole program that is one round: in the
/// next one each shard reads what all of them said. When nothing new was said,
/// one process makes one report of it, the same as one machine would.
///
/// The folder has a file `round-R/shard-I-of-N` for each round and shard.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_ENGINE_SHARDS_H
#define LIBTORCH_TIDY_DRIVER_ENGINE_SHARDS_H

#include "driver/engine/Schedule.h"
#include "llvm/Support/Error.h"

namespace libtorch_tidy::driver {

/// Does the next round of a shard. An error names the shards whose files of the
/// round before are missing, cut off or about something else.
llvm::Error runShard(const AnalysisJob &Work);

/// Fills \p All, which was not run, with what the shards left. An error names
/// the shards that have to run first, or again.
llvm::Error mergeShards(Schedule &All, const AnalysisJob &Work);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_ENGINE_SHARDS_H
