//===- UnitScan.cpp - Facts of a unit that need no data flow --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Object.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/cpp/UserCode.h"
#include "analysis/flow/unit/UnitModel.h"
#include "analysis/torch/api/Conventions.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Autograd.h"
#include "analysis/torch/storage/Owners.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/RecursiveASTVisitor.h"

using namespace clang;
using libtorch_tidy::torch::Work;

namespace libtorch_tidy::flow {

namespace {

/// Finds the functions of user code. Library code is cut off at its outermost
/// declaration, so that a unit with all of LibTorch in it costs little.
class Collector : public RecursiveASTVisitor<Collector> {
public:
  Collector(UnitScan &Into, const SourceManager &SM) : Into(Into), SM(SM) {}

  std::vector<const FunctionDecl *> Defined; ///< Templates, too.

  bool shouldVisitTemplateInstantiations() const { return true; }

  bool TraverseDecl(Decl *D) {
    // A namespace may be re-opened by the user, so it is judged by each of its
    // declarations; anything else at file level by where it stands.
    if (D && !isa<TranslationUnitDecl, NamespaceDecl, LinkageSpecDecl>(D) &&
        D->getDeclContext() && D->getDeclContext()->isFileContext() &&
        !cpp::isUserCode(D->getLocation(), SM))
      return true;
    if (auto *NS = dyn_cast_or_null<NamespaceDecl>(D);
        NS && !cpp::isUserCode(NS->getLocation(), SM))
      return true;
    return RecursiveASTVisitor::TraverseDecl(D);
  }

  bool VisitFunctionDecl(FunctionDecl *F) {
    if (F->doesThisDeclarationHaveABody())
      Defined.push_back(F);
    add(F);
    if (const auto *Method = dyn_cast<CXXMethodDecl>(F);
        Method && !Method->isDependentContext())
      for (const CXXMethodDecl *Base : Method->overridden_methods())
        Into.Overriders[Base->getCanonicalDecl()].insert(
            Method->getCanonicalDecl());
    return true;
  }

  bool VisitCallExpr(CallExpr *Call) {
    Into.CallsEval |= torch::mayEndTraining(Call);
    return true;
  }
  /// In templates that are not instantiated, anything may hold a module; an
  /// object that is no pointer or holder is more likely an Eigen expression.
  bool VisitCXXDependentScopeMemberExpr(CXXDependentScopeMemberExpr *E) {
    const IdentifierInfo *Id = E->getMember().getAsIdentifierInfo();
    Into.CallsEval |= E->isArrow() && Id &&
                      (Id->getName() == "eval" || Id->getName() == "train");
    return true;
  }
  bool VisitVarDecl(VarDecl *Var) {
    if (Var->hasInit() && !Var->isLocalVarDeclOrParm() &&
        Var->hasGlobalStorage() && cpp::isUserCode(Var->getLocation(), SM))
      Into.Globals.push_back(Var);
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
        !F->isDefaulted() && cpp::isUserCode(F->getLocation(), SM) &&
        Seen.insert(F).second)
      Into.Functions.push_back(F);
    if (F->isMain() && F->doesThisDeclarationHaveABody())
      Into.Main = F;
  }

  UnitScan &Into;
  const SourceManager &SM;
  llvm::SmallPtrSet<const FunctionDecl *, 32> Seen;
};

} // namespace

UnitScan::UnitScan(ASTContext &Context) {
  Collector Visitor(*this, Context.getSourceManager());
  for (Decl *D : Context.getTraversalScope())
    if (auto *TU = dyn_cast<TranslationUnitDecl>(D))
      for (Decl *Top : TU->decls())
        Visitor.TraverseDecl(Top);
    else
      Visitor.TraverseDecl(D);
  Broken.emplace(Context, Visitor.Defined);
}

static bool needsGradients(const CallExpr *Call) {
  const std::optional<torch::Flag> Set = torch::setsRequiresGrad(Call);
  return torch::isBackward(Call) || torch::isModuleTrain(Call) ||
         torch::isOptimizerStep(Call) || torch::isZeroGrad(Call) ||
         (Set && *Set != torch::Flag::False) ||
         torch::isOptimizerType(Call->getType()) ||
         torch::factoryRequiresGrad(Call) == torch::Flag::True;
}

/// Does the function return a tensor that is a loss by its name, or by that of
/// what makes it?
static bool returnsLoss(cpp::Body &In) {
  return cpp::anyOf<ReturnStmt>(In.root(), [&](const ReturnStmt *Return) {
    const Expr *Value = Return->getRetValue();
    if (!Value || !torch::isTensor(Value->getType()))
      return false;
    const auto *Ref = dyn_cast<DeclRefExpr>(cpp::stripImplicit(Value));
    const auto *Call = dyn_cast_or_null<CallExpr>(In.originOf(Value));
    return (Ref && torch::namesLoss(Ref->getDecl()->getName())) ||
           (Call && torch::namesLoss(cpp::calleeName(Call)));
  });
}

static void noteEval(const ValueDecl *Module, const CallExpr *Eval,
                     UnitCalls &Said) {
  if (Module)
    Said.Evals.try_emplace(Module, Eval);
}

/// Does the loop around \p Call run it whatever the round?
static bool runsInEachRound(const CallExpr *Call, cpp::Body &In) {
  const Stmt *Loop = In.loopAround(Call);
  const auto *If = In.around<IfStmt>(Call);
  return !(Loop && If && In.isWithin(If, Loop));
}

static void readCalls(const FunctionDecl *F, UnitCalls &Said) {
  cpp::Body &In = cpp::Body::of(F);
  cpp::forEachCall(F, [&](const CallExpr *Call) {
    Said.Trains |= needsGradients(Call);
    Said.FreezesLeaves |= torch::switchesLeaf(Call).value_or(
                              torch::Flag::True) != torch::Flag::True;
    if (cpp::isAssignment(Call))
      if (const auto *Set = dyn_cast<MemberExpr>(cpp::peel(Call->getArg(0)));
          Set && !isa<CXXThisExpr>(cpp::peel(Set->getBase())))
        if (const auto *Field = dyn_cast<FieldDecl>(Set->getMemberDecl()))
          Said.SetFields.insert(Field);
    if (auto Backward = torch::asBackward(Call))
      Said.CreatesGraphs |= Backward->CreateGraph != torch::Flag::False;
    if (torch::isModuleEval(Call))
      if (const Expr *Object = cpp::receiverOf(Call))
        for (const ValueDecl *Module : torch::modulesNamed(
                 Object, In, /*InAll=*/runsInEachRound(Call, In)))
          noteEval(Module, Call, Said);
    if (!Said.ScriptLoad && torch::loadsModule(Call) &&
        torch::isScriptModule(Call->getType()))
      Said.ScriptLoad = Call;
  });
  Said.ReturnsLoss = Said.ReturnsLoss || returnsLoss(In);
  Said.Trains |= namesDerivatives(In) ||
                 cpp::anyOf<VarDecl>(In.root(), [](const VarDecl *Var) {
                   return torch::isOptimizerType(Var->getType());
                 });
}

/// The module in \p E, also where an owner is made of it:
/// std::make_shared<Module>(std::move(module)).
static const ValueDecl *moduleMoved(const Expr *E) {
  E = cpp::stripImplicit(E);
  const auto *Call = dyn_cast_or_null<CallExpr>(E);
  return torch::moduleNamed(
      Call && !cpp::receiverOf(Call) && Call->getNumArgs() > 0 ? Call->getArg(0)
                                                               : E);
}

static void handOn(const FunctionDecl *F, UnitCalls &Said) {
  cpp::forEachCall(F, [&](const CallExpr *Call) {
    // module_ = std::move(module);
    if (cpp::isAssignment(Call)) {
      if (const CallExpr *Eval =
              Said.Evals.lookup(moduleMoved(Call->getArg(1))))
        noteEval(torch::moduleNamed(Call->getArg(0)), Eval, Said);
      return;
    }
    // open(path, module_);
    const FunctionDecl *Callee = Call->getDirectCallee();
    const FunctionDecl *Definition = nullptr;
    if (isa<CXXOperatorCallExpr>(Call) || !Callee ||
        torch::isTorchDecl(Callee) || !Callee->hasBody(Definition))
      return;
    for (const ParmVarDecl *Param : Definition->parameters())
      if (const CallExpr *Eval = Said.Evals.lookup(Param);
          Eval && Param->getFunctionScopeIndex() < Call->getNumArgs())
        noteEval(
            torch::moduleNamed(Call->getArg(Param->getFunctionScopeIndex())),
            Eval, Said);
  });
}

/// How far a module that is put in evaluation mode is followed: into a field,
/// and back to the caller of a helper.
static constexpr unsigned Rounds = 2;

const UnitCalls &UnitScan::calls() {
  if (Said)
    return *Said;
  Said.emplace();
  for (const FunctionDecl *F : Functions)
    readCalls(F, *Said);
  for (unsigned Round = 0; Round < Rounds; ++Round)
    for (const FunctionDecl *F : Functions)
      handOn(F, *Said);
  return *Said;
}

//===----------------------------------------------------------------------===//
// Uses of fields
//===----------------------------------------------------------------------===//

static const FieldDecl *fieldIn(const Expr *E) {
  const auto *Member = dyn_cast_or_null<MemberExpr>(cpp::stripImplicit(E));
  const auto *Field =
      Member ? dyn_cast<FieldDecl>(Member->getMemberDecl()) : nullptr;
  return Field ? Field->getCanonicalDecl() : nullptr;
}

/// A lambda, or what a setter was called with.
static bool isFunctionGiven(const Expr *Value) {
  return isa_and_nonnull<LambdaExpr>(cpp::stripImplicit(Value)) ||
         isa_and_nonnull<ParmVarDecl>(cpp::variableOf(Value));
}

void forEachReleased(const FunctionDecl *F,
                     llvm::function_ref<void(const FieldDecl *)> Visit,
                     const CallExpr *Except) {
  auto Note = [&](const Expr *E) {
    if (const FieldDecl *Field = fieldIn(E))
      Visit(Field);
  };
  cpp::forEach<CallExpr>(F->getBody(), [&](const CallExpr *Call) {
    if (cpp::isAssignment(Call) && Call != Except &&
        (cpp::isEmptyValue(Call->getArg(1)) ||
         (cpp::holdsFunctions(Call->getArg(0)->getType()) &&
          !isFunctionGiven(Call->getArg(1)))))
      Note(Call->getArg(0));
    if (!cpp::does(Call, cpp::Std::Empty))
      return;
    if (const auto *Method = dyn_cast<CXXMemberCallExpr>(Call))
      Note(Method->getImplicitObjectArgument());
    for (const Expr *Arg : Call->arguments())
      Note(Arg);
  });
}

/// A field of `*this`.
static const FieldDecl *fieldOf(const Expr *E) {
  const auto *Member = dyn_cast<MemberExpr>(E->IgnoreParenImpCasts());
  return Member && isa<CXXThisExpr>(Member->getBase()->IgnoreParenImpCasts())
             ? dyn_cast<FieldDecl>(Member->getMemberDecl())
             : nullptr;
}

/// Does \p E depend on a parameter, such as the index that get() is given, or
/// on the variable of a range-based for, such as one index of a batch?
static bool isExample(const Expr *E) {
  return cpp::anyOf<DeclRefExpr>(E, [](const DeclRefExpr *Ref) {
    const auto *Var = dyn_cast<VarDecl>(Ref->getDecl());
    return Var && (isa<ParmVarDecl>(Var) || Var->isCXXForRangeDecl());
  });
}

static bool multiplies(const Expr *E) {
  const auto *Op = dyn_cast<BinaryOperator>(E->IgnoreParenImpCasts());
  return Op && (Op->getOpcode() == BO_Mul || multiplies(Op->getLHS()) ||
                multiplies(Op->getRHS()));
}

static void lookAtStride(const Expr *Start, const Expr *Offset,
                         llvm::DenseMap<const FieldDecl *, CopyUse> &Of) {
  const auto *Call = dyn_cast<CXXMemberCallExpr>(Start->IgnoreParenImpCasts());
  if (!Call || !multiplies(Offset) || !isExample(Offset))
    return;
  if (const FieldDecl *Field = fieldOf(Call->getImplicitObjectArgument()))
    Of[Field].Strided = true;
}

static void lookAtMethod(const CXXMemberCallExpr *Call,
                         llvm::DenseMap<const FieldDecl *, CopyUse> &Of) {
  const FieldDecl *Field = fieldOf(Call->getImplicitObjectArgument());
  if (!Field)
    return;
  StringRef Name = cpp::calleeName(Call);
  if (cpp::asInsertion(Call))
    Of[Field].Filled = Call;
  if (cpp::does(Call, cpp::Std::Remove | cpp::Std::Clear))
    Of[Field].Emptied = true;
  if (Name == "seed")
    Of[Field].Seeded = true;
  if (Name == "at" && Call->getNumArgs() == 1 && isExample(Call->getArg(0)))
    Of[Field].Indexed = true;
}

static void lookAtOperator(const CXXOperatorCallExpr *Op,
                           llvm::DenseMap<const FieldDecl *, CopyUse> &Of) {
  if (Op->getNumArgs() != 2)
    return;
  const FieldDecl *Field = fieldOf(Op->getArg(0));
  if (Field && Op->getOperator() == OO_Equal)
    Of[Field].Seeded = true;
  // cache[index] = x
  const auto *Slot =
      dyn_cast<CXXOperatorCallExpr>(Op->getArg(0)->IgnoreParenImpCasts());
  if (Slot && Slot->getOperator() == OO_Subscript &&
      Op->getOperator() == OO_Equal)
    if (const FieldDecl *Into = fieldOf(Slot->getArg(0));
        Into && cpp::isStdClass(cpp::recordOf(Into->getType()),
                                {"map", "unordered_map"}))
      Of[Into].Filled = Op;
  if (Field && Op->getOperator() == OO_Subscript && isExample(Op->getArg(1)))
    (multiplies(Op->getArg(1)) ? Of[Field].Strided : Of[Field].Indexed) = true;
  // begin() + i * n
  if (Op->getOperator() == OO_Plus)
    lookAtStride(Op->getArg(0), Op->getArg(1), Of);
}

void CopyUses::add(const FunctionDecl *F) {
  const FunctionDecl *Definition = F->getDefinition();
  if (Definition && Definition->hasBody()) {
    if (cpp::isUserCode(Definition->getLocation(), SM) &&
        Seen.insert(Definition).second)
      cpp::forEach<Expr>(Definition->getBody(),
                         [&](const Expr *E) { look(E); });
    return;
  }
  const FunctionFacts *Said = factsElsewhere(F);
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  if (!Said || !Method || !Seen.insert(F->getCanonicalDecl()).second)
    return;
  for (const auto &[Name, There] : Said->CopyUses)
    if (const FieldDecl *Field = cpp::fieldNamed(Method->getParent(), Name))
      mergeFacts<FunctionFacts::CopyUse>(Of[Field], There);
}

void CopyUses::look(const Expr *E) {
  if (isa<MemberExpr>(E))
    if (const FieldDecl *Field = fieldOf(E))
      Of[Field].First = Of[Field].First ? Of[Field].First : E;
  if (const auto *Sum = dyn_cast<BinaryOperator>(E);
      Sum && Sum->getOpcode() == BO_Add && Sum->getType()->isPointerType())
    lookAtStride(Sum->getLHS(), Sum->getRHS(), Of);
  const auto *Call = dyn_cast<CallExpr>(E);
  if (!Call)
    return;
  if (const FunctionDecl *Callee = Call->getDirectCallee())
    add(Callee);
  if (const auto *Member = dyn_cast<CXXMemberCallExpr>(Call))
    lookAtMethod(Member, Of);
  else if (const auto *Op = dyn_cast<CXXOperatorCallExpr>(Call))
    lookAtOperator(Op, Of);
}

//===----------------------------------------------------------------------===//
// Tensor work
//===----------------------------------------------------------------------===//

namespace {

/// Visits code whose exceptions leave the statement that is visited.
cpp::Way free() {
  cpp::Way How = cpp::Lambdas::Made;
  How.OutsideTry = true;
  return How;
}

using Calls = llvm::SmallVector<const CallExpr *, 2>;

/// Adds the way to the first call that \p IsGoal accepts to \p Taken.
bool findWay(const Stmt *S, llvm::function_ref<bool(const CallExpr *)> IsGoal,
             cpp::Way How, llvm::SmallPtrSetImpl<const FunctionDecl *> &Seen,
             Calls &Taken) {
  return cpp::anyOf<CallExpr>(
      S,
      [&](const CallExpr *Call) {
        if (!Call->getDirectCallee())
          return false;
        Taken.push_back(Call);
        const FunctionDecl *Callee =
            cpp::userDefinition(Call->getDirectCallee());
        if (IsGoal(Call) ||
            (Callee && Seen.insert(Callee).second &&
             findWay(Callee->getBody(), IsGoal, How, Seen, Taken)))
          return true;
        Taken.pop_back();
        return false;
      },
      How);
}

} // namespace

Calls wayToFreeCall(const Stmt *S,
                    llvm::function_ref<bool(const CallExpr *)> IsGoal) {
  Calls Taken;
  llvm::SmallPtrSet<const FunctionDecl *, 8> Seen;
  findWay(S, IsGoal, free(), Seen, Taken);
  return Taken;
}

const CallExpr *findRunCall(const Stmt *S,
                            llvm::function_ref<bool(const CallExpr *)> IsGoal) {
  Calls Taken;
  llvm::SmallPtrSet<const FunctionDecl *, 8> Seen;
  findWay(S, IsGoal, cpp::Lambdas::Made, Seen, Taken);
  return Taken.empty() ? nullptr : Taken.back();
}

Work TensorWork::of(const CallExpr *Call) {
  Work Own = torch::workOf(Call);
  const FunctionDecl *Callee = Call->getDirectCallee();
  return Own == Work::Heavy || !Callee ? Own : std::max(Own, of(Callee).Amount);
}

Work TensorWork::of(const Stmt *S) {
  Work Most = Work::None;
  cpp::anyOf<CallExpr>(
      S,
      [&](const CallExpr *Call) {
        Most = std::max(Most, of(Call));
        return Most == Work::Heavy;
      },
      cpp::Lambdas::Made);
  return Most;
}

TensorWork::Throws TensorWork::ownersThrownBy(const Stmt *S) {
  Throws Found;
  cpp::forEach<CXXThrowExpr>(
      S,
      [&](const CXXThrowExpr *Throw) {
        if (Throw->getSubExpr() &&
            torch::ownsTensors(Throw->getSubExpr()->getType()))
          Found.push_back(Throw);
      },
      free());
  cpp::forEach<CallExpr>(
      S,
      [&](const CallExpr *Call) {
        if (const FunctionDecl *Callee = Call->getDirectCallee())
          Found.append(of(Callee).Thrown);
      },
      free());
  return Found;
}

TensorWork::Summary TensorWork::of(const FunctionDecl *F) {
  const FunctionDecl *Definition = cpp::userDefinition(F);
  if (!Definition)
    return {};
  // A recursive call adds nothing to what its function does otherwise.
  auto [It, New] = Known.try_emplace(Definition);
  if (!New)
    return It->second;
  const Summary Result{of(Definition->getBody()),
                       ownersThrownBy(Definition->getBody())};
  return Known[Definition] = Result;
}

} // namespace libtorch_tidy::flow
