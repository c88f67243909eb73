//===- CacheEntryFuzzer.cpp - Any bytes for the reader of cache entries ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/engine/Runner.h"
#include <cstdint>
#include <cstdlib>

using namespace libtorch_tidy::driver;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  const llvm::StringRef Bytes(reinterpret_cast<const char *>(Data), Size);
  std::optional<UnitResult> Read = unitResultFromBytes(Bytes);
  if (!Read)
    return 0;
  // Edits that overlap are lost by the first reading, and nothing by the
  // second.
  const std::string Written = toBytes(std::move(*Read));
  std::optional<UnitResult> Again = unitResultFromBytes(Written);
  if (!Again || toBytes(std::move(*Again)) != Written)
    std::abort();
  return 0;
}
