//===- Statements.cpp - Follows statements --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/bytes/interpret/Statements.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Loops.h"
#include "analysis/cpp/Walk.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Autograd.h"
#include "llvm/ADT/ScopeExit.h"
#include <array>

using namespace clang;
using llvm::ArrayRef;
using llvm::Twine;

namespace libtorch_tidy::bytes {

static Flow execInside(Interpreter &VM, const Stmt *S);

static constexpr char LoopIsUnknown[] = "how often this loop runs is not known";

/// Does \p S always end in an exception?
static bool endsInThrow(const Stmt *S) {
  if (const auto *Block = dyn_cast_or_null<CompoundStmt>(S))
    return llvm::any_of(Block->body(), endsInThrow);
  const auto *E = dyn_cast_or_null<Expr>(S);
  if (!E)
    return false;
  E = cpp::peel(E);
  if (isa<CXXThrowExpr>(E))
    return true;
  const auto *Call = dyn_cast<CallExpr>(E);
  const FunctionDecl *F = Call ? Call->getDirectCallee() : nullptr;
  return F && (F->isNoReturn() || alwaysThrows(F));
}

/// Could running \p S end the loop or the function around it?
static bool leaves(const Stmt *S, bool &Returns) {
  Returns = cpp::anyOf<Stmt>(
      S, [](const Stmt *Part) { return isa<ReturnStmt, GotoStmt>(Part); },
      cpp::Lambdas::Skipped);
  return Returns || cpp::anyOf<Stmt>(
                        S,
                        [](const Stmt *Part) {
                          return isa<BreakStmt, ContinueStmt>(Part);
                        },
                        cpp::Lambdas::Skipped);
}

/// Goes past \p Skipped, statements of which each may run or not.
static Flow skipUnknown(Interpreter &VM, ArrayRef<const Stmt *> Skipped,
                        SourceLocation At, const Twine &Because,
                        const Cell &Unknown) {
  Cell Reason = Unknown->What == Value::Unknown && !Unknown->Why.empty()
                    ? cell(*Unknown)
                    : unknown(At, Because);
  Flow Next = Flow::Next;
  bool Adds = false;
  for (const Stmt *S : Skipped) {
    if (!S)
      continue;
    Adds |= forget(VM, S, Reason);
    bool Returns = false;
    if (leaves(S, Returns))
      Next = Returns || Next == Flow::Return ? Flow::Return : Flow::Break;
  }
  if (VM.Halted)
    return Flow::Halt;
  // A program is followed as if it went on.
  const bool InProgram = VM.isInProgram();
  if (InProgram) {
    VM.MayHaveEnded |= llvm::any_of(Skipped, [](const Stmt *S) {
      return S && cpp::anyOf<Stmt>(
                      S, [](const Stmt *P) { return isa<BreakStmt>(P); },
                      cpp::Lambdas::Skipped);
    });
    Next = Flow::Next;
  }
  if (Next == Flow::Return && !VM.Frames.empty())
    VM.Frames.back()->Result = Reason;
  if (Adds || Next != Flow::Next || (VM.Pass && !InProgram))
    VM.note(At, Because +
                    (Next == Flow::Return ? ", and the function may end here"
                                          : "") +
                    VM.because(Unknown));
  return Next;
}

static void setVariable(Interpreter &VM, const ValueDecl *D, Cell Given) {
  D = cast<ValueDecl>(D->getCanonicalDecl());
  VM.Frames.back()->Variables[D] = std::move(Given);
  VM.Frames.back()->Declared.push_back(D);
}

/// Runs the destructor that the user has written for the variable \p D, which
/// holds \p V, unless the function gives it back.
static void destroy(Interpreter &VM, const ValueDecl *D, const Cell &V) {
  const CXXRecordDecl *R = D->getType()->getAsCXXRecordDecl();
  R = R ? R->getDefinition() : nullptr;
  const CXXDestructorDecl *Ends = R ? R->getDestructor() : nullptr;
  const auto *Var = dyn_cast<VarDecl>(D);
  if (Ends && Ends->isUserProvided() && !cpp::isOfLibrary(R) &&
      V->What == Value::Record && !VM.Halted && Var && !Var->isNRVOVariable())
    VM.call(Ends, {}, V, D->getLocation());
}

/// The variables of a block go when it ends: those that were declared after
/// the first \p Before.
static void endBlock(Interpreter &VM, Frame &Of, size_t Before) {
  while (Of.Declared.size() > Before) {
    const ValueDecl *D = Of.Declared.back();
    if (const auto It = Of.Variables.find(D); It != Of.Variables.end()) {
      const Cell Last = It->second;
      destroy(VM, D, Last);
      Of.Variables.erase(D);
    }
    Of.Declared.pop_back();
  }
}

/// The names of a structured binding, if \p Var is one.
static void bindParts(Interpreter &VM, const VarDecl *Var, const Cell &Given) {
  const auto *Parts = dyn_cast<DecompositionDecl>(Var);
  if (!Parts)
    return;
  const auto Bindings = Parts->bindings();
  for (unsigned I = 0; I < Bindings.size(); ++I) {
    Cell Part;
    if (Given->What == Value::List && I < Given->Elements.size())
      Part = Given->Elements[I];
    else if (const auto *Field =
                 dyn_cast_or_null<MemberExpr>(Bindings[I]->getBinding());
             Field && Given->What == Value::Record)
      Part = memberOf(VM, Given, Field->getMemberDecl(), Field);
    else
      Part = unknown(Bindings[I]->getLocation(),
                     "'" + Bindings[I]->getName() + "'");
    setVariable(VM, Bindings[I], std::move(Part));
  }
}

static void declare(Interpreter &VM, const Decl *D) {
  const auto *Var = dyn_cast<VarDecl>(D);
  if (!Var || VM.Frames.empty())
    return;
  Cell Given = Var->hasInit()
                   ? VM.eval(Var->getInit())
                   : defaultValue(VM, Var->getType(), Var->getLocation());
  if (!Var->getType()->isReferenceType())
    Given = VM.copyOf(coerced(VM, Given, Var->getType(), Var->getLocation()));
  VM.named(Given, Var->getName(), Var->getType());
  bindParts(VM, Var, Given);
  setVariable(VM, Var, std::move(Given));
}

static Flow execIf(Interpreter &VM, const IfStmt *S) {
  if (Flow F = exec(VM, S->getInit()); F != Flow::Next)
    return F;
  if (S->isConsteval())
    return exec(VM, S->getElse());
  if (const VarDecl *Var = S->getConditionVariable())
    declare(VM, Var);
  const Cell Condition = VM.eval(S->getCond());
  if (VM.Halted)
    return Flow::Halt;
  if (std::optional<bool> Known = truth(Condition))
    return exec(VM, *Known ? S->getThen() : S->getElse());
  // What throws is a check of what was given.
  if (endsInThrow(S->getThen()))
    return exec(VM, S->getElse());
  if (S->getElse() && endsInThrow(S->getElse()))
    return exec(VM, S->getThen());
  const bool Branches =
      VM.isInProgram() ? llvm::any_of(std::array{S->getThen(), S->getElse()},
                                      [](const Stmt *Each) {
                                        return Each && setsTensor(Each);
                                      })
                       : VM.Pass && VM.current();
  if (Branches)
    if (const std::optional<Flow> Next = execEither(
            VM, S->getThen(), S->getElse(), S->getIfLoc(),
            Condition->What == Value::Unknown
                ? Condition
                : unknown(S->getIfLoc(), "the condition of an 'if'")))
      return *Next;
  if (const std::optional<Flow> Next =
          execOpenIf(VM, S->getThen(), S->getElse(), S->getIfLoc()))
    return *Next;
  return skipUnknown(VM, {S->getThen(), S->getElse()}, S->getIfLoc(),
                     "the condition of this 'if' is not known", Condition);
}

/// What follows a loop or a `switch` that \p F ends in.
static Flow afterBreak(Flow F) { return F == Flow::Break ? Flow::Next : F; }

/// One round of a loop. What follows the loop when that is the last one; else
/// nullopt.
static std::optional<Flow> execRound(Interpreter &VM, const Stmt *Body) {
  const Flow F = exec(VM, Body);
  return F == Flow::Next || F == Flow::Continue ? std::nullopt
                                                : std::optional(afterBreak(F));
}

/// `while`, `do` and `for`.
static Flow execLoop(Interpreter &VM, const Stmt *Loop) {
  const auto *For = dyn_cast<ForStmt>(Loop);
  const auto *While = dyn_cast<WhileStmt>(Loop);
  const Expr *Increment = For ? For->getInc() : nullptr;
  const Expr *Condition = For     ? For->getCond()
                          : While ? While->getCond()
                                  : cast<DoStmt>(Loop)->getCond();
  const Stmt *Body = cpp::bodyOf(Loop);
  const VarDecl *Tested = For     ? For->getConditionVariable()
                          : While ? While->getConditionVariable()
                                  : nullptr;
  if (For)
    if (Flow F = exec(VM, For->getInit()); F != Flow::Next)
      return F;
  bool BodyFirst = isa<DoStmt>(Loop);
  OpenLoop Open(VM, Loop);
  const Cell Forever = unknown(Loop->getBeginLoc(), "when this loop ends");
  while (true) {
    if (!VM.step(Loop->getBeginLoc()))
      return Flow::Halt;
    if (Tested)
      declare(VM, Tested);
    if (Condition && !BodyFirst) {
      const Cell Goes = VM.eval(Condition);
      if (VM.Halted)
        return Flow::Halt;
      const std::optional<bool> Known = truth(Goes);
      if (!Known && !Open.goesOn())
        return afterBreak(skipUnknown(
            VM, {Body, Increment}, Loop->getBeginLoc(), LoopIsUnknown, Goes));
      if (Known == false)
        return Flow::Next;
    }
    if (std::optional<Flow> Last = execRound(VM, Body))
      return *Last;
    if (Open.isOneRound())
      return Flow::Next;
    if (Open.isOver())
      return afterBreak(skipUnknown(VM, {Body, Increment}, Loop->getBeginLoc(),
                                    LoopIsUnknown, Forever));
    if (Increment)
      VM.eval(Increment);
    BodyFirst = false;
  }
}

/// What a loop over \p Range goes through; nullopt when that is not known.
static std::optional<std::vector<Cell>> elementsInRange(const Cell &Range) {
  std::vector<Cell> Elements;
  switch (Range->What) {
  case Value::List:
    return Range->Elements;
  case Value::Module:
    if (Range->Held->IsIncomplete)
      return std::nullopt;
    for (size_t I = 0; I < elementCount(*Range->Held); ++I)
      Elements.push_back(elementOf(*Range->Held, I));
    return Elements;
  case Value::Text:
    for (const char C : Range->Name)
      Elements.push_back(integer(C));
    return Elements;
  default:
    return std::nullopt;
  }
}

static Flow execRange(Interpreter &VM, const CXXForRangeStmt *S) {
  if (Flow F = exec(VM, S->getInit()); F != Flow::Next)
    return F;
  Cell Range = VM.eval(S->getRangeInit());
  const bool IsLoader = Range->What == Value::Data && Range->Name == "loader";
  if (IsLoader)
    Range = batchesOf(VM, Range, S->getForLoc());
  if (VM.Halted)
    return Flow::Halt;
  std::optional<std::vector<Cell>> Elements = elementsInRange(Range);
  if (!Elements)
    return afterBreak(
        skipUnknown(VM, {S->getBody()}, S->getForLoc(), LoopIsUnknown, Range));
  if (IsLoader) // It has one batch at a time.
    Range = nullptr;
  const VarDecl *Var = S->getLoopVariable();
  const OpenLoop Open(VM, S);
  for (Cell &Element : *Elements) {
    if (!VM.step(S->getForLoc()))
      return Flow::Halt;
    const auto EndRound =
        llvm::make_scope_exit([&VM, Of = VM.Frames.back(),
                               Before = VM.Frames.back()->Declared.size()] {
          endBlock(VM, *Of, Before);
        });
    const Cell Given = Var->getType()->isReferenceType()
                           ? Element
                           : VM.copyOf(convert(VM, Element, Var->getType()));
    bindParts(VM, Var, Given);
    setVariable(VM, Var, Given);
    if (std::optional<Flow> Last = execRound(VM, S->getBody()))
      return *Last;
    if (IsLoader)
      Element = nullptr;
  }
  return Flow::Next;
}

/// The label of \p S at which it starts for \p Which: the one that fits, or
/// `default`; null if it has neither.
static const SwitchCase *labelFor(Interpreter &VM, const SwitchStmt *S,
                                  int64_t Which) {
  const SwitchCase *Default = nullptr;
  for (const SwitchCase *Label = S->getSwitchCaseList(); Label;
       Label = Label->getNextSwitchCase()) {
    const auto *Case = dyn_cast<CaseStmt>(Label);
    if (!Case) {
      Default = Label;
      continue;
    }
    const Cell From = VM.eval(Case->getLHS());
    const Cell To = Case->getRHS() ? VM.eval(Case->getRHS()) : From;
    if (From->What == Value::Integer && To->What == Value::Integer &&
        From->Number <= Which && Which <= To->Number)
      return Case;
  }
  return Default;
}

/// Is \p Label one of the labels in front of \p Part?
static bool isInFront(const SwitchCase *Label, const Stmt *Part) {
  while (Part != Label) {
    if (const auto *Case = dyn_cast_or_null<SwitchCase>(Part))
      Part = Case->getSubStmt();
    else if (const auto *Named = dyn_cast_or_null<LabelStmt>(Part))
      Part = Named->getSubStmt();
    else if (const auto *Marked = dyn_cast_or_null<AttributedStmt>(Part))
      Part = Marked->getSubStmt();
    else
      return false;
  }
  return true;
}

static Flow execSwitch(Interpreter &VM, const SwitchStmt *S) {
  if (Flow F = exec(VM, S->getInit()); F != Flow::Next)
    return F;
  if (const VarDecl *Var = S->getConditionVariable())
    declare(VM, Var);
  const Cell Which = VM.eval(S->getCond());
  if (VM.Halted)
    return Flow::Halt;
  const auto *Body = dyn_cast<CompoundStmt>(S->getBody());
  if (Which->What != Value::Integer || !Body)
    return afterBreak(skipUnknown(VM, {S->getBody()}, S->getSwitchLoc(),
                                  "the value of this 'switch' is not known",
                                  Which));
  const SwitchCase *Label = labelFor(VM, S, Which->Number);
  if (!Label)
    return Flow::Next;
  const auto Start = llvm::find_if(
      Body->body(), [&](const Stmt *Part) { return isInFront(Label, Part); });
  if (Start == Body->body_end()) {
    VM.limit(Label->getKeywordLoc(),
             "a jump into the middle of a statement is not followed");
    return Flow::Halt;
  }
  // From the label on to the first break.
  for (const Stmt *Part : llvm::make_range(Start, Body->body_end())) {
    if (const Flow F = exec(VM, Part); F != Flow::Next)
      return afterBreak(F);
  }
  return Flow::Next;
}

Flow exec(Interpreter &VM, const Stmt *S) {
  if (!S)
    return Flow::Next;
  if (!VM.step(S->getBeginLoc()))
    return Flow::Halt;
  VM.Current = S->getBeginLoc();
  ++VM.Nesting;
  const auto Leave = llvm::make_scope_exit([&] { --VM.Nesting; });
  if (VM.isTooDeep(S->getBeginLoc()))
    return Flow::Halt;
  Frame *Block =
      !VM.Frames.empty() && isa<CompoundStmt, IfStmt, ForStmt, WhileStmt,
                                CXXForRangeStmt, SwitchStmt>(S)
          ? VM.Frames.back()
          : nullptr;
  const auto EndBlock = llvm::make_scope_exit(
      [&VM, Block, Before = Block ? Block->Declared.size() : 0] {
        if (Block)
          endBlock(VM, *Block, Before);
      });
  const size_t Living = VM.Temporaries.size();
  const auto EndTemporaries =
      llvm::make_scope_exit([&] { VM.Temporaries.resize(Living); });
  return execInside(VM, S);
}

static Flow execInside(Interpreter &VM, const Stmt *S) {
  switch (S->getStmtClass()) {
  case Stmt::CompoundStmtClass:
    for (const Stmt *Part : cast<CompoundStmt>(S)->body())
      if (Flow F = exec(VM, Part); F != Flow::Next)
        return F;
    return Flow::Next;
  case Stmt::DeclStmtClass:
    for (const Decl *D : cast<DeclStmt>(S)->decls())
      declare(VM, D);
    return VM.Halted ? Flow::Halt : Flow::Next;
  case Stmt::IfStmtClass:
    return execIf(VM, cast<IfStmt>(S));
  case Stmt::ForStmtClass:
  case Stmt::WhileStmtClass:
  case Stmt::DoStmtClass:
    return execLoop(VM, S);
  case Stmt::CXXForRangeStmtClass:
    return execRange(VM, cast<CXXForRangeStmt>(S));
  case Stmt::SwitchStmtClass:
    return execSwitch(VM, cast<SwitchStmt>(S));
  case Stmt::CaseStmtClass:
  case Stmt::DefaultStmtClass:
    return exec(VM, cast<SwitchCase>(S)->getSubStmt());
  case Stmt::LabelStmtClass:
    return exec(VM, cast<LabelStmt>(S)->getSubStmt());
  case Stmt::AttributedStmtClass:
    return exec(VM, cast<AttributedStmt>(S)->getSubStmt());
  case Stmt::BreakStmtClass:
    return Flow::Break;
  case Stmt::ContinueStmtClass:
    return Flow::Continue;
  case Stmt::ReturnStmtClass: {
    const Expr *Given = cast<ReturnStmt>(S)->getRetValue();
    const Cell Result = Given ? VM.eval(Given) : nullptr;
    if (VM.Halted)
      return Flow::Halt;
    if (!VM.Frames.empty()) {
      VM.Frames.back()->Result = Result;
      if (VM.Pass)
        VM.Frames.back()->LiveAtReturn = VM.Pass->memory().live();
    }
    return Flow::Return;
  }
  case Stmt::CXXTryStmtClass:
    // What is thrown ends the constructor; handlers are for what is not known.
    return exec(VM, cast<CXXTryStmt>(S)->getTryBlock());
  case Stmt::NullStmtClass:
    return Flow::Next;
  case Stmt::GotoStmtClass:
  case Stmt::IndirectGotoStmtClass:
    VM.limit(S->getBeginLoc(), "a 'goto' is not followed");
    return Flow::Halt;
  default:
    if (const auto *E = dyn_cast<Expr>(S)) {
      VM.eval(E);
      return VM.Halted ? Flow::Halt : Flow::Next;
    }
    return skipUnknown(VM, {S}, S->getBeginLoc(),
                       "this statement is not followed",
                       unknown(S->getBeginLoc(), ""));
  }
}

void follow(Interpreter &VM, const Stmt *Body) { exec(VM, Body); }

} // namespace libtorch_tidy::bytes
