//===- LayoutReads.cpp - What reads memory as one piece -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Callables.h"
#include "analysis/cpp/Loops.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/flow/memory/LayoutDomain.h"
#include "analysis/flow/memory/MemoryDomain.h"
#include "analysis/torch/api/Conventions.h"
#include "analysis/torch/api/TorchTypes.h"
#include "clang/AST/ASTContext.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::flow {

using cpp::Std;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// The number that \p E is, also through variables that are set once.
std::optional<int64_t> LayoutDomain::number(const Expr *E) const {
  if (const auto Known = cpp::constantInt(E, Context))
    return Known;
  const Expr *Origin = in().originOf(E);
  if (const auto Known = cpp::constantInt(Origin, Context))
    return Known;
  const auto *Op = dyn_cast_or_null<BinaryOperator>(Origin);
  if (!Op || Op->getOpcode() != BO_Mul)
    return std::nullopt;
  const auto Left = number(Op->getLHS()), Right = number(Op->getRHS());
  constexpr int64_t Max = 1 << 30;
  return Left && Right && std::abs(*Left) < Max && std::abs(*Right) < Max
             ? std::optional(*Left * *Right)
             : std::nullopt;
}

static bool isSizeOfElement(const Expr *E) {
  if (isa<UnaryExprOrTypeTraitExpr>(E))
    return true;
  return cpp::isOneOf(
      cpp::calleeName(dyn_cast<CallExpr>(E)),
      {"element_size", "elementSize", "itemsize", "elemSize", "elemSize1"});
}

/// Does \p Count, of elements or bytes, count all that \p Of has: numel(),
/// nbytes(), a product of sizes, the size of a container?
bool LayoutDomain::countsAll(const Expr *Count, const LaidOut &Of) const {
  if (const auto Known = number(Count)) {
    const auto All = Of.Lies.numel();
    return All && *All > 1 && *Known >= *All;
  }
  unsigned Factors = 0;
  llvm::SmallVector<const Expr *, 4> Work{Count};
  for (unsigned Steps = 0; !Work.empty() && Steps < 32; ++Steps) {
    const Expr *E = in().originOf(Work.pop_back_val());
    if (!E || isSizeOfElement(E) || cpp::constantInt(E, Context))
      continue;
    const auto *Call = dyn_cast<CallExpr>(E);
    if (torch::countedWhole(Call))
      return true;
    if (const auto *Method = dyn_cast_or_null<CXXMemberCallExpr>(Call))
      if (const QualType T = Method->getObjectType();
          (cpp::does(Call, Std::Size) &&
           cpp::isStdClass(T, cpp::StdClass::Buffer)) ||
          (cpp::isMat(T) && cpp::calleeName(Call) == "total"))
        return true;
    const auto *Op = dyn_cast<BinaryOperator>(E);
    if (!Op || Op->getOpcode() != BO_Mul) {
      ++Factors;
      continue;
    }
    Work.push_back(Op->getLHS());
    Work.push_back(Op->getRHS());
  }
  return Factors >= (Of.Lies.rank() == 1u ? 1 : 2);
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// In what order \p Index goes: a product of sizes, of which that of the last
/// dimension is one, or may be.
LayoutDomain::Formula LayoutDomain::formulaIn(const Expr *Index,
                                              const LaidOut &Of) const {
  const Expr *E = in().originOf(Index);
  bool Product = false, ByStride = false, OtherSize = false, Last = false,
       Own = false, Foreign = false;
  const std::optional<Keeper> Tensor =
      Of.Tensor ? Keeper::of(Of.Tensor) : std::optional<Keeper>();
  const auto Rank = Of.Lies.rank();
  llvm::SmallVector<const Expr *, 8> Work{E};
  for (unsigned Steps = 0; !Work.empty() && Steps < 64; ++Steps) {
    const Expr *Part = cpp::stripImplicit(Work.pop_back_val());
    if (!Part)
      continue;
    if (const VarDecl *Var = cpp::variableOf(Part)) {
      ByStride |= torch::namesStride(Var->getName());
      const Expr *Origin = in().originOf(Part);
      if (Origin != Part && !cpp::constantInt(Origin, Context)) {
        Work.push_back(Origin);
        continue;
      }
    }
    if (const auto *Op = dyn_cast<BinaryOperator>(Part)) {
      if (Op->getOpcode() == BO_Mul)
        for (const Expr *Side : {Op->getLHS(), Op->getRHS()}) {
          Product = true;
          // Of a loop's variable nothing is known.
          const VarDecl *Var = cpp::variableOf(Side);
          const bool Counts =
              Var && !in().isSetOnce(Var) && !isa<ParmVarDecl>(Var);
          const auto N = number(Side);
          OtherSize |= N && *N > 1;
          Foreign |= !N && !Counts && !isa<BinaryOperator>(cpp::peel(Side));
        }
      Work.push_back(Op->getLHS());
      Work.push_back(Op->getRHS());
      continue;
    }
    const auto *Call = dyn_cast<CallExpr>(Part);
    const Expr *List = Part;
    const Expr *Which = nullptr;
    if (const auto *Subscript = dyn_cast_or_null<CXXOperatorCallExpr>(Call);
        Subscript && Subscript->getOperator() == OO_Subscript) {
      List = cpp::stripImplicit(Subscript->getArg(0));
      Which = Subscript->getArg(1);
    } else if (Call && Call->getNumArgs() == 1) {
      Which = Call->getArg(0);
    }
    const auto *Asked = dyn_cast_or_null<CallExpr>(in().originOf(List));
    ByStride |= torch::askedForLayout(Asked) != nullptr;
    if (const Expr *Object = torch::askedForSizes(Asked)) {
      const std::optional<Keeper> K = Keeper::of(Object);
      if (K && Tensor && *K == *Tensor) {
        Own = true;
        const auto D = Which ? cpp::constantInt(Which, Context) : std::nullopt;
        Last |= !Rank || !D || *D == -1 || *D == int64_t(*Rank) - 1;
      }
    }
  }
  if (!Product || ByStride)
    return Formula::None;
  if (Own)
    return Last ? Formula::Order : OtherSize ? Formula::Other : Formula::None;
  return Foreign || OtherSize ? Formula::Other : Formula::None;
}

/// The loop that counts \p Var, one after the other, and up to what.
static std::pair<const ForStmt *, const Expr *>
countedIn(const Stmt *At, const VarDecl *Var, const cpp::Body &In) {
  for (const auto *For = In.around<ForStmt>(At); For;
       For = In.around<ForStmt>(For)) {
    const auto *Test = dyn_cast_or_null<BinaryOperator>(
        For->getCond() ? cpp::peel(For->getCond()) : nullptr);
    if (Test &&
        (Test->getOpcode() == BO_LT || Test->getOpcode() == BO_NE ||
         Test->getOpcode() == BO_LE) &&
        cpp::variableOf(Test->getLHS()) == Var)
      return {For, Test->getRHS()};
  }
  return {nullptr, nullptr};
}

/// The end of the range whose parts at::parallel_for() gives this lambda, where
/// \p E is the parameter that is the end of a part; null otherwise.
const Expr *LayoutDomain::endOfParts(const Expr *E) const {
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  const auto *Owner =
      Method && Method->getParent()->isLambda()
          ? dyn_cast<FunctionDecl>(Method->getParent()->getDeclContext())
          : nullptr;
  if (!Owner || !Owner->doesThisDeclarationHaveABody() ||
      indexOf(cpp::variableOf(E)) != 1u)
    return nullptr;
  const cpp::Body &Of = cpp::Body::of(Owner);
  const auto *Lambda =
      cpp::findFirst<LambdaExpr>(Of.root(), [&](const LambdaExpr *L) {
        return L->getCallOperator() == Method;
      });
  const CallExpr *Call = Lambda ? Of.callOn(Lambda) : nullptr;
  const auto Start = Call ? cpp::asThreadStart(Call) : std::nullopt;
  return Start && Start->How == cpp::ThreadStart::Parallel ? Call->getArg(1)
                                                           : nullptr;
}

/// Does \p Index go over all elements, one after the other: i of a loop to
/// numel(), k++ in loops within each other?
bool LayoutDomain::runsOverAll(const Expr *At, const Expr *Index,
                               const LaidOut &Of) const {
  const Expr *E = cpp::peel(Index);
  const Stmt *Loop = in().loopAround(At);
  const Stmt *Outer = Loop ? in().loopAround(Loop) : nullptr;
  // It counts on from one loop to the next.
  auto CountsOn = [&](const VarDecl *Var) {
    return Outer && Of.Lies.rank() != 1u &&
           !in().isWithin(in().declarationOf(Var), Outer);
  };
  if (const auto *Step = dyn_cast_or_null<UnaryOperator>(E)) {
    const VarDecl *Var = cpp::variableOf(Step->getSubExpr());
    return Step->isIncrementOp() && Var && CountsOn(Var);
  }
  const VarDecl *Var = cpp::variableOf(E);
  if (!Var)
    return false;
  if (const Expr *End = countedIn(At, Var, in()).second) {
    const Expr *All = endOfParts(End);
    return countsAll(All ? All : End, Of);
  }
  // p[k] and k++, each in a statement of its own.
  const Expr *Only = nullptr;
  for (const cpp::Write &W : in().writesTo(Var))
    if (Outer && in().isWithin(W.Where, Outer)) {
      if (Only)
        return false;
      Only = W.Where;
    }
  const auto *Step = dyn_cast_or_null<UnaryOperator>(Only);
  return Step && Step->isIncrementOp() && in().loopAround(Step) == Loop &&
         CountsOn(Var);
}

/// Is \p E, or what is computed of it, put somewhere in the order in which it
/// comes: printed, appended, written to *p++?
static bool goesOnInOrder(const Expr *E, const cpp::Body &In) {
  for (const Stmt *S = In.parentOf(E); S && !isa<CompoundStmt>(S);
       S = In.parentOf(S)) {
    if (const auto *Op = dyn_cast<CXXOperatorCallExpr>(S);
        Op && Op->getOperator() == OO_LessLess)
      return true;
    const auto *Call = dyn_cast<CallExpr>(S);
    if (Call &&
        (cpp::does(Call, Std::Insert) || Call->getType()->isVoidType() ||
         cpp::calleeName(Call).contains("print")))
      return true;
    if (const auto *Op = dyn_cast<BinaryOperator>(S);
        Op && Op->isAssignmentOp() &&
        cpp::anyOf<UnaryOperator>(Op->getLHS(), [](const UnaryOperator *U) {
          return U->isIncrementOp();
        }))
      return true;
  }
  return false;
}

/// Is the order in which the elements are read, or written, all the same: a sum
/// of them, a number for each?
bool LayoutDomain::isAnyOrder(const Expr *At, const Expr *Index,
                              const LaidOut &Of) const {
  const VarDecl *Var = cpp::variableOf(Index);
  if (!Var || goesOnInOrder(At, in()))
    return false;
  const ForStmt *For = countedIn(At, Var, in()).first;
  const Stmt *Loop = For ? For->getBody() : in().loopAround(At);
  return Loop && !cpp::anyOf<DeclRefExpr>(Loop, [&](const DeclRefExpr *Ref) {
           if (Ref->getDecl() != Var)
             return false;
           // k++
           const auto *Step =
               dyn_cast_or_null<UnaryOperator>(in().outerOf(Ref));
           if (Step && !For && Step->isIncrementOp())
             return false;
           const auto *Element =
               dyn_cast_or_null<ArraySubscriptExpr>(in().outerOf(Ref));
           if (!Element || cpp::peel(Element->getIdx()) != Ref)
             return true;
           // Another that lies the same way goes along.
           const auto With = pointerOf(Element->getBase());
           return !With || (Of.Lies.isStrided()
                                ? !(With->Lies == Of.Lies)
                                : !With->Given || With->Given != Of.Given);
         });
}

void LayoutDomain::readElement(const Expr *At, const Expr *Pointer,
                               const Expr *Index) {
  const std::optional<LaidOut> Of = pointerOf(Pointer);
  if (!Of)
    return;
  if (const auto N = cpp::constantInt(Index, Context)) {
    if (*N > 0 && !Of->Lies.rowsLieTogether() && Of->Lies.isStrided() &&
        !pointerMoved(Pointer))
      report(At, *Of, StridedRead::Fixed, {});
    return;
  }
  if (runsOverAll(At, Index, *Of)) {
    report(At, *Of, StridedRead::Indexed, {}, isAnyOrder(At, Index, *Of));
    return;
  }
  const Formula How = formulaIn(Index, *Of);
  if (How == Formula::None)
    return;
  // The pitch of what it is a part of may be among the factors.
  if (How == Formula::Other && Of->Lies.kind() == torch::Layout::Sliced)
    return;
  report(At, *Of,
         How == Formula::Order ? StridedRead::Formula : StridedRead::Guessed,
         {});
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// From p to p + n, of elements that are counted whole.
bool LayoutDomain::readRange(const cpp::Call &C) {
  for (unsigned I = 0; I + 1 < C.Written; ++I) {
    const std::optional<LaidOut> Of = pointerOf(C.Args[I]);
    if (!Of || !C.Args[I + 1]->getType()->isPointerType())
      continue;
    const auto *Sum =
        dyn_cast_or_null<BinaryOperator>(in().originOf(C.Args[I + 1]));
    const Expr *Moved = Sum ? pointerMoved(Sum) : nullptr;
    if (!Moved || Sum->getOpcode() != BO_Add)
      continue;
    const Expr *Count = Moved == Sum->getLHS() ? Sum->getRHS() : Sum->getLHS();
    if (!pointerOf(Moved) || !countsAll(Count, *Of))
      continue;
    const bool Keeps = isa<CXXConstructExpr>(C.E) || C.does(Std::Insert) ||
                       C.Name.starts_with("copy") ||
                       C.Name.starts_with("transform") ||
                       C.Name.starts_with("uninitialized");
    report(C.Args[I], *Of, StridedRead::Ranged,
           isa<CXXConstructExpr>(C.E)
               ? cpp::nameOf(cpp::recordOf(C.E->getType()))
               : C.Name,
           /*AnyOrder=*/!Keeps);
    return true;
  }
  return false;
}

/// An image or matrix over memory, without a step.
void LayoutDomain::readView(const CXXConstructExpr *E) {
  const bool IsMat = cpp::isMat(E->getType());
  const bool IsMap =
      cpp::isOrDerivesFrom(cpp::recordOf(E->getType()), "Eigen::Map");
  if (!IsMat && !IsMap)
    return;
  const auto Written = cpp::writtenArguments(E);
  for (unsigned I = 0; I < Written.size(); ++I) {
    const std::optional<LaidOut> Of = pointerOf(Written[I]);
    if (!Of)
      continue;
    // After the pointer of an image comes its step; 0 is for none.
    if (IsMat && I + 1 < Written.size() && number(Written[I + 1]) != 0)
      return;
    // A stride, or an order of its own.
    if (IsMap && (llvm::any_of(Written,
                               [](const Expr *Arg) {
                                 return cpp::recordOf(Arg->getType());
                               }) ||
                  Of->Lies.isDense()))
      return;
    return report(E, *Of, StridedRead::Viewed,
                  cpp::nameOf(cpp::recordOf(E->getType())));
  }
}

/// Functions of the unit that read what they are given, and those that are not
/// seen.
void LayoutDomain::readArguments(const cpp::Call &C) {
  if (C.Of != cpp::Whose::User || !C.Callee)
    return;
  const MemorySummary *Known = summaryOf(C.Callee, Callees);
  const bool HasStride = llvm::any_of(C.Args, [&](const Expr *Arg) {
    return cpp::anyOf<Expr>(Arg, [&](const Expr *E) {
      const auto *Call = dyn_cast<CallExpr>(E);
      const VarDecl *Var = cpp::variableOf(E);
      return (Call && torch::namesStride(cpp::calleeName(Call))) ||
             (Var && torch::namesStride(Var->getName()));
    });
  });
  const bool HasNumber = llvm::any_of(
      C.Args, [](const Expr *Arg) { return Arg->getType()->isIntegerType(); });
  for (unsigned I = 0; I < C.Written; ++I) {
    const bool IsTensor = torch::isTensor(C.Args[I]->getType());
    std::optional<LaidOut> Of =
        IsTensor ? valueOf(C.Args[I]) : pointerOf(C.Args[I]);
    if (!Of)
      continue;
    if (IsTensor) {
      Of->Tensor = C.Args[I];
      if (!Of->Lies.isStrided())
        Of->From = StridedRead::Operators;
    }
    if (Known) {
      const bool Reads = Known->Order.Reads.count(I);
      if (Reads || Known->Order.Spans.count(I))
        report(C.Args[I], *Of, StridedRead::Helper, C.Name, !Reads);
    } else if (!IsTensor && !C.Callee->hasBody() && !HasStride && HasNumber &&
               Of->Lies.isStrided()) {
      report(C.Args[I], *Of, StridedRead::Foreign, C.Name);
    }
  }
}

void LayoutDomain::readsOf(const CallExpr *Call) {
  const cpp::Call C(Call);
  const unsigned Pointers = C.does(Std::CopyBytes)     ? 2
                            : C.does(Std::StreamBytes) ? 1
                                                       : 0;
  if (Pointers && C.Written > Pointers) {
    for (unsigned I = 0; I < Pointers; ++I)
      if (const std::optional<LaidOut> Of = pointerOf(C.Args[I]);
          Of && countsAll(C.Args[Pointers], *Of))
        report(C.Args[I], *Of, StridedRead::Copied, C.Name);
    return;
  }
  if (cpp::isOneOf(C.Name, {"fwrite", "fread"})) {
    const std::optional<LaidOut> Of =
        C.Written > 2 ? pointerOf(C.Args[0]) : std::nullopt;
    if (Of && (countsAll(C.Args[1], *Of) || countsAll(C.Args[2], *Of)))
      report(C.Args[0], *Of, StridedRead::Copied, C.Name);
    return;
  }
  if (C.Name == "copy_n" && C.Written == 3) {
    if (const std::optional<LaidOut> Of = pointerOf(C.Args[0]);
        Of && countsAll(C.Args[1], *Of))
      report(C.Args[0], *Of, StridedRead::Ranged, C.Name);
    return;
  }
  if (!readRange(C))
    readArguments(C);
}

void LayoutDomain::lookAt(const Expr *E) {
  if (const auto *Subscript = dyn_cast<ArraySubscriptExpr>(E)) {
    readElement(E, Subscript->getBase(), Subscript->getIdx());
  } else if (const auto *Unary = dyn_cast<UnaryOperator>(E);
             Unary && Unary->getOpcode() == UO_Deref) {
    const Expr *Inner = cpp::peel(Unary->getSubExpr());
    if (const auto *Sum = dyn_cast_or_null<BinaryOperator>(Inner);
        Sum && Sum->getOpcode() == BO_Add && pointerMoved(Sum)) {
      const Expr *Pointer = pointerMoved(Sum);
      readElement(E, Pointer,
                  Pointer == Sum->getLHS() ? Sum->getRHS() : Sum->getLHS());
    } else if (const auto *Step = dyn_cast_or_null<UnaryOperator>(Inner);
               Step && Step->isIncrementOp()) {
      // *p++
      if (const std::optional<LaidOut> Of = pointerOf(Step);
          Of && runsOverAll(E, Step, *Of))
        report(E, *Of, StridedRead::Indexed, {}, !goesOnInOrder(E, in()));
    }
  } else if (const auto *Call = dyn_cast<CallExpr>(E)) {
    readsOf(Call);
  } else if (const auto *Construct = dyn_cast<CXXConstructExpr>(E)) {
    if (!readRange(cpp::Call(Construct)))
      readView(Construct);
  }
}

} // namespace libtorch_tidy::flow
