//===- KnownSizes.cpp - Bytes of tensors in plain functions ---------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/bytes/interpret/KnownSizes.h"
#include "analysis/bytes/interpret/Elaboration.h"
#include "analysis/bytes/interpret/Interpreter.h"
#include "analysis/cpp/Calls.h"
#include "clang/AST/ASTContext.h"

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
      !Given->Handle->Shape.Defined || Running.failure() ||
      Running.hasStopped())
    return std::nullopt;
  return Given->Handle->Shape.bytes();
}

std::optional<uint64_t> KnownSizes::keptBy(const Expr *Forward, bool Training,
                                           bool InputsGo) {
  // Each is followed anew.
  constexpr unsigned MaxPasses = 16;
  const auto *Call =
      Forward ? dyn_cast<CallExpr>(cpp::stripImplicit(Forward)) : nullptr;
  if (!Call || Call->isInstantiationDependent() || Call->containsErrors() ||
      Passes >= MaxPasses)
    return std::nullopt;
  ++Passes;
  return keptByForward(Context, Call, Training, InputsGo);
}

} // namespace libtorch_tidy::bytes
