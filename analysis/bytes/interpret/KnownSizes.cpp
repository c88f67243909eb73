//===- KnownSizes.cpp - Bytes of single expressions -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/bytes/interpret/Interpreter.h"

using namespace clang;

namespace libtorch_tidy::bytes {

/// Of all answers; one alone is bounded by the interpreter.
static constexpr unsigned MaxStepsOfAnswers = 1'000'000;

std::optional<uint64_t> KnownSizes::bytesOf(const Expr *E) {
  if (!E || E->isInstantiationDependent() || E->containsErrors() ||
      Steps > MaxStepsOfAnswers)
    return std::nullopt;
  if (!Bodies) {
    Bodies.emplace();
    for (const FunctionDecl *F : Functions)
      Bodies->push_back(F->getBody());
  }
  Interpreter Running(Context, {}, *Bodies);
  const Cell Given = Running.evaluate(E);
  Steps += Running.steps();
  if (Given->What != Value::Tensor || !Given->Handle ||
      !Given->Handle->Shape.Defined || Running.Failure || Running.Halted)
    return std::nullopt;
  return Given->Handle->Shape.bytes();
}

} // namespace libtorch_tidy::bytes
