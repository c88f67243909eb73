//===- ModuleOwnershipCycleCheck.cpp --------------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/LibtorchCheck.h"
#include "checks/flow/Ownership.h"
#include "checks/flow/Writes.h"
#include "checks/torch/Calls.h"
#include "checks/torch/Modules.h"
#include "checks/torch/TorchTypes.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/ASTMatchers/ASTMatchFinder.h"

using namespace clang;
using namespace clang::ast_matchers;

namespace libtorch_tidy {

using flow::ObjectPath;

namespace {

/// docs/checks/libtorch-module-ownership-cycle.md says what it finds and why.
class ModuleOwnershipCycleCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;
  void registerMatchers(MatchFinder *Finder) override;
  void checkMatch(const Match &Result) override;
  void checkMatched() override;

private:
  /// Modules of the user, in source order.
  llvm::SmallVector<const CXXRecordDecl *, 8> Modules;
};

bool isModuleOwner(QualType T) {
  return flow::isSharedOwner(T) && torch::isModule(T);
}

/// The classes of modules that a value of \p T owns, by value, holder, smart
/// pointer or container.
void addModulesIn(QualType T, llvm::SmallVectorImpl<const CXXRecordDecl *> &To,
                  unsigned Depth = 0) {
  if (T.isNull() || Depth > 4 || !flow::isOwningType(T))
    return;
  QualType Pointee = torch::pointeeOf(T);
  const CXXRecordDecl *R = torch::recordOf(Pointee.isNull() ? T : Pointee);
  if (torch::isModule(T)) {
    if (R && R->hasDefinition())
      To.push_back(R->getDefinition());
    return;
  }
  if (const auto *Spec = dyn_cast_or_null<ClassTemplateSpecializationDecl>(R);
      Spec && torch::isStdDecl(Spec))
    for (const TemplateArgument &Arg : Spec->getTemplateArgs().asArray())
      if (Arg.getKind() == TemplateArgument::Type)
        addModulesIn(Arg.getAsType(), To, Depth + 1);
}

bool ownsModules(QualType T) {
  llvm::SmallVector<const CXXRecordDecl *, 2> Held;
  addModulesIn(T, Held);
  return !Held.empty();
}

/// A place in the code that makes one object an owner of another.
struct Edge {
  ObjectPath Owner, Owned;
  const Expr *Where = nullptr;
  const Expr *Value = nullptr;
  const FieldDecl *Field = nullptr; ///< Null when it is registered only.
  /// The value is the object itself, not one that was made of it.
  bool Direct = false;
};

/// The field of its object that a method puts parameter \p I into, or that it
/// registers it (Registers).
struct Stored {
  const FieldDecl *Field = nullptr;
  bool Registers = false;
};
Stored storedBy(const CXXMethodDecl *Method, unsigned I) {
  const FunctionDecl *Definition = Method ? Method->getDefinition() : nullptr;
  if (!Definition || !Definition->hasBody() || I >= Definition->getNumParams())
    return {};
  struct Finder : RecursiveASTVisitor<Finder> {
    const ParmVarDecl *Param;
    const Stmt *Body;
    Stored Found;
    bool keeps(const Expr *Value) const {
      return llvm::any_of(flow::keptBy(Value, Body), [&](const Expr *Kept) {
        auto Object = flow::objectOf(Kept, Body);
        return Object && Object->Root == Param && Object->Fields.empty();
      });
    }
    void look(const Expr *To, const Expr *Value) {
      auto Place = flow::objectOf(To, Body);
      if (Place && !Place->Root && Place->Fields.size() == 1 &&
          flow::isOwningType(Place->Fields[0]->getType()) && keeps(Value))
        Found.Field = Place->Fields[0];
    }
    bool VisitCXXOperatorCallExpr(CXXOperatorCallExpr *Op) {
      if (Op->getOperator() == OO_Equal && Op->getNumArgs() == 2)
        look(Op->getArg(0), Op->getArg(1));
      return true;
    }
    bool VisitCXXMemberCallExpr(CXXMemberCallExpr *Call) {
      StringRef Name = torch::calleeName(Call);
      if (Name == "push_back" || Name == "emplace_back")
        for (const Expr *Arg : Call->arguments())
          look(Call->getImplicitObjectArgument(), Arg);
      auto Registered = torch::asRegistration(Call);
      if (Registered && Registered->What == torch::Registration::Module &&
          Registered->Value && !torch::objectOf(Call) &&
          keeps(Registered->Value))
        Found.Registers = true;
      return true;
    }
  } F;
  F.Param = Definition->getParamDecl(I);
  F.Body = Definition->getBody();
  F.TraverseStmt(Definition->getBody());
  return F.Found;
}

/// Collects the edges of one function.
class EdgeFinder : public RecursiveASTVisitor<EdgeFinder> {
public:
  EdgeFinder(const Stmt *Body, const SourceManager &SM) : Body(Body), SM(SM) {}
  llvm::SmallVector<Edge, 4> Edges;

  bool VisitCXXOperatorCallExpr(CXXOperatorCallExpr *Op) {
    if (Op->getOperator() == OO_Equal && Op->getNumArgs() == 2)
      into(Op, Op->getArg(0), Op->getArg(1));
    return true;
  }

  bool VisitCXXMemberCallExpr(CXXMemberCallExpr *Call) {
    const Expr *Object = Call->getImplicitObjectArgument();
    StringRef Name = torch::calleeName(Call);
    if (!Object || Name.empty() || Call->getNumArgs() == 0)
      return true;
    if (auto Registered = torch::asRegistration(Call)) {
      if (Registered->What == torch::Registration::Module && Registered->Value)
        add(Call, flow::objectOf(Object, Body), nullptr, Registered->Value);
      return true;
    }
    if (Name == "push_back" || Name == "emplace_back" || Name == "insert" ||
        Name == "emplace") {
      const Expr *Value = Call->getArg(Call->getNumArgs() - 1);
      if (torch::isModule(Object->getType())) // Sequential, ModuleList
        add(Call, flow::objectOf(Object, Body), nullptr, Value);
      else
        into(Call, Object, Value);
      return true;
    }
    const CXXMethodDecl *Method = Call->getMethodDecl();
    if (!Method || !torch::isUserCode(Method->getLocation(), SM))
      return true;
    for (unsigned I = 0; I < Call->getNumArgs(); ++I) {
      if (!isModuleOwner(Call->getArg(I)->getType()))
        continue;
      Stored Where = storedBy(Method, I);
      if (Where.Field || Where.Registers)
        add(Call, flow::objectOf(Object, Body), Where.Field, Call->getArg(I));
    }
    return true;
  }

  /// `Child child(parent)`: what its constructor stores.
  bool VisitVarDecl(VarDecl *Var) {
    if (!Var->isLocalVarDecl() || Var->isStaticLocal() || !Var->getInit() ||
        !isModuleOwner(Var->getType()) || flow::objectOf(Var->getInit(), Body))
      return true;
    ObjectPath Owner;
    Owner.Root = Var;
    add(Var->getInit(), Owner, nullptr, Var->getInit());
    return true;
  }

private:
  /// `place.field = value`
  void into(const Expr *Where, const Expr *To, const Expr *Value) {
    if (!ownsModules(To->getType()))
      return;
    auto Place = flow::objectOf(To, Body);
    if (!Place || Place->Fields.empty())
      return;
    const FieldDecl *Field = Place->Fields.pop_back_val();
    if (flow::isOwningType(Field->getType()))
      add(Where, Place, Field, Value);
  }

  void add(const Expr *Where, const std::optional<ObjectPath> &Owner,
           const FieldDecl *Field, const Expr *Value) {
    if (!Owner || changes(Owner->Root))
      return;
    for (const Expr *Kept : flow::keptBy(Value, Body)) {
      if (!isModuleOwner(Kept->getType()))
        continue;
      auto Owned = flow::objectOf(Kept, Body);
      if (Owned && !changes(Owned->Root))
        Edges.push_back({*Owner, *Owned, Where, Kept, Field,
                         torch::stripImplicit(Value) == Kept});
    }
  }

  /// A variable that stands for several objects in turn.
  bool changes(const ValueDecl *Var) const {
    return Var && flow::isReassigned(Var, Body);
  }

  const Stmt *Body;
  const SourceManager &SM;
};

/// Does \p From own \p To, itself or by the other edges? The edges on the way
/// go to \p Way.
bool reaches(const ObjectPath &From, const ObjectPath &To,
             llvm::ArrayRef<Edge> Edges,
             llvm::SmallVectorImpl<const Edge *> &Way) {
  if ((From == To && !From.Element) || flow::owns(From, To))
    return true;
  for (const Edge &E : Edges) {
    if (!(From == E.Owner && !From.Element) && !flow::owns(From, E.Owner))
      continue;
    if (llvm::is_contained(Way, &E))
      continue;
    Way.push_back(&E);
    if (reaches(E.Owned, To, Edges, Way))
      return true;
    Way.pop_back();
  }
  return false;
}

std::string nameOf(const ObjectPath &Object) {
  std::string Name = Object.Root ? Object.Root->getNameAsString() : "";
  for (const FieldDecl *Field : Object.Fields)
    Name += (Name.empty() ? "" : ".") + Field->getNameAsString();
  return Name.empty() ? "this module" : "'" + Name + "'";
}

/// What the functions of the unit do with members.
class FieldUses : public RecursiveASTVisitor<FieldUses> {
public:
  llvm::DenseSet<const FieldDecl *> Released;
  /// Where a member is given an object that exists already.
  llvm::DenseMap<const FieldDecl *, const Expr *> Filled;
  const Stmt *Body = nullptr;

  void add(const FunctionDecl *F) {
    Body = F->getBody();
    if (const auto *Ctor = dyn_cast<CXXConstructorDecl>(F))
      for (const CXXCtorInitializer *Init : Ctor->inits())
        if (Init->isMemberInitializer() && Init->isWritten())
          given(Init->getMember(), Init->getInit());
    TraverseStmt(F->getBody());
  }

  /// Does any released member own modules of the class that \p T does?
  bool releases(QualType T) const {
    llvm::SmallVector<const CXXRecordDecl *, 2> Wanted;
    addModulesIn(T, Wanted);
    return llvm::any_of(Released, [&](const FieldDecl *Field) {
      llvm::SmallVector<const CXXRecordDecl *, 2> Held;
      addModulesIn(Field->getType(), Held);
      return llvm::any_of(Held, [&](const CXXRecordDecl *Class) {
        return llvm::any_of(Wanted, [&](const CXXRecordDecl *Other) {
          return Class == Other || Other->isDerivedFrom(Class);
        });
      });
    });
  }

  bool VisitCXXOperatorCallExpr(CXXOperatorCallExpr *Op) {
    if (Op->getOperator() != OO_Equal || Op->getNumArgs() != 2)
      return true;
    if (const FieldDecl *Field = fieldOf(Op->getArg(0))) {
      if (flow::isEmptyValue(Op->getArg(1)))
        Released.insert(Field);
      else
        given(Field, Op->getArg(1));
    }
    return true;
  }
  bool VisitCallExpr(CallExpr *Call) {
    StringRef Name = torch::calleeName(Call);
    if (const auto *Method = dyn_cast<CXXMemberCallExpr>(Call);
        Method && (Name == "reset" || Name == "clear" || Name == "swap"))
      if (const FieldDecl *Field = fieldOf(Method->getImplicitObjectArgument()))
        Released.insert(Field);
    if (Name == "move" || Name == "exchange" || Name == "swap")
      for (const Expr *Arg : Call->arguments())
        if (const FieldDecl *Field = fieldOf(Arg))
          Released.insert(Field);
    return true;
  }

private:
  static const FieldDecl *fieldOf(const Expr *E) {
    const auto *Member = dyn_cast_or_null<MemberExpr>(torch::stripImplicit(E));
    const auto *Field =
        Member ? dyn_cast<FieldDecl>(Member->getMemberDecl()) : nullptr;
    return Field && ownsModules(Field->getType()) ? Field->getCanonicalDecl()
                                                  : nullptr;
  }

  /// A parameter, `this` or another variable's object: not one made here.
  void given(const FieldDecl *Field, const Expr *Value) {
    if (!isModuleOwner(Field->getType()))
      return;
    auto Object = flow::objectOf(Value, Body);
    const auto *Var =
        Object ? dyn_cast_or_null<VarDecl>(Object->Root) : nullptr;
    bool Exists =
        Object && Object->Fields.empty() && (!Var || isa<ParmVarDecl>(Var));
    if (Exists)
      Filled.try_emplace(Field->getCanonicalDecl(), Value);
  }
};

/// How a class of modules owns another, by its members and theirs.
class ClassOwnership {
public:
  /// The member of \p Owner that leads to \p Owned; null when none does.
  const FieldDecl *memberLeadingTo(const CXXRecordDecl *Owner,
                                   const CXXRecordDecl *Owned,
                                   const FieldDecl *Except) {
    llvm::SmallPtrSet<const CXXRecordDecl *, 8> Seen;
    return search(Owner, Owned, Except, Seen);
  }

private:
  const FieldDecl *search(const CXXRecordDecl *Owner,
                          const CXXRecordDecl *Owned, const FieldDecl *Except,
                          llvm::SmallPtrSetImpl<const CXXRecordDecl *> &Seen) {
    if (!Seen.insert(Owner).second || torch::isTorchDecl(Owner))
      return nullptr;
    for (const FieldDecl *Field : Owner->fields()) {
      if (Field->getCanonicalDecl() == Except)
        continue;
      llvm::SmallVector<const CXXRecordDecl *, 2> Held;
      addModulesIn(Field->getType(), Held);
      for (const CXXRecordDecl *Class : Held)
        if (Class == Owned || search(Class, Owned, Except, Seen))
          return Field;
    }
    for (const CXXBaseSpecifier &Base : Owner->bases())
      if (const CXXRecordDecl *B = Base.getType()->getAsCXXRecordDecl();
          B && B->hasDefinition())
        if (const FieldDecl *Field =
                search(B->getDefinition(), Owned, Except, Seen))
          return Field;
    return nullptr;
  }
};

} // namespace

void ModuleOwnershipCycleCheck::registerMatchers(MatchFinder *Finder) {
  Finder->addMatcher(cxxRecordDecl(isDefinition(),
                                   unless(isExpansionInSystemHeader()),
                                   isDerivedFrom(torch::ModuleClass.str()))
                         .bind("module"),
                     this);
}

void ModuleOwnershipCycleCheck::checkMatch(const Match &Result) {
  const auto *R = Result.Nodes.getNodeAs<CXXRecordDecl>("module");
  if (!R->isDependentContext())
    Modules.push_back(R);
}

void ModuleOwnershipCycleCheck::checkMatched() {
  // A cycle takes a member that can own a module that exists already, or a
  // module that is registered from outside.
  if (Modules.empty())
    return;
  const SourceManager &SM = context().getSourceManager();
  flow::UnitModel &Unit = unit();
  FieldUses Uses;
  for (const FunctionDecl *F : Unit.functions())
    Uses.add(F);

  llvm::DenseSet<const FieldDecl *> Told;
  for (const FunctionDecl *Function : Unit.functions()) {
    EdgeFinder Finder(Function->getBody(), SM);
    Finder.TraverseStmt(Function->getBody());
    llvm::DenseSet<const Edge *> Explained;
    llvm::SmallVector<const Edge *, 4> Closed;
    for (const Edge &E : llvm::reverse(Finder.Edges)) {
      llvm::SmallVector<const Edge *, 4> Way;
      Way.push_back(&E);
      if (Explained.contains(&E) ||
          !reaches(E.Owned, E.Owner, Finder.Edges, Way))
        continue;
      if (llvm::any_of(Way, [&](const Edge *Step) {
            return Uses.Released.contains(Step->Field) ||
                   (!Step->Direct && Uses.releases(Step->Value->getType()));
          }))
        continue;
      // One statement may give it in several ways.
      if (llvm::any_of(Closed, [&](const Edge *Known) {
            return Known->Owner == E.Owner && Known->Owned == E.Owned;
          }))
        continue;
      Closed.push_back(&E);
      Explained.insert(Way.begin(), Way.end());
      Finding F;
      F.Loc = E.Where->getBeginLoc();
      F.Highlight = E.Where->getSourceRange();
      F.Strength = Level::Certain;
      std::string Owner = nameOf(E.Owner), Owned = nameOf(E.Owned);
      F.Message =
          E.Owner == E.Owned
              ? "this makes " + Owner +
                    " own itself, directly or through a member: it is never "
                    "freed"
              : "this makes " + Owner + " own " + Owned +
                    ", which owns it: neither is ever freed";
      if ((Way.size() > 1 || E.Owner == E.Owned) &&
          llvm::all_of(Way, [](const Edge *Step) {
            return !Step->Field && Step->Direct;
          }))
        F.Message += ", and parameters() recurses without end";
      for (const Edge *Step : llvm::drop_begin(Way))
        F.Steps.push_back(
            {Step->Where->getBeginLoc(), nameOf(Step->Owned) + " is given to " +
                                             nameOf(Step->Owner) + " here"});
      if (Way.size() == 1 && !E.Owner.Fields.empty())
        F.Steps.push_back({E.Owner.Fields.back()->getLocation(),
                           Owned + " owns " + Owner + " by this member"});
      for (const Edge *Step : Way)
        if (Step->Field)
          Told.insert(Step->Field);
      tell(F);
    }
  }

  // Where nobody is seen to close the cycle: two classes that own each other,
  // one of which takes the other as it comes.
  ClassOwnership Classes;
  for (const CXXRecordDecl *Child : Modules)
    for (const FieldDecl *Field : Child->fields()) {
      const FieldDecl *Own = Field->getCanonicalDecl();
      const Expr *Given = Uses.Filled.lookup(Own);
      if (!Given || Told.contains(Own) || Uses.Released.contains(Own))
        continue;
      llvm::SmallVector<const CXXRecordDecl *, 2> Held;
      addModulesIn(Field->getType(), Held);
      for (const CXXRecordDecl *Parent : Held) {
        if (Parent == Child->getDefinition())
          continue;
        const FieldDecl *Back =
            Classes.memberLeadingTo(Parent, Child->getDefinition(), Own);
        if (!Back || Told.contains(Back->getCanonicalDecl()) ||
            Uses.Released.contains(Back->getCanonicalDecl()))
          continue;
        Finding F;
        F.Loc = Field->getLocation();
        F.Highlight = Field->getSourceRange();
        F.Strength = Level::Likely;
        F.Message = "'" + Field->getNameAsString() + "' owns a '" +
                    Parent->getNameAsString() + "', which owns '" +
                    Child->getNameAsString() +
                    "' modules: where it is the owner of this one, neither is "
                    "ever freed";
        F.Steps.push_back({Given->getBeginLoc(), "it is given one here"});
        F.Steps.push_back(
            {Back->getLocation(), "'" + Parent->getNameAsString() + "' owns '" +
                                      Child->getNameAsString() +
                                      "' modules by this member"});
        tell(F);
        Told.insert(Own);
        break;
      }
    }
  Modules.clear();
}

LIBTORCH_CHECK(ModuleOwnershipCycleCheck);

} // namespace libtorch_tidy
