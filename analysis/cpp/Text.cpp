//===- Text.cpp - What the source text shows ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Text.h"
#include "analysis/cpp/Body.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Object.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Walk.h"
#include "clang/AST/ASTContext.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::cpp {

bool isAllThatIsWritten(const Stmt *S, const CompoundStmt *Block,
                        const ASTContext &Context) {
  const SourceManager &SM = Context.getSourceManager();
  const LangOptions &LangOpts = Context.getLangOpts();
  SourceLocation Open = Block->getLBracLoc(), Close = Block->getRBracLoc();
  if (Open.isMacroID() || Close.isMacroID())
    return false;
  CharSourceRange Range = SM.getExpansionRange(S->getSourceRange());
  auto First = Lexer::findNextToken(Open, SM, LangOpts);
  if (!First || First->getLocation() != Range.getBegin())
    return false;
  SourceLocation Last = Range.getEnd();
  while (true) {
    auto Next = Lexer::findNextToken(Last, SM, LangOpts);
    if (!Next)
      return false;
    if (Next->getLocation() == Close)
      return true;
    if (Next->isNot(tok::semi))
      return false;
    Last = Next->getLocation();
  }
}

bool mayLeaveOutAfter(const Stmt *S, const CompoundStmt *Block,
                      const ASTContext &Context) {
  const SourceManager &SM = Context.getSourceManager();
  const SourceLocation Close = Block->getRBracLoc();
  SourceLocation Last = SM.getExpansionRange(S->getSourceRange()).getEnd();
  if (Close.isMacroID())
    return true;
  while (Last != Close) {
    auto Next = Lexer::findNextToken(Last, SM, Context.getLangOpts());
    if (!Next || Next->is(tok::hash) ||
        !SM.isBeforeInTranslationUnit(Last, Close))
      return true;
    Last = Next->getLocation();
  }
  return false;
}

bool isMacroArgument(SourceLocation Loc, const SourceManager &SM) {
  while (Loc.isMacroID()) {
    if (SM.isMacroArgExpansion(Loc))
      return true;
    Loc = SM.getImmediateMacroCallerLoc(Loc);
  }
  return false;
}

/// Does \p Loc come out of a macro, or of one in one, whose name \p Matches?
static bool anyMacroAround(SourceLocation Loc, const ASTContext &Context,
                           llvm::function_ref<bool(StringRef)> Matches) {
  const SourceManager &SM = Context.getSourceManager();
  for (; Loc.isMacroID(); Loc = SM.getImmediateExpansionRange(Loc).getBegin())
    if (Matches(Lexer::getImmediateMacroName(Loc, SM, Context.getLangOpts())))
      return true;
  return false;
}

bool isTestCase(const FunctionDecl *F) {
  auto IsCase = [](StringRef Macro) {
    return isOneOf(Macro,
                   {"TEST", "TEST_F", "TEST_P", "TYPED_TEST", "TYPED_TEST_P",
                    "GTEST_TEST", "TEST_CASE", "TEST_CASE_METHOD",
                    "TEMPLATE_TEST_CASE", "SCENARIO", "SCENARIO_METHOD",
                    "TEST_CASE_FIXTURE", "TEST_CASE_TEMPLATE",
                    "BOOST_AUTO_TEST_CASE", "BOOST_FIXTURE_TEST_CASE"});
  };
  for (const DeclContext *DC = F; DC; DC = DC->getParent())
    if (const auto *Around = dyn_cast<FunctionDecl>(DC);
        Around &&
        anyMacroAround(Around->getLocation(), F->getASTContext(), IsCase))
      return true;
  return false;
}

bool isExpectedToThrow(const Expr *E, const ASTContext &Context) {
  return anyMacroAround(E->getExprLoc(), Context, [](StringRef Macro) {
    return (Macro.contains("_THROW") || Macro.contains("_RAISES") ||
            Macro.starts_with("BOOST_CHECK_EXCEPTION")) &&
           !Macro.contains("NO_THROW") && !Macro.contains("NOTHROW");
  });
}

bool namesClock(StringRef Name) {
  return isOneOf(Name, {"now", "clock", "clock_gettime", "gettimeofday"}) ||
         Name.contains_insensitive("wtime") || Name.starts_with("cudaEvent");
}

bool readsClock(const Stmt *Body) {
  return anyOf<CallExpr>(
      Body, [](const CallExpr *Call) { return namesClock(calleeName(Call)); });
}

bool isTimed(const Stmt *S, const Stmt *Body, const SourceManager &SM) {
  // What keeps a time that was read before S. Text is made to be printed.
  llvm::SmallPtrSet<const ValueDecl *, 4> Kept;
  auto Keep = [&](const ValueDecl *D) {
    if (D && !isStdClass(D->getType(), {"basic_string"}))
      Kept.insert(D);
  };
  forEach<VarDecl>(Body, [&](const VarDecl *Var) {
    if (Var->getInit() && comesBefore(Var->getInit(), S, SM) &&
        readsClock(Var->getInit()))
      Keep(Var);
  });
  bool Stops = false;
  forEach<Expr>(Body, [&](const Expr *E) {
    const auto *Call = dyn_cast<CallExpr>(E);
    const auto *Builtin = dyn_cast<BinaryOperator>(E);
    const bool Reads = Call && namesClock(calleeName(Call));
    if (!comesBefore(E, S, SM)) {
      Stops |= Reads;
    } else if (Builtin && Builtin->getOpcode() == BO_Assign) {
      if (readsClock(Builtin->getRHS()))
        Keep(rootOf(Builtin->getLHS()));
    } else if (Call && isAssignment(Call)) {
      if (readsClock(cast<CXXOperatorCallExpr>(Call)->getArg(1)))
        Keep(rootOf(Call->getArg(0)));
    } else if (Reads) { // gettimeofday(&t, 0), cudaEventRecord(start)
      for (const Expr *Argument : Call->arguments())
        forEach<Expr>(Argument, [&](const Expr *Part) { Keep(rootOf(Part)); });
    }
  });
  return Stops && anyOf<Expr>(Body, [&](const Expr *E) {
           return !comesBefore(E, S, SM) &&
                  llvm::any_of(Kept, [&](const ValueDecl *D) {
                    return isMention(E, D);
                  });
         });
}

} // namespace libtorch_tidy::cpp
