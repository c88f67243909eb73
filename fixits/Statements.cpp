//===- Statements.cpp - Edits of statements and lists ---------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fixits/Statements.h"
#include "clang/AST/ASTContext.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace libtorch_tidy::fixits {

std::string indentationStep(const Stmt *Outer, const ASTContext &Context) {
  StringRef Base = indentationAt(Outer->getBeginLoc(), Context);
  StringRef Step;
  llvm::SmallVector<StringRef, 32> Lines;
  sourceText(Outer->getSourceRange(), Context).split(Lines, '\n');
  for (StringRef Line : llvm::drop_begin(Lines)) {
    StringRef Code = Line.ltrim(" \t\r");
    StringRef Extra = Line.drop_back(Code.size());
    // A line that goes on from the one before it may stand further in.
    if (!Code.empty() && Extra.consume_front(Base) && !Extra.empty() &&
        (Step.empty() || Extra.size() < Step.size()))
      Step = Extra;
  }
  if (!Step.empty())
    return Step.str();
  return Base.contains('\t') ? "\t" : "  ";
}

Edits appendToList(const InitListExpr *List, StringRef Elements,
                   const ASTContext &Context) {
  SourceLocation Close = List->getRBraceLoc();
  if (List->getNumInits() == 0 || Close.isInvalid() ||
      sourceText(List->getSourceRange(), Context).empty())
    return {};
  const Expr *Last = List->getInit(List->getNumInits() - 1);
  SourceLocation After = Lexer::getLocForEndOfToken(
      Last->getEndLoc(), 0, Context.getSourceManager(), Context.getLangOpts());
  if (After.isInvalid() || After.isMacroID() ||
      !Lexer::getSourceText(CharSourceRange::getCharRange(After, Close),
                            Context.getSourceManager(), Context.getLangOpts())
           .trim()
           .empty())
    return {};
  return {FixItHint::CreateInsertion(After, (", " + Elements).str())};
}

Edits captureAs(const LambdaExpr *Lambda, const LambdaCapture *Capture,
                StringRef Value, const ASTContext &Context) {
  std::string Name = Capture->getCapturedVar()->getNameAsString();
  SourceRange Introducer = Lambda->getIntroducerRange();
  if (sourceText(Introducer, Context).empty())
    return {};
  if (Capture->isImplicit())
    return {FixItHint::CreateInsertion(Introducer.getEnd(),
                                       (", " + Name + " = " + Value).str())};
  SourceLocation After = Lexer::getLocForEndOfToken(Capture->getLocation(), 0,
                                                    Context.getSourceManager(),
                                                    Context.getLangOpts());
  if (After.isInvalid() || After.isMacroID())
    return {};
  return {FixItHint::CreateInsertion(After, (" = " + Value).str())};
}

} // namespace libtorch_tidy::fixits
