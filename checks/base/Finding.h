//===- Finding.h - A finding, as a check reports it -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A finding with its story, its fix and the reasons for its level, and what a
/// check says of places where a reason silences it.

#ifndef LIBTORCH_TIDY_CHECKS_BASE_FINDING_H
#define LIBTORCH_TIDY_CHECKS_BASE_FINDING_H

#include "checks/base/Catalog.h"
#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"
#include "clang/Basic/Diagnostic.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"
#include <optional>

namespace libtorch_tidy {

/// A name in single quotes, as messages have it.
inline std::string quoted(llvm::StringRef Name) {
  return ("'" + Name + "'").str();
}
inline std::string quoted(const clang::NamedDecl *D) {
  return quoted(D->getNameAsString());
}
/// The same of the class that \p T is or refers to.
std::string quoted(clang::QualType T, const clang::ASTContext &Context);
/// "a, b and c".
std::string listed(llvm::ArrayRef<std::string> Names);

/// One step of the story that leads to a finding, in execution order.
struct Step {
  clang::SourceLocation Loc;
  std::string Text;
  /// Another defect of the same cause, for which the finding stands, too.
  bool IsMember = false;
};

/// A reason that applies, and to what: "'clip' at line 12".
struct Because {
  const Reason *Row;
  std::string Detail = "";       ///< Empty when the row says it all.
  clang::SourceLocation At = {}; ///< Of what the detail is about; or invalid.
};

/// The level of a finding that begins with \p From, after the reasons \p Why.
Level lowered(Level From, llvm::ArrayRef<Because> Why);

/// A finding as a check reports it. One that is made by at() is as strong as
/// those of its check can be, until reasons lower it:
///
///   report(Finding::at(Call)
///              .because(Rows.UnseenCallee, Callee)
///              .says(quoted(Var) + " is kept")
///              .note(Var, "it is declared here"));
struct Finding {
  clang::SourceLocation Loc;
  clang::SourceRange Highlight; ///< Optional: what to underline.
  Level Strength = Level::Likely;
  std::string Message;
  llvm::SmallVector<Step, 4> Steps;
  /// One edit, perhaps in several places. Dropped as a whole when any part
  /// touches a macro expansion or lies outside user code, and when a reason
  /// denies it.
  llvm::SmallVector<clang::FixItHint, 2> Fix;
  /// How many bytes it is about, where that is certain; the page of the check
  /// says of what. They do not change the level.
  std::optional<uint64_t> Bytes;
  /// The tensor whose bytes they are, when report() has to ask for them: that
  /// follows code, so it is done for what is reported only.
  const clang::Expr *Measured = nullptr;
  llvm::SmallVector<Because, 2> Reasons;
  /// What makes part of what is kept, each time that it runs; or nothing.
  clang::SourceRange Makes;
  /// What makes something, be it kept or not, each time that the defect runs;
  /// or nothing.
  clang::SourceRange Runs;
  /// Classes whose objects are part of it: so is what their constructors make.
  llvm::SmallSetVector<const clang::CXXRecordDecl *, 2> Keeps;

  static Finding at(clang::SourceLocation Loc,
                    clang::SourceRange Highlight = {});
  static Finding at(const clang::Expr *E) {
    return at(E->getExprLoc(), E->getSourceRange());
  }
  /// Where \p S begins.
  static Finding from(const clang::Stmt *S) {
    return at(S->getBeginLoc(), S->getSourceRange());
  }

  /// The defect runs when \p S does: Runs is what surely makes something then.
  Finding &runsWith(const clang::Stmt *S, clang::ASTContext &Context);
  Finding &level(Level L) {
    Strength = L;
    return *this;
  }
  /// Lowers the finding to the level of \p Row, takes its fix, or silences it.
  Finding &because(const Reason &Row, const llvm::Twine &Detail = "",
                   clang::SourceLocation At = {});
  /// The same for a row that may be null.
  Finding &because(const Reason *Row) { return Row ? because(*Row) : *this; }
  /// The same for a row that is about \p D.
  Finding &because(const Reason &Row, const clang::NamedDecl *D) {
    return because(Row, quoted(D), D->getLocation());
  }
  /// The same for reasons that were found elsewhere.
  Finding &because(llvm::ArrayRef<Because> Found);
  Finding &because(const Because &Found) {
    return because(llvm::ArrayRef<Because>(Found));
  }
  Finding &because(const std::optional<Because> &Found) {
    return Found ? because(*Found) : *this;
  }
  Finding &says(const llvm::Twine &Text) {
    Message = Text.str();
    return *this;
  }
  /// What to do, where one remedy holds for all that the message is about; it
  /// ends the message.
  Finding &remedy(const llvm::Twine &Text) {
    Message += ("; " + Text).str();
    return *this;
  }
  Finding &note(Step Next) {
    Steps.push_back(std::move(Next));
    return *this;
  }
  /// The step of another defect that the finding stands for.
  Finding &member(Step Next) {
    Next.IsMember = true;
    return note(std::move(Next));
  }
  Finding &note(clang::SourceLocation Where, const llvm::Twine &Text) {
    return note(Step{Where, Text.str()});
  }
  Finding &note(const clang::Expr *Where, const llvm::Twine &Text) {
    return note(Where->getExprLoc(), Text);
  }
  Finding &note(const clang::Decl *Where, const llvm::Twine &Text) {
    return note(Where->getLocation(), Text);
  }
  Finding &fix(llvm::ArrayRef<clang::FixItHint> Edits) {
    Fix.append(Edits.begin(), Edits.end());
    return *this;
  }
  /// Where \p Var, which is part of what is kept, is made; nothing where it is
  /// given by others.
  Finding &noteMade(const clang::ValueDecl *Var);
  Finding &bytes(std::optional<uint64_t> Number) {
    Bytes = Number;
    return *this;
  }
  Finding &bytesOf(const clang::Expr *Tensor) {
    Measured = Tensor;
    return *this;
  }
  bool hasFix() const;
  /// The reason why it is none; null when it is one.
  const Because *silence() const;
};

/// Hears each finding, of which clang-tidy's diagnostics cannot carry all; also
/// those that are too weak to be reported, or will be suppressed. The driver
/// installs one around the analysis of a unit; under stock clang-tidy there is
/// none. It is per thread, and so are units.
class FindingListener {
public:
  virtual ~FindingListener();
  /// \p Loc is the location of the diagnostic that is made of \p F, unless \p F
  /// is too weak.
  virtual void heard(llvm::StringRef Check, const Finding &F,
                     clang::SourceLocation Loc, const clang::SourceManager &SM,
                     bool IsTooWeak) = 0;
  /// Hears that \p Why is the reason for no finding at \p Loc, if it asksWhy().
  virtual void silenced(clang::SourceLocation Loc, Because Why) = 0;
  virtual bool asksWhy() const = 0;

  /// Installs \p Listener for this thread (null: none), returns the previous.
  static FindingListener *install(FindingListener *Listener);
  static FindingListener *current();
};

/// Says that \p Row is the reason for no finding at \p Loc. Costs nothing while
/// nobody asks; so a detail that has to be composed belongs behind asksWhy().
void silent(clang::SourceLocation Loc, const Reason &Row,
            const llvm::Twine &Detail = "", clang::SourceLocation At = {});
void silent(clang::SourceLocation Loc, const Reason &Row,
            const clang::NamedDecl *D);
inline void silent(clang::SourceLocation Loc, const Because &Why) {
  silent(Loc, *Why.Row, Why.Detail, Why.At);
}
/// The same for what \p E does.
template <typename... Detail>
void silent(const clang::Expr *E, const Detail &...Why) {
  silent(E->getExprLoc(), Why...);
}

/// Does this run ask for the reasons of silence?
inline bool asksWhy() {
  const FindingListener *Listener = FindingListener::current();
  return Listener && Listener->asksWhy();
}

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_BASE_FINDING_H
