//===- OversizedLinearCheck.cpp -------------------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/LibtorchCheck.h"
#include "checks/torch/Linear.h"
#include "clang/AST/ASTContext.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace clang;
using namespace clang::ast_matchers;

namespace libtorch_tidy {

namespace {

/// docs/checks/libtorch-oversized-linear.md says what it finds and why.
class OversizedLinearCheck : public LibtorchCheck {
public:
  OversizedLinearCheck(llvm::StringRef Name,
                       clang::tidy::ClangTidyContext *Context);
  void storeOptions(clang::tidy::ClangTidyOptions::OptionMap &Opts) override;
  void registerMatchers(MatchFinder *Finder) override;
  void checkMatch(const Match &Result) override;

private:
  const uint64_t TrainingBytes; ///< What a layer may take.
};

} // namespace

/// 4096 x 4096 weights of float32 with a gradient and Adam's two moments.
static constexpr uint64_t DefaultTrainingBytes = 256ULL << 20;
/// LibTorch's default dtype is float32.
static constexpr uint64_t BytesPerWeight = 4;
/// The weight, its gradient and the two moments that Adam keeps of it.
static constexpr uint64_t CopiesInTraining = 4;

static std::string megabytes(uint64_t Bytes) {
  double Value = static_cast<double>(Bytes) / (1 << 20);
  // Not formatv, which a clang-tidy of another version does not have: it could
  // not load the plugin to be informed of it.
  std::string Result;
  llvm::raw_string_ostream(Result)
      << llvm::format(Value < 10 ? "%.1f MB" : "%.0f MB", Value);
  return Result;
}

OversizedLinearCheck::OversizedLinearCheck(StringRef Name,
                                           tidy::ClangTidyContext *Context)
    : LibtorchCheck(Name, Context),
      TrainingBytes(Options.get("TrainingBytes", DefaultTrainingBytes)) {}

void OversizedLinearCheck::storeOptions(
    tidy::ClangTidyOptions::OptionMap &Opts) {
  LibtorchCheck::storeOptions(Opts);
  Options.store(Opts, "TrainingBytes", TrainingBytes);
}

void OversizedLinearCheck::registerMatchers(MatchFinder *Finder) {
  if (!reports(Level::Advisory))
    return;
  Finder->addMatcher(
      cxxConstructExpr(hasType(hasUnqualifiedDesugaredType(
                           recordType(hasDeclaration(cxxRecordDecl(hasAnyName(
                               torch::LinearClass, torch::LinearImplClass)))))))
          .bind("make"),
      this);
  Finder->addMatcher(
      callExpr(callee(functionDecl(hasName(torch::MakeShared)))).bind("make"),
      this);
}

void OversizedLinearCheck::checkMatch(const Match &Result) {
  const auto *Make = Result.Nodes.getNodeAs<Expr>("make");
  auto Shape = torch::linearShape(Make, *Result.Context);
  // Beyond that the product is nonsense, and may overflow.
  constexpr uint64_t Sane = 1ULL << 28;
  if (!Shape || Shape->In == 0 || Shape->Out == 0 || Shape->In > Sane ||
      Shape->Out > Sane)
    return;
  const uint64_t Weight = Shape->In * Shape->Out * BytesPerWeight;
  if (Weight * CopiesInTraining < TrainingBytes)
    return;
  Finding F;
  F.Loc = Make->getBeginLoc();
  F.Highlight = Make->getSourceRange();
  F.Strength = Level::Advisory;
  F.Message = "Linear(" + std::to_string(Shape->In) + ", " +
              std::to_string(Shape->Out) + ") takes " + megabytes(Weight) +
              " for its weight, " + megabytes(Weight * 2) +
              " with the gradient and " + megabytes(Weight * CopiesInTraining) +
              " with Adam's state (float32)";
  report(F);
}

LIBTORCH_CHECK(OversizedLinearCheck);

} // namespace libtorch_tidy
