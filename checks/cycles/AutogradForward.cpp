//===- AutogradForward.cpp - What forward() gives its context -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "checks/cycles/AutogradForward.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Types.h"
#include "analysis/torch/api/OpFacts.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Autograd.h"
#include "analysis/torch/autograd/Hooks.h"
#include "analysis/torch/modules/Kept.h"
#include "analysis/torch/storage/Owners.h"
#include "analysis/torch/storage/Sharing.h"
#include "clang/AST/ASTContext.h"
#include "clang/Basic/Builtins.h"
#include "clang/Basic/SourceManager.h"

using namespace clang;

namespace libtorch_tidy {

using cpp::Object;
using torch::ContextList;

//===----------------------------------------------------------------------===//
// The context
//===----------------------------------------------------------------------===//

void ContextUses::lookAt(const Stmt *S) {
  if (const auto *Return = dyn_cast<ReturnStmt>(S))
    Returns.push_back(Return);
  if (const auto *Member = dyn_cast<MemberExpr>(S))
    ContextMentions -=
        isa<DeclRefExpr>(Member->getBase()->IgnoreParenImpCasts()) &&
        torch::isAutogradContext(Member->getBase()->getType());
  if (const auto *Ref = dyn_cast<DeclRefExpr>(S))
    ContextMentions += torch::isAutogradContext(Ref->getType());
  if (const auto *E = dyn_cast<Expr>(S);
      E && isa<MemberExpr, DeclRefExpr>(E) && torch::isSavedData(E))
    SavedDataMentions.push_back(E);
  const auto *Call = dyn_cast<CallExpr>(S);
  if (!Call)
    return;
  if (auto Stored = torch::asSavedDataStore(Call))
    Stores.push_back({Call, Stored->Value, Stored->Key});
  else if (torch::asContextList(Call, ContextList::Saved))
    Saves.push_back(Call);
  else if (torch::asContextList(Call, ContextList::Dirty))
    Dirty.push_back(Call);
  else if (torch::asContextList(Call, ContextList::NonDifferentiable))
    NonDifferentiable.push_back(Call);
  else
    storesOfHelper(Call);
}

/// A function that is given the context and puts parameters into it.
void ContextUses::storesOfHelper(const CallExpr *Call) {
  const FunctionDecl *Helper = Call->getDirectCallee();
  Helper = Helper ? Helper->getDefinition() : nullptr;
  if (!Helper || Helper == F || !Helper->hasBody() ||
      torch::isTorchDecl(Helper) ||
      llvm::none_of(Call->arguments(), [](const Expr *Arg) {
        return torch::isAutogradContext(Arg->getType());
      }))
    return;
  const Stmt *Body = Helper->getBody();
  cpp::forEach<CallExpr>(Body, [&](const CallExpr *Inner) {
    auto Stored = torch::asSavedDataStore(Inner);
    if (!Stored)
      return;
    for (const Expr *Kept : torch::keptBy(Stored->Value, Body)) {
      auto Named = cpp::objectOf(Kept, Body);
      const auto *Param =
          Named ? dyn_cast_or_null<ParmVarDecl>(Named->Root) : nullptr;
      if (!Param || !Named->Fields.empty() || Param->getDeclContext() != Helper)
        continue;
      unsigned I = Param->getFunctionScopeIndex();
      if (I < Call->getNumArgs() && !isa<CXXOperatorCallExpr>(Call))
        Stores.push_back({Call, Call->getArg(I), nullptr, Inner});
    }
  });
}

/// Is something moved in \p E?
static bool mentionsMove(const Expr *E) {
  return cpp::anyOf<CallExpr>(E, [](const CallExpr *Call) {
    return Call->getBuiltinCallee() == Builtin::BImove;
  });
}

std::optional<std::string> literalOf(const Expr *Key) {
  const auto *Text = dyn_cast_or_null<StringLiteral>(cpp::stripImplicit(Key));
  if (!Text || !Text->isOrdinary())
    return std::nullopt;
  return Text->getString().str();
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

/// Does a value of \p T own tensors, as far as its type shows?
static bool mayOwnTensors(QualType T) {
  if (torch::isIntrusivePtr(T))
    return torch::mayHoldTensor(cpp::pointeeOf(T));
  return !torch::isIValue(T) && torch::mayHoldTensor(T);
}

/// Can a tensor made by \p E not take part in backward: an index, a mask?
static bool isNotDifferentiable(const Expr *E) {
  const auto *Call = dyn_cast_or_null<CallExpr>(cpp::stripImplicit(E));
  if (!Call)
    return false;
  if (torch::isIntegralCast(Call))
    return true;
  const torch::OpFacts *Facts = torch::opFacts(Call->getDirectCallee());
  return Facts && !Facts->Factory && Facts->neverDifferentiable();
}

static bool isNotDifferentiable(const ValueDecl *Var, const Stmt *Body) {
  const auto *V = dyn_cast<VarDecl>(Var);
  if (V && !isa<ParmVarDecl>(V) && isNotDifferentiable(V->getInit()))
    return true;
  return llvm::any_of(cpp::writesTo(Var, Body), [](const auto &W) {
    return W.Value && isNotDifferentiable(W.Value);
  });
}

llvm::SmallVector<SavedTensor, 2>
AutogradForward::keptBy(const SavedValue &S) const {
  llvm::SmallVector<SavedTensor, 2> Result;
  for (const Expr *E : torch::keptBy(S.Value, Body)) {
    if (!mayOwnTensors(E->getType()) || cpp::isEmptyValue(E))
      continue;
    SavedTensor K;
    K.E = E;
    const auto *Call = dyn_cast<CallExpr>(E);
    while (const Expr *Of = torch::viewOf(Call)) {
      K.IsView = true;
      E = Of;
      Call = dyn_cast_or_null<CallExpr>(cpp::stripImplicit(E));
    }
    K.Of = cpp::objectOf(E, Body);
    Result.push_back(K);
  }
  return Result;
}

std::optional<AutogradForward::Output>
AutogradForward::asOutput(const SavedTensor &K, const SavedValue &S) const {
  if (!K.Of || !K.Of->Root || mentionsMove(S.Value))
    return std::nullopt;
  const ValueDecl *Var = K.Of->Root;
  // Of a part, only what is written in the same way is surely the same.
  const bool IsPart = K.Of->Element || !K.Of->Fields.empty();
  if (IsPart && (isa<ParmVarDecl>(Var) || isSetAfter(K.E, S.Where)))
    return std::nullopt;
  const CallExpr *Dirty = listWith(Uses.Dirty, Var);
  // Other inputs are returned as a view that is not stored.
  if (isa<ParmVarDecl>(Var) && !Dirty)
    return std::nullopt;
  if (!Uses.NonDifferentiable.empty() || isNotDifferentiable(Var, Body))
    return std::nullopt;
  // A mention that a return statement is made of: `return std::move(y)` has
  // emptied y when the statement itself is reached.
  ReturnsByMention Goals;
  for (const ReturnStmt *Return : Uses.Returns)
    if (returnedBy(Return, K))
      cpp::forEach<DeclRefExpr>(
          Return, [&](const DeclRefExpr *Ref) { Goals[Ref] = Return; });
  if (Goals.empty())
    return std::nullopt;
  const Stmt *At = nullptr;
  if (F->isDependentContext())
    At = followsInText(Var, S, Goals);
  else
    cpp::Body::of(F).paths().holdsUntil(Var, S.Where, [&](const Stmt *Way) {
      return (At = Goals.lookup(Way)) != nullptr;
    });
  if (!At)
    return std::nullopt;
  const Expr *Returned = returnedBy(cast<ReturnStmt>(At), K);
  if (cpp::objectOf(Returned, Body)->Fields.size() == K.Of->Fields.size())
    return Output{At, isa<ParmVarDecl>(Var) ? Dirty : nullptr};
  if (F->isDependentContext() || mayBeInput(Returned, Var))
    return std::nullopt;
  return Output{At, nullptr, Returned};
}

bool AutogradForward::mayBeInput(const Expr *Part, const ValueDecl *Of) const {
  const auto *Var = dyn_cast<VarDecl>(Of);
  if (!Var || isa<ParmVarDecl>(Var))
    return true;
  const cpp::Body &In = cpp::Body::of(F);
  auto IsInput = [&](const DeclRefExpr *Ref) {
    return isa<ParmVarDecl>(Ref->getDecl()) && mayOwnTensors(Ref->getType()) &&
           !torch::opFacts(In.callOn(Ref));
  };
  return cpp::anyOf<DeclRefExpr>(Var->getInit(), IsInput) ||
         cpp::anyOf<CallExpr>(Body, [&](const CallExpr *Call) {
           return cpp::isAssignment(Call) &&
                  cpp::isSameName(Call->getArg(0), Part) &&
                  cpp::anyOf<DeclRefExpr>(Call->getArg(1), IsInput);
         });
}

/// For templates, which have no CFG: a return after the store, with no
/// other return between, and no write after the store.
const Stmt *
AutogradForward::followsInText(const ValueDecl *Var, const SavedValue &S,
                               const ReturnsByMention &Goals) const {
  const SourceManager &SM = F->getASTContext().getSourceManager();
  auto IsAfter = [&](SourceLocation Loc) {
    return SM.isBeforeInTranslationUnit(
        SM.getFileLoc(S.Where->Stmt::getEndLoc()), SM.getFileLoc(Loc));
  };
  for (const cpp::Write &W : cpp::writesTo(Var, Body))
    if (W.Overwritten && IsAfter(W.Where->getBeginLoc()))
      return nullptr;
  for (const ReturnStmt *Return : Uses.Returns)
    if (IsAfter(Return->getBeginLoc()))
      return llvm::any_of(Goals,
                          [&](const auto &G) { return G.second == Return; })
                 ? Return
                 : nullptr;
  return nullptr;
}

const Expr *AutogradForward::returnedBy(const ReturnStmt *Return,
                                        const SavedTensor &K) const {
  const Expr *Value = Return->getRetValue();
  if (!Value)
    return nullptr;
  const auto &Kept = K.Of->Fields;
  for (const Expr *E : torch::keptBy(Value, Body)) {
    auto Returned = cpp::objectOf(E, Body);
    if (Returned && Returned->Root == K.Of->Root &&
        Returned->Fields.size() >= Kept.size() &&
        std::equal(Kept.begin(), Kept.end(), Returned->Fields.begin()) &&
        (!(Returned->Element && K.Of->Element) || cpp::isSameName(E, K.E)))
      return E;
  }
  return nullptr;
}

bool AutogradForward::isSetAfter(const Expr *Part, const CallExpr *At) const {
  const SourceManager &SM = F->getASTContext().getSourceManager();
  return cpp::anyOf<CallExpr>(Body, [&](const CallExpr *Call) {
    return cpp::isAssignment(Call) && cpp::comesBefore(At, Call, SM) &&
           cpp::isSameName(Call->getArg(0), Part);
  });
}

const CallExpr *
AutogradForward::listWith(llvm::ArrayRef<const CallExpr *> Calls,
                          const ValueDecl *Var) const {
  for (const CallExpr *Call : Calls)
    for (const Expr *E : torch::keptBy(Call->getArg(0), Body)) {
      auto Named = cpp::objectOf(E, Body);
      if (Named && Named->Root == Var && Named->Fields.empty())
        return Call;
    }
  return nullptr;
}

//===----------------------------------------------------------------------===//
// From saved_data to a saved tensor
//===----------------------------------------------------------------------===//

namespace {

class SaveForBackward {
public:
  SaveForBackward(const AutogradForward &From, const FunctionDecl *Backward,
                  ASTContext &Context)
      : From(From), Backward(Backward), Context(Context),
        SM(Context.getSourceManager()) {}

  /// Why there are none; null where they are \p All.
  const Reason *edits(llvm::ArrayRef<SavedValue> Tensors, fixits::Edits &All) {
    if (!Backward)
      return &AutogradContextCycle.NoBackward;
    if (From.function()->isDependentContext() || Backward->isDependentContext())
      return &AutogradContextCycle.Template;
    const ContextUses InBackward(Backward);
    if (From.uses().ContextMentions != 0 || InBackward.ContextMentions != 0)
      return &AutogradContextCycle.Escapes;
    if (From.uses().Saves.size() > 1)
      return &AutogradContextCycle.OtherSaves;
    for (const SavedValue &S : Tensors)
      if (!addElement(S))
        return &AutogradContextCycle.OtherStores;
    if (!readsAreSimple(InBackward))
      return &AutogradContextCycle.OtherReads;
    if (!othersAreSimple())
      return &AutogradContextCycle.OtherStores;
    if (!saveElements(All))
      return &AutogradContextCycle.OtherSaves;
    return replaceReads(All) ? nullptr : &AutogradContextCycle.OtherReads;
  }

private:
  struct Element {
    std::string Key;
    const Expr *Statement;
    const VarDecl *Var;
    std::string Context; ///< What stands before saved_data: `ctx->`.
  };

  static bool isStatementOf(const CompoundStmt *Block, const Expr *E) {
    return llvm::any_of(Block->body(), [&](const Stmt *S) {
      const auto *Whole = dyn_cast<Expr>(S);
      return Whole && Whole->IgnoreImplicit() == E;
    });
  }

  const CompoundStmt *block(const FunctionDecl *F) const {
    return dyn_cast<CompoundStmt>(F->getBody());
  }

  bool addElement(const SavedValue &S) {
    const auto *Op = dyn_cast<CXXOperatorCallExpr>(S.Where);
    const CompoundStmt *Block = block(From.function());
    std::optional<std::string> Key = literalOf(S.Key);
    const VarDecl *Var = cpp::variableOf(S.Value);
    if (!Op || S.InHelper || !Key || !Block || !Var || mentionsMove(S.Value) ||
        !torch::isTensor(Var->getType()) || !isStatementOf(Block, Op) ||
        !Var->isLocalVarDeclOrParm() || isOurs(*Key))
      return false;
    const auto *Slot = dyn_cast<CallExpr>(cpp::peel(Op->getArg(0)));
    const auto *Data =
        Slot ? dyn_cast<MemberExpr>(cpp::peel(cpp::calledOn(Slot))) : nullptr;
    if (!Data || !isa<DeclRefExpr>(Data->getBase()->IgnoreParenImpCasts()))
      return false;
    StringRef Base =
        fixits::sourceText(Data->getBase()->getSourceRange(), Context);
    if (Base.empty())
      return false;
    // The value must be final where it is saved.
    const Expr *At = From.uses().Saves.empty() ? Op : From.uses().Saves.front();
    for (const cpp::Write &W : cpp::writesTo(Var, From.function()->getBody()))
      if (W.InLambda || !before(W.Where, At) || !before(W.Where, Op))
        return false;
    if (!From.uses().Saves.empty() && !isa<ParmVarDecl>(Var) &&
        !SM.isBeforeInTranslationUnit(Var->getLocation(), At->getBeginLoc()))
      return false;
    Elements.push_back(
        {*Key, Op, Var, (Base + (Data->isArrow() ? "->" : ".")).str()});
    return true;
  }

  bool before(const Expr *A, const Expr *B) const {
    return SM.isBeforeInTranslationUnit(SM.getFileLoc(A->getEndLoc()),
                                        SM.getFileLoc(B->getBeginLoc()));
  }

  /// The element with \p Key, or none.
  const Element *elementOf(StringRef Key) const {
    return llvm::find_if(Elements,
                         [&](const Element &E) { return E.Key == Key; });
  }
  bool isOurs(StringRef Key) const { return elementOf(Key) != Elements.end(); }

  /// The call or expression that \p E is an operand of, and the element of
  /// saved_data there.
  static const Expr *slotOf(const Expr *Mention, const cpp::Body &In) {
    const Stmt *Up = In.outerOf(Mention);
    if (isa_and_nonnull<MemberExpr>(Up))
      Up = In.parentOf(Up);
    const auto *Slot = dyn_cast_or_null<CallExpr>(Up);
    return Slot && torch::savedDataKey(Slot) ? Slot : nullptr;
  }

  /// Other elements of saved_data are named by other keys.
  bool othersAreSimple() const {
    const cpp::Body &Body = cpp::Body::of(From.function());
    unsigned Ours = 0;
    for (const Expr *Mention : From.uses().SavedDataMentions) {
      const Expr *Slot = slotOf(Mention, Body);
      auto Key = Slot ? literalOf(torch::savedDataKey(Slot)) : std::nullopt;
      if (!Key)
        return false;
      Ours += isOurs(*Key);
    }
    return Ours == Elements.size();
  }

  struct Read {
    const Expr *Call; ///< ctx->saved_data["k"].toTensor()
    unsigned Element;
    std::string Context;
  };

  /// Each of our elements is read as `ctx->saved_data["k"].toTensor()`, whose
  /// value nobody refers to after the statement.
  bool readsAreSimple(const ContextUses &InBackward) {
    const CompoundStmt *Block = block(Backward);
    if (!Block)
      return false;
    const cpp::Body &Body = cpp::Body::of(Backward);
    for (const Expr *Mention : InBackward.SavedDataMentions) {
      const Expr *Slot = slotOf(Mention, Body);
      auto Key = Slot ? literalOf(torch::savedDataKey(Slot)) : std::nullopt;
      const auto *Data = dyn_cast<MemberExpr>(Mention);
      if (!Key || !Data)
        return false;
      if (!isOurs(*Key))
        continue;
      const auto *Method = dyn_cast_or_null<MemberExpr>(Body.outerOf(Slot));
      const auto *Call =
          Method ? dyn_cast_or_null<CXXMemberCallExpr>(Body.parentOf(Method))
                 : nullptr;
      StringRef Base =
          fixits::sourceText(Data->getBase()->getSourceRange(), Context);
      if (!torch::asToTensor(Call) || Base.empty() || !usesValue(Call, Body))
        return false;
      const auto Index = elementOf(*Key) - Elements.begin();
      Reads.push_back({Call, static_cast<unsigned>(Index),
                       (Base + (Data->isArrow() ? "->" : ".")).str()});
    }
    // Lambdas are not looked into: none may mention it.
    return !cpp::anyOf<LambdaExpr>(Block,
                                   [](const LambdaExpr *) { return true; });
  }

  /// Is the tensor copied, or used up by the statement?
  static bool usesValue(const Expr *Call, const cpp::Body &In) {
    const Stmt *Up = In.outerOf(Call);
    if (const auto *Construct = dyn_cast_or_null<CXXConstructExpr>(Up))
      return torch::isTensor(Construct->getType()) &&
             Construct->getConstructor()->isCopyOrMoveConstructor();
    if (const auto *Op = dyn_cast_or_null<CXXOperatorCallExpr>(Up))
      return torch::isTensor(Op->getType()) &&
             !Op->getType()->isReferenceType() && !Op->isAssignmentOp() &&
             torch::isTorchDecl(Op->getDirectCallee());
    // An operand of a function of LibTorch that makes a tensor.
    const auto *Outer = dyn_cast_or_null<CallExpr>(Up);
    const torch::OpFacts *Facts =
        Outer ? torch::opFacts(Outer->getDirectCallee()) : nullptr;
    return Facts && !Facts->InPlace && torch::isTensor(Outer->getType()) &&
           Outer->isPRValue();
  }

  bool saveElements(fixits::Edits &All) {
    std::string Names;
    for (const Element &E : Elements)
      Names += (Names.empty() ? "" : ", ") + E.Var->getNameAsString();
    const bool HasSave = !From.uses().Saves.empty();
    if (HasSave) {
      const CallExpr *Save = From.uses().Saves.front();
      const InitListExpr *List = listIn(Save->getArg(0));
      if (!List || !isStatementOf(block(From.function()), Save))
        return false;
      Known = List->getNumInits();
      if (!append(All, fixits::appendToList(List, Names, Context)))
        return false;
    }
    return llvm::all_of(Elements, [&](const Element &E) {
      const bool Saves = !HasSave && &E == &Elements.back();
      return append(
          All,
          Saves ? fixits::replaceExpression(
                      E.Statement,
                      E.Context + "save_for_backward({" + Names + "})", Context)
                : fixits::removeStatement(E.Statement, Context));
    });
  }

  static bool append(fixits::Edits &All, const fixits::Edits &Some) {
    All.append(Some.begin(), Some.end());
    return !Some.empty();
  }

  /// The braces of a list of tensors that is written in place.
  static const InitListExpr *listIn(const Expr *E) {
    E = cpp::stripImplicit(E);
    if (const auto *Construct = dyn_cast_or_null<CXXConstructExpr>(E);
        Construct && Construct->isStdInitListInitialization())
      E = cpp::peel(Construct->getArg(0));
    if (const auto *Std = dyn_cast_or_null<CXXStdInitializerListExpr>(E))
      E = cpp::peel(Std->getSubExpr());
    const auto *List = dyn_cast_or_null<InitListExpr>(E);
    if (List && List->isSemanticForm() && List->getSyntacticForm())
      List = List->getSyntacticForm();
    return List && List->getNumInits() > 0 ? List : nullptr;
  }

  /// A variable of backward that holds all that was saved, if it is declared
  /// before \p Before and kept.
  std::string savedVariable(const Expr *Before) const {
    for (const Stmt *S : block(Backward)->body()) {
      const VarDecl *Var = cpp::declaredBy(S);
      const auto *Call =
          Var && Var->getInit()
              ? dyn_cast_or_null<CallExpr>(cpp::stripImplicit(Var->getInit()))
              : nullptr;
      if (Call && torch::readsSavedVariables(Call) &&
          SM.isBeforeInTranslationUnit(Var->getLocation(),
                                       Before->getBeginLoc()) &&
          cpp::writesTo(Var, Backward->getBody()).empty())
        return Var->getNameAsString();
    }
    return {};
  }

  bool replaceReads(fixits::Edits &All) {
    return llvm::all_of(Reads, [&](const Read &R) {
      std::string Saved = savedVariable(R.Call);
      if (Saved.empty())
        Saved = R.Context + "get_saved_variables()";
      return append(All,
                    fixits::replaceExpression(
                        R.Call,
                        Saved + "[" + std::to_string(Known + R.Element) + "]",
                        Context));
    });
  }

  const AutogradForward &From;
  const FunctionDecl *Backward;
  ASTContext &Context;
  const SourceManager &SM;
  llvm::SmallVector<Element, 4> Elements;
  llvm::SmallVector<Read, 4> Reads;
  unsigned Known = 0; ///< Tensors that were saved in the list already.
};

} // namespace

const Reason *saveForBackward(const AutogradForward &Forward,
                              llvm::ArrayRef<SavedValue> Tensors,
                              const FunctionDecl *Backward, ASTContext &Context,
                              fixits::Edits &All) {
  return SaveForBackward(Forward, Backward, Context).edits(Tensors, All);
}

} // namespace libtorch_tidy
