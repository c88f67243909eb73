//===- FactoryThenToCheck.cpp ---------------------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/cpp/Body.h"
#include "analysis/cpp/Calls.h"
#include "analysis/torch/api/Factories.h"
#include "checks/base/LibtorchCheck.h"
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
  if (!F.SameValues || !F.NoOptions || cpp::peel(How.Object) != F.Call)
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

/// The local variable that \p Move moves, when nothing else uses what its
/// declaration gave it.
const VarDecl *movedVariable(const CXXMemberCallExpr *Move,
                             const torch::DeviceMove &How, cpp::Body &In) {
  const auto *Moved = dyn_cast<DeclRefExpr>(cpp::peel(How.Object));
  const auto *Var = Moved ? dyn_cast<VarDecl>(Moved->getDecl()) : nullptr;
  if (!Var || isa<ParmVarDecl>(Var) || !In.isOwn(Var) || !Var->hasInit() ||
      In.loopAround(Move) != In.loopAround(Var->getInit()))
    return nullptr;
  auto Writes = In.writesTo(Var);
  const cpp::Write *Replaces = Writes.empty() ? nullptr : &Writes.front();
  if (Replaces &&
      (!Replaces->Overwritten || !cpp::contains(Replaces->Where, Move)))
    return nullptr;
  // After `x = x.to(device)` it is the moved one that is used.
  bool IsUsed = cpp::anyOf<DeclRefExpr>(In.root(), [&](const DeclRefExpr *R) {
    return R->getDecl() == Var && R != Moved &&
           !(Replaces &&
             (R == cpp::peel(Replaces->Overwritten) ||
              cpp::comesBefore(Move, R, In.context().getSourceManager())));
  });
  return IsUsed ? nullptr : Var;
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
  cpp::Body *In = cpp::Body::around(Move, *Result.Context);
  auto IsSetOnce = [&](const VarDecl *Var) {
    return torch::isConstVariable(Var) ||
           (In && In->isOwn(Var) && In->isSetOnce(Var));
  };
  const VarDecl *Var = In ? movedVariable(Move, *How, *In) : nullptr;
  auto F =
      torch::cpuFactoryUnder(Var ? Var->getInit() : How->Object, IsSetOnce);
  if (!F || (How->Other && In &&
             torch::cpuFactoryUnder(In->originOf(How->Other), IsSetOnce)))
    return;
  Finding Found;
  Found.Loc = F->Call->Stmt::getBeginLoc();
  Found.Highlight = F->Call->getCallee()->getSourceRange();
  Found.Strength = Level::Advisory;
  std::string What = Var ? ("'" + Var->getName() + "'").str() : "this tensor";
  Found.Message = ("'" + F->Name + "' makes " + What +
                   " on the CPU, and it is then moved to " +
                   (How->Other ? "the device of another tensor; pass the "
                                 "options of that tensor to the factory"
                               : "a device; pass the device in the factory's "
                                 "options") +
                   " to make it there" +
                   (F->Random ? " (the random numbers will differ)" : ""))
                      .str();
  if (Var)
    Found.Steps.push_back({Move->getExprLoc(), What + " is moved here"});
  // Another instantiation may convert the arguments in another way.
  else if (!In || !In->isInstantiated())
    Found.Fix = makeThere(Move, *How, *F, *Result.Context);
  Found.Bytes = bytesOf(How->Object); // Made once more.
  report(Found);
}

LIBTORCH_CHECK(FactoryThenToCheck);

} // namespace libtorch_tidy
