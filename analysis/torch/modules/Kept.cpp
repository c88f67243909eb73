//===- Kept.cpp - What values and objects keep ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/torch/modules/Kept.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/UnitContext.h"
#include "analysis/cpp/Walk.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/modules/Modules.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace clang;

namespace libtorch_tidy::torch {

/// What is registered where \p Value is a call that does: value in
/// `field(register_module("name", value))`. \p Value itself for others.
static const Expr *throughRegistration(const Expr *Value) {
  const auto R =
      asRegistration(dyn_cast_or_null<CallExpr>(cpp::stripImplicit(Value)));
  return R && R->Value ? R->Value : Value;
}

namespace {

class KeptFinder {
public:
  explicit KeptFinder(const Stmt *Body) : Body(Body) {}
  llvm::SmallVector<const Expr *, 4> Found;

  void look(const Expr *E) {
    if (!E || cpp::ownerKind(E->getType()) == cpp::Owner::None ||
        Depth == cpp::MaxChase)
      return;
    ++Depth;
    lookInto(cpp::peel(E));
    --Depth;
  }

private:
  void lookInto(const Expr *E) {
    if (const auto *Lambda = dyn_cast<LambdaExpr>(E))
      return lambda(Lambda);
    if (const auto *List = dyn_cast<CXXStdInitializerListExpr>(E))
      return look(List->getSubExpr());
    if (const auto *List = dyn_cast<InitListExpr>(E))
      return list(List);
    if (const auto *Construct = dyn_cast<CXXConstructExpr>(E))
      return construct(Construct);
    if (const auto *Call = dyn_cast<CallExpr>(E))
      return call(Call);
    Found.push_back(E);
    const VarDecl *Var = cpp::variableOf(E);
    if (Var && Var->isLocalVarDecl() && Var->getType()->isRecordType() &&
        !isTensor(Var->getType()))
      contents(Var);
  }

  void lambda(const LambdaExpr *Lambda) {
    auto Init = Lambda->capture_init_begin();
    for (const LambdaCapture &Capture : Lambda->captures()) {
      if (Capture.capturesVariable() &&
          Capture.getCaptureKind() == LCK_ByCopy) {
        const auto *Var = dyn_cast<VarDecl>(Capture.getCapturedVar());
        look(Var && Var->isInitCapture() ? Var->getInit() : *Init);
      }
      ++Init;
    }
  }

  void list(const InitListExpr *List) {
    const CXXRecordDecl *R = cpp::recordOf(List->getType());
    if (!R || !R->isAggregate()) {
      for (const Expr *Init : List->inits())
        look(Init);
      return;
    }
    unsigned I = R->getNumBases();
    for (const FieldDecl *Field : R->fields()) {
      if (I >= List->getNumInits())
        return;
      if (cpp::isOwningType(Field->getType()))
        look(List->getInit(I));
      ++I;
    }
  }

  void construct(const CXXConstructExpr *Construct) {
    const CXXConstructorDecl *Ctor = Construct->getConstructor();
    const CXXRecordDecl *R = Ctor->getParent();
    if (const Expr *Held = cpp::heldBy(Construct))
      return look(Held);
    if (Ctor->isCopyOrMoveConstructor())
      return look(Construct->getArg(0));
    // A holder makes a module of its arguments.
    if (QualType Pointee = cpp::pointeeOf(Construct->getType());
        !Pointee.isNull() && isModule(Pointee))
      return made(
          cpp::recordOf(Pointee),
          llvm::ArrayRef(Construct->getArgs(), Construct->getNumArgs()));
    // A container, tuple, IValue or std::function of its arguments.
    if (cpp::isOfLibrary(R)) {
      for (const Expr *Arg : cpp::writtenArguments(Construct))
        look(Arg);
      return;
    }
    for (unsigned I = 0; I < Construct->getNumArgs(); ++I)
      if (stores(Ctor, I))
        look(Construct->getArg(I));
  }

  /// Does a field take parameter \p I by value, or is it registered?
  bool stores(const CXXConstructorDecl *Ctor, unsigned I) {
    const FunctionDecl *Definition = nullptr;
    if (I >= Ctor->getNumParams())
      return false;
    if (!Ctor->hasBody(Definition))
      return llvm::any_of(storedArguments(Ctor), [&](const auto &Stored) {
        return Stored.Index == I &&
               (!Stored.Field || cpp::isOwningType(Stored.Field->getType()));
      });
    const ParmVarDecl *Param = Definition->getParamDecl(I);
    auto Names = [&](const Expr *Value) {
      return cpp::variableOf(throughRegistration(Value)) == Param;
    };
    for (const CXXCtorInitializer *Init :
         cast<CXXConstructorDecl>(Definition)->inits())
      if (Init->isMemberInitializer() &&
          cpp::isOwningType(Init->getMember()->getType()) &&
          Names(Init->getInit()))
        return true;
    return cpp::anyOf<CallExpr>(
        Definition->getBody(), [&](const CallExpr *Call) {
          if (!cpp::isAssignment(Call))
            return asRegistration(Call) && Names(Call);
          const FieldDecl *Field = cpp::fieldOf(Call->getArg(0));
          return Field && cpp::isOwningType(Field->getType()) &&
                 Names(Call->getArg(1));
        });
  }

  void call(const CallExpr *Call) {
    if (const Expr *Moved = cpp::movedBy(Call))
      return look(Moved);
    const bool Known = cpp::isOfLibrary(Call->getDirectCallee());
    if (Known &&
        (cpp::does(Call, cpp::Std::Bind | cpp::Std::Tuple) ||
         cpp::isOneOf(cpp::calleeName(Call), {"make_capsule", "create"}))) {
      for (const Expr *Arg : Call->arguments())
        look(Arg);
      return;
    }
    if (Known &&
        (cpp::does(Call, cpp::Std::Make) || callsTorch(Call, "make_intrusive")))
      made(cpp::recordOf(cpp::pointeeOf(Call->getType())),
           llvm::ArrayRef(Call->getArgs(), Call->getNumArgs()));
    Found.push_back(Call);
  }

  /// An object of class \p R that library code makes of \p Args.
  void made(const CXXRecordDecl *R, llvm::ArrayRef<const Expr *> Args) {
    R = R ? R->getDefinition() : nullptr;
    if (!R)
      return;
    // LibTorch's own classes keep what they are made of, but not its modules.
    if (isTorchDecl(R)) {
      if (!isModuleClass(R))
        for (const Expr *Arg : Args)
          look(Arg);
      return;
    }
    const CXXConstructorDecl *Only = nullptr;
    for (const CXXConstructorDecl *Ctor : R->ctors()) {
      if (Ctor->isCopyOrMoveConstructor() ||
          Ctor->getNumParams() != Args.size())
        continue;
      if (Only)
        return;
      Only = Ctor;
    }
    for (unsigned I = 0; Only && I < Args.size(); ++I)
      if (stores(Only, I))
        look(Args[I]);
  }

  /// What a container or function object was given anywhere in the body.
  void contents(const VarDecl *Var) {
    if (!Opened.insert(Var).second)
      return;
    if (Var->getInit() && !Var->isImplicit())
      look(Var->getInit());
    cpp::forEachStore(Body,
                      [&](const CallExpr *, const Expr *To, const Expr *Value) {
                        if (cpp::rootOf(To) == Var)
                          look(Value);
                      });
  }

  const Stmt *Body;
  unsigned Depth = 0;
  llvm::SmallPtrSet<const VarDecl *, 8> Opened;
};

} // namespace

llvm::SmallVector<const Expr *, 4> keptBy(const Expr *E, const Stmt *Body) {
  KeptFinder Finder(Body);
  Finder.look(E);
  return Finder.Found;
}

/// What \p F, a definition, stores.
static std::vector<StoredArgument> storedHere(const FunctionDecl *F) {
  std::vector<StoredArgument> Found;
  const Stmt *Body = F->getBody();
  auto Add = [&](const FieldDecl *Field, const Expr *Value) {
    for (const Expr *Kept : keptBy(Value, Body)) {
      std::optional<cpp::Object> Named = cpp::objectOf(Kept, Body);
      const auto *Param =
          Named ? dyn_cast_or_null<ParmVarDecl>(Named->Root) : nullptr;
      if (Param && Named->Fields.empty() && Param->getDeclContext() == F)
        Found.push_back({Param->getFunctionScopeIndex(), Field});
    }
  };
  auto IntoField = [&](const FieldDecl *Field, const Expr *Value) {
    if (cpp::isOwningType(Field->getType()) ||
        cpp::holdsFunctions(Field->getType()))
      Add(Field, throughRegistration(Value));
  };
  if (const auto *Ctor = dyn_cast<CXXConstructorDecl>(F))
    for (const CXXCtorInitializer *Init : Ctor->inits())
      if (Init->isMemberInitializer() && Init->isWritten())
        IntoField(Init->getMember(), Init->getInit());
  cpp::forEachStore(
      Body, [&](const CallExpr *, const Expr *To, const Expr *Value) {
        std::optional<cpp::Object> Place = cpp::objectOf(To, Body);
        if (Place && !Place->Root && Place->Fields.size() == 1)
          IntoField(Place->Fields[0], Value);
      });
  cpp::forEach<CallExpr>(Body, [&](const CallExpr *Call) {
    std::optional<Registration> R = asRegistration(Call);
    if (R && R->What == Registration::Module && R->Value &&
        !cpp::receiverOf(Call))
      Add(nullptr, R->Value);
  });
  return Found;
}

/// What functions with a body store, as far as it was asked.
using KnownStores =
    llvm::DenseMap<const FunctionDecl *, std::vector<StoredArgument>>;

std::vector<StoredArgument> storedArguments(const FunctionDecl *F) {
  ASTContext &Context = F->getASTContext();
  const FunctionDecl *Definition = nullptr;
  if (F->hasBody(Definition)) {
    auto [Known, New] =
        cpp::ofUnit<KnownStores>(Context).try_emplace(Definition);
    // The finder asks only about functions without a body.
    if (New)
      Known->second = storedHere(Definition);
    return Known->second;
  }
  const auto &Elsewhere = cpp::ofUnit<StoredElsewhere>(Context);
  return Elsewhere.Of ? Elsewhere.Of(F) : std::vector<StoredArgument>();
}

} // namespace libtorch_tidy::torch
