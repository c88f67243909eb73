//===- ModuleOwnershipCycleCheck.cpp --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/UserCode.h"
#include "analysis/cpp/Walk.h"
#include "analysis/cpp/Writes.h"
#include "analysis/flow/unit/UnitModel.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/modules/Kept.h"
#include "analysis/torch/modules/Modules.h"
#include "checks/base/LibtorchCheck.h"
#include "clang/AST/ASTContext.h"
#include "clang/ASTMatchers/ASTMatchFinder.h"

using namespace clang;
using namespace clang::ast_matchers;

namespace libtorch_tidy {

using cpp::Object;

namespace {

constexpr struct ModuleOwnershipCycleReasons {
  Reason ByClasses{"object-unseen", Effect::Likely,
                   "No function makes the cycle: two classes own each other "
                   "by their members, and one of them takes an object of the "
                   "other that exists already, in its constructor or a setter. "
                   "Which object it is given is not seen."};
  Reason Released{"released-somewhere", Effect::Silent,
                  "A member on the way is reset, cleared, moved away or set to "
                  "null anywhere in the file, which opens the cycle."};
} ModuleOwnershipCycle{};

bool isModuleOwner(QualType T) {
  return cpp::isSharedOwner(T) && torch::isModule(T);
}

using Classes = llvm::SmallVector<const CXXRecordDecl *, 2>;

/// The classes of modules that a value of \p T owns, by value, holder, smart
/// pointer or container.
Classes modulesIn(QualType T, unsigned Depth = 0) {
  Classes Found;
  if (T.isNull() || Depth > 4 || !cpp::isOwningType(T))
    return Found;
  const CXXRecordDecl *R = torch::heldClass(T);
  if (torch::isModule(T)) {
    if (R && R->hasDefinition())
      Found.push_back(R->getDefinition());
  } else if (cpp::isStdDecl(R)) {
    cpp::forEachArgument(R, [&](QualType Arg) {
      llvm::append_range(Found, modulesIn(Arg, Depth + 1));
    });
  }
  return Found;
}

bool ownsModules(QualType T) { return !modulesIn(T).empty(); }

/// A place in the code that makes one object an owner of another.
struct Edge {
  Object Owner, Owned;
  const Expr *Where = nullptr;
  const Expr *Value = nullptr;
  const FieldDecl *Field = nullptr; ///< Null when it is registered only.
  /// The value is the object itself, not one that was made of it.
  bool Direct = false;
};

/// The field of its object that a method puts parameter \p I into; null where
/// it only registers it, nullopt where it does neither.
std::optional<const FieldDecl *> storedBy(const CXXMethodDecl *Method,
                                          unsigned I) {
  std::optional<const FieldDecl *> Found;
  for (const torch::StoredArgument &Known : torch::storedArguments(Method))
    if (Known.Index == I &&
        (Known.Field ? cpp::isOwningType(Known.Field->getType()) : !Found))
      Found = Known.Field;
  return Found;
}

/// Collects the edges of one function.
class EdgeFinder {
public:
  EdgeFinder(const Stmt *Body, const SourceManager &SM) : Body(Body), SM(SM) {
    cpp::walk(
        Body, {},
        [&](const Stmt *S) {
          if (const auto *Call = dyn_cast<CallExpr>(S))
            lookAt(Call);
          return true;
        },
        [&](const Decl *D) {
          if (const auto *Var = dyn_cast<VarDecl>(D))
            lookAt(Var);
          return true;
        });
  }
  llvm::SmallVector<Edge, 4> Edges;

private:
  void lookAt(const CallExpr *Call) {
    if (cpp::isAssignment(Call))
      return into(Call, Call->getArg(0), Call->getArg(1));
    const auto *Member = dyn_cast<CXXMemberCallExpr>(Call);
    const Expr *Object = Member ? Member->getImplicitObjectArgument() : nullptr;
    if (!Object || Call->getNumArgs() == 0)
      return;
    if (auto Registered = torch::asRegistration(Call)) {
      if (Registered->What == torch::Registration::Module && Registered->Value)
        add(Call, cpp::objectOf(Object, Body), nullptr, Registered->Value);
      return;
    }
    if (auto Added = cpp::asInsertion(Call)) {
      if (torch::isModule(Object->getType())) // Sequential, ModuleList
        add(Call, cpp::objectOf(Object, Body), nullptr, Added->value());
      else
        into(Call, Object, Added->value());
      return;
    }
    const CXXMethodDecl *Method = Member->getMethodDecl();
    if (!Method || !Method->getIdentifier() ||
        !cpp::isUserCode(Method->getLocation(), SM))
      return;
    for (unsigned I = 0; I < Call->getNumArgs(); ++I)
      if (isModuleOwner(Call->getArg(I)->getType()))
        if (auto Field = storedBy(Method, I))
          add(Call, cpp::objectOf(Object, Body), *Field, Call->getArg(I));
  }

  /// `Child child(parent)`: what its constructor stores.
  void lookAt(const VarDecl *Var) {
    if (!Var->isLocalVarDecl() || Var->isStaticLocal() || !Var->getInit() ||
        !isModuleOwner(Var->getType()) || cpp::objectOf(Var->getInit(), Body))
      return;
    Object Owner;
    Owner.Root = Var;
    add(Var->getInit(), Owner, nullptr, Var->getInit());
  }

  /// `place.field = value`
  void into(const Expr *Where, const Expr *To, const Expr *Value) {
    if (!ownsModules(To->getType()))
      return;
    auto Place = cpp::objectOf(To, Body);
    if (!Place || Place->Fields.empty())
      return;
    const FieldDecl *Field = Place->Fields.pop_back_val();
    if (cpp::isOwningType(Field->getType()))
      add(Where, Place, Field, Value);
  }

  void add(const Expr *Where, const std::optional<Object> &Owner,
           const FieldDecl *Field, const Expr *Value) {
    if (!Owner || changes(Owner->Root))
      return;
    for (const Expr *Kept : torch::keptBy(Value, Body)) {
      if (!isModuleOwner(Kept->getType()))
        continue;
      auto Owned = cpp::objectOf(Kept, Body);
      if (Owned && !changes(Owned->Root))
        Edges.push_back({*Owner, *Owned, Where, Kept, Field,
                         cpp::stripImplicit(Value) == Kept});
    }
  }

  /// A variable that stands for several objects in turn.
  bool changes(const ValueDecl *Var) const {
    return Var && cpp::isReassigned(Var, Body);
  }

  const Stmt *Body;
  const SourceManager &SM;
};

/// Does \p From own \p To, itself or by the other edges? The edges on the way
/// go to \p Way; \p Gone are those that were tried.
bool reaches(const Object &From, const Object &To, llvm::ArrayRef<Edge> Edges,
             llvm::SmallPtrSetImpl<const Edge *> &Gone,
             llvm::SmallVectorImpl<const Edge *> &Way) {
  if ((From == To && !From.Element) || cpp::owns(From, To))
    return true;
  for (const Edge &E : Edges) {
    if (!(From == E.Owner && !From.Element) && !cpp::owns(From, E.Owner))
      continue;
    if (!Gone.insert(&E).second)
      continue;
    Way.push_back(&E);
    if (reaches(E.Owned, To, Edges, Gone, Way))
      return true;
    Way.pop_back();
  }
  return false;
}

std::string nameOf(const cpp::Object &Object) {
  return Object.isThis() ? "this module" : "'" + Object.name() + "'";
}

/// What the functions of the unit do with members.
class FieldUses {
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
    cpp::forEach<CallExpr>(Body, [&](const CallExpr *Call) {
      const auto *Member = cpp::isAssignment(Call)
                               ? dyn_cast_or_null<MemberExpr>(
                                     cpp::stripImplicit(Call->getArg(0)))
                               : nullptr;
      if (Member)
        given(Member->getMemberDecl(), Call->getArg(1));
    });
    flow::forEachReleased(F, [&](const FieldDecl *Field) {
      if (ownsModules(Field->getType()))
        Released.insert(Field);
    });
  }
  /// What other units do with the members of \p Module.
  void addElsewhere(const CXXRecordDecl *Module) {
    for (const FieldDecl *Field : Module->fields())
      if (ownsModules(Field->getType()) &&
          flow::fieldElsewhere(Field).IsReleased)
        Released.insert(Field->getCanonicalDecl());
  }

  /// Does any released member own modules of the class that \p T does?
  bool releases(QualType T) const {
    const Classes Wanted = modulesIn(T);
    return llvm::any_of(Released, [&](const FieldDecl *Field) {
      return llvm::any_of(modulesIn(Field->getType()), [&](const auto *Class) {
        return llvm::any_of(Wanted, [&](const CXXRecordDecl *Other) {
          return Class == Other || Other->isDerivedFrom(Class);
        });
      });
    });
  }

private:
  /// A parameter, `this` or another variable's object: not one made here.
  void given(const ValueDecl *Member, const Expr *Value) {
    const auto *Field = dyn_cast<FieldDecl>(Member);
    if (!Field || !isModuleOwner(Field->getType()))
      return;
    auto Object = cpp::objectOf(Value, Body);
    if (Object && Object->Fields.empty() &&
        (!isa_and_nonnull<VarDecl>(Object->Root) ||
         isa<ParmVarDecl>(Object->Root)))
      Filled.try_emplace(Field->getCanonicalDecl(), Value);
  }
};

/// The member by which modules of class \p Owner own those of \p Owned, perhaps
/// through members of its own; null when there is none. \p Seen are the classes
/// that were looked at.
const FieldDecl *
memberLeadingTo(const CXXRecordDecl *Owner, const CXXRecordDecl *Owned,
                const FieldDecl *Except,
                llvm::SmallPtrSetImpl<const CXXRecordDecl *> &Seen) {
  if (!Seen.insert(Owner).second || torch::isTorchDecl(Owner))
    return nullptr;
  for (const FieldDecl *Field : Owner->fields())
    if (Field->getCanonicalDecl() != Except)
      for (const CXXRecordDecl *Class : modulesIn(Field->getType()))
        if (Class == Owned || memberLeadingTo(Class, Owned, Except, Seen))
          return Field;
  for (const CXXBaseSpecifier &Base : Owner->bases())
    if (const CXXRecordDecl *B = Base.getType()->getAsCXXRecordDecl();
        B && B->hasDefinition())
      if (const FieldDecl *Field =
              memberLeadingTo(B->getDefinition(), Owned, Except, Seen))
        return Field;
  return nullptr;
}

/// The classes of modules that \p Of is, or is a container of, in \p Function.
Classes classesOf(const Object &Of, const FunctionDecl *Function) {
  if (!Of.isThis())
    return modulesIn(
        (Of.Fields.empty() ? Of.Root : Of.Fields.back())->getType());
  const auto *Method = dyn_cast<CXXMethodDecl>(Function);
  return Method ? Classes{Method->getParent()} : Classes();
}

/// The finding that \p Way makes in \p Function; it begins with the edge that
/// closes it.
Finding worded(llvm::ArrayRef<const Edge *> Way, const FunctionDecl *Function) {
  const Edge &E = *Way.front();
  const std::string Owner = nameOf(E.Owner), Owned = nameOf(E.Owned);
  const bool Recurses = (Way.size() > 1 || E.Owner == E.Owned) &&
                        llvm::all_of(Way, [](const Edge *Step) {
                          return !Step->Field && Step->Direct;
                        });
  Finding F = Finding::from(E.Where).says(
      (E.Owner == E.Owned
           ? "memory leak: this makes " + Owner +
                 " own itself, directly or through a member: it is "
                 "never freed"
           : "memory leak: this makes " + Owner + " own " + Owned +
                 ", which owns it: neither is ever freed") +
      (Recurses ? ", and parameters() recurses without end" : ""));
  F.runsWith(E.Where, Function->getASTContext());
  F.remedy(E.Owner == E.Owned ? "hold a weak or plain pointer there"
                              : "let one of them hold a weak or plain pointer");
  llvm::SmallPtrSet<const ValueDecl *, 4> Made;
  for (const Edge *Step : llvm::reverse(Way))
    for (const Object *Of : {&Step->Owner, &Step->Owned}) {
      if (Made.insert(Of->Root).second)
        F.noteMade(Of->Root);
      for (const CXXRecordDecl *Class : classesOf(*Of, Function))
        F.Keeps.insert(Class);
    }
  for (const Edge *Step : llvm::drop_begin(Way))
    F.note(Step->Where->getBeginLoc(), nameOf(Step->Owned) + " is given to " +
                                           nameOf(Step->Owner) + " here");
  if (Way.size() == 1 && !E.Owner.Fields.empty())
    F.note(E.Owner.Fields.back(), Owned + " owns " + Owner + " by this member");
  return F;
}

/// Two classes that own each other.
struct ClassCycle {
  const CXXRecordDecl *Child, *Parent;
  const FieldDecl *Own;  ///< Of the child.
  const FieldDecl *Back; ///< Of the parent, and leads to the child.
  const Expr *Given;     ///< What the child's member is given.
};

Finding worded(const ClassCycle &C) {
  const std::string Child = quoted(C.Child), Parent = quoted(C.Parent);
  Finding F = Finding::at(C.Own->getLocation(), C.Own->getSourceRange());
  F.Keeps.insert(C.Child);
  F.Keeps.insert(C.Parent);
  return F.because(ModuleOwnershipCycle.ByClasses)
      .says("memory leak: " + quoted(C.Own) + " owns a module of class " +
            Parent + ", which owns " + Child +
            " modules: if that module owns this one, neither is ever freed")
      .remedy("let one of them hold a weak or plain pointer")
      .note(C.Given->getBeginLoc(), "it is given one here")
      .note(C.Back, Parent + " owns " + Child + " modules by this member");
}

/// docs/checks/libtorch-module-ownership-cycle.md says what it finds and why.
class ModuleOwnershipCycleCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;
  void registerMatchers(MatchFinder *Finder) override {
    Finder->addMatcher(cxxRecordDecl(isDefinition(),
                                     unless(isExpansionInSystemHeader()),
                                     isDerivedFrom(torch::ModuleClass.str()))
                           .bind("module"),
                       this);
  }
  void checkMatch(const Match &Result) override {
    const auto *R = Result.Nodes.getNodeAs<CXXRecordDecl>("module");
    if (!R->isDependentContext())
      Modules.push_back(R);
  }
  void checkMatched() override {
    // A cycle takes a member that can own a module that exists already, or a
    // module that is registered from outside.
    if (Modules.empty())
      return;
    FieldUses Uses;
    for (const FunctionDecl *F : unit().functions())
      Uses.add(F);
    for (const CXXRecordDecl *Module : Modules)
      Uses.addElsewhere(Module);
    for (const FunctionDecl *F : unit().functions())
      checkEdges(F, Uses);
    for (const CXXRecordDecl *Child : Modules)
      checkClasses(Child, Uses);
    Modules.clear();
    Reported.clear();
  }

private:
  /// Cycles that the statements of \p Function close.
  void checkEdges(const FunctionDecl *Function, const FieldUses &Uses) {
    EdgeFinder Finder(Function->getBody(), context().getSourceManager());
    llvm::DenseSet<const Edge *> Explained;
    llvm::SmallVector<const Edge *, 4> Closed;
    for (const Edge &E : llvm::reverse(Finder.Edges)) {
      llvm::SmallVector<const Edge *, 4> Way;
      Way.push_back(&E);
      llvm::SmallPtrSet<const Edge *, 8> Gone = {&E};
      if (Explained.contains(&E) ||
          !reaches(E.Owned, E.Owner, Finder.Edges, Gone, Way))
        continue;
      const auto *Released = llvm::find_if(Way, [&](const Edge *Step) {
        return Uses.Released.contains(Step->Field) ||
               (!Step->Direct && Uses.releases(Step->Value->getType()));
      });
      if (Released != Way.end()) {
        silent(E.Where->getBeginLoc(), ModuleOwnershipCycle.Released, "given",
               (*Released)->Where->getExprLoc());
        continue;
      }
      // One statement may give it in several ways.
      if (llvm::any_of(Closed, [&](const Edge *Known) {
            return Known->Owner == E.Owner && Known->Owned == E.Owned;
          }))
        continue;
      Closed.push_back(&E);
      Explained.insert(Way.begin(), Way.end());
      for (const Edge *Step : Way)
        if (Step->Field)
          Reported.insert(Step->Field);
      report(worded(Way, Function));
    }
  }

  /// Cycles that no function is seen to close: \p Child and another class own
  /// each other, and \p Child takes the other as it comes.
  void checkClasses(const CXXRecordDecl *Child, const FieldUses &Uses) {
    for (const FieldDecl *Field : Child->fields()) {
      const FieldDecl *Own = Field->getCanonicalDecl();
      const Expr *Given = Uses.Filled.lookup(Own);
      if (!Given || Reported.contains(Own))
        continue;
      for (const CXXRecordDecl *Parent : modulesIn(Field->getType())) {
        if (Parent == Child->getDefinition())
          continue;
        llvm::SmallPtrSet<const CXXRecordDecl *, 8> Seen;
        const FieldDecl *Back =
            memberLeadingTo(Parent, Child->getDefinition(), Own, Seen);
        if (!Back || Reported.contains(Back->getCanonicalDecl()))
          continue;
        Finding F = worded(ClassCycle{Child, Parent, Field, Back, Given});
        for (const FieldDecl *Member : {Own, Back})
          if (Uses.Released.contains(Member->getCanonicalDecl()))
            F.because(ModuleOwnershipCycle.Released, Member);
        report(F);
        if (F.silence())
          continue;
        Reported.insert(Own);
        break;
      }
    }
  }

  /// Modules of the user, in source order.
  llvm::SmallVector<const CXXRecordDecl *, 8> Modules;
  /// Members that a finding is about already.
  llvm::DenseSet<const FieldDecl *> Reported;
};

} // namespace

LIBTORCH_CHECK(ModuleOwnershipCycleCheck, ModuleOwnershipCycle);

} // namespace libtorch_tidy
