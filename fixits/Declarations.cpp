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

namespace {

/// What a declaration takes along when it moves.
struct Moved {
  CharSourceRange Range;
  /// The comments that are about nothing else, line by line.
  llvm::SmallVector<StringRef, 2> Comments;
};

/// A comment that ends with its line.
bool isComment(StringRef Text) {
  return (Text.starts_with("//") && !Text.ends_with("\\")) ||
         (Text.starts_with("/*") && Text.find("*/") == Text.size() - 2);
}

} // namespace

/// A statement that stands alone on its line takes the line. With it go a
/// comment after it and, from a paragraph of its own, the comment above and a
/// blank line.
static Moved wholeLine(const Stmt *S, const ASTContext &Context) {
  const SourceManager &SM = Context.getSourceManager();
  FileID File = SM.getFileID(S->getBeginLoc());
  StringRef Buffer = SM.getBufferData(File);
  size_t Begin = SM.getFileOffset(S->getBeginLoc());
  size_t End = SM.getFileOffset(
      Lexer::getLocForEndOfToken(S->getEndLoc(), 0, SM, Context.getLangOpts()));
  auto LineEnd = [&](size_t Offset) {
    return std::min(Buffer.find('\n', Offset), Buffer.size());
  };
  auto LineBegin = [&](size_t Offset) {
    return Buffer.rfind('\n', Offset) + 1;
  };
  Moved Result;
  size_t From = LineBegin(Begin), To = LineEnd(End);
  StringRef After = Buffer.slice(End, To).trim();
  if (From == 0 || To == Buffer.size() ||
      !Buffer.slice(From, Begin).trim().empty() ||
      !(After.empty() || isComment(After))) {
    SourceLocation Start = SM.getLocForStartOfFile(File);
    Result.Range = CharSourceRange::getCharRange(Start.getLocWithOffset(Begin),
                                                 Start.getLocWithOffset(End));
    return Result;
  }

  bool BlankBelow = Buffer.slice(To + 1, LineEnd(To + 1)).trim().empty();
  size_t Above = From;
  while (Above > 0 &&
         Buffer.slice(LineBegin(Above - 1), Above).trim().starts_with("//"))
    Above = LineBegin(Above - 1);
  auto BlankAbove = [&] {
    return Above > 0 &&
           Buffer.slice(LineBegin(Above - 1), Above).trim().empty();
  };
  if (BlankBelow && BlankAbove()) {
    for (size_t Line = Above; Line < From; Line = LineEnd(Line) + 1)
      Result.Comments.push_back(Buffer.slice(Line, LineEnd(Line)).trim());
    From = Above;
    To = LineEnd(To + 1);
  }
  if (!After.empty())
    Result.Comments.push_back(After);
  Result.Range = wholeLines(File, From, To, Context);
  return Result;
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
  const Moved Line = wholeLine(Declaration, Context);
  StringRef Indent = indentationAt(Assignment->getBeginLoc(), Context);
  std::string Text;
  for (StringRef Comment : Line.Comments)
    Text += (Comment + "\n" + Indent).str();
  if (!Text.empty() && Context.getSourceManager().getSpellingColumnNumber(
                           Assignment->getBeginLoc()) != Indent.size() + 1)
    return {};
  return {FixItHint::CreateRemoval(Line.Range),
          FixItHint::CreateInsertion(Assignment->getBeginLoc(),
                                     (Text + Type + " ").str())};
}

} // namespace libtorch_tidy::fixits
