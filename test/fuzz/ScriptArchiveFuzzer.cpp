//===- ScriptArchiveFuzzer.cpp - Any bytes for the reader of .pt files ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/budget/Pickle.h"
#include "driver/budget/ScriptArchive.h"
#include <cstdint>
#include <cstdlib>

using namespace libtorch_tidy;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  const llvm::StringRef Bytes(reinterpret_cast<const char *>(Data), Size);
  // Few mutants of an archive have a pickle that is read at all.
  llvm::consumeError(driver::readPickle(Bytes).takeError());
  llvm::Expected<bytes::ModelRows> Model = driver::readScriptArchive(Bytes, "");
  if (!Model) {
    llvm::consumeError(Model.takeError());
    return 0;
  }
  // No more than there is: storages are records of the archive.
  uint64_t Sum = 0;
  for (const bytes::ModuleRow &Row : Model->Modules)
    for (const bytes::TensorRow &T : Row.Tensors)
      Sum += T.Bytes;
  if (Sum / 1032 > Size || Model->Modules.empty())
    std::abort();
  return 0;
}
