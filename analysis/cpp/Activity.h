//===- Activity.h - What the analysis is doing ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Says where an analysis is that crashes or never ends. The words stand in
/// memory that the driver shares with the process, so that they can be read
/// whatever becomes of it.

#ifndef LIBTORCH_TIDY_ANALYSIS_CPP_ACTIVITY_H
#define LIBTORCH_TIDY_ANALYSIS_CPP_ACTIVITY_H

#include "clang/AST/Decl.h"
#include "llvm/ADT/StringRef.h"

namespace libtorch_tidy::cpp {

/// What is done while it lives. Those that are made meanwhile come first.
class Activity {
public:
  /// "function 'train'".
  explicit Activity(const clang::FunctionDecl *F);
  /// "check 'libtorch-cat-in-loop'", which looks at \p Unit.
  Activity(llvm::StringRef Check, clang::ASTContext &Unit);
  ~Activity();
  Activity(const Activity &) = delete;
  Activity &operator=(const Activity &) = delete;

  /// What is done when none lives.
  static void say(llvm::StringRef Text);
  /// From now on the words of this process are written to \p Memory, with a
  /// zero at the end; null: nowhere. Such a process has one thread.
  static void writeTo(char *Memory, size_t Size);

private:
  void write() const;

  const clang::FunctionDecl *F = nullptr;
  llvm::StringRef Check;
  const Activity *&Current; ///< The innermost of the unit.
  const Activity *Around;
};

} // namespace libtorch_tidy::cpp

#endif // LIBTORCH_TIDY_ANALYSIS_CPP_ACTIVITY_H
