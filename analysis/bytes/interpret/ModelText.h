//===- ModelText.h - A model as the command line names it -------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_BYTES_INTERPRET_MODELTEXT_H
#define LIBTORCH_TIDY_ANALYSIS_BYTES_INTERPRET_MODELTEXT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>
#include <vector>

namespace libtorch_tidy::bytes {

struct Value;

/// `UNet(3, 2)`: a class and the arguments of its constructor.
struct ModelText {
  /// As written, without spaces: "UNet", "nets::Block<4>".
  std::string Name;
  std::vector<std::shared_ptr<Value>> Arguments;
};

/// Reads a model:
///
///   MODEL = NAME [ "(" [ VALUE { "," VALUE } ] ")" ]
///   VALUE = integer | real number | true | false | "text" | torch::kName
///         | "{" [ VALUE { "," VALUE } ] "}"
///         | "{" "." NAME "=" VALUE { "," "." NAME "=" VALUE } "}"
///
/// An error says what was expected, where, and has an example.
llvm::Expected<ModelText> parseModelText(llvm::StringRef Text);

/// Reads an input of forward(), a tensor or another value:
///
///   INPUT = SIZE "x" SIZE { "x" SIZE } [ ":" TYPE ] | SIZE ":" TYPE | VALUE
///
/// In a VALUE in braces inputs can stand. A tensor has no element type where
/// the text has none. A number alone may be the only size of a tensor: its user
/// knows. An error has the grammar, and an example.
llvm::Expected<std::shared_ptr<Value>> parseInputText(llvm::StringRef Text);

} // namespace libtorch_tidy::bytes

#endif // LIBTORCH_TIDY_ANALYSIS_BYTES_INTERPRET_MODELTEXT_H
