//===- FactoryThenToCheck.cpp ---------------------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/LibtorchCheck.h"
#include "checks/code/Body.h"
#include "checks/torch/Calls.h"
#include "checks/torch/Factories.h"
#include "fixits/FixIts.h"
#include "clang/AST/ASTContext.h"

using namespace clang;
using namespace clang::ast_matchers;

namespace libtorch_tidy {

namespace {

/// docs/checks/libtorch-factory-then-to.md says what it finds and why.
class FactoryThenToCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;
  void registerMatchers(MatchFinder *Finder) override;
  void checkMatch(const Match &Result) override;
};

/// Gives the device to the factory instead of moving its result.
fixits::Edits makeThere(const CXXMemberCallExpr *Move,
                        const torch::DeviceMove &How, const torch::Factory &F,
                        const ASTContext &Context) {
  if (!F.SameValues || !F.NoOptions || torch::peel(How.Object) != F.Call)
    return {};
  StringRef Device = torch::cudaNear(F);
  if (!How.ToCuda) {
    if (!How.Device || !torch::isPlainDevice(How.Device))
      return {};
    Device = fixits::sourceText(How.Device->getSourceRange(), Context);
    if (Device.empty())
      return {};
  }
  fixits::Edits Fix = fixits::appendArguments(F.Call, Device);
  fixits::Edits Removal = fixits::removeMemberCall(Move, Context);
  if (Fix.empty() || Removal.empty())
    return {};
  Fix.append(Removal);
  return Fix;
}

} // namespace

void FactoryThenToCheck::registerMatchers(MatchFinder *Finder) {
  if (!reports(Level::Advisory))
    return;
  Finder->addMatcher(cxxMemberCallExpr().bind("move"), this);
}

void FactoryThenToCheck::checkMatch(const Match &Result) {
  const auto *Move = Result.Nodes.getNodeAs<CXXMemberCallExpr>("move");
  auto How = torch::asDeviceMove(Move);
  if (!How)
    return;
  auto F = torch::cpuFactoryUnder(How->Object);
  if (!F)
    return;
  Finding Found;
  Found.Loc = F->Call->Stmt::getBeginLoc();
  Found.Highlight = F->Call->getCallee()->getSourceRange();
  Found.Strength = Level::Advisory;
  Found.Message = ("'" + F->Name +
                   "' makes this tensor on the CPU, and it is then moved to a "
                   "device; pass the device in the factory's options to make "
                   "it there" +
                   (F->Random ? " (the random numbers will differ)" : ""))
                      .str();
  // Another instantiation may convert the arguments in another way.
  const code::Body *In = code::Body::around(Move, *Result.Context);
  if (!In || !In->isInstantiated())
    Found.Fix = makeThere(Move, *How, *F, *Result.Context);
  Found.Bytes = bytesOf(How->Object); // Made once more.
  report(Found);
}

LIBTORCH_CHECK(FactoryThenToCheck);

} // namespace libtorch_tidy
