//===- FixIts.cpp - Edits named by intention ------------------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fixits/FixIts.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"

using namespace clang;

namespace libtorch_tidy::fixits {

StringRef sourceText(SourceRange Range, const ASTContext &Context) {
  if (Range.isInvalid() || Range.getBegin().isMacroID() ||
      Range.getEnd().isMacroID())
    return {};
  return Lexer::getSourceText(CharSourceRange::getTokenRange(Range),
                              Context.getSourceManager(),
                              Context.getLangOpts());
}

StringRef indentationAt(SourceLocation Loc, const ASTContext &Context) {
  return Lexer::getIndentationForLine(Loc, Context.getSourceManager());
}

/// The location behind the last token of \p E; invalid in macros.
static SourceLocation endOf(const Stmt *S, const ASTContext &Context) {
  if (S->getBeginLoc().isMacroID() || S->getEndLoc().isMacroID())
    return {};
  return Lexer::getLocForEndOfToken(
      S->getEndLoc(), 0, Context.getSourceManager(), Context.getLangOpts());
}

/// Would `E.f()` parse as something else than `(E).f()`?
static bool needsParentheses(const Expr *E) {
  E = E->IgnoreImplicit();
  if (const auto *Call = dyn_cast<CXXOperatorCallExpr>(E))
    return Call->getOperator() != OO_Call &&
           Call->getOperator() != OO_Subscript &&
           Call->getOperator() != OO_Arrow;
  return isa<UnaryOperator, BinaryOperator, ConditionalOperator, CastExpr,
             LambdaExpr, CXXNewExpr, CXXThrowExpr>(E) &&
         !isa<CXXFunctionalCastExpr, CXXNamedCastExpr>(E);
}

Edits appendMemberCall(const Expr *E, StringRef Suffix,
                       const ASTContext &Context) {
  SourceLocation End = endOf(E, Context);
  if (End.isInvalid())
    return {};
  if (!needsParentheses(E))
    return {FixItHint::CreateInsertion(End, Suffix)};
  return {FixItHint::CreateInsertion(E->getBeginLoc(), "("),
          FixItHint::CreateInsertion(End, (")" + Suffix).str())};
}

Edits detachOperand(const Expr *E, const ASTContext &Context) {
  return appendMemberCall(E, ".detach()", Context);
}

Edits insertAtBlockHead(const CompoundStmt *Block, StringRef Statement,
                        const ASTContext &Context) {
  SourceLocation Brace = Block->getLBracLoc();
  if (Brace.isInvalid() || Brace.isMacroID())
    return {};
  const SourceManager &SM = Context.getSourceManager();
  std::string Indent = indentationAt(Brace, Context).str() + "  ";
  bool OwnLine = true;
  if (!Block->body_empty()) {
    SourceLocation First =
        SM.getExpansionLoc(Block->body_front()->getBeginLoc());
    OwnLine =
        SM.getSpellingLineNumber(First) != SM.getSpellingLineNumber(Brace);
    if (OwnLine)
      Indent = indentationAt(First, Context).str();
  }
  SourceLocation After = Brace.getLocWithOffset(1);
  if (!OwnLine)
    return {FixItHint::CreateInsertion(After, (" " + Statement).str())};
  return {FixItHint::CreateInsertion(After, "\n" + Indent + Statement.str())};
}

Edits insertAfterStatement(const Stmt *After, StringRef Statement,
                           const ASTContext &Context) {
  const SourceManager &SM = Context.getSourceManager();
  SourceLocation End = endOf(After, Context);
  if (End.isInvalid())
    return {};
  if (isa<Expr>(After)) {
    // An expression statement ends before its semicolon.
    SourceLocation Semi = Lexer::findLocationAfterToken(
        After->getEndLoc(), tok::semi, SM, Context.getLangOpts(),
        /*SkipTrailingWhitespaceAndNewLine=*/false);
    if (Semi.isInvalid())
      return {};
    End = Semi;
  }
  std::string Text = "\n" + indentationAt(After->getBeginLoc(), Context).str() +
                     Statement.str();
  return {FixItHint::CreateInsertion(End, Text)};
}

Edits insertBeforeStatement(const Stmt *Before, StringRef Statement,
                            const ASTContext &Context) {
  SourceLocation Begin = Before->getBeginLoc();
  if (Begin.isInvalid() || Begin.isMacroID())
    return {};
  const SourceManager &SM = Context.getSourceManager();
  StringRef Indent = indentationAt(Begin, Context);
  bool StartsLine = SM.getSpellingColumnNumber(Begin) == Indent.size() + 1;
  std::string Text =
      Statement.str() + (StartsLine ? "\n" + Indent.str() : std::string(" "));
  return {FixItHint::CreateInsertion(Begin, Text)};
}

Edits assignTo(const Expr *E, StringRef Target) {
  if (E->getBeginLoc().isMacroID() || E->getEndLoc().isMacroID())
    return {};
  return {FixItHint::CreateInsertion(E->getBeginLoc(), (Target + " = ").str())};
}

Edits appendArguments(const CallExpr *Call, StringRef Arguments) {
  SourceLocation Close = Call->getRParenLoc();
  if (Close.isInvalid() || Close.isMacroID() || Call->getBeginLoc().isMacroID())
    return {};
  unsigned Written = 0;
  for (const Expr *Arg : Call->arguments())
    Written += !isa<CXXDefaultArgExpr>(Arg);
  StringRef Separator = Written ? ", " : "";
  return {FixItHint::CreateInsertion(Close, (Separator + Arguments).str())};
}

Edits replaceExpression(const Expr *E, StringRef Text,
                        const ASTContext &Context) {
  if (sourceText(E->getSourceRange(), Context).empty())
    return {};
  return {FixItHint::CreateReplacement(E->getSourceRange(), Text)};
}

std::string freeName(StringRef Wish, const Stmt *Block) {
  struct Names : RecursiveASTVisitor<Names> {
    llvm::StringMap<bool> Used;
    bool VisitNamedDecl(NamedDecl *D) {
      if (D->getIdentifier())
        Used[D->getName()] = true;
      return true;
    }
    bool VisitDeclRefExpr(DeclRefExpr *E) {
      return VisitNamedDecl(E->getDecl());
    }
    bool VisitMemberExpr(MemberExpr *E) {
      return VisitNamedDecl(E->getMemberDecl());
    }
  } Collector;
  Collector.TraverseStmt(const_cast<Stmt *>(Block));
  std::string Name = Wish.str();
  for (unsigned N = 2; Collector.Used.count(Name); ++N)
    Name = (Wish + llvm::Twine(N)).str();
  return Name;
}

} // namespace libtorch_tidy::fixits
