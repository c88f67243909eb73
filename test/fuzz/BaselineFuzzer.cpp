//===- BaselineFuzzer.cpp - Any text for the reader of baselines ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/findings/Selection.h"
#include <cstdint>
#include <cstdlib>

using namespace libtorch_tidy::driver;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  const llvm::StringRef Text(reinterpret_cast<const char *>(Data), Size);
  llvm::Expected<Baseline> Read = Baseline::parse(Text, "/project");
  if (!Read) {
    llvm::consumeError(Read.takeError());
    return 0;
  }
  // What is written is read again, and is the same.
  const std::string Written = Read->text();
  llvm::Expected<Baseline> Again = Baseline::parse(Written, "/project");
  if (!Again || Again->size() != Read->size() || Again->text() != Written)
    std::abort();
  return 0;
}
