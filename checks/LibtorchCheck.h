//===- LibtorchCheck.h ------------------------------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The base of every check: levels, the one way to tell a finding with its
/// story and fix, and the question whether code is the user's.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_LIBTORCHCHECK_H
#define LIBTORCH_TIDY_CHECKS_LIBTORCHCHECK_H

#include "checks/Catalog.h"
#include "checks/torch/Headers.h"
#include "clang-tidy/ClangTidyCheck.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"

namespace libtorch_tidy {

/// One step of the story that leads to a finding, in execution order.
struct Step {
  clang::SourceLocation Loc;
  std::string Text;
};

/// A finding as a check tells it.
struct Finding {
  clang::SourceLocation Loc;
  clang::SourceRange Highlight; ///< Optional: what to underline.
  Level Strength = Level::Likely;
  std::string Message;
  llvm::SmallVector<Step, 4> Steps;
  /// One edit, perhaps in several places. Dropped as a whole when any part
  /// touches a macro expansion or lies outside user code.
  llvm::SmallVector<clang::FixItHint, 2> Fix;
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

  /// Installs \p Listener for this thread (null: none), returns the previous.
  static FindingListener *install(FindingListener *Listener);
  static FindingListener *current();
};

/// Option `Level` (of one check, or of all as a global option): the weakest
/// level that is reported, 0 to 2. Default 1.
class LibtorchCheck : public clang::tidy::ClangTidyCheck {
public:
  LibtorchCheck(llvm::StringRef Name, clang::tidy::ClangTidyContext *Context);
  bool isLanguageVersionSupported(
      const clang::LangOptions &LangOpts) const override {
    return LangOpts.CPlusPlus;
  }
  void storeOptions(clang::tidy::ClangTidyOptions::OptionMap &Opts) override;

protected:
  /// Would a finding of this strength be told?
  bool tells(Level Strength) const { return Strength <= Weakest; }

  /// Tells \p F: the warning, its steps as notes, its fix. Once for a place:
  /// all instantiations of a template share one report.
  void tell(const Finding &F, const clang::SourceManager &SM);

  /// True for code of the analysed project: not a system header, and not a
  /// header of LibTorch itself, which many builds include with -I.
  bool isUserCode(clang::SourceLocation Loc, const clang::SourceManager &SM);

private:
  Level Weakest;
  llvm::DenseSet<clang::SourceLocation> Told;
};

/// At the end of a check's file: what makes a check of class \p Class. The
/// catalog finds it by the name of the file, which is that of the class:
/// CatInLoopCheck.cpp is libtorch-cat-in-loop.
#define LIBTORCH_CHECK(Class)                                                  \
  std::unique_ptr<clang::tidy::ClangTidyCheck> make##Class(                    \
      llvm::StringRef Name, clang::tidy::ClangTidyContext *Context) {          \
    return std::make_unique<Class>(Name, Context);                             \
  }                                                                            \
  static_assert(std::is_base_of_v<LibtorchCheck, Class>)

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_LIBTORCHCHECK_H
