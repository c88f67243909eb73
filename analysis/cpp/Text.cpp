//===- Text.cpp - What is written that the tree lacks ---------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/cpp/Text.h"
#include "clang/AST/ASTContext.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"

using namespace clang;

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

} // namespace libtorch_tidy::cpp
