//===- Declarations.cpp - Edits that move declarations --------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fixits/Declarations.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include "clang/AST/ExprCXX.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"

using namespace clang;

namespace libtorch_tidy::fixits {

/// The whole line of a statement that stands alone on it, with the line break
/// before it: when a removal ends before white space, clang-tidy's engine
/// (clang::edit) takes a space of that, too, and the next line would lose one
/// of its indentation.
static CharSourceRange wholeLine(const Stmt *S, const ASTContext &Context) {
  const SourceManager &SM = Context.getSourceManager();
  FileID File = SM.getFileID(S->getBeginLoc());
  StringRef Buffer = SM.getBufferData(File);
  unsigned Begin = SM.getFileOffset(S->getBeginLoc());
  unsigned End = SM.getFileOffset(
      Lexer::getLocForEndOfToken(S->getEndLoc(), 0, SM, Context.getLangOpts()));
  unsigned LineBegin = Begin;
  while (LineBegin > 0 &&
         (Buffer[LineBegin - 1] == ' ' || Buffer[LineBegin - 1] == '\t'))
    --LineBegin;
  unsigned LineEnd = End;
  while (LineEnd < Buffer.size() &&
         (Buffer[LineEnd] == ' ' || Buffer[LineEnd] == '\t' ||
          Buffer[LineEnd] == '\r'))
    ++LineEnd;
  SourceLocation Start = SM.getLocForStartOfFile(File);
  if (LineBegin > 0 && Buffer[LineBegin - 1] == '\n' &&
      LineEnd < Buffer.size() && Buffer[LineEnd] == '\n') {
    // What ends a line may be "\r\n".
    LineBegin -= LineBegin > 1 && Buffer[LineBegin - 2] == '\r' ? 2 : 1;
    LineEnd -= LineEnd > End && Buffer[LineEnd - 1] == '\r' ? 1 : 0;
    return CharSourceRange::getCharRange(Start.getLocWithOffset(LineBegin),
                                         Start.getLocWithOffset(LineEnd));
  }
  return CharSourceRange::getCharRange(Start.getLocWithOffset(Begin),
                                       Start.getLocWithOffset(End));
}

Edits sinkDeclaration(const DeclStmt *Declaration, const Expr *Assignment,
                      const ASTContext &Context) {
  if (!Declaration->isSingleDecl() || Declaration->getBeginLoc().isMacroID() ||
      Declaration->getEndLoc().isMacroID() ||
      Assignment->getBeginLoc().isMacroID())
    return {};
  const auto *V = dyn_cast<VarDecl>(Declaration->getSingleDecl());
  if (!V || V->isStaticLocal())
    return {};
  // `torch::Tensor out;`: what would be lost with an initialiser is not.
  if (const Expr *Init = V->getInit()) {
    const auto *Construct = dyn_cast<CXXConstructExpr>(Init->IgnoreImplicit());
    if (!Construct || Construct->getNumArgs() != 0 ||
        Construct->getParenOrBraceRange().isValid())
      return {};
  }
  StringRef Type =
      sourceText({Declaration->getBeginLoc(), V->getTypeSpecEndLoc()}, Context);
  if (Type.empty())
    return {};
  return {FixItHint::CreateRemoval(wholeLine(Declaration, Context)),
          FixItHint::CreateInsertion(Assignment->getBeginLoc(),
                                     (Type + " ").str())};
}

} // namespace libtorch_tidy::fixits
