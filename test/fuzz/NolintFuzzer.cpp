//===- NolintFuzzer.cpp - Any text for the reader of NOLINT ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/findings/NolintAudit.h"
#include <cstdint>
#include <cstdlib>

using namespace libtorch_tidy::driver;

static void require(bool Holds) {
  if (!Holds)
    std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  const llvm::StringRef Text(reinterpret_cast<const char *>(Data), Size);
  unsigned Last = 0;
  for (const NolintComment &C : nolintComments(Text)) {
    require(C.Offset >= Last);
    Last = C.Offset;
    require(Text.substr(C.Offset).starts_with(C.Word));
    require(C.From <= C.To && C.To <= Text.size());
    for (const NolintItem &Item : C.Items) {
      require(Text.substr(Item.Offset).starts_with(Item.Text));
      (void)Item.isOurs();
      // A glob becomes a regular expression, and long ones take long.
      if (Item.Text.size() < 64)
        (void)Item.names("libtorch-cat-in-loop");
    }
  }
  return 0;
}
