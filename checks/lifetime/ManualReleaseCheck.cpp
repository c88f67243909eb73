//===- ManualReleaseCheck.cpp ---------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Body.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/Walk.h"
#include "analysis/flow/unit/UnitModel.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/modules/Modules.h"
#include "analysis/torch/storage/Owners.h"
#include "analysis/torch/storage/Sharing.h"
#include "analysis/torch/storage/Storage.h"
#include "checks/base/LibtorchCheck.h"
#include "clang/AST/ASTContext.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace clang;
using namespace clang::ast_matchers;
using llvm::StringRef;

namespace libtorch_tidy {

namespace {

constexpr struct ManualReleaseReasons {
  Reason OwnerUnknown{"owner-unknown", Effect::Likely,
                      "The tensor comes from elsewhere: it is a parameter or a "
                      "member, or a function of yours returns it."};
  Reason Reset{"device-reset", Effect::Likely,
               "The device is reset, and whether anything of LibTorch is used "
               "on it afterwards is not known."};
  Reason AtTheEnd{"end-of-main", Effect::Advice,
                  "The device is reset in `main`, after the last tensor there, "
                  "as samples of CUDA do it for a profiler."};
  Reason Exits{"program-ends", Effect::Silent,
               "The device is reset right before the program ends (`exit`, "
               "`abort`), and no tensor is used between."};
  Reason UsersMemory{"users-memory", Effect::Silent,
                     "The tensor is made over memory of the program "
                     "(`from_blob`, `for_blob`, `from_file`, `fromDLPack`), or "
                     "is a view of one that is."};
  Reason WrapsMemory{"file-wraps-memory", Effect::Silent,
                     "The tensor comes from elsewhere, and the file makes "
                     "tensors over memory of the program: it may be one of "
                     "them."};
  Reason EndsByHand{"ended-by-hand", Effect::Silent,
                    "The destructor does not run by itself: it is that of a "
                    "member of a union, or of what a reference or a raw "
                    "pointer leads to."};
  Reason InPlace{"made-in-place", Effect::Silent,
                 "The function makes objects in place (placement `new`), for "
                 "which the destructor makes room."};
} ManualRelease{};

/// Whose memory a tensor has.
enum class Owner { Library, Unknown, User };

/// Whose memory tensors have, through variables and views.
class Ownership {
public:
  explicit Ownership(cpp::Body &In) : In(In) {}

  Owner of(const Expr *Tensor) {
    const Expr *E = cpp::stripImplicit(In.originOf(Tensor));
    const VarDecl *Var = cpp::variableOf(E);
    if (!Var)
      return ofResult(E);
    if (!Seen.insert(Var).second)
      return Owner::Library; // Whatever the other values say.
    if (const Expr *Range = rangeOver(Var, E))
      return ofResult(cpp::stripImplicit(Range));
    const cpp::Values Given = In.valuesOf(Var);
    Owner Result = Given.Complete && !Given.Given.empty() ? Owner::Library
                                                          : Owner::Unknown;
    for (const Expr *Value : Given.Given)
      Result = std::max(Result, ofResult(cpp::stripImplicit(Value)));
    return Result;
  }

private:
  /// What the loop around \p Use goes over, where \p Var is its variable.
  const Expr *rangeOver(const VarDecl *Var, const Expr *Use) const {
    const auto *Loop = In.around<CXXForRangeStmt>(Use);
    while (Loop && Loop->getLoopVariable() != Var)
      Loop = In.around<CXXForRangeStmt>(Loop);
    return Loop ? Loop->getRangeInit() : nullptr;
  }

  /// \p E is computed: by an operator or a model, from a list, or by a function
  /// that may do anything.
  Owner ofResult(const Expr *E) {
    const auto *Call = dyn_cast_or_null<CallExpr>(E);
    if (!Call)
      return Owner::Unknown;
    if (torch::wrapsMemory(Call))
      return Owner::User;
    if (const Expr *Viewed = torch::viewedBy(Call))
      return of(Viewed);
    // Those that may return their tensor as it is.
    if (const Expr *Same = torch::sameShapeObject(Call))
      return of(Same);
    return torch::isTorchDecl(Call->getDirectCallee()) ? Owner::Library
                                                       : Owner::Unknown;
  }

  cpp::Body &In;
  llvm::SmallPtrSet<const VarDecl *, 4> Seen;
};

/// `x`; "this tensor" where it has no name.
std::string nameOf(const Expr *Tensor) {
  std::optional<cpp::Object> Named = cpp::namedObject(Tensor);
  return Named && !Named->isThis() ? "'" + Named->name() + "'" : "this tensor";
}

/// Where \p Pointer comes from: without casts, and through local pointers that
/// point to nothing else.
const Expr *pointerOf(const Expr *Pointer, cpp::Body &In) {
  for (unsigned I = 0; I < cpp::MaxChase; ++I) {
    Pointer = Pointer->IgnoreParenCasts();
    const VarDecl *Var = cpp::variableOf(Pointer);
    if (!Var || !In.isOwn(Var) || !Var->getInit() ||
        llvm::any_of(In.writesTo(Var), [](const cpp::Write &W) {
          return W.Kind != cpp::WriteKind::Changed; // p[0] = 1
        }))
      break;
    Pointer = Var->getInit();
  }
  return Pointer;
}

/// When the destructor of what \p Object names runs by itself; "" where it may
/// not: what a raw pointer leads to, memory that was made by hand.
std::string whenItEnds(const Expr *Object) {
  const Expr *E = Object->IgnoreParenImpCasts();
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
    const auto *Var = dyn_cast<VarDecl>(Ref->getDecl());
    if (!Var || Var->getType()->isReferenceType() ||
        Var->getType()->isPointerType())
      return "";
    return Var->hasGlobalStorage() ? "when the program ends"
                                   : "at the end of its scope";
  }
  if (const auto *Member = dyn_cast<MemberExpr>(E)) {
    const auto *Field = dyn_cast<FieldDecl>(Member->getMemberDecl());
    return Field && !Field->getType()->isReferenceType() &&
                   !Field->getParent()->isUnion() &&
                   isa<CXXThisExpr>(Member->getBase()->IgnoreParenImpCasts())
               ? "with the object that it is a part of"
               : "";
  }
  // net->~NetImpl(), (*net).~NetImpl()
  const auto *Arrow = dyn_cast<CXXOperatorCallExpr>(E);
  const bool Leads = Arrow && (Arrow->getOperator() == OO_Arrow ||
                               Arrow->getOperator() == OO_Star);
  return Leads && !cpp::pointeeOf(
                       Arrow->getArg(0)->IgnoreParenImpCasts()->getType())
                       .isNull()
             ? "when the last handle of it ends"
             : "";
}

/// docs/checks/libtorch-manual-release.md says what it finds and why.
class ManualReleaseCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;
  void registerMatchers(MatchFinder *Finder) override {
    auto Mine = unless(isExpansionInSystemHeader());
    Finder->addMatcher(callExpr(Mine, callee(functionDecl(
                                          hasAnyName(torch::ReleaseFunctions))))
                           .bind("call"),
                       this);
    Finder->addMatcher(cxxDeleteExpr(Mine).bind("delete"), this);
    Finder->addMatcher(
        cxxMemberCallExpr(Mine, callee(cxxDestructorDecl())).bind("destructor"),
        this);
  }
  void checkMatch(const Match &Result) override {
    if (const auto *Call =
            Result.Nodes.getNodeAs<CXXMemberCallExpr>("destructor")) {
      checkDestructor(Call);
    } else if (const auto *Delete =
                   Result.Nodes.getNodeAs<CXXDeleteExpr>("delete")) {
      checkRelease(Delete, Delete->getArgument(), "delete");
    } else if (const auto *Call = Result.Nodes.getNodeAs<CallExpr>("call")) {
      if (torch::resetsDevice(Call))
        checkReset(Call);
      else if (const Expr *Pointer = torch::releasedBy(Call))
        checkRelease(Call, Pointer, (cpp::calleeName(Call) + "()").str());
    }
  }
  void checkMatched() override {
    if (Unsure.empty() || !isWhole())
      return;
    const CallExpr *Wraps = nullptr;
    for (const FunctionDecl *F : unit().functions())
      if (!Wraps)
        Wraps = cpp::findFirst<CallExpr>(F->getBody(), torch::wrapsMemory);
    for (Finding &F : Unsure) {
      if (Wraps)
        F.because(ManualRelease.WrapsMemory, "one is made",
                  Wraps->getExprLoc());
      report(F);
    }
  }

private:
  void checkRelease(const Expr *Release, const Expr *Pointer,
                    const std::string &How) {
    cpp::Body *In = cpp::Body::around(Release, context());
    if (!In || Pointer->isInstantiationDependent())
      return;
    const Expr *From = pointerOf(Pointer, *In);
    std::optional<torch::Access> Data =
        torch::asAccess(dyn_cast<CallExpr>(From));
    if (!Data || Data->What != torch::Access::Data)
      return;
    const Owner Whose = Ownership(*In).of(Data->Object);
    if (Whose == Owner::User)
      return silent(Release->getBeginLoc(), ManualRelease.UsersMemory);
    const std::string Name = nameOf(Data->Object);
    const bool HasReset =
        Name.front() == '\'' && !torch::isStableTensor(Data->Object->getType());
    Finding F = Finding::from(Release).says(
        "double free: " + How + " releases the memory of " + Name +
        ", which LibTorch owns: its allocator releases it "
        "again, or hands it out again; " +
        (HasReset ? Name.substr(1, Name.size() - 2) + ".reset() releases it"
                  : "it is freed with the last tensor that uses it"));
    if (!In->isWithin(From, Release))
      F.note(From->getBeginLoc(),
             "the pointer is taken from " + Name + " here");
    if (Whose == Owner::Library)
      report(F);
    else
      Unsure.push_back(std::move(F.because(ManualRelease.OwnerUnknown)));
  }

  void checkDestructor(const CXXMemberCallExpr *Call) {
    const Expr *Object = Call->getImplicitObjectArgument();
    const cpp::Body *In = cpp::Body::around(Call, context());
    if (!Object || !In)
      return;
    const QualType T = Object->getType()->isPointerType()
                           ? Object->getType()->getPointeeType()
                           : Object->getType();
    if (!torch::isTensor(T) && !torch::isModule(T) && !torch::ownsTensors(T))
      return;
    const std::string When = whenItEnds(Object);
    Finding F = Finding::from(Call)
                    .says("double free: the destructor of " + nameOf(Object) +
                          " runs again " + When +
                          ", and releases what it owns a second time")
                    .remedy("drop this call");
    // For an object that is made in memory that is there, others may be ended
    // on purpose.
    auto IsInPlace = [](const CXXNewExpr *New) {
      return New->getNumPlacementArgs() > 0;
    };
    if (When.empty())
      F.because(ManualRelease.EndsByHand);
    else if (const auto *New =
                 cpp::findFirst<CXXNewExpr>(In->root(), IsInPlace))
      F.because(ManualRelease.InPlace, "one is made", New->getExprLoc());
    report(F);
  }

  void checkReset(const CallExpr *Call) {
    if (!torch::declaresTensor(context()))
      return;
    cpp::Body *In = cpp::Body::around(Call, context());
    if (!In)
      return;
    auto UsesTensor = [](const Stmt *S) {
      const auto *E = dyn_cast<Expr>(S);
      return isa_and_nonnull<CallExpr, CXXConstructExpr>(E) &&
             torch::mayHoldTensor(E->getType());
    };
    const bool IsLast = !In->paths().leadsTo(Call, UsesTensor);
    if (IsLast && !In->paths().leadsTo(
                      Call, [](const Stmt *) { return false; }, /*OrOut=*/true))
      return silent(Call->Stmt::getBeginLoc(), ManualRelease.Exits);
    // At the end of main, for a profiler, little is left that needs the device.
    const bool AtTheEnd = IsLast && In->function()->isMain();
    report(
        Finding::from(Call)
            .because(AtTheEnd ? ManualRelease.AtTheEnd : ManualRelease.Reset)
            .says(cpp::calleeName(Call) +
                  "() destroys the context of the device under LibTorch: "
                  "tensors and modules on it, its streams and its allocator's "
                  "blocks are invalid from here on, and no other can be made; "
                  "emptyCache() gives back what no tensor holds"));
  }

  /// Of tensors that come from elsewhere. They are LibTorch's in a unit that
  /// makes no tensors over memory of its own.
  llvm::SmallVector<Finding, 2> Unsure;
};

} // namespace

LIBTORCH_CHECK(ManualReleaseCheck, ManualRelease);

} // namespace libtorch_tidy
