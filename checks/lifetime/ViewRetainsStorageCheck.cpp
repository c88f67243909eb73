//===- ViewRetainsStorageCheck.cpp ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Body.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/Walk.h"
#include "analysis/cpp/Writes.h"
#include "analysis/flow/memory/Memory.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Autograd.h"
#include "analysis/torch/autograd/GradGuards.h"
#include "analysis/torch/storage/Sharing.h"
#include "analysis/torch/storage/Storage.h"
#include "checks/base/Amounts.h"
#include "checks/base/LibtorchCheck.h"
#include "fixits/FixIts.h"
#include "clang/AST/ASTContext.h"

using namespace clang;

namespace libtorch_tidy {

using torch::Fresh;

namespace {

constexpr struct ViewRetainsStorageReasons {
  Reason Replaces{"replaces-last", Effect::Advice,
                  "It replaces the last one, in a member, a static or an out "
                  "parameter: one tensor at a time is held."};
  Reason MayBeWhole{"may-be-whole", Effect::Advice,
                    "The index is the constant 0, which often takes the only "
                    "sample of a batch. Not where a part is saved and other "
                    "parts are taken, too, or the sizes are known."};
  Reason MayBeCopied{"copies-if-needed", Effect::Advice,
                     "`.contiguous()` after a part that is in one piece, or "
                     "`.to(torch::kFloat32)` of what most likely has that "
                     "type: they return the part itself."};
  Reason HasGraph{"carries-graph", Effect::Advice,
                  "It is the output of a module with gradient mode on, whose "
                  "graph is the larger matter."};
  Reason OwnerLives{"owner-lives", Effect::Silent,
                    "The tensor lives on, or may do so: it is a parameter, is "
                    "given another value, or what made it may hold its "
                    "memory."};
  Reason SeveralParts{"several-parts", Effect::Silent,
                      "More than one part of the tensor is taken, or parts in "
                      "a loop over it, or the tensor is kept, too: the parts "
                      "may be the whole."};
  Reason WrittenThrough{"written-through", Effect::Silent,
                        "In-place operators run on the elements of the "
                        "container."};
  Reason LossHasGraph{"loss-has-graph", Effect::Silent,
                      "The loss is kept with its graph, which is the larger "
                      "matter: see "
                      "[libtorch-accumulated-history]"
                      "(libtorch-accumulated-history.md)."};
  Reason ChangesLater{"written-later", Effect::NoFix,
                      "The tensor is written to when the part is kept already: "
                      "a copy would not show it."};
} ViewRetainsStorage{};

/// A small tensor that is kept when the one that it comes from is gone, so that
/// it alone holds the whole memory; or that is written to a file with all of
/// it.
struct KeptView {
  const Expr *Kept = nullptr;     ///< What is stored or saved, as written.
  const Stmt *TakenIn = nullptr;  ///< The innermost loop around that.
  const CallExpr *Part = nullptr; ///< The call that takes a part.
  const CallExpr *Loss = nullptr; ///< A reduced loss, with its whole buffer.
  /// The local variable whose memory it is; null for a temporary.
  const VarDecl *Owner = nullptr;
  const CallExpr *Made = nullptr; ///< The temporary; null when it is not seen.
  bool MayBeWhole = false;        ///< The index is a constant 0.
  /// A conversion is in between that copies where it has to: contiguous().
  bool MayBeCopied = false;
  bool Detached = false;
  bool HasGraph = false; ///< It may carry that of a module.
  bool IsSaved = false;  ///< It is written to a file.
  std::string Keeper;    ///< Else what keeps it, quoted.
  /// It is one of many: added to a container. Else it replaces the last one.
  bool Grows = false;
  bool ChangesLater = false; ///< The tensor is written to afterwards.

  const CallExpr *source() const { return Loss ? Loss : Part; }
};

/// Finds what is kept in one function.
class KeptFinder {
public:
  KeptFinder(const FunctionDecl *F, const ASTContext &Context)
      : F(F), Context(Context), In(cpp::Body::of(F)),
        Shared(flow::Sharing::in(F)) {}

  std::vector<KeptView> run() {
    // Lambdas are functions of their own.
    cpp::walk(
        F->getBody(), cpp::Lambdas::Skipped,
        [&](const Stmt *S) {
          if (const auto *Call = dyn_cast<CallExpr>(S))
            visit(Call);
          return true;
        },
        [&](const Decl *D) {
          if (const auto *Var = dyn_cast<VarDecl>(D))
            visit(Var);
          return true;
        });
    return std::move(Found);
  }

private:
  void visit(const VarDecl *Var) {
    if (Var->isStaticLocal() && Var->getInit() &&
        torch::isTensor(Var->getType()))
      kept(Var, Var->getInit(), /*Grows=*/false);
    Guarded |= torch::guardOf(Var) == torch::GradMode::Off;
  }

  void visit(const CallExpr *Call) {
    for (const Expr *Value : torch::savedTensors(Call))
      saved(Value);
    if (auto Added = cpp::asInsertion(Call);
        Added && Added->AtEnd && Call->getNumArgs() == 1 &&
        cpp::isStdDecl(Call->getDirectCallee()) &&
        torch::mayHoldTensor(Added->Into->getType()))
      kept(cpp::rootOf(Added->Into), Added->value(), /*Grows=*/true);
    if (!cpp::isAssignment(Call))
      return;
    const Expr *Target = cpp::peel(Call->getArg(0));
    if (!torch::isTensor(Target->getType()))
      return;
    if (const auto *Element = dyn_cast<CXXOperatorCallExpr>(Target)) {
      // `v[i] = x` of a container; of a tensor it copies the elements.
      if (Element->getOperator() == OO_Subscript &&
          !torch::isTensor(Element->getArg(0)->getType()))
        kept(cpp::rootOf(Element->getArg(0)), Call->getArg(1), /*Grows=*/true);
    } else if (isa<MemberExpr, DeclRefExpr>(Target)) {
      kept(cpp::rootOf(Target), Call->getArg(1), /*Grows=*/false);
    }
  }

  /// The innermost loop around the declaration of local variable \p Var.
  const Stmt *loopOf(const VarDecl *Var) const {
    return In.loopAround(In.declarationOf(Var));
  }

  /// A local tensor that is set once, by its declaration.
  bool isSetOnce(const VarDecl *Var) const {
    return Var->isLocalVarDecl() && !Var->isStaticLocal() && Var->hasInit() &&
           !Var->getType()->isReferenceType() && In.declarationOf(Var) &&
           llvm::all_of(In.writesTo(Var), [](const cpp::Write &W) {
             return W.Kind == cpp::WriteKind::Changed && !W.InLambda;
           });
  }

  /// The initializer of \p Var, if it makes a part or a loss; or null.
  const CallExpr *namedPart(const VarDecl *Var, const KeptView &C) const {
    if (C.Part || !isSetOnce(Var) || !torch::isTensor(Var->getType()))
      return nullptr;
    const auto *Init =
        dyn_cast_or_null<CallExpr>(cpp::stripImplicit(Var->getInit()));
    const torch::StorageUse Use = torch::storageUse(Init, {}, Context);
    const bool TakesPart = Use.IsPart && Use.How == torch::Sharing::Memory;
    return Init && (TakesPart || torch::pinsUnreduced(Init, Context)) ? Init
                                                                      : nullptr;
  }

  /// x.chunk(n), whose elements \p Var goes through; null for others.
  const CallExpr *partsOf(const VarDecl *Var) const {
    const Expr *Range = In.rangeOf(Var);
    if (!Range || !In.writesTo(Var).empty())
      return nullptr;
    Range = cpp::stripImplicit(Range);
    if (const VarDecl *List = cpp::variableOf(Range))
      Range = isSetOnce(List) ? cpp::stripImplicit(List->getInit()) : nullptr;
    const auto *Call = dyn_cast_or_null<CallExpr>(Range);
    return torch::storageUse(Call, {}, Context).How == torch::Sharing::Memory
               ? Call
               : nullptr;
  }

  /// Is a part of \p C.Owner taken that cannot be all of it, next to C.Part?
  bool hasOtherParts(const KeptView &C) const {
    return C.Owner &&
           cpp::anyOf<CallExpr>(F->getBody(), [&](const CallExpr *E) {
             const torch::StorageUse Use = torch::storageUse(E, {}, Context);
             return E != C.Part && Use.How == torch::Sharing::Memory &&
                    Use.Of && cpp::variableOf(Use.Of) == C.Owner &&
                    (Use.IsPart ? !torch::takesFirst(E, Context)
                                : !torch::isTensor(E->getType()));
           });
  }

  /// Follows \p E through views and conversions down to what has the memory.
  /// nullopt where an operator may copy, or the way is lost.
  std::optional<KeptView> follow(const Expr *E, bool IsSaved = false) {
    KeptView C;
    C.Kept = E;
    C.IsSaved = IsSaved;
    C.TakenIn = In.loopAround(E);
    for (unsigned Steps = 0; Steps < cpp::MaxChase; ++Steps) {
      E = cpp::stripImplicit(E);
      if (const VarDecl *Var = cpp::variableOf(E)) {
        if (const CallExpr *Init = namedPart(Var, C)) {
          if (Shared.Copies.lookup(Var) > 1 || loopOf(Var) != C.TakenIn) {
            silent(C.Kept, ViewRetainsStorage.SeveralParts, Var);
            return std::nullopt;
          }
          E = Init;
          continue;
        }
        if (const CallExpr *List = C.IsSaved ? partsOf(Var) : nullptr) {
          C.Part = List;
          E = torch::storageUse(List, {}, Context).Of;
          continue;
        }
        C.Owner = Var;
        return C;
      }
      const auto *Call = dyn_cast_or_null<CallExpr>(E);
      if (!Call)
        return std::nullopt;
      if (torch::pinsUnreduced(Call, Context)) {
        C.Loss = Call;
        return C;
      }
      if (const Expr *Container = torch::containerOf(Call)) {
        const auto *List =
            dyn_cast_or_null<CallExpr>(cpp::stripImplicit(Container));
        torch::StorageUse Use = torch::storageUse(List, {}, Context);
        if (Use.How == torch::Sharing::None) // The first result of x.sort().
          return C;
        if (Use.How != torch::Sharing::Memory)
          return std::nullopt;
        // An element of x.chunk(n).
        if (!C.Part)
          C.Part = Call;
        E = Use.Of;
        continue;
      }
      torch::StorageUse Use = torch::storageUse(Call, {}, Context);
      if (Use.How == torch::Sharing::None) {
        C.Made = Call;
        return C;
      }
      if (Use.How != torch::Sharing::Memory &&
          Use.How != torch::Sharing::Handle) {
        // Only what takes a part of a fresh value is of interest.
        if (C.Part && torch::freshMemory(Call, Context, NoLocals).first ==
                          Fresh::Likely) {
          C.HasGraph = true;
          return C;
        }
        // x[0].contiguous(), x[0].to(torch::kFloat32) return x[0] itself where
        // it is contiguous and of that type already, as most tensors are.
        if (Use.How != torch::Sharing::Perhaps ||
            torch::storageUse(Call, usualTraits(Use.Of), Context).How !=
                torch::Sharing::Handle)
          return std::nullopt;
        C.MayBeCopied = true;
      }
      C.Detached |= torch::dropsHistory(Call);
      if (Use.IsPart) {
        C.Part = Call;
        C.MayBeWhole |= torch::takesFirst(Call, Context);
      }
      E = Use.Of;
    }
    return std::nullopt;
  }

  /// Of \p E if what it starts from is as most tensors are: of the default
  /// type and contiguous.
  torch::TensorTraits usualTraits(const Expr *E, unsigned Depth = 0) const {
    torch::TensorTraits Usual;
    Usual.Dtype = torch::DefaultDtype;
    Usual.Contiguous = true;
    if (Depth == cpp::MaxChase)
      return Usual;
    if (const VarDecl *Var = cpp::variableOf(E))
      return isSetOnce(Var) ? usualTraits(Var->getInit(), Depth + 1) : Usual;
    const auto *Call = dyn_cast_or_null<CallExpr>(cpp::stripImplicit(E));
    if (!Call || torch::containerOf(Call))
      return Usual;
    torch::StorageUse Use = torch::storageUse(Call, {}, Context);
    if (Use.How == torch::Sharing::None)
      Usual.Dtype = Use.Traits.Dtype; // Comparisons, argmax().
    if (Use.How == torch::Sharing::None || Use.How == torch::Sharing::Unknown)
      return Usual;
    return torch::storageUse(Call, usualTraits(Use.Of, Depth + 1), Context)
        .Traits;
  }

  static std::pair<Fresh, torch::TensorTraits> NoLocals(const VarDecl *) {
    return {Fresh::No, {}};
  }

  /// Does \p Root live on when \p C.Owner, or a temporary made here, is gone?
  bool outlivesOwner(const ValueDecl *Root, const KeptView &C) const {
    const auto *Var = dyn_cast<VarDecl>(Root);
    // A member of `*this`, a static or a global.
    if (!Var || !Var->isLocalVarDeclOrParm() || Var->isStaticLocal())
      return true;
    const QualType T = Var->getType();
    if (isa<ParmVarDecl>(Var))
      return T->isLValueReferenceType() &&
             !T->getPointeeType().isConstQualified();
    // A local container, over the iterations of a loop in which the owner, or
    // the temporary, is made anew. A local tensor holds one at a time, and goes
    // with the function.
    const Stmt *Made = C.Owner ? loopOf(C.Owner) : C.TakenIn;
    return !torch::isTensor(T) && !T->isReferenceType() &&
           In.declarationOf(Var) && Made && Made != loopOf(Var);
  }

  /// \p Value becomes what variable or member \p Root holds, or a part of it.
  void kept(const ValueDecl *Root, const Expr *Value, bool Grows) {
    if (!Root || !torch::isTensor(cpp::peel(Value)->getType()))
      return;
    std::optional<KeptView> C = follow(Value);
    if (!C || !(C->Part || C->Loss) || !outlivesOwner(Root, *C))
      return;
    if (!C->Loss && C->Owner)
      if (const Reason *Why = whyOwnerLives(*C))
        return silent(Value, *Why, C->Owner);
    if (const auto *Call = writtenThrough(Root))
      return silent(Value, ViewRetainsStorage.WrittenThrough, "written",
                    Call->getExprLoc());
    const bool NoGraph = C->Detached || Guarded;
    if (C->Loss && !NoGraph)
      return silent(Value, ViewRetainsStorage.LossHasGraph, "the loss",
                    C->Loss->getExprLoc());
    C->HasGraph &= !NoGraph;
    C->Keeper = quoted(Root);
    C->Grows = Grows;
    C->ChangesLater = C->Owner && isWrittenAfter(C->Owner, Value);
    Found.push_back(std::move(*C));
  }

  /// Why the memory of C.Owner is not that of one part alone when it is gone;
  /// null when it is.
  const Reason *whyOwnerLives(KeptView &C) {
    const VarDecl *Owner = C.Owner;
    if (!torch::isTensor(Owner->getType()) || !isSetOnce(Owner))
      return &ViewRetainsStorage.OwnerLives;
    if (Shared.Copies.lookup(Owner) != 1 || loopOf(Owner) != C.TakenIn)
      return &ViewRetainsStorage.SeveralParts;
    const Fresh Made =
        torch::freshMemory(Owner->getInit(), Context, NoLocals).first;
    C.HasGraph |= Made == Fresh::Likely;
    return Made >= Fresh::Likely ? nullptr : &ViewRetainsStorage.OwnerLives;
  }

  bool isWrittenAfter(const VarDecl *Owner, const Expr *Kept) const {
    const SourceManager &SM = Context.getSourceManager();
    return llvm::any_of(In.writesTo(Owner), [&](const cpp::Write &W) {
      return cpp::comesBefore(Kept, W.Where, SM);
    });
  }

  /// An in-place operator that is called on elements of \p Root; null for none.
  const CXXMemberCallExpr *writtenThrough(const ValueDecl *Root) const {
    return cpp::findFirst<CXXMemberCallExpr>(
        F->getBody(), [&](const CXXMemberCallExpr *Call) {
          const Expr *Object = Call->getImplicitObjectArgument();
          if (!Object || !torch::isTensor(Object->getType()) ||
              !cpp::calleeName(Call).ends_with("_"))
            return false;
          while (const auto *Inner = dyn_cast_or_null<CXXMemberCallExpr>(
                     cpp::stripImplicit(Object)))
            Object = Inner->getImplicitObjectArgument();
          return cpp::rootOf(Object) == Root;
        });
  }

  void saved(const Expr *Value) {
    std::optional<KeptView> C = follow(Value, /*IsSaved=*/true);
    if (!C || !C->Part || C->Loss)
      return;
    C->HasGraph = false; // No graph is written.
    C->MayBeWhole &= !hasOtherParts(*C);
    Found.push_back(std::move(*C));
  }

  const FunctionDecl *F;
  const ASTContext &Context;
  cpp::Body &In;
  flow::Sharing Shared;
  bool Guarded = false; ///< A guard has been declared so far.
  std::vector<KeptView> Found;
};

/// Of bytes that are held, how many are asked for.
struct Amount {
  uint64_t All, Asked;
};

std::string messageOf(const KeptView &K, std::optional<Amount> Bytes) {
  const std::string Part =
      Bytes ? ", " + readableBytes(Bytes->Asked) + "," : "";
  const std::string Whole = Bytes ? ", " + readableBytes(Bytes->All) : "";
  if (K.IsSaved)
    return "a part of a tensor" + Part +
           " is saved with the whole memory of that tensor" + Whole;
  if (K.Loss)
    return K.Keeper +
           " keeps the whole unreduced loss alive for a single number";
  return K.Keeper + " keeps a part of " +
         (K.Owner ? quoted(K.Owner) : "a temporary tensor") + Part +
         " and with it the memory of the whole tensor" + Whole;
}

/// All but the message.
Finding storyOf(const KeptView &K, const ASTContext &Context) {
  const auto &Rows = ViewRetainsStorage;
  const SourceManager &SM = Context.getSourceManager();
  const SourceLocation Taken = K.source()->Stmt::getBeginLoc();
  Finding F = Finding::from(K.Kept).level(Level::Likely);
  if (!K.Grows && !K.IsSaved)
    F.because(Rows.Replaces);
  if (K.MayBeWhole)
    F.because(Rows.MayBeWhole);
  if (K.MayBeCopied)
    F.because(Rows.MayBeCopied);
  if (K.HasGraph)
    F.because(Rows.HasGraph);
  if (K.Owner && !K.Loss && !K.IsSaved)
    F.note(K.Owner,
           quoted(K.Owner) +
               " is destroyed at the end of its block, but its memory is not");
  if (SM.getFileLoc(K.source()->getExprLoc()) != SM.getFileLoc(F.Loc) &&
      Taken != F.Loc)
    F.note(Taken,
           K.Loss ? "the loss is computed here" : "the part is taken here");
  if (K.ChangesLater)
    return F.because(Rows.ChangesLater);
  if (torch::isStableTensor(K.Kept->getType()))
    return F; // It has no method clone().
  return F.fix(
      fixits::appendMemberCall(K.Kept, torch::spelling::CloneCall, Context));
}

/// docs/checks/libtorch-view-retains-storage.md says what it finds and why.
class ViewRetainsStorageCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;
  void checkUnit(flow::UnitModel &Unit) override {
    for (const FunctionDecl *Function : Unit.functions()) {
      if (Unit.errors().touch(Function))
        continue;
      for (KeptView &K : KeptFinder(Function, Unit.context()).run()) {
        if (K.MayBeWhole && K.IsSaved && looksFor(Level::Likely))
          K.MayBeWhole = !measure(K);
        Finding F = storyOf(K, Unit.context());
        std::optional<Amount> Bytes;
        if (reports(F.Strength) && (Bytes = measure(K)))
          F.bytes(Bytes->All);
        report(F.says("wasted memory: " + messageOf(K, Bytes))
                   .remedy(std::string(K.IsSaved ? "save" : "keep") +
                           " a clone() of " +
                           (K.Loss ? "that number" : "the part")));
      }
    }
  }

private:
  /// What is kept, and how much of it is asked for, where both are known.
  std::optional<Amount> measure(const KeptView &K) {
    const Expr *Owner = K.Owner ? K.Owner->getInit() : K.Made;
    if (K.Loss || !Owner)
      return std::nullopt;
    // What is saved may itself be a part of something larger.
    const auto *Made = dyn_cast<CallExpr>(cpp::peel(Owner));
    if (K.IsSaved &&
        torch::storageUse(Made, {}, context()).How != torch::Sharing::None)
      return std::nullopt;
    const std::optional<uint64_t> All = bytesOf(Owner), Asked = bytesOf(K.Kept);
    if (!All || !Asked || *Asked >= *All)
      return std::nullopt;
    return Amount{*All, *Asked};
  }
};

} // namespace

LIBTORCH_CHECK(ViewRetainsStorageCheck, ViewRetainsStorage);

} // namespace libtorch_tidy
