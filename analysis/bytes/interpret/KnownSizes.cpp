//===- KnownSizes.cpp - Bytes of single expressions -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/bytes/interpret/Elaboration.h"
#include "analysis/cpp/Body.h"
#include "analysis/cpp/Calls.h"

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

/// What of \p Found makes the model that \p Passed is given to: one, or several
/// that may be it.
static std::vector<Construction> makesOf(const PassedInputs &Passed,
                                         const UnitModels &Found,
                                         const SourceManager &SM) {
  std::vector<Construction> Makes;
  llvm::copy_if(Found.Made, std::back_inserter(Makes), [&](const auto &C) {
    return C.Class->getCanonicalDecl() == Passed.Class;
  });
  // A variable is what it is declared with; others may be any of the class.
  const auto *Var = dyn_cast_or_null<VarDecl>(Passed.Model);
  const auto *F = Var ? dyn_cast<FunctionDecl>(Var->getDeclContext()) : nullptr;
  if (!F || !F->hasBody() || !cpp::Body::of(F->getDefinition()).isSetOnce(Var))
    return Makes;
  auto IsOther = [&](const Construction &C) {
    return !SM.isPointWithin(C.At, Var->getBeginLoc(), Var->getEndLoc());
  };
  if (!llvm::all_of(Makes, IsOther))
    llvm::erase_if(Makes, IsOther);
  return Makes;
}

std::optional<uint64_t> KnownSizes::keptBy(const Expr *Forward, bool Training,
                                           bool InputsGo) {
  // More are several models, as a rule.
  constexpr size_t MaxPasses = 16, MaxMakes = 4;
  const auto *Call =
      Forward ? dyn_cast<CallExpr>(cpp::stripImplicit(Forward)) : nullptr;
  if (!Call || Call->isInstantiationDependent() || Call->containsErrors() ||
      Passes >= MaxPasses)
    return std::nullopt;
  ++Passes;
  const std::optional<PassedInputs> Passed = asPassedInputs(Call);
  if (!Passed)
    return std::nullopt;
  const BudgetRequest Request = withRelease({}, Context);
  const UnitModels Found =
      findModels(Context, {}, std::numeric_limits<unsigned>::max(),
                 /*WithInputs=*/false);
  const std::vector<Construction> Makes =
      makesOf(*Passed, Found, Context.getSourceManager());
  if (Makes.size() > MaxMakes)
    return std::nullopt;
  std::optional<uint64_t> Result;
  for (const Construction &C : Makes) {
    Interpreter Running(Context, {}, Found.Bodies);
    Interpreter Aside(Context, {}, Found.Bodies);
    const Value *Unknown = nullptr;
    const std::vector<Cell> Arguments = argumentsOf(C, Running, Unknown);
    if (Unknown)
      return std::nullopt;
    const std::optional<StepInputs> Inputs =
        inputsOf(*Passed, Aside, std::nullopt);
    const ModulePtr Model =
        Inputs
            ? makeObject(Running, C.Class, Arguments, {}, nullptr, C.At)->Held
            : nullptr;
    if (!Model || Running.Failure || Running.Halted || !Running.Gaps.empty())
      return std::nullopt;
    const std::optional<uint64_t> Kept =
        keptByGraph(Running, Model, *Inputs, Request, Training, InputsGo);
    if (!Kept || (Result && *Result != *Kept))
      return std::nullopt;
    Result = Kept;
  }
  return Result;
}

} // namespace libtorch_tidy::bytes
