//===- Arbiter.h - Who reports a missing guard ------------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Several checks see the consequences of one missing guard, and one of them
/// reports it. Which one is decided once for a unit, in three stages:
///
///  - collect: while matches are looked at, a check hands in each guard that
///    its fix would bring about: guard().
///  - arbitrate: after the last match, the arbiter finds all forward passes
///    that libtorch-inference-without-no-grad has to report: decided().
///  - report: at the end of the unit, each check reports what the arbiter
///    leaves to it.
///
/// Clang-tidy ends a unit for one check after the other, but for none before
/// the last match, so all guards are known when the first check asks. All that
/// is decided then is decided for the whole unit, in source order. Hence what
/// is reported depends on which checks run, and not on which runs first.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_GUARDS_ARBITER_H
#define LIBTORCH_TIDY_CHECKS_GUARDS_ARBITER_H

#include "checks/guards/UnguardedPasses.h"

namespace libtorch_tidy {

class Arbiter {
public:
  using Scope = UnguardedPasses::Scope;

  /// The check that reports forward passes without a guard.
  static constexpr llvm::StringLiteral ReportsPasses =
      "libtorch-inference-without-no-grad";

  /// The arbiter of \p Context's unit.
  static Arbiter &of(clang::ASTContext &Context);
  /// The arbiter of \p Unit after its decision, which the first call brings
  /// about. \p PassesAreReported: does check ReportsPasses run?
  static const Arbiter &decided(flow::UnitModel &Unit, bool PassesAreReported);

  /// Collects: a fix lets a guard live from \p Statement to the end of
  /// \p Block. What the guard will cover is the same defect.
  void guard(const clang::CompoundStmt *Block, const clang::Stmt *Statement);

  /// Would a guard that was handed in reach \p Site, which is in \p Flow?
  bool isToBeGuarded(const clang::Stmt *Site,
                     const flow::FunctionFlow &Flow) const;
  /// What ReportsPasses reports, in source order of the functions. Nothing when
  /// it does not run.
  llvm::ArrayRef<Scope> scopes() const { return Scopes; }
  /// The scope in which the forward pass \p L is reported, in a finding that is
  /// at least as strong as \p Weakest; null when it is not.
  const Scope *findingOf(const flow::Label &L, Level Weakest) const;
  /// What other units need to know of these reports.
  flow::ReportedPasses reported(flow::UnitModel &Unit);

private:
  void decide(flow::UnitModel &Unit);

  /// In each block, the statement from which on a fix guards.
  llvm::DenseMap<const clang::CompoundStmt *, const clang::Stmt *> Guards;
  bool IsDecided = false;
  std::optional<UnguardedPasses> Passes; ///< When ReportsPasses runs.
  std::vector<Scope> Scopes;
  llvm::DenseMap<const flow::Label *, size_t> ScopeOf; ///< Of forward passes.
};

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_GUARDS_ARBITER_H
