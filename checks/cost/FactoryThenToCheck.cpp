//===- FactoryThenToCheck.cpp ---------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

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

constexpr struct FactoryThenToReasons {
  Reason Used{"used-on-cpu", Effect::Silent,
              "The variable that is moved is used on the CPU, too, or it is "
              "given another value."};
  Reason OtherLoop{"moved-in-loop", Effect::Silent,
                   "The move is in a loop and the factory before it: each "
                   "round has a copy of its own."};
  Reason SameDevice{"same-device", Effect::Silent,
                    "It is moved to the device of another tensor, which is "
                    "made on the CPU as well."};
  Reason LaterStatement{"moved-later", Effect::NoFix,
                        "The move is a statement of its own."};
  Reason Instantiated{"in-template", Effect::NoFix,
                      "Another instantiation may convert the arguments in "
                      "another way."};
  Reason OtherValues{"other-values", Effect::NoFix,
                     "The values depend on the device: random numbers, "
                     "`linspace`, `logspace`, `arange` of floating-point "
                     "numbers."};
  Reason HasOptions{"has-options", Effect::NoFix,
                    "The factory is given options, to which the device has to "
                    "be added by hand."};
  Reason Indirect{"computed-before-move", Effect::NoFix,
                  "Views, casts or arithmetic stand between the factory and "
                  "the move."};
  Reason OtherDevice{"device-elsewhere", Effect::NoFix,
                     "The device is not the only argument of the move, or "
                     "cannot be evaluated elsewhere in the expression."};
} FactoryThenTo{};

/// docs/checks/libtorch-factory-then-to.md says what it finds and why.
class FactoryThenToCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;
  void registerMatchers(MatchFinder *Finder) override;
  void checkMatch(const Match &Result) override;
};

/// What is found.
struct MovedFactory {
  const CXXMemberCallExpr *Move;
  torch::DeviceMove How;
  torch::Factory Made;
  const VarDecl *Var;        ///< That a later statement moves; null for none.
  const Reason *WhyNotFixed; ///< Null where the fix is safe.
};

/// The local variable that \p Move moves.
const VarDecl *movedVariable(const torch::DeviceMove &How, cpp::Body &In) {
  const auto *Moved = dyn_cast<DeclRefExpr>(cpp::peel(How.Object));
  const auto *Var = Moved ? dyn_cast<VarDecl>(Moved->getDecl()) : nullptr;
  return Var && !isa<ParmVarDecl>(Var) && In.isOwn(Var) && Var->hasInit()
             ? Var
             : nullptr;
}

/// Does something else use what its declaration gave \p Var, before or after
/// \p Move?
bool isUsedOnCpu(const VarDecl *Var, const CXXMemberCallExpr *Move,
                 const torch::DeviceMove &How, cpp::Body &In) {
  auto Writes = In.writesTo(Var);
  const cpp::Write *Replaces = Writes.empty() ? nullptr : &Writes.front();
  if (Replaces &&
      (!Replaces->Overwritten || !cpp::contains(Replaces->Where, Move)))
    return true;
  // After `x = x.to(device)` it is the moved one that is used.
  return cpp::anyOf<DeclRefExpr>(In.root(), [&](const DeclRefExpr *R) {
    return R->getDecl() == Var && R != cpp::peel(How.Object) &&
           !(Replaces &&
             (R == cpp::peel(Replaces->Overwritten) ||
              cpp::comesBefore(Move, R, In.context().getSourceManager())));
  });
}

const Reason *whyNotFixed(const MovedFactory &M, const cpp::Body *In) {
  if (M.Var)
    return &FactoryThenTo.LaterStatement;
  if (In && In->isInstantiated())
    return &FactoryThenTo.Instantiated;
  if (!M.Made.SameValues)
    return &FactoryThenTo.OtherValues;
  if (!M.Made.NoOptions)
    return &FactoryThenTo.HasOptions;
  if (cpp::peel(M.How.Object) != M.Made.Call)
    return &FactoryThenTo.Indirect;
  if (!M.How.ToCuda && (!M.How.Device || !torch::isPlainDevice(M.How.Device)))
    return &FactoryThenTo.OtherDevice;
  return nullptr;
}

/// Null where \p Move moves nothing that could have been made there.
std::optional<MovedFactory> decide(const CXXMemberCallExpr *Move,
                                   ASTContext &Context) {
  auto How = torch::asDeviceMove(Move);
  if (!How)
    return std::nullopt;
  cpp::Body *In = cpp::Body::around(Move, Context);
  auto IsSetOnce = [&](const VarDecl *Var) {
    return torch::isConstVariable(Var) ||
           (In && In->isOwn(Var) && In->isSetOnce(Var));
  };
  const VarDecl *Var = In ? movedVariable(*How, *In) : nullptr;
  auto F =
      torch::cpuFactoryUnder(Var ? Var->getInit() : How->Object, IsSetOnce);
  if (!F)
    return std::nullopt;
  const Reason *Why = nullptr;
  if (Var && In->loopAround(Move) != In->loopAround(Var->getInit()))
    Why = &FactoryThenTo.OtherLoop;
  else if (Var && isUsedOnCpu(Var, Move, *How, *In))
    Why = &FactoryThenTo.Used;
  else if (How->Other && In &&
           torch::cpuFactoryUnder(In->originOf(How->Other), IsSetOnce))
    Why = &FactoryThenTo.SameDevice;
  if (Why) {
    silent(F->Call->Stmt::getBeginLoc(), *Why, "moved", Move->getExprLoc());
    return std::nullopt;
  }
  MovedFactory Result = {Move, *How, *F, Var, nullptr};
  Result.WhyNotFixed = whyNotFixed(Result, In);
  return Result;
}

/// Gives the device to the factory instead of moving its result.
fixits::Edits makeThere(const MovedFactory &M, const ASTContext &Context) {
  const StringRef Device =
      M.How.ToCuda
          ? torch::cudaNear(M.Made)
          : fixits::sourceText(M.How.Device->getSourceRange(), Context);
  fixits::Edits Fix = Device.empty()
                          ? fixits::Edits()
                          : fixits::appendArguments(M.Made.Call, Device);
  fixits::Edits Removal = fixits::removeMemberCall(M.Move, Context);
  if (Fix.empty() || Removal.empty())
    return {};
  Fix.append(Removal);
  return Fix;
}

Finding worded(const MovedFactory &M, const ASTContext &Context) {
  const torch::Factory &Made = M.Made;
  const std::string What = M.Var ? quoted(M.Var) : "this tensor";
  Finding F =
      Finding::at(Made.Call->Stmt::getBeginLoc(),
                  Made.Call->getCallee()->getSourceRange())
          .says("wasted copy: " + quoted(Made.Name) + " makes " + What +
                " on the CPU, and it is then moved to " +
                (M.How.Other ? "the device of another tensor; pass the options "
                               "of that tensor to the factory"
                             : "a device; pass the device in the factory's "
                               "options") +
                " to make it there" +
                (Made.Random ? " (the random numbers will differ)" : ""))
          .bytesOf(M.How.Object); // Made once more.
  if (M.Var)
    F.note(M.Move, What + " is moved here");
  if (M.WhyNotFixed)
    return F.because(*M.WhyNotFixed);
  return F.fix(makeThere(M, Context));
}

} // namespace

void FactoryThenToCheck::registerMatchers(MatchFinder *Finder) {
  Finder->addMatcher(cxxMemberCallExpr().bind("move"), this);
}

void FactoryThenToCheck::checkMatch(const Match &Result) {
  const auto *Move = Result.Nodes.getNodeAs<CXXMemberCallExpr>("move");
  if (auto M = decide(Move, *Result.Context))
    report(worded(*M, *Result.Context));
}

LIBTORCH_CHECK(FactoryThenToCheck, FactoryThenTo);

} // namespace libtorch_tidy
