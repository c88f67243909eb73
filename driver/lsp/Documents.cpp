//===- Documents.cpp - What is open in the editor -------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/lsp/Documents.h"
#include "driver/project/CompileCommands.h"
#include "llvm/ADT/STLExtras.h"

namespace libtorch_tidy::driver::lsp {

bool Document::isCxx() const {
  // What the protocol and editors call them.
  return isCxxFile(Path) ||
         llvm::is_contained({"cpp", "c++", "cuda-cpp"}, Language);
}

bool Document::change(const Json &Changes, PositionEncoding Encoding) {
  std::string Now = Text;
  for (const Json &Change : listOf(Changes)) {
    const Json &NewText = at(Change, {"text"});
    if (!NewText.is_string())
      return false;
    const Json &Range = at(Change, {"range"});
    if (Range.is_null()) {
      Now = textOf(NewText);
      continue;
    }
    const SourceText Before(Now);
    const auto Begin = offsetOf(Before, at(Range, {"start"}), Encoding),
               End = offsetOf(Before, at(Range, {"end"}), Encoding);
    if (!Begin || !End || *Begin > *End)
      return false;
    Now.replace(*Begin, *End - *Begin, textOf(NewText));
  }
  Text = std::move(Now);
  return true;
}

} // namespace libtorch_tidy::driver::lsp
