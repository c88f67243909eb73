//===- HoistRecovery.cpp - Moving a recovery out of its handler -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fixits/FixIts.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/ParentMapContext.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/AST/StmtCXX.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace libtorch_tidy::fixits {

namespace {

/// What a statement has to do with the handler it stands in.
struct Ties : RecursiveASTVisitor<Ties> {
  const VarDecl *Exception = nullptr;
  llvm::SmallPtrSet<const Decl *, 8> Declared, Used;
  bool UsesException = false;
  bool CannotMove = false;

  bool VisitDeclRefExpr(DeclRefExpr *E) {
    Used.insert(E->getDecl());
    UsesException |= Exception && E->getDecl() == Exception;
    const auto *Callee = dyn_cast<FunctionDecl>(E->getDecl());
    // std::current_exception and throw_with_nested need one in flight.
    if (Callee && Callee->isInStdNamespace() && Callee->getIdentifier() &&
        (Callee->getName() == "current_exception" ||
         Callee->getName() == "rethrow_exception" ||
         Callee->getName() == "throw_with_nested"))
      UsesException = true;
    return true;
  }
  bool VisitCXXThrowExpr(CXXThrowExpr *Throw) {
    UsesException |= !Throw->getSubExpr();
    return true;
  }
  bool VisitDecl(Decl *D) {
    Declared.insert(D);
    return true;
  }
  bool VisitLabelStmt(LabelStmt *) {
    CannotMove = true;
    return true;
  }
};

Ties tiesOf(const Stmt *S, const VarDecl *Exception) {
  Ties T;
  T.Exception = Exception;
  T.TraverseStmt(const_cast<Stmt *>(S));
  return T;
}

/// Preprocessor directives and raw strings do not survive a new indentation.
bool isMovable(StringRef Text) {
  return !Text.contains("R\"") &&
         llvm::none_of(llvm::split(Text, '\n'), [](StringRef Line) {
           return Line.ltrim().starts_with("#");
         });
}

/// Is a variable of the block of \p Moved called like another of \p In?
bool clash(llvm::ArrayRef<const Stmt *> Moved, const FunctionDecl *In) {
  llvm::SmallPtrSet<const Decl *, 4> Own;
  llvm::StringMap<bool> Names;
  for (const Stmt *S : Moved)
    if (const auto *Declaration = dyn_cast<DeclStmt>(S))
      for (const Decl *D : Declaration->decls())
        if (const auto *Named = dyn_cast<NamedDecl>(D);
            Named && Named->getIdentifier()) {
          Own.insert(D);
          Names[Named->getName()] = true;
        }
  struct Finder : RecursiveASTVisitor<Finder> {
    llvm::function_ref<bool(NamedDecl *)> Clashes;
    bool VisitNamedDecl(NamedDecl *D) { return !Clashes(D); }
  } F;
  auto Clashes = [&](NamedDecl *D) {
    return D->getIdentifier() && !Own.count(D) && Names.count(D->getName());
  };
  F.Clashes = Clashes;
  return !F.TraverseStmt(In->getBody()) ||
         llvm::any_of(In->parameters(), Clashes);
}

/// `stream << ...`, printf and the like as whole statements.
bool onlyLogs(const Stmt *S) {
  const auto *E = dyn_cast<Expr>(S);
  const auto *Call = E ? dyn_cast<CallExpr>(E->IgnoreImplicit()) : nullptr;
  if (const auto *Op = dyn_cast_or_null<CXXOperatorCallExpr>(Call))
    return Op->getOperator() == OO_LessLess;
  const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
  return Callee && Callee->getIdentifier() &&
         llvm::StringSwitch<bool>(Callee->getName())
             .Cases("printf", "fprintf", "puts", true)
             .Cases("fputs", "perror", "syslog", true)
             .Default(false);
}

/// Does control never come to what follows \p Block?
bool neverEnds(const Stmt *Block) {
  const auto *Compound = dyn_cast<CompoundStmt>(Block);
  if (!Compound)
    return isa<ReturnStmt>(Block) ||
           (isa<Expr>(Block) &&
            isa<CXXThrowExpr>(cast<Expr>(Block)->IgnoreImplicit()));
  return !Compound->body_empty() && neverEnds(Compound->body_back());
}

/// \p Text with the white space \p From at the start of lines made \p To.
std::string reindent(StringRef Text, StringRef From, StringRef To) {
  auto Reindented = [&](StringRef Line) {
    return Line.consume_front(From) ? (To + Line).str() : Line.str();
  };
  return llvm::join(llvm::map_range(llvm::split(Text, '\n'), Reindented), "\n");
}

/// The end of a statement of a block: after its semicolon or brace.
SourceLocation endOfStatement(const Stmt *S, const ASTContext &Context) {
  const SourceManager &SM = Context.getSourceManager();
  SourceLocation End = SM.getExpansionRange(S->getEndLoc()).getEnd();
  if (!isa<DeclStmt, CompoundStmt>(S))
    if (SourceLocation Semi = Lexer::findLocationAfterToken(
            End, tok::semi, SM, Context.getLangOpts(),
            /*SkipTrailingWhitespaceAndNewLine=*/false);
        Semi.isValid())
      return Semi;
  return Lexer::getLocForEndOfToken(End, 0, SM, Context.getLangOpts());
}

} // namespace

/// The first statement of handler \p Body that can go after the try statement
/// with all that follow it. What stays is a beginning of the handler: the order
/// is kept. The size of \p Body when it cannot be done.
static size_t firstToMove(llvm::ArrayRef<const Stmt *> Body, const Stmt *Retry,
                          const VarDecl *Exception) {
  llvm::SmallVector<Ties, 8> All;
  for (const Stmt *S : Body)
    All.push_back(tiesOf(S, Exception));
  size_t First = 0;
  while (First < Body.size() && Body[First] != Retry &&
         (onlyLogs(Body[First]) || All[First].UsesException))
    ++First;
  for (size_t I = First; I < Body.size() && Body[I] != Retry; ++I)
    if (All[I].UsesException)
      First = I + 1;
  for (size_t I = First; I < Body.size(); ++I) {
    if (All[I].UsesException || All[I].CannotMove)
      return Body.size();
    for (size_t Before = 0; Before < First; ++Before)
      for (const Decl *D : All[Before].Declared)
        if (All[I].Used.count(D))
          return Body.size();
  }
  return First;
}

Edits hoistRecovery(const CXXTryStmt *Try, const CXXCatchStmt *Handler,
                    const Stmt *Retry, StringRef Prefix, StringRef FlagWish,
                    const FunctionDecl *In, ASTContext &Context) {
  const SourceManager &SM = Context.getSourceManager();
  const auto *Block = dyn_cast<CompoundStmt>(Handler->getHandlerBlock());
  auto Parents = Context.getParents(*Try);
  if (!Block || Block->body_empty() || Parents.empty() ||
      !Parents[0].get<CompoundStmt>() || !In || !In->getBody())
    return {};
  SourceLocation TryBegin = Try->getBeginLoc();
  SourceLocation TryEnd = Try->getEndLoc();
  StringRef Whole = sourceText(Block->getSourceRange(), Context);
  if (TryBegin.isMacroID() || TryEnd.isMacroID() || Whole.empty() ||
      !isMovable(Whole))
    return {};

  llvm::SmallVector<const Stmt *, 8> Body(Block->body_begin(),
                                          Block->body_end());
  const size_t First = firstToMove(Body, Retry, Handler->getExceptionDecl());
  if (First == Body.size() || Body[First]->getBeginLoc().isMacroID())
    return {};

  // Does control come after the try statement by this handler alone?
  bool Alone = neverEnds(Try->getTryBlock());
  for (unsigned I = 0; I < Try->getNumHandlers(); ++I)
    Alone &= Try->getHandler(I) == Handler ||
             neverEnds(Try->getHandler(I)->getHandlerBlock());
  // Without a block of its own the moved part shares the scope after it.
  if (Alone && clash(llvm::ArrayRef(Body).drop_front(First), In))
    return {};

  SourceLocation MovedBegin = Body[First]->getBeginLoc();
  SourceLocation MovedEnd = endOfStatement(Body.back(), Context);
  if (MovedEnd.isInvalid() || MovedEnd.isMacroID() ||
      !SM.isBeforeInTranslationUnit(MovedBegin, MovedEnd))
    return {};
  StringRef Moved = textBetween(MovedBegin, MovedEnd, Context);
  const std::string Outer = indentationAt(TryBegin, Context).str();
  const std::string Unit = indentationStep(Try, Context);
  const bool OwnLine = SM.getSpellingColumnNumber(MovedBegin) ==
                       indentationAt(MovedBegin, Context).size() + 1;
  const std::string Written =
      OwnLine ? indentationAt(MovedBegin, Context).str() : Outer + Unit;
  const std::string Inner = Alone ? Outer : Outer + Unit;
  std::string Behind;
  if (!Prefix.empty())
    Behind += (Inner + Prefix + "\n").str();
  Behind += Inner + reindent(Moved, Written, Inner);

  Edits Result;
  std::string Stays;
  if (Alone) {
    Stays = "// Recovered below, once the exception has been destroyed.";
    Behind = "\n" + Behind;
  } else {
    std::string Flag = freeName(FlagWish, In->getBody());
    Stays = Flag + " = true;";
    Result.push_back(FixItHint::CreateInsertion(
        TryBegin, "bool " + Flag + " = false;\n" + Outer));
    Behind =
        "\n" + Outer + "if (" + Flag + ") {\n" + Behind + "\n" + Outer + "}";
  }
  SourceLocation Close = Block->getRBracLoc();
  if (!OwnLine) {
    // A handler on one line is taken apart.
    MovedBegin = First ? endOfStatement(Body[First - 1], Context)
                       : Block->getLBracLoc().getLocWithOffset(1);
    Stays = "\n" + Outer + Unit + Stays;
    if (textBetween(MovedEnd, Close, Context).trim(" ").empty()) {
      MovedEnd = Close;
      Stays += "\n" + Outer;
    }
  }
  Result.push_back(FixItHint::CreateReplacement(
      CharSourceRange::getCharRange(MovedBegin, MovedEnd), Stays));
  Result.push_back(FixItHint::CreateInsertion(
      Lexer::getLocForEndOfToken(TryEnd, 0, SM, Context.getLangOpts()),
      Behind));
  return Result;
}

} // namespace libtorch_tidy::fixits
