//===- UnitModel.cpp - The flow model of a translation unit ---------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/flow/UnitModel.h"
#include "checks/flow/Interpreter.h"
#include "checks/torch/TorchTypes.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/RecursiveASTVisitor.h"

using namespace clang;

namespace libtorch_tidy::flow {

namespace {

/// Finds the functions of user code. Library code is cut off at its outermost
/// declaration, so that a unit with all of LibTorch in it costs little.
class Collector : public RecursiveASTVisitor<Collector> {
public:
  Collector(const SourceManager &SM,
            std::vector<const FunctionDecl *> &Functions,
            std::vector<const VarDecl *> &Globals)
      : SM(SM), Functions(Functions), Globals(Globals) {}

  bool shouldVisitTemplateInstantiations() const { return true; }

  bool TraverseDecl(Decl *D) {
    // A namespace may be re-opened by the user, so it is judged by each of its
    // declarations; anything else at file level by where it stands.
    if (D && !isa<TranslationUnitDecl, NamespaceDecl, LinkageSpecDecl>(D) &&
        D->getDeclContext() && D->getDeclContext()->isFileContext() &&
        !torch::isUserCode(D->getLocation(), SM))
      return true;
    if (auto *NS = dyn_cast_or_null<NamespaceDecl>(D);
        NS && !torch::isUserCode(NS->getLocation(), SM))
      return true;
    return RecursiveASTVisitor::TraverseDecl(D);
  }

  bool VisitFunctionDecl(FunctionDecl *F) {
    add(F);
    return true;
  }

  bool VisitVarDecl(VarDecl *Var) {
    if (Var->hasInit() && !Var->isLocalVarDeclOrParm() &&
        Var->hasGlobalStorage() && torch::isUserCode(Var->getLocation(), SM))
      Globals.push_back(Var);
    return true;
  }

  bool VisitLambdaExpr(LambdaExpr *E) {
    if (FunctionTemplateDecl *Generic =
            E->getLambdaClass()->getDependentLambdaCallOperator()) {
      for (FunctionDecl *Call : Generic->specializations())
        add(Call);
    } else if (CXXMethodDecl *Call = E->getCallOperator()) {
      add(Call);
    }
    return true;
  }

private:
  void add(const FunctionDecl *F) {
    if (F->doesThisDeclarationHaveABody() && !F->isDependentContext() &&
        !F->isDefaulted() && torch::isUserCode(F->getLocation(), SM) &&
        Seen.insert(F).second)
      Functions.push_back(F);
  }

  const SourceManager &SM;
  std::vector<const FunctionDecl *> &Functions;
  std::vector<const VarDecl *> &Globals;
  llvm::SmallPtrSet<const FunctionDecl *, 32> Seen;
};

} // namespace

std::shared_ptr<UnitModel> UnitModel::of(ASTContext &Context) {
  // Weak: the checks of the unit own it, and it dies with them.
  static thread_local std::weak_ptr<UnitModel> Current;
  std::shared_ptr<UnitModel> Model = Current.lock();
  if (!Model || &Model->Context != &Context) {
    Model = std::make_shared<UnitModel>(Context);
    Current = Model;
  }
  return Model;
}

UnitModel::UnitModel(ASTContext &Context) : Context(Context) {
  Collector Visitor(Context.getSourceManager(), Functions, Globals);
  for (Decl *D : Context.getTraversalScope()) {
    if (auto *TU = dyn_cast<TranslationUnitDecl>(D)) {
      for (Decl *Top : TU->decls())
        Visitor.TraverseDecl(Top);
    } else {
      Visitor.TraverseDecl(D);
    }
  }
}

UnitModel::~UnitModel() = default;

llvm::ArrayRef<Dangling> UnitModel::dangling() {
  if (!Danglings) {
    Danglings.emplace();
    for (const VarDecl *Var : Globals)
      llvm::append_range(*Danglings, findDangling(Var, Context));
    for (const FunctionDecl *F : Functions)
      llvm::append_range(*Danglings, findDangling(F, Context));
  }
  return *Danglings;
}

const FunctionFlow *UnitModel::flowOf(const FunctionDecl *F) {
  const FunctionDecl *Definition = nullptr;
  if (!F || !F->hasBody(Definition) || Definition->isDependentContext() ||
      !torch::isUserCode(Definition->getLocation(), Context.getSourceManager()))
    return nullptr;
  if (auto It = Flows.find(Definition); It != Flows.end())
    return It->second.get();
  if (!InProgress.insert(Definition).second)
    return nullptr;
  std::unique_ptr<FunctionFlow> Flow = Interpreter(*this, Definition).run();
  InProgress.erase(Definition);
  return (Flows[Definition] = std::move(Flow)).get();
}

void UnitModel::collectCallers() {
  if (HasCallers)
    return;
  HasCallers = true;
  for (const FunctionDecl *F : Functions) {
    const FunctionFlow *Flow = flowOf(F);
    if (!Flow || !Flow->available())
      continue;
    for (const CallSite &Call : Flow->calls())
      Callers[Call.Callee->getCanonicalDecl()].push_back({Flow, Call.Mode});
    for (const Label &L : Flow->labels())
      if (L.K == Label::Entry &&
          (L.Consumers & (Label::Backward | Label::Returned | Label::Escaped)))
        if (const FieldDecl *Field = Flow->fieldOf(L.Where))
          ConsumedFields.insert(Field->getCanonicalDecl());
  }
}

bool UnitModel::isCalledOnlyGuarded(const FunctionDecl *F) {
  collectCallers();
  auto It = Callers.find(F->getCanonicalDecl());
  if (It == Callers.end() || !Asking.insert(F->getCanonicalDecl()).second)
    return false;
  bool Guarded = llvm::all_of(It->second, [&](const CallerOf &C) {
    return C.Mode != GradMode::On || isCalledOnlyGuarded(C.Caller->function());
  });
  Asking.erase(F->getCanonicalDecl());
  return Guarded;
}

bool UnitModel::isFieldConsumed(const FieldDecl *Field) {
  collectCallers();
  return ConsumedFields.count(Field->getCanonicalDecl());
}

unsigned UnitModel::consumersOf(const Label &L, const FunctionFlow &Flow) {
  if (L.Consumers != Label::Stored)
    return L.Consumers;
  bool Unused = llvm::all_of(L.StoredIn, [&](PlaceId P) {
    const FieldDecl *Field = Flow.fieldOf(P);
    return Field && seesAllUses(Field) && !isFieldConsumed(Field);
  });
  return Unused ? 0 : L.Consumers;
}

bool UnitModel::seesAllUses(const FieldDecl *Field) {
  const auto *R = dyn_cast<CXXRecordDecl>(Field->getParent());
  if (!R)
    return false;
  const SourceManager &SM = Context.getSourceManager();
  if (SM.isInMainFile(SM.getExpansionLoc(R->getLocation())))
    return true;
  if (Field->getAccess() == AS_public)
    return false;
  return llvm::all_of(R->methods(), [](const CXXMethodDecl *Method) {
    return !Method->isUserProvided() || Method->hasBody() ||
           Method->isPureVirtual();
  });
}

} // namespace libtorch_tidy::flow
