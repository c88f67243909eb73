//===- Object.cpp - Which object an expression names ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Object.h"
#include "analysis/cpp/Library.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/Writes.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::cpp {

std::string Object::name(StringRef This) const {
  std::string Name = Root ? Root->getNameAsString() : "";
  for (const FieldDecl *Field : Fields)
    Name += (Name.empty() ? "" : ".") + Field->getNameAsString();
  return Name.empty() ? This.str() : Name;
}

bool isEmptyValue(const Expr *E) {
  while (E) {
    E = valueOf(E);
    if (const auto *Cast = dyn_cast<CastExpr>(E))
      E = Cast->getSubExpr();
    else if (const auto *List = dyn_cast<InitListExpr>(E))
      return List->getNumInits() == 0;
    else if (const auto *Ctor = dyn_cast<CXXConstructExpr>(E)) {
      const auto Written = writtenArguments(Ctor);
      if (Written.size() != 1)
        return Written.empty();
      E = Written[0];
    } else
      break;
  }
  // What does not compile can lack a type.
  if (!E || E->getType().isNull())
    return false;
  if (isa<CXXNullPtrLiteralExpr, CXXScalarValueInitExpr>(E))
    return true;
  return nameOf(E->getType()->getAsCXXRecordDecl()) == "nullopt_t";
}

const ValueDecl *rootOf(const Expr *E) {
  while (E) {
    E = E->IgnoreParenImpCasts();
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
      return Ref->getDecl();
    if (const auto *Member = dyn_cast<MemberExpr>(E)) {
      const Expr *Base = Member->getBase()->IgnoreParenImpCasts();
      if (isa<CXXThisExpr>(Base))
        return Member->getMemberDecl();
      if (Member->isArrow())
        return nullptr;
      E = Base;
      continue;
    }
    const auto *Op = dyn_cast<CXXOperatorCallExpr>(E);
    if (const auto *Subscript = dyn_cast<ArraySubscriptExpr>(E))
      E = Subscript->getBase();
    else if ((Op && Op->getOperator() == OO_Subscript) ||
             (isStdCall(E, Std::Part) && cast<CallExpr>(E)->getNumArgs() == 1))
      E = cast<CallExpr>(E)->getArg(0);
    else
      return nullptr;
  }
  return nullptr;
}

const FieldDecl *fieldOf(const Expr *E) {
  return dyn_cast_or_null<FieldDecl>(rootOf(E));
}

const ValueDecl *wholeOf(const ValueDecl *D) {
  const auto *Bound = dyn_cast<BindingDecl>(D);
  return Bound ? Bound->getDecomposedDecl() : D;
}

const VarDecl *declaredBy(const Stmt *S) {
  const auto *Declaration = dyn_cast_or_null<DeclStmt>(S);
  return Declaration && Declaration->isSingleDecl()
             ? dyn_cast<VarDecl>(Declaration->getSingleDecl())
             : nullptr;
}

bool isSameName(const Expr *A, const Expr *B) {
  A = stripImplicit(A);
  B = stripImplicit(B);
  if (!A || !B || A->getStmtClass() != B->getStmtClass())
    return A == B;
  if (isa<CXXThisExpr>(A))
    return true;
  if (const auto *Ref = dyn_cast<DeclRefExpr>(A))
    return Ref->getDecl() == cast<DeclRefExpr>(B)->getDecl();
  if (const auto *Literal = dyn_cast<IntegerLiteral>(A))
    return llvm::APInt::isSameValue(Literal->getValue(),
                                    cast<IntegerLiteral>(B)->getValue());
  if (const auto *Member = dyn_cast<MemberExpr>(A)) {
    const auto *Other = cast<MemberExpr>(B);
    return Member->getMemberDecl() == Other->getMemberDecl() &&
           isSameName(Member->getBase(), Other->getBase());
  }
  if (const auto *Subscript = dyn_cast<ArraySubscriptExpr>(A)) {
    const auto *Other = cast<ArraySubscriptExpr>(B);
    return isSameName(Subscript->getBase(), Other->getBase()) &&
           isSameName(Subscript->getIdx(), Other->getIdx());
  }
  if (isStdCall(A, Std::Part)) { // std::get<0>(pair)
    const auto *Call = cast<CallExpr>(A), *Other = cast<CallExpr>(B);
    return Call->getDirectCallee() == Other->getDirectCallee() &&
           Call->getNumArgs() == 1 && Other->getNumArgs() == 1 &&
           isSameName(Call->getArg(0), Other->getArg(0));
  }
  const auto *Op = dyn_cast<CXXOperatorCallExpr>(A);
  if (!Op ||
      (Op->getOperator() != OO_Subscript && Op->getOperator() != OO_Arrow))
    return false;
  const auto *Other = cast<CXXOperatorCallExpr>(B);
  return Op->getOperator() == Other->getOperator() &&
         std::equal(Op->arg_begin(), Op->arg_end(), Other->arg_begin(),
                    Other->arg_end(), isSameName);
}

const Expr *heldBy(const CXXConstructExpr *Construct) {
  QualType Pointee = pointeeOf(Construct->getType());
  if (Pointee.isNull() || !library::isObject(Pointee))
    return nullptr;
  const Expr *Only = onlyArgument(Construct);
  if (!Only || !library::isObject(Only->getType()))
    return nullptr;
  // Child(parent) is a new module that is given another.
  QualType Given = pointeeOf(Only->getType());
  const CXXRecordDecl *To = recordOf(Pointee);
  const CXXRecordDecl *From =
      recordOf(Given.isNull() ? Only->getType() : Given);
  To = To ? To->getDefinition() : nullptr;
  From = From ? From->getDefinition() : nullptr;
  return To && From && (To == From || From->isDerivedFrom(To)) ? Only : nullptr;
}

/// The object of a method whose result is that object, or null.
static const Expr *sameObject(const CallExpr *Call) {
  const auto *Method = dyn_cast<CXXMemberCallExpr>(Call);
  if (isOneOf(calleeName(Call),
              {"shared_from_this", "shared_from_this_checked"}))
    return Method ? Method->getImplicitObjectArgument() : nullptr;
  if (isStdCall(Call, Std::PointerCast))
    return Call->getNumArgs() == 1 ? Call->getArg(0) : nullptr;
  if (!library::returnsItsObject(Call))
    return nullptr;
  if (Method)
    return Method->getImplicitObjectArgument();
  return Call->getNumArgs() > 0 ? Call->getArg(0) : nullptr;
}

/// The object that \p Call returns a part of, or null.
static const Expr *wholeOf(const CallExpr *Call) {
  if (isStdCall(Call, Std::Part) && Call->getNumArgs() == 1)
    return Call->getArg(0);
  const auto *Op = dyn_cast<CXXOperatorCallExpr>(Call);
  if (Op && Op->getOperator() == OO_Subscript)
    return library::isValue(Op->getArg(0)->getType()) ? nullptr : Op->getArg(0);
  const auto *Method = dyn_cast<CXXMemberCallExpr>(Call);
  if (!Method || !isOfLibrary(Call->getDirectCallee()) ||
      library::isValue(Method->getObjectType()))
    return nullptr;
  return library::returnsAPart(Call) || does(Call, Std::Element | Std::Begin)
             ? Method->getImplicitObjectArgument()
             : nullptr;
}

static std::optional<Object> pathOf(const Expr *E, const Stmt *Body,
                                    bool ThroughVariables, unsigned Depth) {
  Object Path;
  llvm::SmallVector<const FieldDecl *, 2> Reversed;
  auto Finish = [&](const ValueDecl *Root) {
    Path.Root = Root;
    Path.Fields.append(Reversed.rbegin(), Reversed.rend());
    return Path;
  };
  while ((E = stripPointers(E))) {
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
    if (!Follow && ThroughVariables && Var && Var->isLocalVarDecl() &&
        !Var->isStaticLocal() && Depth < MaxChase)
      Follow =
          (Var->getType()->isReferenceType() ||
           Var->getType()->isPointerType() || isSharedOwner(Var->getType())) &&
          !isReassigned(Var, Body);
    if (Follow && Var->getInit() && Depth < MaxChase)
      if (auto Inner =
              pathOf(Var->getInit(), Body, ThroughVariables, Depth + 1)) {
        Path.Element |= Inner->Element;
        Reversed.append(Inner->Fields.rbegin(), Inner->Fields.rend());
        return Finish(Inner->Root);
      }
    return Finish(Ref->getDecl());
  }
  return std::nullopt;
}

std::optional<Object> objectOf(const Expr *E, const Stmt *Body) {
  return pathOf(E, Body, /*ThroughVariables=*/true, 0);
}

std::optional<Object> namedObject(const Expr *E) {
  return pathOf(E, nullptr, /*ThroughVariables=*/false, 0);
}

bool owns(const Object &Owner, const Object &Part) {
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

} // namespace libtorch_tidy::cpp
