//===- AutogradContextCycleCheck.cpp --------------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/LibtorchCheck.h"
#include "checks/code/Body.h"
#include "checks/code/Kept.h"
#include "checks/code/Object.h"
#include "checks/code/Paths.h"
#include "checks/code/Std.h"
#include "checks/code/Walk.h"
#include "checks/code/Writes.h"
#include "checks/torch/Autograd.h"
#include "checks/torch/Calls.h"
#include "checks/torch/CustomFunctions.h"
#include "checks/torch/OpFacts.h"
#include "checks/torch/Owners.h"
#include "checks/torch/Sharing.h"
#include "checks/torch/TorchTypes.h"
#include "fixits/Statements.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/ASTMatchers/ASTMatchFinder.h"
#include "clang/Basic/Builtins.h"

using namespace clang;
using namespace clang::ast_matchers;

namespace libtorch_tidy {

using code::Object;
using torch::ContextList;

namespace {

/// docs/checks/libtorch-autograd-context-cycle.md says what it finds and why.
class AutogradContextCycleCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;
  void registerMatchers(MatchFinder *Finder) override;
  void checkMatch(const Match &Result) override;

private:
  void checkForward(const FunctionDecl *Forward, const FunctionDecl *Backward,
                    ASTContext &Context);
};

/// One value that goes into saved_data, in the forward function itself or in
/// a helper that it hands the value to.
struct Store {
  const CallExpr *Where; ///< In forward.
  const Expr *Value;     ///< In forward.
  const Expr *Key = nullptr;
  const CallExpr *InHelper = nullptr;
};

/// What a body does with the context.
class ContextUses {
public:
  explicit ContextUses(const FunctionDecl *F) : F(F) {
    code::forEach<Stmt>(
        F->getBody(), [&](const Stmt *S) { lookAt(S); },
        code::Lambdas::Skipped);
  }
  llvm::SmallVector<Store, 4> Stores;
  llvm::SmallVector<const ReturnStmt *, 4> Returns;
  llvm::SmallVector<const CallExpr *, 2> Saves, Dirty, NonDifferentiable;
  llvm::SmallVector<const Expr *, 4> SavedDataMentions;
  unsigned ContextMentions = 0; ///< Other than ctx->member.

private:
  void lookAt(const Stmt *S) {
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
  void storesOfHelper(const CallExpr *Call) {
    const FunctionDecl *Helper = Call->getDirectCallee();
    Helper = Helper ? Helper->getDefinition() : nullptr;
    if (!Helper || Helper == F || !Helper->hasBody() ||
        torch::isTorchDecl(Helper) ||
        llvm::none_of(Call->arguments(), [](const Expr *Arg) {
          return torch::isAutogradContext(Arg->getType());
        }))
      return;
    const Stmt *Body = Helper->getBody();
    code::forEach<CallExpr>(Body, [&](const CallExpr *Inner) {
      auto Stored = torch::asSavedDataStore(Inner);
      if (!Stored)
        return;
      for (const Expr *Kept : code::keptBy(Stored->Value, Body)) {
        auto Named = code::objectOf(Kept, Body);
        const auto *Param =
            Named ? dyn_cast_or_null<ParmVarDecl>(Named->Root) : nullptr;
        if (!Param || !Named->Fields.empty() ||
            Param->getDeclContext() != Helper)
          continue;
        unsigned I = Param->getFunctionScopeIndex();
        if (I < Call->getNumArgs() && !isa<CXXOperatorCallExpr>(Call))
          Stores.push_back({Call, Call->getArg(I), nullptr, Inner});
      }
    });
  }

  const FunctionDecl *F;
};

/// Does a value of \p T own tensors, as far as its type shows?
bool ownsTensors(QualType T) {
  if (torch::isIntrusivePtr(T))
    return torch::mayHoldTensor(torch::pointeeOf(T));
  return !torch::isIValue(T) && torch::mayHoldTensor(T);
}

/// A tensor that goes into saved_data.
struct Kept {
  const Expr *E = nullptr;
  std::optional<Object> Of; ///< Set when it is, or is a view of, one.
  bool IsView = false;
};

/// Can a tensor made by \p E not take part in backward: an index, a mask?
bool isNotDifferentiable(const Expr *E) {
  const auto *Call = dyn_cast_or_null<CallExpr>(torch::stripImplicit(E));
  if (!Call)
    return false;
  if (torch::isIntegralCast(Call))
    return true;
  const torch::OpFacts *Facts = torch::opFacts(Call->getDirectCallee());
  return Facts && !Facts->Factory && Facts->neverDifferentiable();
}

bool isNotDifferentiable(const ValueDecl *Var, const Stmt *Body) {
  const auto *V = dyn_cast_or_null<VarDecl>(Var);
  if (V && !isa<ParmVarDecl>(V) && V->getInit() &&
      isNotDifferentiable(V->getInit()))
    return true;
  return Var && llvm::any_of(code::writesTo(Var, Body), [](const auto &W) {
           return W.Value && isNotDifferentiable(W.Value);
         });
}

bool mentionsMove(const Expr *E) {
  return code::anyOf<CallExpr>(E, [](const CallExpr *Call) {
    return Call->getBuiltinCallee() == Builtin::BImove;
  });
}

/// One forward function.
class Forward {
public:
  explicit Forward(const FunctionDecl *F) : F(F), Body(F->getBody()), Uses(F) {
    if (!F->isDependentContext())
      Ways = &code::Body::of(F).paths();
  }

  const ContextUses &uses() const { return Uses; }
  const FunctionDecl *function() const { return F; }

  /// The tensors that \p S keeps; the one that is an output comes first.
  llvm::SmallVector<Kept, 2> keptBy(const Store &S) const {
    llvm::SmallVector<Kept, 2> Result;
    for (const Expr *E : code::keptBy(S.Value, Body)) {
      if (!ownsTensors(E->getType()) || code::isEmptyValue(E))
        continue;
      Kept K;
      K.E = E;
      const auto *Call = dyn_cast<CallExpr>(E);
      while (const Expr *Of = torch::viewOf(Call)) {
        K.IsView = true;
        E = Of;
        Call = dyn_cast_or_null<CallExpr>(torch::stripImplicit(E));
      }
      K.Of = code::objectOf(E, Body);
      Result.push_back(K);
    }
    return Result;
  }

  struct Output {
    const Stmt *Return;
    const CallExpr *Dirty; ///< Where an input is marked to be its own output.
  };
  /// Why \p K, stored by \p S, is certainly a differentiable output.
  std::optional<Output> asOutput(const Kept &K, const Store &S) const {
    if (!K.Of || !K.Of->Root || !K.Of->Fields.empty() || mentionsMove(S.Value))
      return std::nullopt;
    const ValueDecl *Var = K.Of->Root;
    const CallExpr *Dirty = listWith(Uses.Dirty, Var);
    // Other inputs are returned as a view that is not stored.
    if (isa<ParmVarDecl>(Var) && !Dirty)
      return std::nullopt;
    if (!Uses.NonDifferentiable.empty() || isNotDifferentiable(Var, Body))
      return std::nullopt;
    // A mention that a return statement is made of: `return std::move(y)` has
    // emptied y when the statement itself is reached.
    llvm::DenseMap<const Stmt *, const ReturnStmt *> Goals;
    for (const ReturnStmt *Return : Uses.Returns)
      if (returns(Return, *K.Of))
        code::forEach<DeclRefExpr>(
            Return, [&](const DeclRefExpr *Ref) { Goals[Ref] = Return; });
    if (Goals.empty())
      return std::nullopt;
    const Stmt *At = nullptr;
    if (F->isDependentContext())
      At = followsInText(Var, S, Goals);
    else
      Ways->holdsUntil(Var, S.Where, [&](const Stmt *Way) {
        return (At = Goals.lookup(Way)) != nullptr;
      });
    if (!At)
      return std::nullopt;
    return Output{At, isa<ParmVarDecl>(Var) ? Dirty : nullptr};
  }

private:
  /// For templates, which have no CFG: a return after the store, with no
  /// other return between, and no write after the store.
  const Stmt *followsInText(
      const ValueDecl *Var, const Store &S,
      const llvm::DenseMap<const Stmt *, const ReturnStmt *> &Goals) const {
    const SourceManager &SM = F->getASTContext().getSourceManager();
    auto IsBehind = [&](SourceLocation Loc) {
      return SM.isBeforeInTranslationUnit(
          SM.getFileLoc(S.Where->Stmt::getEndLoc()), SM.getFileLoc(Loc));
    };
    for (const code::Write &W : code::writesTo(Var, Body))
      if (W.Overwritten && IsBehind(W.Where->getBeginLoc()))
        return nullptr;
    for (const ReturnStmt *Return : Uses.Returns)
      if (IsBehind(Return->getBeginLoc()))
        return llvm::any_of(Goals,
                            [&](const auto &G) { return G.second == Return; })
                   ? Return
                   : nullptr;
    return nullptr;
  }

  bool returns(const ReturnStmt *Return, const Object &Output) const {
    if (!Return->getRetValue())
      return false;
    for (const Expr *E : code::keptBy(Return->getRetValue(), Body)) {
      auto Returned = code::objectOf(E, Body);
      if (Returned && Returned->Root == Output.Root &&
          Returned->Fields == Output.Fields &&
          !(Returned->Element && Output.Element))
        return true;
    }
    return false;
  }

  const CallExpr *listWith(llvm::ArrayRef<const CallExpr *> Calls,
                           const ValueDecl *Var) const {
    for (const CallExpr *Call : Calls)
      for (const Expr *E : code::keptBy(Call->getArg(0), Body)) {
        auto Named = code::objectOf(E, Body);
        if (Named && Named->Root == Var && Named->Fields.empty())
          return Call;
      }
    return nullptr;
  }

  const FunctionDecl *F;
  const Stmt *Body;
  ContextUses Uses;
  const code::Paths *Ways = nullptr; ///< Not in templates.
};

/// The text of \p Key, a string literal; nullopt for others.
std::optional<std::string> literal(const Expr *Key) {
  const auto *Text = dyn_cast_or_null<StringLiteral>(torch::stripImplicit(Key));
  if (!Text || !Text->isOrdinary())
    return std::nullopt;
  return Text->getString().str();
}

/// The edit that turns saved_data into save_for_backward, for all tensors of
/// a function at once.
class SaveForBackward {
public:
  SaveForBackward(const Forward &From, const FunctionDecl *Backward,
                  ASTContext &Context)
      : From(From), Backward(Backward), Context(Context),
        SM(Context.getSourceManager()) {}

  fixits::Edits edits(llvm::ArrayRef<Store> Tensors) {
    const FunctionDecl *F = From.function();
    if (!Backward || F->isDependentContext() ||
        Backward->isDependentContext() || From.uses().ContextMentions != 0 ||
        From.uses().Saves.size() > 1)
      return {};
    for (const Store &S : Tensors)
      if (!addElement(S))
        return {};
    if (!readsAreSimple() || !othersAreSimple())
      return {};
    fixits::Edits All;
    if (!saveElements(All) || !replaceReads(All))
      return {};
    return All;
  }

private:
  struct Element {
    std::string Key;
    const Expr *Statement;
    const VarDecl *Var;
    std::string Context; ///< What stands before saved_data: `ctx->`.
  };

  static const Expr *statementOf(const Expr *E, const CompoundStmt *Block) {
    for (const Stmt *S : Block->body()) {
      const auto *Whole = dyn_cast<Expr>(S);
      if (Whole && Whole->IgnoreImplicit() == E)
        return E;
    }
    return nullptr;
  }

  const CompoundStmt *block(const FunctionDecl *F) const {
    return dyn_cast<CompoundStmt>(F->getBody());
  }

  bool addElement(const Store &S) {
    const auto *Op = dyn_cast<CXXOperatorCallExpr>(S.Where);
    const CompoundStmt *Block = block(From.function());
    std::optional<std::string> Key = literal(S.Key);
    const VarDecl *Var = code::variableOf(S.Value);
    if (!Op || S.InHelper || !Key || !Block || !Var || mentionsMove(S.Value) ||
        !torch::isTensor(Var->getType()) || !statementOf(Op, Block) ||
        !Var->isLocalVarDeclOrParm())
      return false;
    if (llvm::any_of(Elements, [&](const Element &E) { return E.Key == *Key; }))
      return false;
    const auto *Slot = dyn_cast<CallExpr>(torch::peel(Op->getArg(0)));
    const auto *Data = Slot ? dyn_cast<MemberExpr>(torch::peel(
                                  isa<CXXOperatorCallExpr>(Slot)
                                      ? Slot->getArg(0)
                                      : cast<CXXMemberCallExpr>(Slot)
                                            ->getImplicitObjectArgument()))
                            : nullptr;
    if (!Data || !isa<DeclRefExpr>(Data->getBase()->IgnoreParenImpCasts()))
      return false;
    StringRef Base =
        fixits::sourceText(Data->getBase()->getSourceRange(), Context);
    if (Base.empty())
      return false;
    // The value must be final where it is saved.
    const Expr *At = From.uses().Saves.empty() ? Op : From.uses().Saves.front();
    for (const code::Write &W : code::writesTo(Var, From.function()->getBody()))
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

  bool isOurs(StringRef Key) const {
    return llvm::any_of(Elements,
                        [&](const Element &E) { return E.Key == Key; });
  }

  /// The call or expression that \p E is an operand of, and the element of
  /// saved_data there.
  static const Expr *slotOf(const Expr *Mention, const code::Body &In) {
    const Stmt *Up = In.outerOf(Mention);
    if (isa_and_nonnull<MemberExpr>(Up))
      Up = In.parentOf(Up);
    const auto *Slot = dyn_cast_or_null<CallExpr>(Up);
    return Slot && torch::savedDataKey(Slot) ? Slot : nullptr;
  }

  /// Other elements of saved_data are named by other keys.
  bool othersAreSimple() const {
    const code::Body &Body = code::Body::of(From.function());
    unsigned Ours = 0;
    for (const Expr *Mention : From.uses().SavedDataMentions) {
      const Expr *Slot = slotOf(Mention, Body);
      auto Key = Slot ? literal(torch::savedDataKey(Slot)) : std::nullopt;
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
  bool readsAreSimple() {
    const CompoundStmt *Block = block(Backward);
    if (!Block)
      return false;
    ContextUses InBackward(Backward);
    if (InBackward.ContextMentions != 0)
      return false;
    const code::Body &Body = code::Body::of(Backward);
    for (const Expr *Mention : InBackward.SavedDataMentions) {
      const Expr *Slot = slotOf(Mention, Body);
      auto Key = Slot ? literal(torch::savedDataKey(Slot)) : std::nullopt;
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
      unsigned Index = 0;
      while (Elements[Index].Key != *Key)
        ++Index;
      Reads.push_back(
          {Call, Index, (Base + (Data->isArrow() ? "->" : ".")).str()});
    }
    // Lambdas are not looked into: none may mention it.
    return !code::anyOf<LambdaExpr>(Backward->getBody(),
                                    [](const LambdaExpr *) { return true; });
  }

  /// Is the tensor copied, or used up by the statement?
  static bool usesValue(const Expr *Call, const code::Body &In) {
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
    auto Append = [&](const fixits::Edits &Some) {
      All.append(Some.begin(), Some.end());
      return !Some.empty();
    };
    const bool HasSave = !From.uses().Saves.empty();
    if (HasSave) {
      const CallExpr *Save = From.uses().Saves.front();
      const CompoundStmt *Block = block(From.function());
      const InitListExpr *List = listIn(Save->getArg(0));
      if (!List || !statementOf(Save, Block))
        return false;
      Known = List->getNumInits();
      if (!Append(fixits::appendToList(List, Names, Context)))
        return false;
    }
    for (const Element &E : Elements) {
      bool IsLast = &E == &Elements.back();
      if (!HasSave && IsLast) {
        if (!Append(fixits::replaceExpression(
                E.Statement, E.Context + "save_for_backward({" + Names + "})",
                Context)))
          return false;
      } else if (!Append(fixits::removeStatement(E.Statement, Context))) {
        return false;
      }
    }
    return true;
  }

  /// The braces of a list of tensors that is written in place.
  static const InitListExpr *listIn(const Expr *E) {
    E = torch::stripImplicit(E);
    if (const auto *Construct = dyn_cast_or_null<CXXConstructExpr>(E);
        Construct && Construct->isStdInitListInitialization())
      E = torch::peel(Construct->getArg(0));
    if (const auto *Std = dyn_cast_or_null<CXXStdInitializerListExpr>(E))
      E = torch::peel(Std->getSubExpr());
    const auto *List = dyn_cast_or_null<InitListExpr>(E);
    if (List && List->isSemanticForm() && List->getSyntacticForm())
      List = List->getSyntacticForm();
    return List && List->getNumInits() > 0 ? List : nullptr;
  }

  /// A variable of backward that holds all that was saved, if it is declared
  /// before \p Before and kept.
  std::string savedVariable(const Expr *Before) const {
    for (const Stmt *S : block(Backward)->body()) {
      const VarDecl *Var = code::declaredBy(S);
      const auto *Call =
          Var && Var->getInit()
              ? dyn_cast_or_null<CallExpr>(torch::stripImplicit(Var->getInit()))
              : nullptr;
      if (Call && torch::readsSavedVariables(Call) &&
          SM.isBeforeInTranslationUnit(Var->getLocation(),
                                       Before->getBeginLoc()) &&
          code::writesTo(Var, Backward->getBody()).empty())
        return Var->getNameAsString();
    }
    return {};
  }

  bool replaceReads(fixits::Edits &All) {
    for (const Read &R : Reads) {
      std::string Saved = savedVariable(R.Call);
      if (Saved.empty())
        Saved = R.Context + "get_saved_variables()";
      fixits::Edits One = fixits::replaceExpression(
          R.Call, Saved + "[" + std::to_string(Known + R.Element) + "]",
          Context);
      if (One.empty())
        return false;
      All.append(One.begin(), One.end());
    }
    return true;
  }

  const Forward &From;
  const FunctionDecl *Backward;
  ASTContext &Context;
  const SourceManager &SM;
  llvm::SmallVector<Element, 4> Elements;
  llvm::SmallVector<Read, 4> Reads;
  unsigned Known = 0; ///< Tensors that were saved in the list already.
};

/// The definitions of static method \p Name as written: of a template, the
/// pattern. Its instantiations are not in every build of the AST.
llvm::SmallVector<const FunctionDecl *, 2> definitionsOf(const CXXRecordDecl *R,
                                                         StringRef Name) {
  llvm::SmallVector<const FunctionDecl *, 2> Found;
  auto Add = [&](const FunctionDecl *F) {
    const FunctionDecl *Definition = F->getDefinition();
    if (F->getIdentifier() && F->getName() == Name && Definition &&
        Definition->hasBody())
      Found.push_back(Definition);
  };
  for (const Decl *D : R->decls()) {
    if (const auto *Method = dyn_cast<CXXMethodDecl>(D))
      Add(Method);
    else if (const auto *Template = dyn_cast<FunctionTemplateDecl>(D))
      Add(Template->getTemplatedDecl());
  }
  return Found;
}

} // namespace

/// Does \p Backward take what \p Key names out of saved_data? Then it is gone
/// when backward() has run, as what save_for_backward() was given.
static bool isReleasedBy(const FunctionDecl *Backward, const Expr *Key) {
  const std::optional<std::string> Text = literal(Key);
  return code::anyOf<CXXMemberCallExpr>(
      Backward->getBody(), [&](const CXXMemberCallExpr *Call) {
        if (!torch::isSavedData(Call->getImplicitObjectArgument()))
          return false;
        const StringRef Name = torch::calleeName(Call);
        if (!code::isRemoval(Name))
          return code::isEmptying(Name);
        return Call->getNumArgs() == 1 && Text &&
               Text == literal(Call->getArg(0));
      });
}

void AutogradContextCycleCheck::registerMatchers(MatchFinder *Finder) {
  Finder->addMatcher(cxxRecordDecl(isDefinition(),
                                   unless(isExpansionInSystemHeader()),
                                   unless(isTemplateInstantiation()),
                                   isDerivedFrom(torch::CustomFunction.str()))
                         .bind("class"),
                     this);
}

void AutogradContextCycleCheck::checkMatch(const Match &Result) {
  const auto *R = Result.Nodes.getNodeAs<CXXRecordDecl>("class");
  auto Backward = definitionsOf(R, torch::BackwardMethod);
  for (const FunctionDecl *Forward : definitionsOf(R, torch::ForwardMethod))
    if (torch::isUserCode(Forward->getLocation(), *Result.SourceManager))
      checkForward(Forward, Backward.size() == 1 ? Backward.front() : nullptr,
                   *Result.Context);
}

void AutogradContextCycleCheck::checkForward(const FunctionDecl *F,
                                             const FunctionDecl *Backward,
                                             ASTContext &Context) {
  Forward In(F);
  llvm::SmallVector<Store, 4> Tensors;
  llvm::SmallVector<Finding, 4> Findings;
  for (const Store &S : In.uses().Stores) {
    auto Values = In.keptBy(S);
    if (Values.empty())
      continue;
    Tensors.push_back(S);
    Finding Found;
    Found.Loc = S.Where->Stmt::getBeginLoc();
    Found.Highlight = S.Where->getSourceRange();
    Found.Strength = Level::Likely;
    for (const Kept &K : Values) {
      auto Output = In.asOutput(K, S);
      if (!Output)
        continue;
      std::string Name = "'" + K.Of->Root->getNameAsString() + "'";
      Found.Strength = Level::Certain;
      Found.Message =
          std::string("saved_data holds ") + (K.IsView ? "a view of " : "") +
          "the output " + Name +
          ", whose graph node owns saved_data: this cycle is never freed";
      if (Output->Dirty)
        Found.Steps.push_back({Output->Dirty->getExprLoc(),
                               "input " + Name +
                                   " is marked dirty here, so it is its own "
                                   "output"});
      Found.Steps.push_back(
          {Output->Return->getBeginLoc(),
           Name + " is returned here, so it will own the graph node and the "
                  "node owns the context"});
      break;
    }
    if (Found.Message.empty()) {
      if (Backward && Backward->hasBody() && isReleasedBy(Backward, S.Key)) {
        Tensors.pop_back();
        continue;
      }
      const Kept &First = Values.front();
      const auto *Ref =
          dyn_cast_or_null<DeclRefExpr>(torch::stripImplicit(First.E));
      std::string Name = Ref ? Ref->getDecl()->getNameAsString() : "";
      const bool IsOne = torch::isTensor(First.E->getType());
      std::string What = Name.empty() ? (IsOne ? "a tensor" : "tensors")
                         : IsOne      ? "tensor '" + Name + "'"
                                      : "the tensors of '" + Name + "'";
      Found.Message =
          "saved_data holds " + What + ", which backward() does not release: " +
          (IsOne ? "it lives" : "they live") + " as long as the graph node";
    }
    if (S.InHelper)
      Found.Steps.insert(
          Found.Steps.begin(),
          {S.InHelper->getExprLoc(), "it is put into saved_data here"});
    Findings.push_back(std::move(Found));
  }
  if (Findings.empty())
    return;
  // One edit for all: where one tensor goes depends on the others.
  Findings.front().Fix = SaveForBackward(In, Backward, Context).edits(Tensors);
  for (const Finding &Found : Findings)
    report(Found);
}

LIBTORCH_CHECK(AutogradContextCycleCheck);

} // namespace libtorch_tidy
