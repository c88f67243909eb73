//===- FixIts.cpp - Edits named by intention ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fixits/FixIts.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/AST/StmtCXX.h"
#include "clang/Basic/CharInfo.h"
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

static SourceLocation endOfToken(SourceLocation Loc,
                                 const ASTContext &Context) {
  return Lexer::getLocForEndOfToken(Loc, 0, Context.getSourceManager(),
                                    Context.getLangOpts());
}

/// The location after the last token of \p S; invalid in macros.
static SourceLocation endOf(const Stmt *S, const ASTContext &Context) {
  if (S->getBeginLoc().isMacroID() || S->getEndLoc().isMacroID())
    return {};
  return endOfToken(S->getEndLoc(), Context);
}

static FixItHint removal(SourceLocation Begin, SourceLocation End) {
  return FixItHint::CreateRemoval(CharSourceRange::getCharRange(Begin, End));
}

/// Inserts \p Text at \p Loc; nothing where that is invalid or in a macro.
static Edits insertion(SourceLocation Loc, const llvm::Twine &Text) {
  if (Loc.isInvalid() || Loc.isMacroID())
    return {};
  return {FixItHint::CreateInsertion(Loc, Text.str())};
}

StringRef textBetween(SourceLocation Begin, SourceLocation End,
                      const ASTContext &Context) {
  return Lexer::getSourceText(CharSourceRange::getCharRange(Begin, End),
                              Context.getSourceManager(),
                              Context.getLangOpts());
}

StringRef textAfter(const Expr *E, SourceLocation End,
                    const ASTContext &Context) {
  SourceLocation From = endOf(E, Context);
  if (From.isInvalid() || End.isInvalid() || End.isMacroID())
    return {};
  return textBetween(From, End, Context);
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
  if (End.isInvalid() || !needsParentheses(E))
    return insertion(End, Suffix);
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
  // A comment after the brace stays with it.
  const StringRef Rest = StringRef(SM.getCharacterData(After))
                             .take_until([](char C) { return C == '\n'; })
                             .rtrim();
  if (Rest.ltrim().starts_with("//"))
    After = After.getLocWithOffset(Rest.size());
  return {FixItHint::CreateInsertion(After, "\n" + Indent + Statement.str())};
}

/// The location after statement \p S, its semicolon included; invalid in
/// macros.
static SourceLocation afterStatement(const Stmt *S, const ASTContext &Context) {
  SourceLocation End = endOf(S, Context);
  // What ends with an expression ends before its semicolon: also a loop or an
  // `if` without braces.
  const Stmt *Last = S;
  for (;;) {
    const Stmt *Inner = nullptr;
    if (const auto *If = dyn_cast<IfStmt>(Last))
      Inner = If->getElse() ? If->getElse() : If->getThen();
    else if (const auto *For = dyn_cast<ForStmt>(Last))
      Inner = For->getBody();
    else if (const auto *Range = dyn_cast<CXXForRangeStmt>(Last))
      Inner = Range->getBody();
    else if (const auto *While = dyn_cast<WhileStmt>(Last))
      Inner = While->getBody();
    if (!Inner)
      break;
    Last = Inner;
  }
  if (End.isInvalid() ||
      !isa<Expr, DoStmt, ReturnStmt, BreakStmt, ContinueStmt>(Last))
    return End;
  return Lexer::findLocationAfterToken(
      Last->getEndLoc(), tok::semi, Context.getSourceManager(),
      Context.getLangOpts(), /*SkipTrailingWhitespaceAndNewLine=*/false);
}

Edits insertAfterStatement(const Stmt *After, StringRef Statement,
                           const ASTContext &Context) {
  return insertion(afterStatement(After, Context),
                   "\n" + indentationAt(After->getBeginLoc(), Context) +
                       Statement);
}

Edits replaceStatement(const Stmt *S, StringRef Text,
                       const ASTContext &Context) {
  SourceLocation End = afterStatement(S, Context);
  if (End.isInvalid())
    return {};
  return {FixItHint::CreateReplacement(
      CharSourceRange::getCharRange(S->getBeginLoc(), End), Text)};
}

/// Lines to remove: from \p Begin, the start of one, not the file's first, to
/// \p End, the line break of one. The range has the line break before them
/// instead: when a removal ends before white space, clang-tidy's engine
/// (clang::edit) takes a space of that, too, and the next line would lose one
/// of its indentation.
static CharSourceRange wholeLines(FileID File, size_t Begin, size_t End,
                                  const ASTContext &Context) {
  const SourceManager &SM = Context.getSourceManager();
  StringRef Text = SM.getBufferData(File);
  // What ends a line may be "\r\n".
  Begin -= Begin > 1 && Text[Begin - 2] == '\r' ? 2 : 1;
  End -= Text[End - 1] == '\r' ? 1 : 0;
  SourceLocation Start = SM.getLocForStartOfFile(File);
  return CharSourceRange::getCharRange(Start.getLocWithOffset(Begin),
                                       Start.getLocWithOffset(End));
}

Edits removeStatement(const Stmt *S, const ASTContext &Context) {
  const SourceManager &SM = Context.getSourceManager();
  SourceLocation Begin = S->getBeginLoc();
  SourceLocation End = afterStatement(S, Context);
  if (End.isInvalid())
    return {};
  // The whole line, unless something else is on it.
  FileID File = SM.getFileID(Begin);
  StringRef Text = SM.getBufferData(File);
  size_t From = SM.getFileOffset(Begin), To = SM.getFileOffset(End);
  size_t LineBegin = Text.rfind('\n', From) + 1;
  size_t LineEnd = Text.find('\n', To);
  if (LineBegin > 0 && LineEnd != StringRef::npos &&
      Text.slice(LineBegin, From).trim().empty() &&
      Text.slice(To, LineEnd).trim().empty())
    return {FixItHint::CreateRemoval(
        wholeLines(File, LineBegin, LineEnd, Context))};
  return {removal(Begin, End)};
}

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
  size_t End = SM.getFileOffset(endOfToken(S->getEndLoc(), Context));
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

Edits insertBeforeStatement(const Stmt *Before, StringRef Statement,
                            const ASTContext &Context) {
  SourceLocation Begin = Before->getBeginLoc();
  StringRef Indent = indentationAt(Begin, Context);
  bool StartsLine = Context.getSourceManager().getSpellingColumnNumber(Begin) ==
                    Indent.size() + 1;
  return insertion(Begin, Statement + (StartsLine ? "\n" + Indent.str() : " "));
}

Edits assignTo(const Expr *E, StringRef Target) {
  if (E->getEndLoc().isMacroID())
    return {};
  return insertion(E->getBeginLoc(), Target + " = ");
}

Edits appendArguments(const CallExpr *Call, StringRef Arguments) {
  if (Call->Stmt::getBeginLoc().isMacroID())
    return {};
  unsigned Written = 0;
  for (const Expr *Arg : Call->arguments())
    Written += !isa<CXXDefaultArgExpr>(Arg);
  return insertion(Call->getRParenLoc(), (Written ? ", " : "") + Arguments);
}

Edits removeArguments(const CallExpr *Call, unsigned First,
                      const ASTContext &Context) {
  SourceLocation Close = Call->getRParenLoc();
  if (First >= Call->getNumArgs() || Close.isInvalid() || Close.isMacroID())
    return {};
  SourceLocation From = First ? endOf(Call->getArg(First - 1), Context)
                              : Call->getArg(0)->getBeginLoc();
  if (From.isInvalid() || From.isMacroID() ||
      sourceText(Call->getArg(First)->getSourceRange(), Context).empty())
    return {};
  if (!First) {
    // A comment that names the argument goes as well.
    auto Open =
        Lexer::findNextToken(Call->getCallee()->getEndLoc(),
                             Context.getSourceManager(), Context.getLangOpts());
    if (!Open || Open->isNot(tok::l_paren))
      return {};
    From = Open->getEndLoc();
  }
  return {removal(From, Close)};
}

Edits removeMemberCall(const CXXMemberCallExpr *Call,
                       const ASTContext &Context) {
  const auto *Member = dyn_cast<MemberExpr>(Call->getCallee()->IgnoreParens());
  if (!Member || Member->isArrow() || Member->isImplicitAccess())
    return {};
  SourceLocation From = endOf(Member->getBase(), Context);
  SourceLocation To = endOf(Call, Context);
  if (From.isInvalid() || To.isInvalid())
    return {};
  // A comment before the dot would go as well.
  if (!textBetween(From, Member->getOperatorLoc(), Context).trim().empty())
    return {};
  return {removal(From, To)};
}

Edits appendToList(const InitListExpr *List, StringRef Elements,
                   const ASTContext &Context) {
  SourceLocation Close = List->getRBraceLoc();
  if (List->getNumInits() == 0 || Close.isInvalid() ||
      sourceText(List->getSourceRange(), Context).empty())
    return {};
  const Expr *Last = List->getInit(List->getNumInits() - 1);
  SourceLocation After = endOfToken(Last->getEndLoc(), Context);
  if (After.isInvalid() || After.isMacroID() ||
      !textBetween(After, Close, Context).trim().empty())
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
    return insertion(Introducer.getEnd(), ", " + Name + " = " + Value);
  return insertion(endOfToken(Capture->getLocation(), Context), " = " + Value);
}

Edits replaceExpression(const Expr *E, StringRef Text,
                        const ASTContext &Context) {
  if (sourceText(E->getSourceRange(), Context).empty())
    return {};
  return {FixItHint::CreateReplacement(E->getSourceRange(), Text)};
}

Edits nameBefore(const Stmt *Where, const Expr *E, StringRef Declarator,
                 StringRef Name, const ASTContext &Context) {
  StringRef Text = sourceText(E->IgnoreParens()->getSourceRange(), Context);
  if (Text.empty())
    return {};
  Edits All = insertBeforeStatement(
      Where, (Declarator + " = " + Text + ";").str(), Context);
  if (All.empty())
    return {};
  // `T x{a, b}` and `T{a, b}` lose their braces: `T x(name)`.
  const SourceManager &SM = Context.getSourceManager();
  StringRef Before = SM.getBufferData(SM.getFileID(E->getBeginLoc()))
                         .take_front(SM.getFileOffset(E->getBeginLoc()))
                         .rtrim();
  bool Initialises =
      Text.starts_with("{") && !Before.empty() &&
      (isAsciiIdentifierContinue(Before.back()) || Before.back() == '>');
  All.append(replaceExpression(
      E, Initialises ? ("(" + Name + ")").str() : Name.str(), Context));
  return All;
}

Edits nameTemporary(const Expr *E, StringRef Name, const ASTContext &Context) {
  if (sourceText(E->getSourceRange(), Context).empty())
    return {};
  SourceLocation Open;
  const CXXConstructExpr *Construct = nullptr;
  if (const auto *Object = dyn_cast<CXXTemporaryObjectExpr>(E)) {
    Construct = Object;
    Open = Object->getParenOrBraceRange().getBegin();
  } else if (const auto *Cast = dyn_cast<CXXFunctionalCastExpr>(E)) {
    Construct =
        dyn_cast<CXXConstructExpr>(Cast->getSubExpr()->IgnoreImplicit());
    Open = Cast->isListInitialization() && Construct
               ? Construct->getParenOrBraceRange().getBegin()
               : Cast->getLParenLoc();
  }
  if (!Construct || Open.isInvalid() || Open.isMacroID())
    return {};
  bool Arguments = false;
  for (const Expr *Arg : Construct->arguments()) {
    Arguments |= !isa<CXXDefaultArgExpr>(Arg);
    // `G g(T(x))` declares a function.
    Arg = Arg->IgnoreImplicit();
    if (isa<CXXFunctionalCastExpr, CXXTemporaryObjectExpr,
            CXXScalarValueInitExpr, CXXUnresolvedConstructExpr>(Arg))
      return {};
  }
  if (Arguments)
    return insertion(Open, " " + Name);
  return {FixItHint::CreateReplacement(SourceRange(Open, E->getEndLoc()),
                                       (" " + Name).str())};
}

Edits dropParentheses(const FunctionDecl *F, const ASTContext &Context) {
  FunctionTypeLoc Type = F->getFunctionTypeLoc();
  if (!Type || sourceText(F->getSourceRange(), Context).empty() ||
      Type.getLParenLoc().isInvalid())
    return {};
  return {FixItHint::CreateRemoval(
      SourceRange(Type.getLParenLoc(), Type.getRParenLoc()))};
}

Edits dropStatic(const DeclStmt *S, const ASTContext &Context) {
  constexpr llvm::StringLiteral Static = "static";
  StringRef Text = sourceText(S->getSourceRange(), Context);
  if (!Text.consume_front(Static) || Text.empty() ||
      !isWhitespace(Text.front()))
    return {};
  size_t Length = Static.size() + Text.size() - Text.ltrim().size();
  return {removal(S->getBeginLoc(), S->getBeginLoc().getLocWithOffset(Length))};
}

std::string freeName(StringRef Wish, const Stmt *Block,
                     const llvm::StringSet<> &Taken) {
  struct Names : RecursiveASTVisitor<Names> {
    llvm::StringSet<> Used;
    bool VisitNamedDecl(NamedDecl *D) {
      if (D->getIdentifier())
        Used.insert(D->getName());
      return true;
    }
    bool VisitDeclRefExpr(DeclRefExpr *E) {
      return VisitNamedDecl(E->getDecl());
    }
    bool VisitMemberExpr(MemberExpr *E) {
      return VisitNamedDecl(E->getMemberDecl());
    }
  } Collector;
  Collector.Used = Taken;
  Collector.TraverseStmt(const_cast<Stmt *>(Block));
  std::string Name = Wish.str();
  for (unsigned N = 2; Collector.Used.count(Name); ++N)
    Name = (Wish + llvm::Twine(N)).str();
  return Name;
}

} // namespace libtorch_tidy::fixits
