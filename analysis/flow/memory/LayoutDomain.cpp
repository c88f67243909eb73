//===- LayoutDomain.cpp - How tensors lie in memory, on all paths ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/flow/memory/LayoutDomain.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/flow/memory/MemoryDomain.h"
#include "analysis/torch/api/OpFacts.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Hooks.h"
#include "analysis/torch/modules/Modules.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/ASTLambda.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::flow {

using torch::Layout;

//===----------------------------------------------------------------------===//
// The domain
//===----------------------------------------------------------------------===//

LayoutDomain::LayoutDomain(const FunctionDecl *F, const LayoutDomain &By)
    : LayoutDomain(F, By.Callees, By.Fields) {
  Elsewhere = true;
  Depth = By.Depth + 1;
}

LayoutDomain::LayoutDomain(const FunctionDecl *F, MemorySummaries Callees,
                           FieldValues Fields)
    : F(F), Context(F->getASTContext()), Callees(Callees), Fields(Fields) {}

bool LayoutDomain::concerns(const FunctionDecl *F, MemorySummaries Callees) {
  // A lambda captures pointers.
  const bool Takes =
      isLambdaCallOperator(F) ||
      llvm::any_of(F->parameters(), [](const ParmVarDecl *P) {
        return P->getType()->isPointerType() &&
               P->getType()->getPointeeType()->isArithmeticType();
      });
  const bool Makes = torch::isTensor(F->getReturnType());
  return cpp::anyOf<Expr>(
      F->getBody(),
      [&](const Expr *E) {
        if (isa<ArraySubscriptExpr>(E))
          return Takes;
        if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
          return Makes && isa<ParmVarDecl>(Ref->getDecl()) &&
                 torch::isTensor(Ref->getType());
        if (isa<MemberExpr>(E) && Makes && torch::isTensor(E->getType()))
          return true;
        const auto *Call = dyn_cast<CallExpr>(E);
        if (!Call)
          return false;
        if (torch::dataOf(Call) || torch::askedForLayout(Call) ||
            (Takes &&
             cpp::does(Call, cpp::Std::CopyBytes | cpp::Std::StreamBytes)))
          return true;
        if (Makes && torch::opFacts(Call))
          return true;
        const MemorySummary *Known =
            summaryOf(Call->getDirectCallee(), Callees);
        return Known &&
               !(Known->Order.Reads.empty() && Known->Order.Spans.empty() &&
                 Known->Order.Asks.empty());
      },
      cpp::Lambdas::Skipped);
}

LayoutDomain::State LayoutDomain::start() const {
  State Start;
  const bool IsBackward = torch::isCustomBackward(F);
  for (const ParmVarDecl *Param : F->parameters()) {
    const QualType T = Param->getType().getNonReferenceType();
    LaidOut Value;
    Value.Given = Param;
    Value.From = StridedRead::Parameter;
    if (torch::isTensor(T)) {
      Start.set(Keeper::of(Param), Value);
    } else if (T->isPointerType() && T->getPointeeType()->isArithmeticType()) {
      Value.IsPointer = true;
      Start.set(Keeper::of(Param), Value);
    } else if (IsBackward && torch::mayHoldTensor(T) && !T->isPointerType()) {
      Value.Given = nullptr;
      Value.From = StridedRead::Gradient;
      Start.set(Keeper::of(Param), Value);
    }
  }
  return Start;
}

std::optional<unsigned> LayoutDomain::indexOf(const ValueDecl *D) const {
  const auto *Param = dyn_cast_or_null<ParmVarDecl>(D);
  return Param && Param->getDeclContext() == F
             ? std::optional(Param->getFunctionScopeIndex())
             : std::nullopt;
}

void LayoutDomain::atThrow(llvm::MutableArrayRef<Thrown<State>> To) {
  for (auto &[Try, What] : To)
    if (What)
      What->join(S);
    else
      What = S;
}

void LayoutDomain::visit(const CFGElement &Element) {
  if (auto AsEnd = Element.getAs<CFGLifetimeEnds>())
    return S.forget(Keeper::of(AsEnd->getVarDecl()));
  const auto AsStmt = Element.getAs<CFGStmt>();
  if (!AsStmt)
    return;
  const Stmt *Statement = AsStmt->getStmt();
  if (const auto *E = dyn_cast<Expr>(Statement); E && Out)
    lookAt(E);
  if (const auto *Decls = dyn_cast<DeclStmt>(Statement)) {
    for (const Decl *D : Decls->decls())
      if (const auto *Var = dyn_cast<VarDecl>(D))
        declare(Var);
  } else if (const auto *Return = dyn_cast<ReturnStmt>(Statement)) {
    if (Out && Return->getRetValue() && torch::isTensor(F->getReturnType())) {
      addReturned(valueOf(Return->getRetValue()));
    }
  } else if (const auto *Op = dyn_cast<BinaryOperator>(Statement)) {
    if (Op->getOpcode() == BO_Assign)
      if (const std::optional<Keeper> K = Keeper::of(Op->getLHS()))
        store(*K, Op->getRHS());
  } else if (const auto *Call = dyn_cast<CallExpr>(Statement)) {
    visitCall(Call);
  }
}

void LayoutDomain::addReturned(const LaidOut &Value) {
  ReturnsUnit |= Value.Lies.hasUnit();
  const bool Strided = Value.Lies.isStrided();
  const bool Surely = Strided && !Value.SomeWays && !Value.Lies.hangsOnCuts();
  if (!Returned)
    ReturnsStrided = Surely ? Always : Strided ? Sometimes : Never;
  else if (ReturnsStrided != (Surely ? Always : Never))
    ReturnsStrided = Sometimes;
  if (!Returned) {
    Returned = Value;
    return;
  }
  const Layout::Kind Kind = Value.Lies.kind();
  // Whether it has gaps decides what operators make of it.
  const bool Alike = Returned->Lies.kind() == Kind ||
                     (Returned->Lies.isStrided() && Value.Lies.isStrided() &&
                      Returned->Lies.isDense() == Value.Lies.isDense());
  ReturnsDiffer |= Returned->Given != Value.Given || !Alike;
  const bool Sure = Returned->Lies.Sure && Value.Lies.Sure;
  if (Value.Lies.hangsOnCuts() || Kind == Layout::Permuted || !Sure)
    Returned = Value;
  Returned->Lies.Sure = Sure;
}

void LayoutDomain::declare(const VarDecl *Var) {
  S.forget(Keeper::of(Var));
  const Expr *Init = Var->getInit();
  if (!Init || Var->isImplicit())
    return;
  // Another name for what is followed under its own.
  if (Var->getType()->isReferenceType() && !isa<ExprWithCleanups>(Init) &&
      Keeper::of(Init))
    return;
  store(Keeper::of(Var), Init);
}

void LayoutDomain::store(const Keeper &K, const Expr *Value) {
  const QualType T =
      K.Type.isNull() ? Value->getType() : K.Type.getNonReferenceType();
  // The value may be made of what is there now.
  std::vector<std::pair<Keeper, LaidOut>> New;
  if (T->isPointerType()) {
    if (const std::optional<LaidOut> Of = pointerOf(Value))
      New.push_back({K, *Of});
  } else if (cpp::isStdClass(T, cpp::StdClass::Tuple)) {
    const torch::OpFacts *Facts =
        torch::opFacts(dyn_cast_or_null<CallExpr>(cpp::valueOf(Value)));
    for (unsigned I = 0; Facts && I < Facts->Outputs; ++I)
      New.push_back(
          {Keeper{K.Root, K.Path + tupleStep(I), {}}, valueOf(Value, I)});
  } else if (torch::mayHoldTensor(T)) {
    New.push_back({K, valueOf(Value)});
  }
  S.forget(K);
  for (auto &[Place, What] : New)
    S.set(Place, std::move(What));
}

void LayoutDomain::visitCall(const CallExpr *Call) {
  if (cpp::isAssignment(Call)) {
    const Expr *To = Call->getArg(0);
    // t[i] = x copies elements.
    if (const std::optional<Keeper> K = Keeper::of(To))
      store(*K, Call->getArg(1));
    return;
  }
  const cpp::Call C(Call);
  if (torch::changesLayout(Call)) {
    if (const std::optional<Keeper> K = Keeper::of(C.Object))
      S.set(*K, valueOf(Call));
    return;
  }
  // What is one of a list lies as all of them do.
  if (C.does(cpp::Std::Insert)) {
    const std::optional<Keeper> K = Keeper::of(C.Object);
    if (K && !getsPacked(Call)) {
      LaidOut Nothing;
      Nothing.Lies = Layout::unknown();
      S.set(*K, Nothing);
    }
    return;
  }
  if (!C.Callee || C.Of != cpp::Whose::User)
    return;
  for (unsigned I = 0; I < C.Args.size() && I < C.Callee->getNumParams(); ++I) {
    const QualType T = C.Callee->getParamDecl(I)->getType();
    const std::optional<Keeper> K = Keeper::of(C.Args[I]);
    if (K && T->isLValueReferenceType() &&
        !T->getPointeeType().isConstQualified() && S.find(*K)) {
      LaidOut Nothing;
      Nothing.Lies = Layout::unknown();
      S.set(*K, Nothing);
    }
  }
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

LaidOut LayoutDomain::valueOf(const Expr *E, unsigned Result) const {
  E = cpp::valueOf(E);
  if (!isa_and_nonnull<CallExpr, ConditionalOperator>(E))
    return madeBy(E, Result);
  // What a helper gets is asked for more than once, and so is what that gets.
  if (const auto It = Values.find({E, Result}); It != Values.end())
    return It->second;
  ++Asking;
  const LaidOut Of = madeBy(E, Result);
  if (--Asking)
    Values.insert({{E, Result}, Of});
  else
    Values.clear(); // The state may change.
  return Of;
}

LaidOut LayoutDomain::madeBy(const Expr *E, unsigned Result) const {
  LaidOut Nothing;
  if (!E || E->isTypeDependent())
    return Nothing;
  if (std::optional<Keeper> K = Keeper::of(E)) {
    if (const LaidOut *Known = S.find(*K))
      return *Known;
    if (K->Path.empty()) {
      const auto *Field = dyn_cast<FieldDecl>(K->Root);
      const auto *Var = dyn_cast<VarDecl>(K->Root);
      const auto Given = Field ? heldBy(Field)
                         : Var ? initialOf(Var)
                               : std::nullopt;
      return Given && !Given->IsPointer ? *Given : Nothing;
    }
    // One of a list.
    const size_t Last = StringRef(K->Path).rfind('[');
    if (Last == StringRef::npos)
      return Nothing;
    K->Path.resize(Last);
    const LaidOut *Whole = S.find(*K);
    return Whole && !Whole->IsPointer ? *Whole : Nothing;
  }
  if (const auto *Either = dyn_cast<ConditionalOperator>(E)) {
    LaidOut Both = valueOf(Either->getTrueExpr(), Result);
    cpp::Conditions Then, Else;
    if (const auto Says = cpp::conditionOf(Either->getCond(), in())) {
      Then.push_back(*Says);
      Else.push_back(Says->opposite());
    }
    joinInto(Both, valueOf(Either->getFalseExpr(), Result), Then, Else);
    return Both;
  }
  const auto *Call = dyn_cast<CallExpr>(E);
  if (!Call)
    return Nothing;
  if (const PartOf Part = partOf(Call); Part.Whole) {
    unsigned I = 0;
    if (StringRef Step = Part.Step; Step.consume_front("<"))
      Step.consumeInteger(10, I);
    return valueOf(Part.Whole, I);
  }
  if (const Expr *Container = torch::containerOf(Call))
    return valueOf(Container, Result);
  return resultOf(Call, Result);
}

LaidOut LayoutDomain::resultOf(const CallExpr *Call, unsigned Result) const {
  LaidOut Value;
  if (const MemorySummary *Known = summaryOf(Call->getDirectCallee(), Callees);
      Known && torch::isTensor(Call->getType())) {
    const MemorySummary::Layouts &Order = Known->Order;
    const cpp::Call C(Call);
    if (Order.Same < C.Args.size())
      return valueOf(C.Args[Order.Same]);
    const bool SomeUnit = llvm::any_of(C.Args, [&](const Expr *Arg) {
      return torch::isTensor(Arg->getType()) && valueOf(Arg).Lies.hasUnit();
    });
    if (Order.Returns == Layout::Packed)
      Value.Lies.Sure = Order.Surely;
    // It may undo what was done before, or change nothing where a dimension has
    // one element.
    else if (!getsPacked(Call) ||
             (SomeUnit && Order.Returns != Layout::Unknown) ||
             Order.MayBeStrided)
      Value.Lies = Layout::unknown();
    else if (Order.Returns != Layout::Unknown)
      Value.Lies = Layout::of(Order.Returns, Call, Order.Surely);
    Value.Differs = Order.Differs && Value.Lies.isStrided();
    Value.Lies.SomeUnit = SomeUnit || Order.SomeUnit;
    return Value;
  }
  if (const auto M = torch::asModuleCall(Call)) {
    Value.From = M->Script ? StridedRead::Script : StridedRead::Operators;
    // Of an image whose channels come last a convolution makes another.
    if (!getsPacked(Call))
      Value.Lies = Layout::unknown();
    return Value;
  }
  const torch::OpFacts *Facts = torch::opFacts(Call);
  if (!Facts) {
    if (cpp::Call(Call).Of == cpp::Whose::User && !getsPacked(Call))
      Value.Lies = Layout::unknown();
    return Value;
  }
  std::optional<LaidOut> First;
  Value.Lies = torch::layoutOf(
      Call, Result,
      [&](const Expr *E) {
        const LaidOut Of = valueOf(E);
        if (!First)
          First = Of;
        // One of several orders, and nobody knows which.
        return Of.Differs && Of.Lies.Coarse != Layout::Packed
                   ? Layout::unknown()
                   : Of.Lies;
      },
      Context);
  if (!First)
    return Value;
  // On the others it lies otherwise then, too: what is packed here may not be.
  Value.SomeWays = (First->SomeWays || First->Differs) && !Facts->Packs &&
                   !torch::packedBy(Call);
  if (Value.SomeWays && Value.Lies.isStrided() && First->Lies.isStrided())
    Value.When = First->When;
  if (torch::keepsTensor(Call)) {
    Value.Given = First->Given;
    Value.From = First->From;
  } else if (Facts->KeepsOrder && Value.Lies.isPacked() && !Value.Lies.Sure) {
    // What the model returns in an order keeps it.
    if (First->From == StridedRead::Script)
      Value.From = First->From;
    if (First->Given && looks().Packed.contains(First->Given) &&
        !looks().Asked.contains(First->Given))
      Value.From = StridedRead::Like;
  }
  return Value;
}

bool LayoutDomain::getsPacked(const CallExpr *Call) const {
  llvm::SmallVector<const Stmt *, 8> Work(Call->arg_begin(), Call->arg_end());
  for (unsigned Steps = 0; !Work.empty() && Steps < 64; ++Steps) {
    const Stmt *Part = Work.pop_back_val();
    const auto *E = dyn_cast_or_null<Expr>(Part);
    if (E && (torch::isTensor(E->getType()) ||
              (isa<DeclRefExpr, MemberExpr>(E) &&
               torch::mayHoldTensor(E->getType())))) {
      if (!valueOf(E).Lies.isPacked())
        return false;
    } else if (Part) {
      Work.append(Part->child_begin(), Part->child_end());
    }
  }
  return true;
}

std::optional<LaidOut> LayoutDomain::pointerOf(const Expr *E) const {
  E = cpp::peel(E);
  if (!E || !E->getType()->isPointerType())
    return std::nullopt;
  if (const Expr *Pointer = pointerMoved(E))
    return pointerOf(Pointer);
  if (const auto *Unary = dyn_cast<UnaryOperator>(E)) {
    if (Unary->isIncrementDecrementOp())
      return pointerOf(Unary->getSubExpr());
    const auto *Subscript =
        dyn_cast_or_null<ArraySubscriptExpr>(cpp::peel(Unary->getSubExpr()));
    return Subscript && Unary->getOpcode() == UO_AddrOf
               ? pointerOf(Subscript->getBase())
               : std::nullopt;
  }
  if (const std::optional<Keeper> K = Keeper::of(E)) {
    if (const LaidOut *Known = S.find(*K))
      return Known->IsPointer ? std::optional(*Known) : std::nullopt;
    const auto *Var = dyn_cast<VarDecl>(K->Root);
    const auto Given =
        Var && K->Path.empty() ? initialOf(Var) : std::optional<LaidOut>();
    return Given && Given->IsPointer ? Given : std::nullopt;
  }
  const auto *Call = dyn_cast<CallExpr>(E);
  const Expr *Tensor = torch::dataOf(Call);
  if (!Tensor) {
    // A function of the unit may hand out the pointer.
    const MemorySummary *Known =
        Call ? summaryOf(Call->getDirectCallee(), Callees) : nullptr;
    const cpp::Call C =
        Call ? cpp::Call(Call) : cpp::Call(E, nullptr, nullptr, {});
    for (const auto &L :
         Known ? Known->Lends : std::vector<MemorySummary::Lent>())
      if (L.To == MemorySummary::Result && L.Field.empty() &&
          L.What == Borrow::Data && L.Of < C.Args.size() &&
          torch::isTensor(C.Args[L.Of]->getType()))
        Tensor = C.Args[L.Of];
    if (!Tensor)
      return std::nullopt;
  }
  LaidOut Of = valueOf(Tensor);
  Of.IsPointer = true;
  Of.Data = Call;
  Of.Tensor = Tensor;
  return Of;
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

void LayoutDomain::report(const FlowGraph &Graph, const States<State> &In,
                          MemoryOf &Into) {
  Out = &Into;
  for (const CFGBlock *Block : Graph.Order)
    if (const std::optional<State> &At = In[Block->getBlockID()])
      evaluated(Graph, *Block, *this, *At, {});
  MemorySummary::Layouts &Order = Into.Order;
  for (const ParmVarDecl *Param : F->parameters())
    if (looks().Asked.contains(Param)) {
      const unsigned I = Param->getFunctionScopeIndex();
      Order.Asks.insert(I);
      Order.Reads.erase(I);
      Order.Spans.erase(I);
    }
  if (Returned && !ReturnsDiffer && !Returned->SomeWays) {
    if (Returned->Given) {
      if (const std::optional<unsigned> I = indexOf(Returned->Given))
        Order.Same = *I;
    } else if (!Returned->Lies.hangsOnCuts()) {
      Order.Returns = Returned->Lies.kind();
      Order.Surely = Returned->Lies.Sure;
    }
  } else if (ReturnsStrided == Always) {
    Order.Returns = Layout::Permuted;
    Order.Differs = true;
  }
  Order.SomeUnit = ReturnsUnit;
  Order.MayBeStrided =
      ReturnsStrided != Never && Order.Returns == Layout::Unknown;
  for (auto &[Key, Read] : Found.takeVector())
    Into.Strided.push_back(std::move(Read));
  llvm::stable_sort(Into.Strided, [&](const auto &A, const auto &B) {
    return Context.getSourceManager().isBeforeInTranslationUnit(
        A.At->getBeginLoc(), B.At->getBeginLoc());
  });
}

bool LayoutDomain::isAsked(const Expr *Tensor) const {
  const std::optional<Keeper> K =
      Tensor ? Keeper::of(Tensor) : std::optional<Keeper>();
  return K && (looks().Asked.contains(K->Root) || isAskedAround(K->Root));
}

void LayoutDomain::report(const Expr *At, const LaidOut &Of,
                          StridedRead::Way How, StringRef Reader,
                          bool AnyOrder) {
  if (Of.Given && How != StridedRead::Foreign && How != StridedRead::Fixed)
    if (const std::optional<unsigned> I = indexOf(Of.Given))
      (AnyOrder ? Out->Order.Spans : Out->Order.Reads).insert(*I);
  // In any order all of a piece may be read.
  if (!Of.Tensor || (AnyOrder && (!Of.Lies.isStrided() || Of.Lies.isDense())))
    return;
  const bool IsPlain = !Of.Lies.isStrided();
  if (IsPlain && (Of.From == StridedRead::Operators || !Of.Lies.isPacked() ||
                  Of.Lies.Sure))
    return;
  StridedRead Read;
  Read.How = How;
  Read.From = IsPlain ? Of.From : StridedRead::Operators;
  Read.At = At;
  Read.Lies = Of.Lies;
  Read.SomeWays = Of.SomeWays;
  Read.HangsOnCuts = Of.Lies.hangsOnCuts(2, AnyOrder);
  Read.Data = Of.Data;
  Read.Tensor = Of.Tensor;
  Read.Reader = Reader.str();
  Read.In = F;
  Read.Asks = isAsked(Of.Tensor);
  // One for a tensor.
  const std::optional<Keeper> K = Keeper::of(Of.Tensor);
  const void *Key = K && K->Path.empty() ? static_cast<const void *>(K->Root)
                                         : static_cast<const void *>(Of.Tensor);
  auto [It, New] = Found.insert({Key, Read});
  const bool WasWeaker = It->second.How >= StridedRead::Guessed;
  if (!New && How < StridedRead::Guessed && WasWeaker)
    It->second = std::move(Read);
}

} // namespace libtorch_tidy::flow
