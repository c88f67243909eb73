//===- LibtorchCheck.h ------------------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The base of every check: levels, the one way to report a finding, and the
/// question whether code is the user's.

#ifndef LIBTORCH_TIDY_CHECKS_BASE_LIBTORCHCHECK_H
#define LIBTORCH_TIDY_CHECKS_BASE_LIBTORCHCHECK_H

#include "analysis/flow/unit/UnitModel.h"
#include "checks/base/Finding.h"
#include "clang-tidy/ClangTidyCheck.h"
#include "clang/ASTMatchers/ASTMatchFinder.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <optional>

namespace libtorch_tidy {

namespace bytes {
class KnownSizes;
}

/// Option `Level` (of one check, or of all as a global option): the weakest
/// level that is reported, 0 to 2. Default 1.
///
/// A check overrides one of
///  - checkFunction(), to ask how tensors move through a function;
///  - checkUnit(), to ask something of the whole unit;
///  - registerMatchers() and checkMatch(), to look at places of the source, and
///    perhaps checkMatched(), when the answer needs all of them.
/// All of them see code of the user only. Templates: a flow is that of an
/// instantiation; matchers find patterns and instantiations, and say which they
/// want. Macros: a finding in one stands where it is expanded, and has no fix.
class LibtorchCheck : public clang::tidy::ClangTidyCheck {
public:
  using Match = clang::ast_matchers::MatchFinder::MatchResult;

  LibtorchCheck(llvm::StringRef Name, clang::tidy::ClangTidyContext *Context);
  bool isLanguageVersionSupported(
      const clang::LangOptions &LangOpts) const override {
    return LangOpts.CPlusPlus;
  }
  void registerPPCallbacks(const clang::SourceManager &SM,
                           clang::Preprocessor *PP,
                           clang::Preprocessor *ModuleExpanderPP) final;
  void storeOptions(clang::tidy::ClangTidyOptions::OptionMap &Opts) override;
  /// A check that does not override it looks at the unit, not at matches.
  void registerMatchers(clang::ast_matchers::MatchFinder *Finder) override;
  void check(const Match &Result) final;
  void onEndOfTranslationUnit() final;

  /// Where the history of label \p L comes from, as a step of a story.
  static Step originStep(const flow::Label &L);
  /// Why what \p Field holds stays alive.
  static Step memberStep(const clang::FieldDecl *Field);
  /// Where \p Var is declared.
  static Step declarationStep(const clang::VarDecl *Var, bool OutsideLoop);

protected:
  /// Called for each function of user code, in source order.
  virtual void checkFunction(const flow::FunctionFlow &, flow::UnitModel &) {}
  /// Called once, after the last match of all checks, for a unit whose errors
  /// all stand in functions. These are left out: the model takes them for
  /// functions that it cannot see.
  virtual void checkUnit(flow::UnitModel &Unit);
  /// Called for each match whose nodes all stand in user code, also in a unit
  /// that does not compile.
  virtual void checkMatch(const Match &) {}
  /// Called after the last match, if there was one.
  virtual void checkMatched() {}

  clang::ASTContext &context() const { return *Context; }
  /// What is known of the unit, shared by its checks.
  flow::UnitModel &unit();
  /// Does the unit compile? Half an AST says little about where values go. A
  /// check of matches asks before it asks the models.
  bool isWhole() const;
  /// Is nothing of the body of \p F missing for an error? A check of matches
  /// that asks what else a function does asks this first.
  bool isWhole(const clang::FunctionDecl *F);

  /// Would a finding of this strength be reported?
  bool reports(Level Strength) const { return Strength <= Weakest; }
  /// Is it worth looking for findings of this strength? A listener also hears
  /// of those that are not reported: the driver counts them, and knows by them
  /// which NOLINT comments hide nothing. A check whose findings are all weaker
  /// is not asked.
  bool looksFor(Level Strength) const {
    return reports(Strength) || FindingListener::current();
  }

  /// Does this run have check \p Name, too? Of a defect that both see, one
  /// report is enough.
  bool isEnabled(llvm::StringRef Name) const;

  /// The bytes of the tensor that \p E gives, where they are certain; \p E may
  /// be null. That follows code: it is asked last, of what reports().
  std::optional<uint64_t> bytesOf(const clang::Expr *E);
  /// What the graph of a call of forward() keeps, as bytes::keptByForward() has
  /// it, under the same conditions.
  std::optional<uint64_t> keptBy(const clang::Expr *Forward, bool Training,
                                 bool InputsGo);

  /// Reports \p F: the warning, its steps as notes, its fix; or why it is
  /// silent. Once for a place: all instantiations of a template share one
  /// report.
  void report(Finding F);

private:
  bytes::KnownSizes *knownSizes();
  /// As the catalog has it. Clang-tidy 16 hides its own getID().
  llvm::StringRef name() const {
    return static_cast<const MatchCallback *>(this)->getID();
  }

  clang::tidy::ClangTidyContext &Run;
  Level Weakest;
  llvm::DenseSet<clang::SourceLocation> Reported;
  std::shared_ptr<bytes::KnownSizes> Sizes;
  clang::ASTContext *Context = nullptr;
  bool IsLookedFor = true;
  bool HasMatch = false;
  bool HasDefinition = false;
};

/// Does a NOLINT comment hide what \p Check reports at \p Loc?
bool isSuppressed(llvm::StringRef Check, clang::SourceLocation Loc,
                  clang::ASTContext &Context);

/// The table of a check that has none yet.
struct NoTable {};
inline constexpr NoTable NoReasons{};
inline llvm::ArrayRef<Reason> rowsOf(NoTable) { return {}; }

/// At the end of a check's file: what makes a check of class \p Class, and the
/// table of its reasons. The catalog finds both by the name of the file, which
/// is that of the class: CatInLoopCheck.cpp is libtorch-cat-in-loop.
#define LIBTORCH_CHECK(Class, Table)                                           \
  std::unique_ptr<clang::tidy::ClangTidyCheck> make##Class(                    \
      llvm::StringRef Name, clang::tidy::ClangTidyContext *Context) {          \
    return std::make_unique<Class>(Name, Context);                             \
  }                                                                            \
  llvm::ArrayRef<Reason> reasonsOf##Class() { return rowsOf(Table); }          \
  static_assert(std::is_base_of_v<LibtorchCheck, Class>)

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_BASE_LIBTORCHCHECK_H
