//===- Text.h - What the source text shows ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What is written and the syntax tree lacks: macros, by which test frameworks
/// are known, what the preprocessor left out, lines. And code that reads the
/// clock.

#ifndef LIBTORCH_TIDY_ANALYSIS_CPP_TEXT_H
#define LIBTORCH_TIDY_ANALYSIS_CPP_TEXT_H

#include "clang/AST/Decl.h"
#include "clang/AST/Stmt.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/Support/Path.h"
#include <string>

namespace libtorch_tidy::cpp {

/// Is \p S all that is written between the braces of \p Block? What the
/// preprocessor left out counts as written.
bool isAllThatIsWritten(const clang::Stmt *S, const clang::CompoundStmt *Block,
                        const clang::ASTContext &Context);

/// Did the preprocessor leave out anything between \p S and the end of
/// \p Block, or is the end not written?
bool mayLeaveOutAfter(const clang::Stmt *S, const clang::CompoundStmt *Block,
                      const clang::ASTContext &Context);

/// Is what stands at \p Loc handed to a macro? Such code may be there to be
/// measured or tested.
bool isMacroArgument(clang::SourceLocation Loc, const clang::SourceManager &SM);

/// Is \p F, or a function around it, a case of GoogleTest, Catch2, doctest or
/// Boost.Test? Such code runs once, for a moment, on small data.
bool isTestCase(const clang::FunctionDecl *F);

/// Is \p E a statement that a test expects to throw: the argument of
/// EXPECT_THROW, REQUIRE_THROWS_AS, ...?
bool isExpectedToThrow(const clang::Expr *E, const clang::ASTContext &Context);

/// now, clock, omp_get_wtime, cudaEventRecord.
bool namesClock(llvm::StringRef Name);
/// Does \p Body, or a lambda in it, read a clock? Then it may run operators for
/// the time that they take: libtorch-discarded-result does not report those.
bool readsClock(const clang::Stmt *Body);
/// Is the time that \p S takes measured in \p Body, of which it is a part: is a
/// clock read before it and after it, and what was read before it used after
/// it? Not where it only stamps a message. By the order of the text.
bool isTimed(const clang::Stmt *S, const clang::Stmt *Body,
             const clang::SourceManager &SM);

/// `net.cpp:12`, where \p Loc is written or a macro is expanded: for notes
/// about code that the unit at hand does not show.
inline std::string lineOf(clang::SourceLocation Loc,
                          const clang::SourceManager &SM) {
  Loc = SM.getFileLoc(Loc);
  return (llvm::sys::path::filename(SM.getFilename(Loc)) + ":" +
          llvm::Twine(SM.getSpellingLineNumber(Loc)))
      .str();
}

} // namespace libtorch_tidy::cpp

#endif // LIBTORCH_TIDY_ANALYSIS_CPP_TEXT_H
