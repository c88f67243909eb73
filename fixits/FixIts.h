//===- FixIts.h - Edits named by intention ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Source edits, each named by what it does to the code. They know source
/// text and C++ syntax; whether an edit is right is the check's question.
/// Every function returns an empty list when the text it would touch comes
/// from a macro expansion or cannot be read.

#ifndef LIBTORCH_TIDY_FIXITS_FIXITS_H
#define LIBTORCH_TIDY_FIXITS_FIXITS_H

#include "clang/AST/ExprCXX.h"
#include "clang/AST/Stmt.h"
#include "clang/Basic/Diagnostic.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSet.h"

namespace clang {
class ASTContext;
class CXXCatchStmt;
class CXXTryStmt;
} // namespace clang

namespace libtorch_tidy::fixits {

using Edits = llvm::SmallVector<clang::FixItHint, 2>;

/// The text of \p Range as written; empty when any of it is in a macro.
llvm::StringRef sourceText(clang::SourceRange Range,
                           const clang::ASTContext &Context);

/// The text from \p Begin to \p End.
llvm::StringRef textBetween(clang::SourceLocation Begin,
                            clang::SourceLocation End,
                            const clang::ASTContext &Context);
/// The text after \p E to \p End; empty when any of it is in a macro.
llvm::StringRef textAfter(const clang::Expr *E, clang::SourceLocation End,
                          const clang::ASTContext &Context);

/// The white space that \p Loc's line starts with.
llvm::StringRef indentationAt(clang::SourceLocation Loc,
                              const clang::ASTContext &Context);

/// What one level of indentation adds, judged by the lines of \p Outer; two
/// spaces, or a tab after a tab, when they do not tell.
std::string indentationStep(const clang::Stmt *Outer,
                            const clang::ASTContext &Context);

/// Appends a member call to an expression, with parentheses where the
/// expression needs them:
///   a + b   ->  (a + b)<Suffix>        loss  ->  loss<Suffix>
Edits appendMemberCall(const clang::Expr *E, llvm::StringRef Suffix,
                       const clang::ASTContext &Context);

/// Makes the value history-free where it is used:  loss  ->  loss.detach()
Edits detachOperand(const clang::Expr *E, const clang::ASTContext &Context);

/// Inserts a statement as the first of a block, on its own line and indented
/// as the block's first statement:
///   {             ->  {
///     a();               <Statement>
///   }                    a();
///                      }
/// \p Statement ends with its semicolon.
Edits insertAtBlockHead(const clang::CompoundStmt *Block,
                        llvm::StringRef Statement,
                        const clang::ASTContext &Context);

/// Inserts a statement on its own line after \p After, which is a whole
/// statement of a block (its semicolon is looked for in the text).
Edits insertAfterStatement(const clang::Stmt *After, llvm::StringRef Statement,
                           const clang::ASTContext &Context);

/// Inserts a statement on its own line before \p Before, a whole statement of
/// a block; on the same line when other code stands before it there.
Edits insertBeforeStatement(const clang::Stmt *Before,
                            llvm::StringRef Statement,
                            const clang::ASTContext &Context);

/// Writes \p Text in place of \p S, a whole statement with its semicolon.
Edits replaceStatement(const clang::Stmt *S, llvm::StringRef Text,
                       const clang::ASTContext &Context);

/// Takes a whole statement away, and its line when nothing else is there.
Edits removeStatement(const clang::Stmt *S, const clang::ASTContext &Context);

/// Declares a variable where it is first assigned:
///   torch::Tensor out;       ->
///   for (...) {                  for (...) {
///     out = net(x);                torch::Tensor out = net(x);
/// \p Declaration holds the variable; with several variables in it, or an
/// initialiser, nothing is offered. \p Assignment is `out = ...` as a
/// statement of the block that holds all uses. Comments that are about the
/// declaration alone go above it: nothing is offered where other code stands
/// before \p Assignment on its line then.
Edits sinkDeclaration(const clang::DeclStmt *Declaration,
                      const clang::Expr *Assignment,
                      const clang::ASTContext &Context);

/// Keeps the value of \p E in what \p Target spells:
///   x.detach()  ->  x = x.detach()
/// \p E is a whole statement, or an operand of a comma.
Edits assignTo(const clang::Expr *E, llvm::StringRef Target);

/// Adds arguments to a call as written:  f(a)  ->  f(a, <Arguments>)
Edits appendArguments(const clang::CallExpr *Call, llvm::StringRef Arguments);

/// Takes the written arguments of \p Call from number \p First on away, with
/// the comma before them:  f(a, b, c)  ->  f(a)
Edits removeArguments(const clang::CallExpr *Call, unsigned First,
                      const clang::ASTContext &Context);

/// Takes the outermost call of a chain away:  a.f().g(b)  ->  a.f()
Edits removeMemberCall(const clang::CXXMemberCallExpr *Call,
                       const clang::ASTContext &Context);

/// Adds elements to a list in braces:  {a}  ->  {a, <Elements>}
/// Empty for a list that is empty or ends with a comma.
Edits appendToList(const clang::InitListExpr *List, llvm::StringRef Elements,
                   const clang::ASTContext &Context);

/// Gives a variable that a lambda captures by value another value there:
///   [x]  ->  [x = <Value>]        [=]  ->  [=, x = <Value>]
Edits captureAs(const clang::LambdaExpr *Lambda,
                const clang::LambdaCapture *Capture, llvm::StringRef Value,
                const clang::ASTContext &Context);

/// Writes \p Text in place of \p E.
Edits replaceExpression(const clang::Expr *E, llvm::StringRef Text,
                        const clang::ASTContext &Context);

/// Gives a temporary in a statement a name, so that it lives on:
///   p = f().data();   ->   <Declarator> = f();
///                          p = <Name>.data();
/// \p E is the temporary as written in \p Where, a whole statement of a block.
Edits nameBefore(const clang::Stmt *Where, const clang::Expr *E,
                 llvm::StringRef Declarator, llvm::StringRef Name,
                 const clang::ASTContext &Context);

/// Makes a variable of a temporary that is a statement:
///   G();   ->  G <Name>;        G(false);  ->  G <Name>(false);
/// \p E is the construction as written, without what surrounds it. Empty where
/// the result could be read as the declaration of a function.
Edits nameTemporary(const clang::Expr *E, llvm::StringRef Name,
                    const clang::ASTContext &Context);

/// Makes a variable of a function that was declared by mistake:
///   G g();  ->  G g;
Edits dropParentheses(const clang::FunctionDecl *F,
                      const clang::ASTContext &Context);

/// Makes a static local one of the block; empty where `static` is not the
/// first word:
///   static G g;  ->  G g;
Edits dropStatic(const clang::DeclStmt *S, const clang::ASTContext &Context);

/// A variable name that \p Block does not use and that is not in \p Taken:
/// \p Wish itself, or with a number after it.
std::string freeName(llvm::StringRef Wish, const clang::Stmt *Block,
                     const llvm::StringSet<> &Taken = {});

/// Moves the statements of \p Handler from the first that neither only logs
/// nor uses the exception, and \p Retry at the latest, after the try
/// statement:
///   try {                              bool failed = false;
///     out = run(x);                    try {
///   } catch (const Error &e) {           out = run(x);
///     log(e.what());               ->  } catch (const Error &e) {
///     out = run(half);                   log(e.what());
///   }                                    failed = true;
///                                      }
///                                      if (failed) {
///                                        out = run(half);
///                                      }
/// Without the flag where control comes behind the try statement from this
/// handler alone. \p Prefix (whole statements, or empty) goes before what is
/// moved. \p FlagWish is the flag's name unless \p In uses it.
///
/// Empty when the moved part uses the exception, rethrows it, has labels or
/// uses what the part that stays declares; for function-try-blocks; where the
/// try statement is not one of a block; with preprocessor directives or raw
/// strings in the handler.
Edits hoistRecovery(const clang::CXXTryStmt *Try,
                    const clang::CXXCatchStmt *Handler,
                    const clang::Stmt *Retry, llvm::StringRef Prefix,
                    llvm::StringRef FlagWish, const clang::FunctionDecl *In,
                    clang::ASTContext &Context);

} // namespace libtorch_tidy::fixits

#endif // LIBTORCH_TIDY_FIXITS_FIXITS_H
