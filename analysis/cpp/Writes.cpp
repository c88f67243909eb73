//===- Writes.cpp - Where a variable changes ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Writes.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Library.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/RecursiveASTVisitor.h"

using namespace clang;

namespace libtorch_tidy::cpp {

namespace {

/// A whole x, not a part of it.
bool isWhole(const Expr *E) {
  E = E->IgnoreParenImpCasts();
  if (isa<DeclRefExpr>(E))
    return true;
  const auto *Member = dyn_cast<MemberExpr>(E);
  return Member && isa<CXXThisExpr>(Member->getBase()->IgnoreParenImpCasts());
}

/// Methods that are not const and yet change nothing by themselves.
bool onlyReads(const CXXMethodDecl *Method) {
  return !library::changesObject(Method) &&
         (Method->isConst() ||
          isOneOf(nameOf(Method),
                  {"begin", "end", "rbegin", "rend", "data", "front", "back",
                   "at", "find", "value", "get", "reserve"}));
}

/// May what is given as \p Param be changed through it?
bool mayBeChanged(const ParmVarDecl *Param) {
  const QualType T = Param->getType();
  return T->isLValueReferenceType() && !T->getPointeeType().isConstQualified();
}

class WriteFinder : public RecursiveASTVisitor<WriteFinder> {
public:
  /// \p Target may be null: then all is found.
  WriteFinder(const ValueDecl *Target, WritesByTarget &All)
      : Target(Target), All(All) {}

  bool TraverseLambdaExpr(LambdaExpr *L) {
    ++LambdaDepth;
    bool Continue = RecursiveASTVisitor::TraverseLambdaExpr(L);
    --LambdaDepth;
    return Continue;
  }

  bool VisitBinaryOperator(BinaryOperator *Op) {
    if (Op->isAssignmentOp() && refers(Op->getLHS()))
      assigned(Op, Op->getLHS(),
               Op->getOpcode() == BO_Assign ? Op->getRHS() : nullptr);
    return true;
  }

  bool VisitUnaryOperator(UnaryOperator *Op) {
    if (!refers(Op->getSubExpr()))
      return true;
    if (Op->isIncrementDecrementOp())
      add(WriteKind::Changed, Op);
    else if (Op->getOpcode() == UO_AddrOf)
      add(WriteKind::Escaped, Op);
    return true;
  }

  bool VisitVarDecl(VarDecl *Var) {
    QualType T = Var->getType();
    if (T->isLValueReferenceType() &&
        !T.getNonReferenceType().isConstQualified() && Var->getInit() &&
        refers(Var->getInit()))
      add(WriteKind::Escaped, Var->getInit());
    return true;
  }

  bool VisitCallExpr(CallExpr *Call) {
    if (auto *Op = dyn_cast<CXXOperatorCallExpr>(Call);
        Op && Op->isAssignmentOp()) {
      const Expr *Left = valueOf(Op->getArg(0));
      const Expr *Right =
          Op->getOperator() == OO_Equal ? Op->getArg(1) : nullptr;
      if (isStdCall(Left, Std::Tie)) {
        for (const Expr *Arg : cast<CallExpr>(Left)->arguments())
          if (refers(Arg))
            assigned(Op, Arg, nullptr);
      } else if (refers(Left)) {
        assigned(Op, Left, Right);
      }
      // `y = std::move(x)` empties x.
      if (Op->getNumArgs() > 1)
        passed(Call, Op->getArg(1));
      return true;
    }
    if (auto *Member = dyn_cast<CXXMemberCallExpr>(Call)) {
      const Expr *Object = Member->getImplicitObjectArgument();
      const CXXMethodDecl *Method = Member->getMethodDecl();
      if (Object && Method && refers(Object) && !onlyReads(Method)) {
        const bool Releases = isRelease(Call) && isWhole(Object);
        add(Releases ? WriteKind::Released : WriteKind::Changed, Call, nullptr,
            Releases ? Object : nullptr);
      }
    }
    const FunctionDecl *Callee = Call->getDirectCallee();
    if (!Callee || isStdCall(Call, Std::Tie | Std::Move | Std::Part))
      return true;
    // Operators that are members have their object as argument 0.
    const unsigned Shift =
        isa<CXXOperatorCallExpr>(Call) && isa<CXXMethodDecl>(Callee);
    passed(
        Call, Callee,
        llvm::ArrayRef(Call->getArgs(), Call->getNumArgs()).drop_front(Shift));
    return true;
  }

  bool VisitCXXConstructExpr(CXXConstructExpr *Ctor) {
    passed(Ctor, Ctor->getConstructor(),
           llvm::ArrayRef(Ctor->getArgs(), Ctor->getNumArgs()));
    return true;
  }

private:
  /// Asked of what is added next.
  bool refers(const Expr *E) {
    Of = rootOf(E);
    return Of && (!Target || Of == Target);
  }

  void add(WriteKind Kind, const Expr *Where, const Expr *Value = nullptr,
           const Expr *Overwritten = nullptr) {
    auto &Found = All[Of];
    if (!Found.empty() && Found.back().Where == Where)
      return;
    Found.push_back(
        {Kind, Where, Value, LambdaDepth > 0,
         Overwritten ? Overwritten->IgnoreParenImpCasts() : nullptr});
  }

  void assigned(const Expr *Where, const Expr *Left, const Expr *Value) {
    const auto *Builtin = dyn_cast<BinaryOperator>(Where);
    const auto *Op = dyn_cast<CXXOperatorCallExpr>(Where);
    if (!isWhole(Left) || (Op && Op->getOperator() != OO_Equal) ||
        (Builtin && Builtin->getOpcode() != BO_Assign))
      add(WriteKind::Changed, Where);
    else
      add(Value && isEmptyValue(Value) ? WriteKind::Released
                                       : WriteKind::Assigned,
          Where, Value, Left);
  }

  void passed(const Expr *Where, const FunctionDecl *To,
              llvm::ArrayRef<const Expr *> Args) {
    for (const auto &[Arg, Param] : llvm::zip(Args, To->parameters()))
      passed(Where, Arg, mayChange(To, Param));
  }

  /// Does \p To, which makes or fills an object of a library, copy what it is
  /// given as \p Param, a `T &&` of its template? An object of references
  /// refers to it.
  static bool isCopied(const FunctionDecl *To, const ParmVarDecl *Param) {
    const auto *Ctor = dyn_cast<CXXConstructorDecl>(To);
    if (!isOfLibrary(To) ||
        !(Ctor || (kindsOf(To) & (Std::Tuple | Std::Insert)) != Std()) ||
        (Ctor && anyTypeArgument(Ctor->getParent(), holdsReference)))
      return false;
    const FunctionTemplateDecl *Template = To->getPrimaryTemplate();
    const FunctionDecl *Pattern =
        Template ? Template->getTemplatedDecl() : nullptr;
    const unsigned Index = Param->getFunctionScopeIndex();
    // The last one may be a pack.
    if (!Pattern || Pattern->param_empty())
      return false;
    QualType T =
        Pattern->getParamDecl(std::min(Index, Pattern->getNumParams() - 1))
            ->getType();
    if (const auto *Pack = T->getAs<PackExpansionType>())
      T = Pack->getPattern();
    return T->isRValueReferenceType();
  }

  static bool holdsReference(QualType T) {
    return T->isReferenceType() || anyTypeArgument(recordOf(T), holdsReference);
  }

  /// May \p To change what it is given as \p Param?
  static bool mayChange(const FunctionDecl *To, const ParmVarDecl *Param) {
    return mayBeChanged(Param) && !isCopied(To, Param);
  }

  void passed(const Expr *Where, const Expr *Arg, bool MayChange = false) {
    const Expr *Inner = Arg->IgnoreParenImpCasts();
    // Through a copy or move construction for a by-value parameter.
    const Expr *Moved = Inner;
    while (const auto *Ctor =
               dyn_cast<CXXConstructExpr>(Moved->IgnoreImplicit())) {
      if (Ctor->getNumArgs() != 1 ||
          !Ctor->getConstructor()->isCopyOrMoveConstructor())
        break;
      Moved = Ctor->getArg(0)->IgnoreParenImpCasts();
    }
    if (isStdCall(Moved, Std::Move) &&
        refers(cast<CallExpr>(Moved)->getArg(0))) {
      add(isWhole(cast<CallExpr>(Moved)->getArg(0)) ? WriteKind::Released
                                                    : WriteKind::Changed,
          Where);
      return;
    }
    if (MayChange && refers(Inner))
      add(WriteKind::Escaped, Where);
  }

  const ValueDecl *Target, *Of = nullptr;
  WritesByTarget &All;
  unsigned LambdaDepth = 0;
};

} // namespace

llvm::SmallVector<Write, 4> writesTo(const ValueDecl *Target,
                                     const Stmt *Body) {
  WritesByTarget All;
  WriteFinder(Target, All).TraverseStmt(const_cast<Stmt *>(Body));
  return std::move(All[Target]);
}

WritesByTarget allWrites(const Stmt *Body) {
  WritesByTarget All;
  WriteFinder(nullptr, All).TraverseStmt(const_cast<Stmt *>(Body));
  return All;
}

/// Has \p T, if it is a class of the program, a method that may change what it
/// is given?
static bool takesToChange(QualType T) {
  const CXXRecordDecl *R = recordOf(T);
  if (!R || isOfLibrary(R))
    return false;
  return !R->hasDefinition() ||
         llvm::any_of(R->methods(),
                      [](const CXXMethodDecl *Method) {
                        return llvm::any_of(Method->parameters(), mayBeChanged);
                      }) ||
         llvm::any_of(R->bases(), [](const CXXBaseSpecifier &Base) {
           return takesToChange(Base.getType());
         });
}

/// Does library code that takes its argument by reference only hand it on?
/// make_shared, the constructors of holders and the modules that are called
/// do; a function object gives it to a function that nobody knows.
static bool handsOn(const Expr *E) {
  if (const auto *Construct = dyn_cast<CXXConstructExpr>(E)) {
    const CXXConstructorDecl *Ctor = Construct->getConstructor();
    return Ctor->isInheritingConstructor() || isOfLibrary(Ctor);
  }
  const auto *Call = dyn_cast<CallExpr>(E);
  const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
  if (!Callee || !isOfLibrary(Callee))
    return false;
  if (const auto *Op = dyn_cast<CXXOperatorCallExpr>(Call)) {
    const auto *Method = dyn_cast<CXXMethodDecl>(Callee);
    return Op->getOperator() == OO_Call && Method && !isStdDecl(Method) &&
           !anyTypeArgument(Method->getParent(), takesToChange);
  }
  return !does(Call, Std::Swap | Std::Exchange | Std::Write | Std::Tie);
}

bool isReassigned(const ValueDecl *Var, const Stmt *Body) {
  return !Body || anyReassigns(writesTo(Var, Body));
}

bool anyReassigns(llvm::ArrayRef<Write> Writes) {
  return llvm::any_of(Writes, [](const Write &W) {
    return W.Kind == WriteKind::Assigned ||
           (W.Kind == WriteKind::Escaped && !handsOn(W.Where)) ||
           (W.Kind == WriteKind::Released && W.Overwritten);
  });
}

} // namespace libtorch_tidy::cpp
