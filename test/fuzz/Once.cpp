//===- Once.cpp - What a fuzzer tests, for files that are given -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// In place of libFuzzer: reads each file that is named once, prints how many
/// there were, and ends with an error when one cannot be read.

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size);

int main(int Count, char **Arguments) {
  for (int I = 1; I < Count; ++I) {
    auto File = llvm::MemoryBuffer::getFile(Arguments[I]);
    if (!File) {
      llvm::errs() << Arguments[I] << ": " << File.getError().message() << '\n';
      return 1;
    }
    LLVMFuzzerTestOneInput(
        reinterpret_cast<const uint8_t *>((*File)->getBufferStart()),
        (*File)->getBufferSize());
  }
  llvm::outs() << Count - 1 << '\n';
}
