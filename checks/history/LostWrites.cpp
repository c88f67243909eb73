//===- LostWrites.cpp - Writes into copies, and names for writes ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/torch/api/Effects.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Autograd.h"
#include "analysis/torch/modules/Modules.h"
#include "analysis/torch/storage/Sharing.h"
#include "checks/history/Discarded.h"
#include "fixits/FixIts.h"
#include "clang/AST/ASTContext.h"

using namespace clang;

namespace libtorch_tidy::discarded {

namespace {

/// A write into a copy.
struct IntoCopy {
  const CallExpr *Write; ///< fill_, `=`
  const CallExpr *Made;  ///< What makes the copy: x.index({mask})
  const Expr *Of;        ///< What is copied: x
};

std::string textOf(const Expr *E, const ASTContext &Context) {
  return fixits::sourceText(E->getSourceRange(), Context).str();
}

/// What is known of \p E, through variables that always hold what they start
/// with.
torch::TensorTraits traitsOf(const Expr *E, cpp::Body &In, unsigned Depth = 0) {
  return torch::freshMemory(
             E, In.context(),
             [&](const VarDecl *Var) {
               std::pair<torch::Fresh, torch::TensorTraits> Known;
               if (Depth < cpp::MaxChase && Var->hasInit() && In.isSetOnce(Var))
                 Known.second = traitsOf(Var->getInit(), In, Depth + 1);
               return Known;
             })
      .second;
}

/// nullopt where \p Written has, or may have, memory that something else
/// has, too.
std::optional<IntoCopy> copyUnder(const CallExpr *Write, const Expr *Written,
                                  cpp::Body &In) {
  for (const Expr *E = cpp::stripImplicit(Written); E;
       E = cpp::stripImplicit(E)) {
    const auto *Call = dyn_cast<CallExpr>(E);
    if (!Call)
      return std::nullopt;
    if (const Expr *Container = torch::containerOf(Call)) {
      E = Container;
      continue;
    }
    torch::StorageUse Use = torch::storageUse(Call, {}, In.context());
    if (!Use.Of)
      return std::nullopt;
    if (Use.How == torch::Sharing::Perhaps)
      Use = torch::storageUse(Call, traitsOf(Use.Of, In), In.context());
    if (Use.How == torch::Sharing::None)
      return IntoCopy{Write, Call, Use.Of};
    if (Use.How != torch::Sharing::Memory && Use.How != torch::Sharing::Handle)
      return std::nullopt;
    E = Use.Of;
  }
  return std::nullopt;
}

/// The number that \p Write fills its tensor with, as written; empty for other
/// writes, and for tensors.
std::string filledWith(const CallExpr *Write, const ASTContext &Context) {
  const auto Args = cpp::writtenArguments(Write);
  if (torch::callsTorch(Write, "zero_"))
    return "0";
  const bool IsFill = torch::callsTorch(Write, "fill_") && Args.size() == 1;
  const Expr *Value = IsFill                     ? Args[0]
                      : cpp::isAssignment(Write) ? Write->getArg(1)
                                                 : nullptr;
  const Expr *Number = Value ? cpp::stripImplicit(Value) : nullptr;
  return Number && Number->getType()->isArithmeticType()
             ? textOf(cpp::peel(Number), Context)
             : "";
}

/// The call that writes where \p W meant to: x.index_put_({mask}, 0). Empty
/// when there is none that does the same.
std::string meant(const IntoCopy &W, const ASTContext &Context) {
  const auto *Method = dyn_cast<CXXMemberCallExpr>(W.Made);
  const std::string Number = filledWith(W.Write, Context);
  const Expr *Written = torch::writtenInPlace(W.Write);
  if (!Method || Number.empty() || cpp::stripImplicit(Written) != W.Made)
    return "";
  const llvm::StringRef Instead = torch::filledInstead(W.Made);
  const auto Args = cpp::writtenArguments(W.Made);
  if (Instead.empty() || Args.empty())
    return "";
  const std::string Given =
      fixits::sourceText(
          {Args.front()->getBeginLoc(), Args.back()->getEndLoc()}, Context)
          .str();
  const std::string Object = textOf(W.Of, Context);
  const auto *Callee = cast<MemberExpr>(Method->getCallee()->IgnoreParens());
  if (Given.empty() || Object.empty())
    return "";
  return Object + (Callee->isArrow() ? "->" : ".") + Instead.str() + "(" +
         Given + ", " + Number + ")";
}

/// Does \p E lead to a tensor through a module, or is it in a method of one?
bool isOfModule(const Expr *E, const cpp::Body &In) {
  const auto *Method = dyn_cast<CXXMethodDecl>(In.function());
  return cpp::anyOf<Expr>(E, [&](const Expr *Part) {
    return torch::isModule(Part->getType()) ||
           (isa<CXXThisExpr>(Part) && Method &&
            torch::isModuleClass(Method->getParent()));
  });
}

/// Is \p Root a local variable whose memory nothing else has?
bool ownsItsMemory(const ValueDecl *Root, cpp::Body &In) {
  const auto *Var = dyn_cast<VarDecl>(Root);
  return Var && !isa<ParmVarDecl>(Var) && In.isOwn(Var) && Var->hasInit() &&
         torch::freshMemory(Var->getInit(), In.context()).first >=
             torch::Fresh::Likely;
}

std::optional<Finding> intoCopy(const IntoCopy &W, const Place &Where,
                                cpp::Body &In, flow::UnitModel &Unit) {
  const torch::OpFacts *Facts = torch::opFacts(W.Made);
  const bool Selects = torch::selectsElements(W.Made);
  // A model or a matrix product runs to warm up.
  if (!Facts || Facts->Factory || Facts->Heavy ||
      torch::runsFunctional(W.Made) || (!Selects && !torch::asPureOp(W.Made)))
    return std::nullopt;
  bool IsPart = false;
  const ValueDecl *Root = rootOf(W.Of, IsPart, Unit.work());
  if (!Root || isa<FunctionDecl>(Root))
    return std::nullopt;
  const ASTContext &Context = In.context();
  std::string Tensor = textOf(W.Of, Context);
  if (llvm::StringRef(Tensor).contains('('))
    Tensor = IsPart ? "" : Root->getNameAsString();
  Finding F = Finding::from(Where.Discarded);
  const std::string Writes =
      isa<CXXOperatorCallExpr>(W.Write)
          ? getOperatorSpelling(
                cast<CXXOperatorCallExpr>(W.Write)->getOperator())
          : cpp::calleeName(W.Write).str();
  const llvm::StringRef Made = cpp::calleeName(W.Made);
  F.says("no effect: " + quoted(Writes) + " writes into the copy that " +
         quoted(Made.empty() ? Facts->Name : Made) +
         " makes, which is discarded; " +
         (Tensor.empty() ? std::string("the tensor") : quoted(Tensor)) +
         " stays as it is");
  if (Where.runsForItsOwnSake(Root, W.Of))
    return F.because(DiscardedResult.OwnSake);
  if (isTimed(W.Write, In))
    return F.because(DiscardedResult.Timed);
  if (!IsPart && ownsItsMemory(Root, In) &&
      !Where.isReadLater(cast<VarDecl>(Root)))
    return F.because(DiscardedResult.Sent);
  if (!Selects && torch::asPureOp(W.Made)->Kind == torch::PureKind::Computes)
    F.because(DiscardedResult.Computes);
  const std::string Instead = meant(W, Context);
  if (!Instead.empty())
    F.says(F.Message + "; use " + quoted(torch::filledInstead(W.Made)));
  if (In.isInstantiated())
    return F.because(DiscardedResult.InTemplate);
  if (Instead.empty())
    return F.because(filledWith(W.Write, Context).empty() &&
                             !torch::filledInstead(W.Made).empty()
                         ? DiscardedResult.TensorValue
                         : DiscardedResult.OtherWrite);
  if (isOfModule(W.Of, In))
    return F.because(DiscardedResult.OfModule);
  return F.fix(fixits::replaceExpression(Where.Discarded, Instead, Context));
}

/// What \p Var is a view of as it is declared: x for `row = x[0]`, the list
/// for an element of x.unbind(0) or net->parameters().
const Expr *viewedAtStart(const VarDecl *Var, const Place &Where,
                          const ASTContext &Context) {
  if (const CXXForRangeStmt *Range = Where.loopOf(Var)) {
    const auto *List =
        dyn_cast_or_null<CallExpr>(cpp::stripImplicit(Range->getRangeInit()));
    return torch::isParametersCall(List) ? List : torch::viewedBy(List);
  }
  const auto *View =
      dyn_cast_or_null<CallExpr>(cpp::stripImplicit(Var->getInit()));
  const torch::StorageUse Use = torch::storageUse(View, {}, Context);
  return Use.How == torch::Sharing::Memory ? Use.Of : nullptr;
}

std::optional<Finding> namesAnother(const CallExpr *Assign, const Place &Where,
                                    cpp::Body &In, flow::UnitModel &Unit) {
  const VarDecl *Var = cpp::variableOf(Assign->getArg(0));
  if (!Var || isa<ParmVarDecl>(Var) || !In.isOwn(Var) ||
      !torch::isTensor(Var->getType()))
    return std::nullopt;
  const Expr *Viewed = viewedAtStart(Var, Where, In.context());
  bool IsPart = false;
  const ValueDecl *Root =
      Viewed ? rootOf(Viewed, IsPart, Unit.work()) : nullptr;
  if (!Root)
    return std::nullopt;
  llvm::SmallPtrSet<const Stmt *, 2> Targets;
  for (const cpp::Write &W : In.writesTo(Var)) {
    if (W.InLambda || W.Kind == cpp::WriteKind::Escaped ||
        (W.Where == Assign && W.Kind != cpp::WriteKind::Assigned))
      return std::nullopt;
    if (W.Overwritten)
      Targets.insert(W.Overwritten);
  }
  const Expr *Value = Assign->getArg(1);
  const auto InLambda = [&](const LambdaExpr *L) {
    return cpp::mentions(L, Var);
  };
  if (cpp::anyOf<LambdaExpr>(In.root(), InLambda) ||
      In.paths().holdsUntil(Var, Assign, [&](const Stmt *S) {
        const auto *Ref = dyn_cast<DeclRefExpr>(S);
        return Ref && Ref->getDecl() == Var && !Targets.contains(Ref);
      }))
    return std::nullopt;
  Finding F =
      Finding::at(Assign)
          .because(DiscardedResult.Renames)
          .says("no effect: '=' lets " + quoted(Var) +
                " name another tensor and writes nothing into " +
                (IsPart ? "the tensor that it was a view of" : quoted(Root)) +
                ", and nothing reads " + quoted(Var) +
                " afterwards; use 'copy_'");
  F.note(Var, quoted(Var) + " names a view here");
  if (Where.runsForItsOwnSake(Var, Value))
    return F.because(DiscardedResult.OwnSake);
  if (isTimed(Assign, In))
    return F.because(DiscardedResult.Timed);
  bool Part = false;
  const auto *View = dyn_cast<CallExpr>(cpp::stripImplicit(Value));
  // A part, or a copy of one: x.index({indices}).
  const Expr *From = View && torch::selectsElements(View)
                         ? torch::storageUse(View, {}, In.context()).Of
                     : torch::viewedBy(View) ? Value
                                             : nullptr;
  if (From && rootOf(From, Part, Unit.work()) == Root)
    return F.because(DiscardedResult.SameTensor);
  return F;
}

} // namespace

std::optional<Finding> lostWrite(const CallExpr *Call, ASTContext &Context,
                                 flow::UnitModel &Unit) {
  const Expr *Written = torch::writtenInPlace(Call);
  const bool Assigns = !Written && cpp::isAssignment(Call) &&
                       torch::isTensor(Call->getArg(0)->getType());
  if ((!Written && !Assigns) || Call->getBeginLoc().isMacroID())
    return std::nullopt;
  cpp::Body *In = cpp::Body::around(Call, Context);
  if (!In || In->function()->isImplicit())
    return std::nullopt;
  std::optional<IntoCopy> Copy;
  if (Written && !(Copy = copyUnder(Call, Written, *In)))
    return std::nullopt;
  const Place Where(Call, *In);
  if (!Where.Discarded)
    return std::nullopt;
  return Copy ? intoCopy(*Copy, Where, *In, Unit)
              : namesAnother(Call, Where, *In, Unit);
}

} // namespace libtorch_tidy::discarded
