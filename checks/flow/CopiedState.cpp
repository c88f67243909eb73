//===- CopiedState.cpp - What a copied object brings along ----------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/flow/CopiedState.h"
#include "checks/torch/Conventions.h"
#include "checks/torch/DataLoaders.h"
#include "checks/torch/Headers.h"
#include "checks/torch/Owners.h"
#include "checks/torch/TorchTypes.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::flow {

namespace {

/// What a value owns on the heap, from little to much.
enum class Owns {
  Nothing,
  String,
  Numbers, ///< One row of numbers.
  Strings,
  Rows,  ///< Numbers in containers of containers.
  Large, ///< An array, in the object itself.
};

constexpr CharUnits::QuantityType LargeArray = 1 << 20;

/// vector, map and their kin of namespace std.
bool isContainer(const CXXRecordDecl *R) {
  return R->getIdentifier() && R->isInStdNamespace() &&
         llvm::StringSwitch<bool>(R->getName())
             .Cases("vector", "deque", "list", "forward_list", true)
             .Cases("map", "multimap", "unordered_map", true)
             .Cases("unordered_multimap", "set", "multiset", true)
             .Cases("unordered_set", "valarray", true)
             .Default(false);
}

class Ownership {
public:
  explicit Ownership(const ASTContext &Context) : Context(Context) {}

  Owns of(QualType T) {
    if (T.isNull() || T->isDependentType() || T->isReferenceType() ||
        T->isPointerType())
      return Owns::Nothing;
    if (const auto *Array = Context.getAsConstantArrayType(T))
      return isLarge(T) ? Owns::Large : of(Array->getElementType());
    const CXXRecordDecl *R = T->getAsCXXRecordDecl();
    if (!R || !R->hasDefinition() || !Seen.insert(R).second)
      return Owns::Nothing;
    Owns Result = of(R->getDefinition(), T);
    Seen.erase(R);
    return Result;
  }

private:
  bool isLarge(QualType T) const {
    return !T->isIncompleteType() &&
           Context.getTypeSizeInChars(T).getQuantity() >= LargeArray;
  }

  Owns of(const CXXRecordDecl *R, QualType T) {
    // Handles: copies refer to the same data.
    if (torch::ownsTensors(T) || !torch::pointeeOf(T).isNull())
      return Owns::Nothing;
    StringRef Name = R->getIdentifier() ? R->getName() : StringRef();
    if (isContainer(R))
      return ofContainer(R);
    if (R->isInStdNamespace()) {
      if (Name == "basic_string")
        return Owns::String;
      if (Name == "array" && isLarge(T))
        return Owns::Large;
      if (Name == "pair" || Name == "tuple" || Name == "array" ||
          Name == "optional")
        return ofArguments(R);
      return Owns::Nothing;
    }
    if (!torch::isUserCode(R->getLocation(), Context.getSourceManager()))
      return Owns::Nothing;
    Owns Most = Owns::Nothing;
    for (const CXXBaseSpecifier &Base : R->bases())
      Most = std::max(Most, of(Base.getType()));
    for (const FieldDecl *Field : R->fields())
      Most = std::max(Most, of(Field->getType()));
    return Most;
  }

  /// The most that an argument owns: of std::pair, of a container's elements.
  Owns ofArguments(const CXXRecordDecl *R) {
    Owns Most = Owns::Nothing;
    forEachArgument(R, [&](QualType T) { Most = std::max(Most, of(T)); });
    return Most;
  }

  Owns ofContainer(const CXXRecordDecl *R) {
    switch (ofArguments(R)) {
    case Owns::Large:
    case Owns::Rows:
    case Owns::Numbers:
      return Owns::Rows;
    case Owns::Strings:
    case Owns::String:
      return Owns::Strings;
    case Owns::Nothing:
      break;
    }
    // Plain elements: numbers, and structs of numbers; not handles, pointers
    // or classes of other libraries, which share or are not known.
    bool Plain = true;
    forEachArgument(R, [&](QualType T) {
      const CXXRecordDecl *Element = T->getAsCXXRecordDecl();
      if (T->isPointerType() || torch::mayHoldTensor(T) ||
          (Element && !(Element->hasDefinition() &&
                        isPlainRecord(Element->getDefinition()))))
        Plain = false;
    });
    return Plain ? Owns::Numbers : Owns::Nothing;
  }

  static bool isPlainRecord(const CXXRecordDecl *R) {
    if (R->isInStdNamespace()) {
      // The traits beside the elements: allocator, less, hash.
      StringRef Name = R->getIdentifier() ? R->getName() : StringRef();
      return llvm::StringSwitch<bool>(Name)
          .Cases("allocator", "less", "hash", "equal_to", "pair", "tuple", true)
          .Cases("array", "complex", "char_traits", true)
          .Default(false);
    }
    return R->isTriviallyCopyable();
  }

  template <typename Callback>
  static void forEachArgument(const CXXRecordDecl *R, Callback Visit) {
    const auto *Spec = dyn_cast<ClassTemplateSpecializationDecl>(R);
    if (!Spec)
      return;
    for (const TemplateArgument &Arg : Spec->getTemplateArgs().asArray()) {
      if (Arg.getKind() == TemplateArgument::Type)
        Visit(Arg.getAsType());
      else if (Arg.getKind() == TemplateArgument::Pack)
        for (const TemplateArgument &Inner : Arg.pack_elements())
          if (Inner.getKind() == TemplateArgument::Type)
            Visit(Inner.getAsType());
    }
  }

  const ASTContext &Context;
  llvm::SmallPtrSet<const CXXRecordDecl *, 8> Seen;
};

/// What the methods that run on a copy do with its members.
class Uses : public RecursiveASTVisitor<Uses> {
public:
  struct Use {
    const Expr *First = nullptr;
    bool Seeded = false;
    /// data[index], data.at(index): one entry for each example.
    bool Indexed = false;
    /// data[index * n], data.data() + index * n: a row of each in one
    /// container.
    bool Strided = false;
  };
  llvm::DenseMap<const FieldDecl *, Use> Of;

  explicit Uses(const SourceManager &SM) : SM(SM) {}

  void add(const FunctionDecl *F) {
    const FunctionDecl *Definition = F->getDefinition();
    if (Definition && Definition->hasBody() &&
        torch::isUserCode(Definition->getLocation(), SM) &&
        Seen.insert(Definition).second)
      TraverseStmt(Definition->getBody());
  }

  bool VisitMemberExpr(MemberExpr *Member) {
    if (const FieldDecl *Field = fieldOf(Member)) {
      Use &U = Of[Field];
      if (!U.First)
        U.First = Member;
    }
    return true;
  }
  bool VisitCallExpr(CallExpr *Call) {
    if (const FunctionDecl *Callee = Call->getDirectCallee())
      add(Callee);
    return true;
  }
  bool VisitCXXMemberCallExpr(CXXMemberCallExpr *Call) {
    const CXXMethodDecl *Method = Call->getMethodDecl();
    const FieldDecl *Field = fieldOf(Call->getImplicitObjectArgument());
    if (Field && Method && Method->getIdentifier()) {
      if (Method->getName() == "seed")
        Of[Field].Seeded = true;
      if (Method->getName() == "at" && Call->getNumArgs() == 1 &&
          isExample(Call->getArg(0)))
        Of[Field].Indexed = true;
    }
    return true;
  }
  bool VisitCXXOperatorCallExpr(CXXOperatorCallExpr *Call) {
    if (Call->getNumArgs() != 2)
      return true;
    const FieldDecl *Field = fieldOf(Call->getArg(0));
    if (Field && Call->getOperator() == OO_Equal)
      Of[Field].Seeded = true;
    if (Field && Call->getOperator() == OO_Subscript &&
        isExample(Call->getArg(1)))
      (multiplies(Call->getArg(1)) ? Of[Field].Strided : Of[Field].Indexed) =
          true;
    // begin() + i * n
    if (Call->getOperator() == OO_Plus)
      strided(Call->getArg(0), Call->getArg(1));
    return true;
  }
  bool VisitBinaryOperator(BinaryOperator *Op) {
    if (Op->getOpcode() == BO_Add && Op->getType()->isPointerType())
      strided(Op->getLHS(), Op->getRHS());
    return true;
  }

private:
  static const FieldDecl *fieldOf(const Expr *E) {
    const auto *Member = dyn_cast<MemberExpr>(E->IgnoreParenImpCasts());
    return Member && isa<CXXThisExpr>(Member->getBase()->IgnoreParenImpCasts())
               ? dyn_cast<FieldDecl>(Member->getMemberDecl())
               : nullptr;
  }
  void strided(const Expr *Start, const Expr *Offset) {
    const auto *Call =
        dyn_cast<CXXMemberCallExpr>(Start->IgnoreParenImpCasts());
    if (!Call || !multiplies(Offset) || !isExample(Offset))
      return;
    if (const FieldDecl *Field = fieldOf(Call->getImplicitObjectArgument()))
      Of[Field].Strided = true;
  }
  /// Does \p E depend on a parameter, such as the index that get() is given, or
  /// on the variable of a range-based for, such as one index of a batch?
  static bool isExample(const Stmt *E) {
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
      const auto *Var = dyn_cast<VarDecl>(Ref->getDecl());
      return Var && (isa<ParmVarDecl>(Var) || Var->isCXXForRangeDecl());
    }
    return llvm::any_of(E->children(), [](const Stmt *Child) {
      return Child && isExample(Child);
    });
  }
  static bool multiplies(const Expr *E) {
    const auto *Op = dyn_cast<BinaryOperator>(E->IgnoreParenImpCasts());
    return Op && (Op->getOpcode() == BO_Mul || multiplies(Op->getLHS()) ||
                  multiplies(Op->getRHS()));
  }

  const SourceManager &SM;
  llvm::SmallPtrSet<const FunctionDecl *, 8> Seen;
};

bool copiesItself(const CXXRecordDecl *R) {
  return llvm::any_of(R->ctors(), [](const CXXConstructorDecl *Ctor) {
    return Ctor->isCopyConstructor() && Ctor->isUserProvided();
  });
}

/// A generator, or a member of a user's class that holds one by value.
bool holdsEngine(QualType T, const SourceManager &SM, unsigned Depth = 0) {
  if (torch::isRandomEngine(T))
    return true;
  const CXXRecordDecl *R = T->getAsCXXRecordDecl();
  if (!R || !R->hasDefinition() || Depth > 4 ||
      !torch::isUserCode(R->getLocation(), SM) ||
      copiesItself(R->getDefinition()))
    return false;
  return llvm::any_of(R->getDefinition()->fields(), [&](const FieldDecl *F) {
    return holdsEngine(F->getType(), SM, Depth + 1);
  });
}

void collect(const CXXRecordDecl *Class, const Uses &Used,
             const ASTContext &Context,
             llvm::SmallVectorImpl<CopiedMember> &Found) {
  if (copiesItself(Class))
    return;
  const SourceManager &SM = Context.getSourceManager();
  for (const CXXBaseSpecifier &Base : Class->bases()) {
    const CXXRecordDecl *R = Base.getType()->getAsCXXRecordDecl();
    if (R && R->hasDefinition() && torch::isUserCode(R->getLocation(), SM))
      collect(R->getDefinition(), Used, Context, Found);
  }
  for (const FieldDecl *Field : Class->fields()) {
    auto It = Used.Of.find(Field);
    if (It == Used.Of.end() || !Field->getIdentifier())
      continue;
    const Uses::Use &Use = It->second;
    if (holdsEngine(Field->getType(), SM)) {
      if (!Use.Seeded)
        Found.push_back({CopiedMember::Random, Field, Use.First});
      continue;
    }
    Owns What = Ownership(Context).of(Field->getType());
    if (What == Owns::Large || (What == Owns::Rows && Use.Indexed) ||
        (What == Owns::Numbers && Use.Strided))
      Found.push_back({CopiedMember::Data, Field, Use.First});
    else if (What == Owns::Rows || (What == Owns::Strings &&
                                    !torch::namesSmallText(Field->getName())))
      Found.push_back({CopiedMember::Some, Field, Use.First});
  }
}

} // namespace

llvm::SmallVector<CopiedMember, 2>
copiedMembers(const CXXRecordDecl *Class,
              bool (*IsEntry)(const CXXMethodDecl *)) {
  const ASTContext &Context = Class->getASTContext();
  Uses Used(Context.getSourceManager());
  for (const CXXMethodDecl *Method : Class->methods())
    if (IsEntry(Method))
      Used.add(Method);
  llvm::SmallVector<CopiedMember, 2> Found;
  collect(Class, Used, Context, Found);
  return Found;
}

} // namespace libtorch_tidy::flow
