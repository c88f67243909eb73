//===- Ownership.cpp - Which values keep which objects alive --------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/flow/Ownership.h"
#include "checks/flow/Writes.h"
#include "checks/torch/Autograd.h"
#include "checks/torch/Calls.h"
#include "checks/torch/Modules.h"
#include "checks/torch/OpFacts.h"
#include "checks/torch/Owners.h"
#include "checks/torch/TorchTypes.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Basic/Builtins.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::flow {

namespace {

/// Variables that stand for each other are followed this far.
constexpr unsigned MaxDepth = 16;

bool isStdNamed(QualType T, std::initializer_list<StringRef> Names) {
  const CXXRecordDecl *R = torch::recordOf(T);
  return R && R->getIdentifier() && torch::isStdDecl(R) &&
         llvm::is_contained(Names, R->getName());
}

/// Pointers, references and views: they lead to objects and own none.
bool isNonOwning(QualType T) {
  if (T->isPointerType() || T->isMemberPointerType())
    return true;
  return isStdNamed(T, {"weak_ptr", "reference_wrapper", "span"}) ||
         torch::isReferenceClass(T);
}

bool isStdCall(const CallExpr *Call, StringRef Name) {
  return torch::calleeName(Call) == Name &&
         torch::isStdDecl(Call->getDirectCallee());
}

const Expr *onlyArgument(const CXXConstructExpr *Construct) {
  const Expr *Only = nullptr;
  for (const Expr *Arg : Construct->arguments()) {
    if (isa<CXXDefaultArgExpr>(Arg))
      continue;
    if (Only)
      return nullptr;
    Only = Arg;
  }
  return Only;
}

/// A ModuleHolder or a class that TORCH_MODULE made, of one argument.
const Expr *heldBy(const CXXConstructExpr *Construct) {
  QualType Pointee = torch::pointeeOf(Construct->getType());
  if (Pointee.isNull() || !torch::isModule(Pointee))
    return nullptr;
  const Expr *Only = onlyArgument(Construct);
  if (!Only || !torch::isModule(Only->getType()))
    return nullptr;
  // Child(parent) is a new module that is given another.
  QualType Given = torch::pointeeOf(Only->getType());
  const CXXRecordDecl *To = torch::recordOf(Pointee);
  const CXXRecordDecl *From =
      torch::recordOf(Given.isNull() ? Only->getType() : Given);
  if (!To || !From || !To->hasDefinition() || !From->hasDefinition())
    return nullptr;
  To = To->getDefinition();
  From = From->getDefinition();
  return To == From || From->isDerivedFrom(To) ? Only : nullptr;
}

/// The object of a method whose result is that object, or null.
const Expr *sameObject(const CallExpr *Call) {
  StringRef Name = torch::calleeName(Call);
  const auto *Method = dyn_cast<CXXMemberCallExpr>(Call);
  if (Name == "shared_from_this" || Name == "shared_from_this_checked")
    return Method ? Method->getImplicitObjectArgument() : nullptr;
  if (isStdCall(Call, "static_pointer_cast") ||
      isStdCall(Call, "dynamic_pointer_cast") ||
      isStdCall(Call, "const_pointer_cast"))
    return Call->getNumArgs() == 1 ? Call->getArg(0) : nullptr;
  const torch::OpFacts *Facts = torch::opFacts(Call->getDirectCallee());
  if (!Facts || !Facts->InPlace || !torch::isTensor(Call->getType()))
    return nullptr;
  if (Method)
    return Method->getImplicitObjectArgument();
  return Call->getNumArgs() > 0 ? Call->getArg(0) : nullptr;
}

/// The object that \p Call returns a part of, or null.
const Expr *wholeOf(const CallExpr *Call) {
  if (const auto *Op = dyn_cast<CXXOperatorCallExpr>(Call))
    return Op->getOperator() == OO_Subscript &&
                   !torch::isTensor(Op->getArg(0)->getType())
               ? Op->getArg(0)
               : nullptr;
  if (isStdCall(Call, "get") && Call->getNumArgs() == 1)
    return Call->getArg(0);
  const auto *Method = dyn_cast<CXXMemberCallExpr>(Call);
  const FunctionDecl *Callee = Call->getDirectCallee();
  if (!Method || !Callee ||
      (!torch::isStdDecl(Callee) && !torch::isTorchDecl(Callee)) ||
      torch::isTensor(Method->getObjectType()))
    return nullptr;
  bool IsPart = torch::asModuleState(Call) ||
                llvm::StringSwitch<bool>(torch::calleeName(Call))
                    .Cases("begin", "cbegin", "at", "front", "back", true)
                    .Cases("children", "named_children", true)
                    .Cases("items", "values", true)
                    .Default(false);
  return IsPart ? Method->getImplicitObjectArgument() : nullptr;
}

std::optional<ObjectPath> pathOf(const Expr *E, const Stmt *Body,
                                 bool BehindVariables, unsigned Depth) {
  ObjectPath Path;
  llvm::SmallVector<const FieldDecl *, 2> Reversed;
  auto Finish = [&](const ValueDecl *Root) {
    Path.Root = Root;
    Path.Fields.append(Reversed.rbegin(), Reversed.rend());
    return Path;
  };
  while ((E = torch::stripPointers(E))) {
    if (isa<CXXThisExpr>(E))
      return Finish(nullptr);
    if (const auto *Member = dyn_cast<MemberExpr>(E)) {
      const auto *Field = dyn_cast<FieldDecl>(Member->getMemberDecl());
      if (!Field)
        return std::nullopt;
      Reversed.push_back(Field->getCanonicalDecl());
      E = Member->getBase();
      continue;
    }
    if (const auto *Construct = dyn_cast<CXXConstructExpr>(E)) {
      E = heldBy(Construct);
      continue;
    }
    if (const auto *Call = dyn_cast<CallExpr>(E)) {
      if (const Expr *Same = sameObject(Call)) {
        E = Same;
        continue;
      }
      E = wholeOf(Call);
      Path.Element |= E != nullptr;
      continue;
    }
    const auto *Ref = dyn_cast<DeclRefExpr>(E);
    if (!Ref)
      return std::nullopt;
    const auto *Var = dyn_cast<VarDecl>(Ref->getDecl());
    if (!Var && !isa<BindingDecl>(Ref->getDecl()))
      return std::nullopt;
    // What the compiler adds to a range-for has no name of its own.
    bool Follow = Var && Var->isImplicit();
    if (!Follow && BehindVariables && Var && Var->isLocalVarDecl() &&
        !Var->isStaticLocal() && Depth < MaxDepth)
      Follow =
          (Var->getType()->isReferenceType() ||
           Var->getType()->isPointerType() || isSharedOwner(Var->getType())) &&
          !isReassigned(Var, Body);
    if (Follow && Var->getInit() && Depth < MaxDepth)
      if (auto Inner =
              pathOf(Var->getInit(), Body, BehindVariables, Depth + 1)) {
        Path.Element |= Inner->Element;
        Reversed.append(Inner->Fields.rbegin(), Inner->Fields.rend());
        return Finish(Inner->Root);
      }
    return Finish(Ref->getDecl());
  }
  return std::nullopt;
}

class KeptFinder {
public:
  explicit KeptFinder(const Stmt *Body) : Body(Body) {}
  llvm::SmallVector<const Expr *, 4> Found;

  void look(const Expr *E) {
    if (!E || isNonOwning(E->getType()) || Depth == MaxDepth)
      return;
    ++Depth;
    lookInto(torch::peel(E));
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
    const auto *Ref = dyn_cast<DeclRefExpr>(E);
    const auto *Var = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    if (Var && Var->isLocalVarDecl() && Var->getType()->isRecordType() &&
        !torch::isTensor(Var->getType()))
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
    const CXXRecordDecl *R = torch::recordOf(List->getType());
    if (!R || !R->isAggregate()) {
      for (const Expr *Init : List->inits())
        look(Init);
      return;
    }
    unsigned I = R->getNumBases();
    for (const FieldDecl *Field : R->fields()) {
      if (I >= List->getNumInits())
        return;
      if (isOwningType(Field->getType()))
        look(List->getInit(I));
      ++I;
    }
  }

  void construct(const CXXConstructExpr *Construct) {
    const CXXConstructorDecl *Ctor = Construct->getConstructor();
    const CXXRecordDecl *R = Ctor->getParent();
    if (const Expr *Held = heldBy(Construct))
      return look(Held);
    if (Ctor->isCopyOrMoveConstructor())
      return look(Construct->getArg(0));
    // A holder makes a module of its arguments.
    if (QualType Pointee = torch::pointeeOf(Construct->getType());
        !Pointee.isNull() && torch::isModule(Pointee))
      return made(
          torch::recordOf(Pointee),
          llvm::ArrayRef(Construct->getArgs(), Construct->getNumArgs()));
    // A container, tuple, IValue or std::function of its arguments.
    if (torch::isStdDecl(R) || torch::isTorchDecl(R)) {
      for (const Expr *Arg : Construct->arguments())
        if (!isa<CXXDefaultArgExpr>(Arg))
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
    if (!Ctor->hasBody(Definition) || I >= Definition->getNumParams())
      return false;
    struct Finder : RecursiveASTVisitor<Finder> {
      const ParmVarDecl *Param;
      bool Found = false;
      bool names(const Expr *Value) const {
        Value = torch::stripImplicit(Value);
        if (const auto *Call = dyn_cast_or_null<CallExpr>(Value))
          if (auto Registered = torch::asRegistration(Call))
            Value = Registered->Value;
        const auto *Ref = dyn_cast_or_null<DeclRefExpr>(Value);
        return Ref && Ref->getDecl() == Param;
      }
      bool VisitCXXOperatorCallExpr(CXXOperatorCallExpr *Op) {
        const auto *Field =
            Op->getOperator() == OO_Equal && Op->getNumArgs() == 2
                ? dyn_cast_or_null<FieldDecl>(rootOf(Op->getArg(0)))
                : nullptr;
        Found |=
            Field && isOwningType(Field->getType()) && names(Op->getArg(1));
        return !Found;
      }
      bool VisitCallExpr(CallExpr *Call) {
        Found |= torch::asRegistration(Call) && names(Call);
        return !Found;
      }
    } F;
    F.Param = Definition->getParamDecl(I);
    for (const CXXCtorInitializer *Init :
         cast<CXXConstructorDecl>(Definition)->inits())
      if (Init->isMemberInitializer() &&
          isOwningType(Init->getMember()->getType()) &&
          F.names(Init->getInit()))
        return true;
    F.TraverseStmt(Definition->getBody());
    return F.Found;
  }

  void call(const CallExpr *Call) {
    unsigned Builtin =
        Call->getDirectCallee() ? Call->getDirectCallee()->getBuiltinID() : 0;
    if ((Builtin == Builtin::BImove || Builtin == Builtin::BIforward) &&
        Call->getNumArgs() == 1)
      return look(Call->getArg(0));
    StringRef Name = torch::calleeName(Call);
    const FunctionDecl *Callee = Call->getDirectCallee();
    bool Known =
        Callee && (torch::isStdDecl(Callee) || torch::isTorchDecl(Callee));
    if (Known &&
        (Name == "bind" || Name == "make_tuple" || Name == "make_pair" ||
         Name == "make_capsule" || Name == "create")) {
      for (const Expr *Arg : Call->arguments())
        look(Arg);
      return;
    }
    if ((Known && (Name == "make_shared" || Name == "make_unique")) ||
        torch::isMakeIntrusive(Call))
      made(torch::recordOf(torch::pointeeOf(Call->getType())),
           llvm::ArrayRef(Call->getArgs(), Call->getNumArgs()));
    Found.push_back(Call);
  }

  /// An object of class \p R that library code makes of \p Args.
  void made(const CXXRecordDecl *R, llvm::ArrayRef<const Expr *> Args) {
    if (!R || !R->hasDefinition())
      return;
    R = R->getDefinition();
    // LibTorch's own classes keep what they are made of, but not its modules.
    if (torch::isTorchDecl(R)) {
      if (!torch::isModuleClass(R))
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
    if (llvm::is_contained(Within, Var))
      return;
    Within.push_back(Var);
    if (Var->getInit() && !Var->isImplicit())
      look(Var->getInit());
    struct Additions : RecursiveASTVisitor<Additions> {
      KeptFinder &Outer;
      const VarDecl *Var;
      Additions(KeptFinder &Outer, const VarDecl *Var)
          : Outer(Outer), Var(Var) {}
      bool VisitCXXMemberCallExpr(CXXMemberCallExpr *Call) {
        static constexpr StringRef Adding[] = {
            "push_back", "emplace_back", "insert", "emplace",
            "append",    "push",         "assign", "insert_or_assign"};
        if (llvm::is_contained(Adding, torch::calleeName(Call)) &&
            rootOf(Call->getImplicitObjectArgument()) == Var)
          for (const Expr *Arg : Call->arguments())
            Outer.look(Arg);
        return true;
      }
      bool VisitCXXOperatorCallExpr(CXXOperatorCallExpr *Op) {
        if (Op->getOperator() == OO_Equal && Op->getNumArgs() == 2 &&
            rootOf(Op->getArg(0)) == Var)
          Outer.look(Op->getArg(1));
        return true;
      }
    };
    if (Body)
      Additions(*this, Var).TraverseStmt(const_cast<Stmt *>(Body));
    Within.pop_back();
  }

  const Stmt *Body;
  unsigned Depth = 0;
  llvm::SmallVector<const VarDecl *, 4> Within;
};

} // namespace

std::optional<ObjectPath> objectOf(const Expr *E, const Stmt *Body) {
  return pathOf(E, Body, /*BehindVariables=*/true, 0);
}

std::optional<ObjectPath> namedObject(const Expr *E) {
  return pathOf(E, nullptr, /*BehindVariables=*/false, 0);
}

bool owns(const ObjectPath &Owner, const ObjectPath &Part) {
  if (Owner.Element || Owner.Root != Part.Root ||
      Owner.Fields.size() > Part.Fields.size() ||
      (Owner.Fields.size() == Part.Fields.size() && !Part.Element))
    return false;
  for (unsigned I = 0; I < Part.Fields.size(); ++I) {
    if (I < Owner.Fields.size()) {
      if (Owner.Fields[I] != Part.Fields[I])
        return false;
    } else if (!isOwningType(Part.Fields[I]->getType())) {
      return false;
    }
  }
  return true;
}

bool isSharedOwner(QualType T) {
  if (T.isNull() || T->isPointerType())
    return false;
  if (torch::isSharedHandle(T) || isStdNamed(T, {"shared_ptr"}))
    return true;
  QualType Pointee = torch::pointeeOf(T);
  return !Pointee.isNull() && !isStdNamed(T, {"unique_ptr"}) &&
         torch::isModule(Pointee);
}

bool isOwningType(QualType T) {
  if (T.isNull() || T->isReferenceType() || isNonOwning(T))
    return false;
  if (const auto *Spec =
          dyn_cast_or_null<ClassTemplateSpecializationDecl>(torch::recordOf(T));
      Spec && (torch::isStdDecl(Spec) || torch::isTorchDecl(Spec)))
    for (const TemplateArgument &Arg : Spec->getTemplateArgs().asArray())
      if (Arg.getKind() == TemplateArgument::Type &&
          isNonOwning(Arg.getAsType()))
        return false;
  return true;
}

llvm::SmallVector<const Expr *, 4> keptBy(const Expr *E, const Stmt *Body) {
  KeptFinder Finder(Body);
  Finder.look(E);
  return Finder.Found;
}

/// Does library code that takes its argument by reference only hand it on?
/// make_shared and the constructors of holders do.
static bool handsOn(const Expr *E) {
  if (const auto *Construct = dyn_cast<CXXConstructExpr>(E)) {
    const CXXConstructorDecl *Ctor = Construct->getConstructor();
    return Ctor->isInheritingConstructor() || torch::isTorchDecl(Ctor) ||
           torch::isStdDecl(Ctor);
  }
  const auto *Call = dyn_cast<CallExpr>(E);
  const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
  if (!Callee || isa<CXXOperatorCallExpr>(Call))
    return false;
  StringRef Name = torch::calleeName(Call);
  return (torch::isTorchDecl(Callee) || torch::isStdDecl(Callee)) &&
         Name != "swap" && Name != "exchange" && Name != "tie" &&
         Name != "getline";
}

bool isReassigned(const ValueDecl *Var, const Stmt *Body) {
  if (!Body)
    return true;
  for (const Write &W : writesTo(Var, Body))
    if (W.Kind == WriteKind::Assigned ||
        (W.Kind == WriteKind::Escaped && !handsOn(W.Where)) ||
        (W.Kind == WriteKind::Released && W.Overwritten))
      return true;
  return false;
}

} // namespace libtorch_tidy::flow
