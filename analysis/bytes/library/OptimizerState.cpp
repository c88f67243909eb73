//===- OptimizerState.cpp - What optimizers keep of parameters ------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/bytes/library/ModuleParameters.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using llvm::ArrayRef;
using llvm::StringRef;

namespace libtorch_tidy::bytes {

namespace {

struct OptimizerRow {
  StringRef Name;
  unsigned Copies;
  unsigned Scratch;    ///< Of one parameter, while step() works on it.
  bool AtOnce = false; ///< It keeps them from its construction on.
};

} // namespace

/// What step() keeps in tensors, in 1.13.1 and 2.x; counters are numbers.
static constexpr OptimizerRow OptimizerRows[] = {
    {"sgd", 0, 0},           // Without momentum, nothing.
    {"sgd-momentum", 1, 0},  // momentum_buffer
    {"adam", 2, 2},          // exp_avg, exp_avg_sq
    {"adamw", 2, 2},         // The same.
    {"amsgrad", 3, 2},       // Adam or AdamW with amsgrad: max_exp_avg_sq, too.
    {"rmsprop", 1, 1},       // square_avg; neither centered nor with momentum
    {"adagrad", 1, 1, true}, // sum
};

static const OptimizerRow *rowOf(StringRef Optimizer) {
  const auto *Row = llvm::find_if(OptimizerRows, [&](const OptimizerRow &Each) {
    return Each.Name == Optimizer;
  });
  return Row == std::end(OptimizerRows) ? nullptr : Row;
}

std::optional<unsigned> optimizerCopies(StringRef Optimizer) {
  const OptimizerRow *Row = rowOf(Optimizer);
  return Row ? std::optional(Row->Copies) : std::nullopt;
}

unsigned optimizerScratch(StringRef Optimizer) {
  const OptimizerRow *Row = rowOf(Optimizer);
  return Row ? Row->Scratch : 0;
}

bool hasOptimizerStateAtOnce(StringRef Optimizer) {
  const OptimizerRow *Row = rowOf(Optimizer);
  return Row && Row->AtOnce;
}

ArrayRef<StringRef> knownOptimizers() {
  static const auto Names = [] {
    llvm::SmallVector<StringRef, 8> Result;
    for (const OptimizerRow &Row : OptimizerRows)
      Result.push_back(Row.Name);
    return Result;
  }();
  return Names;
}

} // namespace libtorch_tidy::bytes
