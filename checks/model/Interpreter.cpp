//===- Interpreter.cpp - Follows what constructors do ---------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "checks/model/Interpreter.h"
#include "checks/code/Walk.h"
#include "checks/torch/Calls.h"
#include "checks/torch/ModuleApi.h"
#include "checks/torch/Modules.h"
#include "checks/torch/TorchTypes.h"
#include "clang/AST/DeclTemplate.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/Path.h"

using namespace clang;
using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

namespace libtorch_tidy::model {

/// Evaluated statements and expressions, and copied elements. A constructor of
/// a thousand layers takes some ten thousand.
static constexpr unsigned MaxSteps = 1'000'000;
static constexpr unsigned MaxCalls = 64;

std::string shownName(const CXXRecordDecl *R, bool OfHolder) {
  std::string Result = R->getNameAsString();
  if (StringRef Shown = Result; OfHolder && Shown.consume_back("Impl"))
    Result = Shown.str();
  if (const auto *Special = dyn_cast<ClassTemplateSpecializationDecl>(R)) {
    llvm::raw_string_ostream OS(Result);
    printTemplateArgumentList(OS, Special->getTemplateArgs().asArray(),
                              PrintingPolicy(R->getASTContext().getLangOpts()));
  }
  return Result;
}

bool hasUnknown(const Cell &V, const Value *&Which) {
  if (V->What == Value::Unknown) {
    Which = V.get();
    return true;
  }
  for (const Cell &Element : V->Elements)
    if (hasUnknown(Element, Which))
      return true;
  for (const auto &[Field, Member] : V->Members)
    if (!Field->getType()->isReferenceType() && hasUnknown(Member, Which))
      return true;
  for (const auto &[Name, Setting] : V->Settings)
    if (hasUnknown(Setting, Which))
      return true;
  return false;
}

//===----------------------------------------------------------------------===//
// Notes and limits
//===----------------------------------------------------------------------===//

Cell Interpreter::unknown(SourceLocation Where, const Twine &Why) const {
  Value V;
  V.Why = Why.str();
  V.Where = Where;
  return cell(std::move(V));
}

void Interpreter::note(SourceLocation Where, const Twine &Text) {
  if (Where.isInvalid())
    Where = Current;
  if (Pass) {
    std::string Said = Text.str();
    // The first say what the others come from.
    if (GapsOfPass.size() < 16 && Noted.emplace(Where, Said).second)
      GapsOfPass.push_back({std::move(Said), Where});
    return;
  }
  if (ModuleInstance *M = current())
    M->IsIncomplete = true;
  std::string Said = Text.str();
  if (Noted.emplace(Where, Said).second)
    Gaps.push_back({std::move(Said), Where});
}

std::string Interpreter::because(const Cell &Unknown) const {
  if (Unknown->What != Value::Unknown || Unknown->Why.empty())
    return {};
  const SourceManager &SM = Context.getSourceManager();
  const PresumedLoc Loc = SM.getPresumedLoc(SM.getExpansionLoc(Unknown->Where));
  std::string Result = ": " + Unknown->Why;
  if (Loc.isValid())
    Result += (" (" + llvm::sys::path::filename(Loc.getFilename()) + ":" +
               Twine(Loc.getLine()) + ")")
                  .str();
  return Result;
}

void Interpreter::fail(SourceLocation Where, const Twine &Text) {
  if (!Failure && !Halted)
    Failure = Gap{Text.str(), Where};
  Halted = true;
}

void Interpreter::limit(SourceLocation Where, const Twine &Text) {
  if (Halted)
    return;
  note(Where, Text);
  Halted = true;
}

bool Interpreter::step(SourceLocation Where) {
  if (Halted)
    return false;
  if (++Steps <= MaxSteps)
    return true;
  limit(Where, running() + " takes more than " + Twine(MaxSteps) +
                   " steps, and was followed no further");
  return false;
}

ModuleInstance *Interpreter::current() const {
  for (const Frame *F : llvm::reverse(Frames))
    if (F->This && F->This->What == Value::Module)
      return F->This->Held.get();
  return nullptr;
}

Cell Interpreter::copyOf(const Cell &V) {
  if (!step(V->Where))
    return unknown({}, "");
  ++Nesting;
  const auto Leave = llvm::make_scope_exit([&] { --Nesting; });
  if (Nesting > MaxNesting) {
    limit(V->Where, "this is nested too deep, and was not followed");
    return unknown({}, "");
  }
  Cell Result = cell(*V);
  for (Cell &Element : Result->Elements)
    Element = copyOf(Element);
  for (auto &[Field, Member] : Result->Members)
    // A reference goes on naming the same, perhaps the object itself.
    if (!Field->getType()->isReferenceType())
      Member = copyOf(Member);
  for (auto &[Name, Setting] : Result->Settings)
    Setting = copyOf(Setting);
  return Result;
}

void Interpreter::store(const Cell &To, const Cell &From) {
  if (To != From)
    *To = *copyOf(From);
}

std::optional<bool> Interpreter::truth(const Cell &V) const {
  switch (V->What) {
  case Value::Integer:
    return V->Number != 0;
  case Value::Real:
    return V->RealNumber != 0;
  case Value::Null:
    return false;
  case Value::Module:
  case Value::Pointer:
  case Value::Function:
    return true;
  default:
    return std::nullopt;
  }
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

/// Does \p S always end in an exception?
static bool alwaysThrows(const Stmt *S) {
  if (const auto *Block = dyn_cast_or_null<CompoundStmt>(S))
    return llvm::any_of(Block->body(), alwaysThrows);
  const auto *E = dyn_cast_or_null<Expr>(S);
  if (!E)
    return false;
  E = torch::peel(E);
  if (isa<CXXThrowExpr>(E))
    return true;
  const auto *Call = dyn_cast<CallExpr>(E);
  const FunctionDecl *F = Call ? Call->getDirectCallee() : nullptr;
  return F && (F->isNoReturn() || torch::alwaysThrows(F));
}

/// Could running \p S end the loop or the function around it?
static bool leaves(const Stmt *S, bool &Returns) {
  const auto *Jump = code::findFirst<Stmt>(
      S,
      [](const Stmt *Inner) {
        return isa<ReturnStmt, BreakStmt, ContinueStmt, GotoStmt>(Inner);
      },
      code::Lambdas::Skipped);
  Returns =
      code::anyOf<ReturnStmt>(
          S, [](const ReturnStmt *) { return true; }, code::Lambdas::Skipped) ||
      code::anyOf<GotoStmt>(
          S, [](const GotoStmt *) { return true; }, code::Lambdas::Skipped);
  return Jump;
}

/// Makes everything unknown that \p Skipped may change. True when it may also
/// add to a module.
bool Interpreter::forget(const Stmt *Skipped, const Cell &Because) {
  bool Adds = false;
  auto Forget = [&](const Expr *Written) {
    // a.b[i] = x makes all of `a.b` unknown.
    for (Written = torch::peel(Written); Written;
         Written = torch::peel(Written)) {
      if (const auto *Index = dyn_cast<ArraySubscriptExpr>(Written))
        Written = Index->getBase();
      else if (const auto *Call = dyn_cast<CXXOperatorCallExpr>(Written);
               Call && Call->getNumArgs())
        Written = Call->getArg(0);
      else
        break;
    }
    if (!Written || !isa<DeclRefExpr, MemberExpr>(Written))
      return;
    if (const auto *Ref = dyn_cast<DeclRefExpr>(Written))
      // What the skipped code declares itself is not there.
      if (const auto *Var = dyn_cast<VarDecl>(Ref->getDecl());
          !Var ||
          (Var->hasLocalStorage() && llvm::none_of(Frames, [&](const Frame *F) {
             return F->Variables.count(Var->getCanonicalDecl());
           })))
        return;
    const Cell Object = eval(Written);
    if (Object->What == Value::Module)
      return; // What is done to it is asked below.
    // Through a pointer or an iterator, too.
    if (Object->Target)
      *Object->Target = *Because;
    *Object = *Because;
  };
  code::walk(
      Skipped, code::Lambdas::Entered,
      [&](const Stmt *S) {
        if (const auto *Assign = dyn_cast<BinaryOperator>(S);
            Assign && Assign->isAssignmentOp()) {
          Forget(Assign->getLHS());
        } else if (const auto *Unary = dyn_cast<UnaryOperator>(S);
                   Unary && Unary->isIncrementDecrementOp()) {
          Forget(Unary->getSubExpr());
        } else if (const auto *Call = dyn_cast<CallExpr>(S)) {
          const FunctionDecl *F = Call->getDirectCallee();
          const auto *Method = dyn_cast_or_null<CXXMethodDecl>(F);
          const bool OfLibrary =
              F && (torch::isTorchDecl(F) || torch::isStdDecl(F));
          Adds |= torch::addsToModule(torch::moduleAct(F));
          switch (torch::moduleAct(F)) {
          case torch::ModuleAct::ReplaceModule:
          case torch::ModuleAct::Unregister:
          case torch::ModuleAct::Clear:
          case torch::ModuleAct::Convert:
            fail(Call->Stmt::getBeginLoc(),
                 "what this replaces or takes back depends on something that "
                 "is not known");
            return false;
          default:
            break;
          }
          // A function of the user's may register, or change what it is given.
          if (!OfLibrary && (!Method || !Method->isConst()))
            Adds |= Method && !Method->isStatic() &&
                    torch::isModuleClass(Method->getParent());
          if (const auto *Member = dyn_cast<CXXMemberCallExpr>(Call)) {
            if (Method && !Method->isConst())
              Forget(Member->getImplicitObjectArgument());
          } else if (const auto *Op = dyn_cast<CXXOperatorCallExpr>(Call);
                     Op && Op->isAssignmentOp()) {
            Forget(Op->getArg(0));
          }
          if (F)
            for (unsigned I = 0,
                          N = std::min(F->getNumParams(), Call->getNumArgs());
                 I < N; ++I) {
              const QualType T = F->getParamDecl(I)->getType();
              if (T->isLValueReferenceType() &&
                  !T.getNonReferenceType().isConstQualified())
                Forget(Call->getArg(I));
              Adds |= !OfLibrary && torch::isModule(T);
            }
        }
        return !Halted;
      },
      [](const Decl *) { return true; });
  return Adds;
}

/// Goes past \p Skipped, statements of which each may run or not.
Interpreter::Flow Interpreter::skipUnknown(ArrayRef<const Stmt *> Skipped,
                                           SourceLocation At,
                                           const Twine &Because,
                                           const Cell &Unknown) {
  Cell Reason = Unknown->What == Value::Unknown && !Unknown->Why.empty()
                    ? cell(*Unknown)
                    : unknown(At, Because);
  Flow Next = Flow::Next;
  bool Adds = false;
  for (const Stmt *S : Skipped) {
    if (!S)
      continue;
    Adds |= forget(S, Reason);
    bool Returns = false;
    if (leaves(S, Returns))
      Next = Returns                ? Flow::Return
             : Next == Flow::Return ? Flow::Return
                                    : Flow::Break;
  }
  if (Halted)
    return Flow::Halt;
  if (Next == Flow::Return && !Frames.empty())
    Frames.back()->Result = Reason;
  if (Adds || Next != Flow::Next || Pass)
    note(At,
         Because +
             (Next == Flow::Return ? ", and the function may end here" : "") +
             because(Unknown));
  return Next;
}

void Interpreter::bind(const ValueDecl *D, Cell Given) {
  D = cast<ValueDecl>(D->getCanonicalDecl());
  Frames.back()->Variables[D] = std::move(Given);
  Frames.back()->Declared.push_back(D);
}

namespace {

/// The variables of a block go when it ends.
class BlockScope {
public:
  explicit BlockScope(Frame &Of) : Of(Of), Before(Of.Declared.size()) {}
  ~BlockScope() {
    while (Of.Declared.size() > Before) {
      Of.Variables.erase(Of.Declared.back());
      Of.Declared.pop_back();
    }
  }
  BlockScope(const BlockScope &) = delete;
  BlockScope &operator=(const BlockScope &) = delete;

private:
  Frame &Of;
  const size_t Before;
};

} // namespace

/// The names of a structured binding, if \p Var is one.
void Interpreter::bindParts(const VarDecl *Var, const Cell &Given) {
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
      Part = memberOf(Given, Field->getMemberDecl(), Field);
    else
      Part = unknown(Bindings[I]->getLocation(),
                     "'" + Bindings[I]->getName() + "'");
    bind(Bindings[I], std::move(Part));
  }
}

void Interpreter::declare(const Decl *D) {
  const auto *Var = dyn_cast<VarDecl>(D);
  if (!Var || Frames.empty())
    return;
  Cell Given = Var->hasInit()
                   ? eval(Var->getInit())
                   : defaultValue(Var->getType(), Var->getLocation());
  if (!Var->getType()->isReferenceType()) {
    Given = convert(Given, Var->getType());
    Given = copyOf(coerced(Given, Var->getType(), Var->getLocation()));
  }
  bindParts(Var, Given);
  bind(Var, std::move(Given));
}

Interpreter::Flow Interpreter::execIf(const IfStmt *S) {
  if (S->getInit())
    if (Flow F = exec(S->getInit()); F != Flow::Next)
      return F;
  if (S->isConsteval())
    return S->getElse() ? exec(S->getElse()) : Flow::Next;
  if (const VarDecl *Var = S->getConditionVariable())
    declare(Var);
  const Cell Condition = eval(S->getCond());
  if (Halted)
    return Flow::Halt;
  if (std::optional<bool> Known = truth(Condition)) {
    const Stmt *Taken = *Known ? S->getThen() : S->getElse();
    return Taken ? exec(Taken) : Flow::Next;
  }
  // What throws is a check of what was given.
  if (alwaysThrows(S->getThen()))
    return S->getElse() ? exec(S->getElse()) : Flow::Next;
  if (S->getElse() && alwaysThrows(S->getElse()))
    return exec(S->getThen());
  return skipUnknown({S->getThen(), S->getElse()}, S->getIfLoc(),
                     "the condition of this 'if' is not known", Condition);
}

Interpreter::Flow Interpreter::execWhile(const Expr *Condition,
                                         const Stmt *Body, const Stmt *Loop,
                                         bool BodyFirst) {
  for (bool First = true;; First = false) {
    if (!step(Loop->getBeginLoc()))
      return Flow::Halt;
    if (!First || !BodyFirst) {
      const Cell Goes = eval(Condition);
      if (Halted)
        return Flow::Halt;
      const std::optional<bool> Known = truth(Goes);
      if (!Known) {
        const Flow F =
            skipUnknown({Body}, Loop->getBeginLoc(),
                        "how often this loop runs is not known", Goes);
        return F == Flow::Break ? Flow::Next : F;
      }
      if (!*Known)
        return Flow::Next;
    }
    const Flow F = exec(Body);
    if (F == Flow::Break)
      return Flow::Next;
    if (F == Flow::Return || F == Flow::Halt)
      return F;
  }
}

Interpreter::Flow Interpreter::execFor(const ForStmt *S) {
  if (S->getInit())
    if (Flow F = exec(S->getInit()); F != Flow::Next)
      return F;
  while (true) {
    if (!step(S->getForLoc()))
      return Flow::Halt;
    if (const VarDecl *Var = S->getConditionVariable())
      declare(Var);
    if (S->getCond()) {
      const Cell Goes = eval(S->getCond());
      if (Halted)
        return Flow::Halt;
      const std::optional<bool> Known = truth(Goes);
      if (!Known) {
        const Flow F =
            skipUnknown({S->getBody(), S->getInc()}, S->getForLoc(),
                        "how often this loop runs is not known", Goes);
        return F == Flow::Break ? Flow::Next : F;
      }
      if (!*Known)
        return Flow::Next;
    }
    const Flow F = exec(S->getBody());
    if (F == Flow::Break)
      return Flow::Next;
    if (F == Flow::Return || F == Flow::Halt)
      return F;
    if (S->getInc())
      eval(S->getInc());
  }
}

Interpreter::Flow Interpreter::execRange(const CXXForRangeStmt *S) {
  if (S->getInit())
    if (Flow F = exec(S->getInit()); F != Flow::Next)
      return F;
  const Cell Range = eval(S->getRangeInit());
  if (Halted)
    return Flow::Halt;
  std::vector<Cell> Elements;
  if (Range->What == Value::List) {
    Elements = Range->Elements;
  } else if (Range->What == Value::Module) {
    const bool Named = torch::givesPairs(Range->Held->ClassName);
    for (const auto &[Name, Element] : elementsOf(*Range->Held))
      Elements.push_back(Named ? listOf({text(Name), Element}) : Element);
  } else if (Range->What == Value::Text) {
    for (const char C : Range->Name)
      Elements.push_back(integer(C));
  } else {
    const Flow F = skipUnknown({S->getBody()}, S->getForLoc(),
                               "how often this loop runs is not known", Range);
    return F == Flow::Break ? Flow::Next : F;
  }
  const VarDecl *Var = S->getLoopVariable();
  for (Cell &Element : Elements) {
    if (!step(S->getForLoc()))
      return Flow::Halt;
    const BlockScope OfRound(*Frames.back());
    Cell Given = Var->getType()->isReferenceType()
                     ? Element
                     : copyOf(convert(Element, Var->getType()));
    bindParts(Var, Given);
    bind(Var, Given);
    const Flow F = exec(S->getBody());
    if (F == Flow::Break)
      return Flow::Next;
    if (F == Flow::Return || F == Flow::Halt)
      return F;
  }
  return Flow::Next;
}

Interpreter::Flow Interpreter::execSwitch(const SwitchStmt *S) {
  if (S->getInit())
    if (Flow F = exec(S->getInit()); F != Flow::Next)
      return F;
  if (const VarDecl *Var = S->getConditionVariable())
    declare(Var);
  const Cell Which = eval(S->getCond());
  if (Halted)
    return Flow::Halt;
  const auto *Body = dyn_cast<CompoundStmt>(S->getBody());
  if (Which->What != Value::Integer || !Body) {
    const Flow F =
        skipUnknown({S->getBody()}, S->getSwitchLoc(),
                    "the value of this 'switch' is not known", Which);
    return F == Flow::Break ? Flow::Next : F;
  }
  // The label that fits, or `default`; then on to the first break.
  const Stmt *Start = nullptr;
  for (bool Default : {false, true})
    for (const Stmt *Part : Body->body()) {
      const auto *Label = dyn_cast<SwitchCase>(Part);
      for (; Label && !Start;
           Label = dyn_cast_or_null<SwitchCase>(Label->getSubStmt())) {
        const auto *Case = dyn_cast<CaseStmt>(Label);
        if (!Case) {
          if (Default)
            Start = Part;
          continue;
        }
        const Cell From = eval(Case->getLHS());
        const Cell To = Case->getRHS() ? eval(Case->getRHS()) : From;
        if (From->What == Value::Integer && To->What == Value::Integer &&
            From->Number <= Which->Number && Which->Number <= To->Number)
          Start = Part;
      }
      if (Start)
        break;
    }
  bool Runs = false;
  for (const Stmt *Part : Body->body()) {
    Runs |= Part == Start;
    if (!Runs)
      continue;
    const Flow F = exec(Part);
    if (F == Flow::Break)
      return Flow::Next;
    if (F != Flow::Next)
      return F;
  }
  return Flow::Next;
}

Interpreter::Flow Interpreter::exec(const Stmt *S) {
  if (!S)
    return Flow::Next;
  if (!step(S->getBeginLoc()))
    return Flow::Halt;
  Current = S->getBeginLoc();
  ++Nesting;
  const auto Leave = llvm::make_scope_exit([&] { --Nesting; });
  if (Nesting > MaxNesting) {
    limit(S->getBeginLoc(), "this is nested too deep, and was not followed");
    return Flow::Halt;
  }
  std::optional<BlockScope> Scope;
  if (!Frames.empty() && isa<CompoundStmt, IfStmt, ForStmt, WhileStmt,
                             CXXForRangeStmt, SwitchStmt>(S))
    Scope.emplace(*Frames.back());
  const size_t Living = Temporaries.size();
  const auto EndTemporaries =
      llvm::make_scope_exit([&] { Temporaries.resize(Living); });
  switch (S->getStmtClass()) {
  case Stmt::CompoundStmtClass:
    for (const Stmt *Part : cast<CompoundStmt>(S)->body())
      if (Flow F = exec(Part); F != Flow::Next)
        return F;
    return Flow::Next;
  case Stmt::DeclStmtClass:
    for (const Decl *D : cast<DeclStmt>(S)->decls())
      declare(D);
    return Halted ? Flow::Halt : Flow::Next;
  case Stmt::IfStmtClass:
    return execIf(cast<IfStmt>(S));
  case Stmt::ForStmtClass:
    return execFor(cast<ForStmt>(S));
  case Stmt::WhileStmtClass: {
    const auto *Loop = cast<WhileStmt>(S);
    return execWhile(Loop->getCond(), Loop->getBody(), Loop, false);
  }
  case Stmt::DoStmtClass: {
    const auto *Loop = cast<DoStmt>(S);
    return execWhile(Loop->getCond(), Loop->getBody(), Loop, true);
  }
  case Stmt::CXXForRangeStmtClass:
    return execRange(cast<CXXForRangeStmt>(S));
  case Stmt::SwitchStmtClass:
    return execSwitch(cast<SwitchStmt>(S));
  case Stmt::CaseStmtClass:
  case Stmt::DefaultStmtClass:
    return exec(cast<SwitchCase>(S)->getSubStmt());
  case Stmt::LabelStmtClass:
    return exec(cast<LabelStmt>(S)->getSubStmt());
  case Stmt::AttributedStmtClass:
    return exec(cast<AttributedStmt>(S)->getSubStmt());
  case Stmt::BreakStmtClass:
    return Flow::Break;
  case Stmt::ContinueStmtClass:
    return Flow::Continue;
  case Stmt::ReturnStmtClass: {
    const Expr *Given = cast<ReturnStmt>(S)->getRetValue();
    const Cell Result = Given ? eval(Given) : nullptr;
    if (Halted)
      return Flow::Halt;
    if (!Frames.empty())
      Frames.back()->Result = Result;
    return Flow::Return;
  }
  case Stmt::CXXTryStmtClass:
    // What is thrown ends the constructor; handlers are for what is not known.
    return exec(cast<CXXTryStmt>(S)->getTryBlock());
  case Stmt::NullStmtClass:
    return Flow::Next;
  case Stmt::GotoStmtClass:
  case Stmt::IndirectGotoStmtClass:
    limit(S->getBeginLoc(), "a 'goto' is not followed");
    return Flow::Halt;
  default:
    if (const auto *E = dyn_cast<Expr>(S)) {
      eval(E);
      return Halted ? Flow::Halt : Flow::Next;
    }
    return skipUnknown({S}, S->getBeginLoc(), "this statement is not followed",
                       unknown(S->getBeginLoc(), ""));
  }
}

//===----------------------------------------------------------------------===//
// Calls of the user's functions
//===----------------------------------------------------------------------===//

const FunctionDecl *Interpreter::definitionOf(const FunctionDecl *F) {
  const FunctionDecl *Definition = nullptr;
  if (F->isDefined(Definition) && Definition->hasBody())
    return Definition;
  if (Define && F->getTemplateInstantiationPattern() &&
      !F->isDependentContext()) {
    Define(const_cast<FunctionDecl &>(*F));
    if (F->isDefined(Definition) && Definition->hasBody())
      return Definition;
  }
  if (!torch::isTorchDecl(F) && !torch::isStdDecl(F))
    Undefined.insert(F->getCanonicalDecl());
  return nullptr;
}

const CXXRecordDecl *Interpreter::definitionOf(const CXXRecordDecl *R,
                                               const DefineDecl &Define) {
  if (R && !R->hasDefinition() && Define && !R->isDependentContext() &&
      isa<ClassTemplateSpecializationDecl>(R))
    Define(const_cast<CXXRecordDecl &>(*R));
  return R ? R->getDefinition() : nullptr;
}

bool Interpreter::bindParameters(Frame &Callee, const FunctionDecl *F,
                                 ArrayRef<Cell> Arguments) {
  for (unsigned I = 0; I < F->getNumParams(); ++I) {
    const ParmVarDecl *Param = F->getParamDecl(I);
    const QualType T = Param->getType();
    Cell Given;
    if (I < Arguments.size())
      Given = coerced(convert(Arguments[I], T.getNonReferenceType()), T,
                      Param->getLocation());
    else if (Param->hasDefaultArg() && !Param->hasUninstantiatedDefaultArg() &&
             !Param->hasUnparsedDefaultArg())
      Given = convert(eval(Param->getDefaultArg()), T);
    else
      Given = unknown(Param->getLocation(), "'" + Param->getName() + "'");
    if (!T->isReferenceType())
      Given = copyOf(Given);
    if (!T->isReferenceType() && Given->IsExpiring) {
      Given->IsExpiring = false;
      Arguments[I]->Handle = nullptr;
      Arguments[I]->What = Value::Null;
    }
    // What is not known is called by the name that its reader knows.
    if (Given->What == Value::Unknown && Given->Why.empty())
      *Given = *unknown(Param->getLocation(), "'" + Param->getName() + "'");
    Callee.Variables[Param->getCanonicalDecl()] = std::move(Given);
  }
  return !Halted;
}

/// Runs \p F, a definition or null, in \p Callee. Returns \p Nothing where it
/// returns nothing, or is not followed.
Cell Interpreter::run(const FunctionDecl *F, Frame &Callee,
                      ArrayRef<Cell> Arguments, SourceLocation At,
                      const Cell &Nothing) {
  if (!F)
    return Nothing;
  if (Calls >= MaxCalls) {
    note(At, "calls nest deeper than " + Twine(MaxCalls) +
                 ", and were followed no further");
    return Nothing;
  }
  if (!bindParameters(Callee, F, Arguments))
    return Nothing;
  ++Calls;
  Frames.push_back(&Callee);
  exec(F->getBody());
  Frames.pop_back();
  --Calls;
  if (Pass) // Parameters are destroyed by the caller, after its expression.
    for (const ParmVarDecl *Param : F->parameters())
      if (!Param->getType()->isReferenceType())
        Temporaries.push_back(Callee.Variables[Param->getCanonicalDecl()]);
  return Callee.Result ? Callee.Result : Nothing;
}

Cell Interpreter::call(const FunctionDecl *F, ArrayRef<Cell> Arguments,
                       Cell This, SourceLocation At) {
  Frame Callee;
  Callee.This = std::move(This);
  const Cell Result =
      run(definitionOf(F), Callee, Arguments, At,
          unknown(At, "what '" + F->getNameAsString() + "' returns"));
  if (Pass && Callee.This && torch::isForward(F))
    noteResult(Callee.This, Result);
  return !Callee.Result || F->getReturnType()->isReferenceType()
             ? Result
             : convert(Result, F->getReturnType());
}

/// \p F is what the call names, which says more than the closure does: of a
/// generic lambda, the instance.
Cell Interpreter::callClosure(const Cell &Closure, const FunctionDecl *F,
                              ArrayRef<Cell> Arguments, SourceLocation At) {
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(F);
  if (!Method || !Method->getParent()->isLambda())
    F = Closure->Callee;
  Frame Callee;
  Callee.This = Closure->This;
  Callee.Variables = Closure->Captures;
  return run(definitionOf(F), Callee, Arguments, At,
             unknown(At, "what a function object returns"));
}

//===----------------------------------------------------------------------===//
// Constructors
//===----------------------------------------------------------------------===//

/// How well \p Given fits a parameter of \p Type; nullopt when it does not.
static std::optional<unsigned> fit(const Cell &Given, QualType Written,
                                   QualType Type) {
  Type = Type.getNonReferenceType().getCanonicalType().getUnqualifiedType();
  if (!Written.isNull() &&
      Written.getNonReferenceType().getCanonicalType().getUnqualifiedType() ==
          Type)
    return 4;
  const CXXRecordDecl *R = Type->getAsCXXRecordDecl();
  switch (Given->What) {
  case Value::Unknown:
    // By its type, where that says something.
    if (!Written.isNull() && !R &&
        Written.getNonReferenceType()->isArithmeticType() &&
        !Type->isArithmeticType())
      return std::nullopt;
    return 1;
  case Value::Integer:
    if (Type->isBooleanType())
      return Given->Number == 0 || Given->Number == 1 ? 2 : 1;
    if (Type->isIntegralOrEnumerationType())
      return 3;
    if (Type->isFloatingType())
      return 2;
    return R ? std::optional<unsigned>(1) : std::nullopt;
  case Value::Real:
    if (Type->isFloatingType())
      return 3;
    if (Type->isIntegralOrEnumerationType())
      return 1;
    return R ? std::optional<unsigned>(1) : std::nullopt;
  case Value::Text:
    if (R)
      return R->getIdentifier() && R->getName().contains("string") ? 3 : 1;
    return Type->isPointerType() ? std::optional<unsigned>(2) : std::nullopt;
  case Value::List:
    if (R)
      return 2;
    return Type->isArrayType() || Type->isPointerType()
               ? std::optional<unsigned>(1)
               : std::nullopt;
  case Value::Module: {
    const CXXRecordDecl *Held = torch::heldBy(R);
    if (torch::isModule(Type))
      return Held && Held == Given->Held->Class ? 3 : 2;
    return R || Type->isPointerType() ? std::optional<unsigned>(1)
                                      : std::nullopt;
  }
  case Value::Options:
    return R && torch::modelClass(R) == torch::ModelClass::Options
               ? std::optional<unsigned>(3)
               : std::nullopt;
  case Value::Record:
    return R && (R->getCanonicalDecl() == Given->Class->getCanonicalDecl() ||
                 (R->hasDefinition() && Given->Class->hasDefinition() &&
                  Given->Class->isDerivedFrom(R)))
               ? std::optional<unsigned>(3)
               : std::nullopt;
  default:
    return Type->isArithmeticType() ? std::nullopt : std::optional<unsigned>(1);
  }
}

const CXXConstructorDecl *
Interpreter::constructorFor(const CXXRecordDecl *Class,
                            ArrayRef<Cell> Arguments,
                            ArrayRef<QualType> Types) {
  const CXXConstructorDecl *Best = nullptr;
  unsigned BestFit = 0;
  auto Consider = [&](const CXXConstructorDecl *Constructor) {
    if (Constructor->isDeleted() || Constructor->isCopyOrMoveConstructor() ||
        Arguments.size() < Constructor->getMinRequiredArguments() ||
        Arguments.size() > Constructor->getNumParams())
      return;
    unsigned Sum = 1;
    for (unsigned I = 0; I < Arguments.size(); ++I) {
      const std::optional<unsigned> Fit =
          fit(Arguments[I], I < Types.size() ? Types[I] : QualType(),
              Constructor->getParamDecl(I)->getType());
      if (!Fit)
        return;
      Sum += *Fit;
    }
    if (Sum > BestFit) {
      Best = Constructor;
      BestFit = Sum;
    }
  };
  for (const CXXConstructorDecl *Constructor : Class->ctors())
    Consider(Constructor);
  if (Best)
    return Best;
  // Those of a base, by a using-declaration; the compiler makes its own of them
  // where they are called, and the library's calls are not parsed.
  for (const Decl *D : Class->decls())
    if (const auto *Shadow = dyn_cast<ConstructorUsingShadowDecl>(D))
      if (const auto *OfBase =
              dyn_cast<CXXConstructorDecl>(Shadow->getTargetDecl()))
        Consider(OfBase);
  if (Best)
    return Best;
  // Templates, in the forms that the unit has made.
  for (const Decl *D : Class->decls())
    if (const auto *Template = dyn_cast<FunctionTemplateDecl>(D))
      for (const FunctionDecl *F : Template->specializations())
        if (const auto *Constructor = dyn_cast<CXXConstructorDecl>(F))
          Consider(Constructor);
  return Best;
}

ModulePtr Interpreter::make(const CXXRecordDecl *Class,
                            ArrayRef<Cell> Arguments, SourceLocation At) {
  const Cell Made =
      makeObject(Class, Arguments, /*Types=*/{}, /*Constructor=*/nullptr, At);
  return Made->What == Value::Module ? Made->Held : nullptr;
}

/// Fields as they are without a constructor's list.
void Interpreter::initialiseFields(const Cell &Object,
                                   const CXXRecordDecl *Class) {
  Fields &Members =
      Object->What == Value::Module ? Object->Held->Members : Object->Members;
  for (const FieldDecl *Field : Class->fields()) {
    if (Halted)
      return;
    const Cell Given =
        Field->hasInClassInitializer() && Field->getInClassInitializer()
            ? convert(eval(Field->getInClassInitializer()), Field->getType())
            : defaultValue(Field->getType(), Field->getLocation());
    Members[Field->getCanonicalDecl()] =
        Field->getType()->isReferenceType() ? Given : copyOf(Given);
  }
}

/// What a defaulted constructor does: bases and fields in their order.
void Interpreter::constructPlainly(const Cell &Object,
                                   const CXXRecordDecl *Class,
                                   SourceLocation At) {
  for (const CXXBaseSpecifier &Base : Class->bases())
    constructBase(Object, Base.getType(), nullptr, At);
  initialiseFields(Object, Class);
}

/// A user's class that derives from one of LibTorch's modules has what that
/// registers.
void Interpreter::inheritLibraryModule(const Cell &Object,
                                       const CXXRecordDecl *Base,
                                       ArrayRef<Cell> Arguments,
                                       SourceLocation At) {
  if (Object->What != Value::Module)
    return;
  const ModulePtr Made =
      makeLibraryModule(torch::modelClassName(Base), Arguments, At);
  ModuleInstance &M = *Object->Held;
  llvm::append_range(M.Children, Made->Children);
  llvm::append_range(M.Parameters, Made->Parameters);
  llvm::append_range(M.Buffers, Made->Buffers);
  llvm::append_range(M.Unlisted, Made->Unlisted);
  M.Settings = Made->Settings;
  M.IsIncomplete |= Made->IsIncomplete;
}

void Interpreter::constructBase(const Cell &Object, QualType Base,
                                const Expr *Init, SourceLocation At) {
  const CXXRecordDecl *R = Base->getAsCXXRecordDecl();
  R = R ? R->getDefinition() : nullptr;
  if (!R || torch::isStdDecl(R))
    return;
  const torch::ModelClass Kind = torch::modelClass(R);
  if (Kind == torch::ModelClass::Base)
    return;
  const auto *Construct =
      dyn_cast_or_null<CXXConstructExpr>(Init ? torch::peel(Init) : nullptr);
  llvm::SmallVector<Cell, 4> Arguments;
  llvm::SmallVector<QualType, 4> Types;
  if (Construct)
    for (const Expr *Arg : torch::writtenArguments(Construct)) {
      Arguments.push_back(eval(Arg));
      Types.push_back(Arg->getType());
    }
  if (Kind == torch::ModelClass::LibraryModule) {
    inheritLibraryModule(Object, R, Arguments, At);
    return;
  }
  if (torch::isTorchDecl(R))
    return;
  // A field of the base belongs to the same object; so do its virtual calls.
  const CXXConstructorDecl *Constructor =
      Construct ? Construct->getConstructor() : nullptr;
  if (!Constructor)
    Constructor = constructorFor(R, Arguments, Types);
  const CXXRecordDecl *Derived =
      Object->What == Value::Module ? Object->Held->Class : Object->Class;
  const CXXRecordDecl *&Dynamic =
      Object->What == Value::Module ? Object->Held->Class : Object->Class;
  Dynamic = R;
  construct(Object, R, Constructor, Arguments, At);
  Dynamic = Derived;
}

void Interpreter::construct(const Cell &Object, const CXXRecordDecl *Class,
                            const CXXConstructorDecl *Constructor,
                            ArrayRef<Cell> Arguments, SourceLocation At) {
  Frame Callee;
  Callee.This = Object;
  Frames.push_back(&Callee);
  ++Calls;
  const auto Leave = llvm::make_scope_exit([&] {
    Frames.pop_back();
    --Calls;
  });
  if (Calls > MaxCalls) {
    note(At, "constructors nest deeper than " + Twine(MaxCalls) +
                 ", and were followed no further");
    return;
  }
  // What it inherits from a base, it hands on.
  const CXXConstructorDecl *Inherited = nullptr;
  if (Constructor &&
      Constructor->getParent()->getCanonicalDecl() != Class->getCanonicalDecl())
    Inherited = Constructor;
  else if (Constructor && Constructor->isInheritingConstructor())
    Inherited = Constructor->getInheritedConstructor().getConstructor();
  if (Inherited) {
    const CXXRecordDecl *Base = Inherited->getParent();
    for (const CXXBaseSpecifier &B : Class->bases())
      if (const CXXRecordDecl *R = B.getType()->getAsCXXRecordDecl();
          R && R->getCanonicalDecl() != Base->getCanonicalDecl())
        constructBase(Object, B.getType(), nullptr, At);
    if (torch::modelClass(Base) == torch::ModelClass::LibraryModule)
      inheritLibraryModule(Object, Base, Arguments, At);
    else
      construct(Object, Base->getDefinition(), Inherited, Arguments, At);
    initialiseFields(Object, Class);
    return;
  }
  if (!Constructor || (Constructor->isDefaulted() && Arguments.empty()) ||
      Constructor->isImplicit())
    return constructPlainly(Object, Class, At);
  const auto *Definition =
      dyn_cast_or_null<CXXConstructorDecl>(definitionOf(Constructor));
  if (!Definition) {
    note(Constructor->getLocation(), "the constructor of '" +
                                         Class->getNameAsString() +
                                         "' is defined in another file");
    return;
  }
  if (!bindParameters(Callee, Definition, Arguments))
    return;
  Fields &Members =
      Object->What == Value::Module ? Object->Held->Members : Object->Members;
  for (const CXXCtorInitializer *Init : Definition->inits()) {
    if (Halted)
      return;
    if (Init->isDelegatingInitializer()) {
      if (const auto *To =
              dyn_cast<CXXConstructExpr>(torch::peel(Init->getInit()))) {
        llvm::SmallVector<Cell, 4> Given;
        for (const Expr *Arg : torch::writtenArguments(To))
          Given.push_back(eval(Arg));
        construct(Object, Class, To->getConstructor(), Given, At);
      }
    } else if (Init->isBaseInitializer()) {
      constructBase(Object, QualType(Init->getBaseClass(), 0), Init->getInit(),
                    At);
    } else if (const FieldDecl *Field = Init->getAnyMember()) {
      const Cell Given =
          coerced(convert(eval(Init->getInit()), Field->getType()),
                  Field->getType(), Field->getLocation());
      Members[Field->getCanonicalDecl()] =
          Field->getType()->isReferenceType() ? Given : copyOf(Given);
    }
  }
  // Those that are left as they are.
  for (const FieldDecl *Field : Class->fields())
    if (!Members.count(Field->getCanonicalDecl()))
      Members[Field->getCanonicalDecl()] =
          defaultValue(Field->getType(), Field->getLocation());
  if (!Halted)
    exec(Definition->getBody());
}

} // namespace libtorch_tidy::model
