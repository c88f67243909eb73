//===- Arbiter.h - Who reports a missing guard ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
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

#ifndef LIBTORCH_TIDY_CHECKS_GUARDS_ARBITER_H
#define LIBTORCH_TIDY_CHECKS_GUARDS_ARBITER_H

#include "analysis/flow/unit/TrainedModules.h"
#include "checks/base/LibtorchCheck.h"

namespace libtorch_tidy {

/// What decides on libtorch-inference-without-no-grad.
inline constexpr struct InferenceWithoutNoGradReasons {
  Reason Eval{"eval-called", Effect::Likely,
              "The module is put in evaluation mode, so a result that leaves "
              "the function is a prediction."};
  Reason ScriptLoaded{"script-loaded", Effect::Likely,
                      "The file loads TorchScript modules and trains nothing, "
                      "so a result that leaves the function is a prediction."};
  Reason NothingTrains{"program-trains-nothing", Effect::Likely,
                       "Nothing in the whole program back-propagates, makes an "
                       "optimizer or trains a module."};
  Reason Untrained{"module-untrained", Effect::Likely,
                   "The result is back-propagated together with that of "
                   "another module, nothing in this file trains the module "
                   "(no optimizer gets its parameters, and nobody reads their "
                   "gradients), and no history goes in: a target network, a "
                   "teacher."};
  Reason UntrainedInput{"module-untrained-input", Effect::Advice,
                        "The same, where what goes in comes from callers, "
                        "fields or code that cannot be seen, which may ask "
                        "for its gradient."};
  Reason ScriptGiven{"script-not-loaded", Effect::Advice,
                     "The result of a TorchScript module leaves the function, "
                     "in a file that trains nothing and does not load it."};
  Reason StandIn{"stands-for-module", Effect::Advice,
                 "It is in the `forward` or call operator of a class that is "
                 "used like a module, a tensor in and a tensor out, and its "
                 "callers are in other files."};
  Reason Layer{"module-method", Effect::Advice,
               "It is in a method of a module other than `forward`, whose "
               "caller may have a guard. With `--whole-program`, only where "
               "something trains."};
  Reason Lent{
      "module-lent", Effect::Advice,
      "A C++ module that the function, or the constructor of its "
      "class, gets as an argument, when the function does not train, and "
      "nothing in this file calls it or puts the module in evaluation "
      "mode: who calls it may have a guard. With `--whole-program` the callers "
      "are known."};
  Reason UnseenCallee{"unseen-callee", Effect::Advice,
                      "The result goes through a function that cannot be seen "
                      "and makes a tensor of it: a loss in another file, a "
                      "method of a local distribution."};
  Reason UnseenMethod{"unseen-method", Effect::Advice,
                      "It is a method other than `forward` of a module in "
                      "another file, which may have a guard itself."};
  Reason KeptByCaller{"kept-by-caller", Effect::Advice,
                      "The result is kept in a field of what a parameter "
                      "names, and nothing in this file back-propagates it."};
  Reason TestCase{"test-case", Effect::Advice,
                  "It is in a test case: GoogleTest, Catch2, doctest, "
                  "Boost.Test."};
  Reason OnlyShape{
      "only-shape-read", Effect::Advice,
      "It is in `main`, or in a function without parameters, or "
      "the pass is given nothing but new tensors (`torch::zeros`), "
      "and nothing but shapes of the result, or of what is "
      "computed of that, is read."};
  Reason Unread{"result-unread", Effect::Advice,
                "Nothing reads the result, outside of training: a warm-up, a "
                "measurement."};
  Reason Guarded{"guard-active", Effect::Silent,
                 "A guard is active at the call, on some paths at least."};
  Reason CallersGuard{"callers-guard", Effect::Silent,
                      "The function is called in this file, and only under a "
                      "guard."};
  Reason LeftOff{"mode-left-off", Effect::Silent,
                 "Another method of the class leaves gradient mode off, and "
                 "nothing in this file calls that: it may run first."};
  Reason Forward{"in-forward", Effect::Silent,
                 "It is in the `forward` or an operator of a module: whoever "
                 "runs that decides."};
  Reason HandedOn{"method-hands-on", Effect::Silent,
                  "A method of a module returns the result: whoever calls it "
                  "decides."};
  Reason Inside{"reported-inside", Effect::Silent,
                "The function that is called is reported, or keeps the result "
                "to itself."};
  Reason Used{"history-used", Effect::Silent,
              "The result reaches a backward pass, or leaves the function, and "
              "nothing shows that the module is there to predict."};
  Reason Throws{"expected-to-throw", Effect::Silent,
                "A test expects the call to throw."};
  Reason GuardToBe{"guard-to-be", Effect::Silent,
                   "A guard without a name, or one declared as a function, was "
                   "meant to cover it: "
                   "[libtorch-ineffective-grad-guard]"
                   "(libtorch-ineffective-grad-guard.md) reports that."};
  Reason InMain{"covered-by-main", Effect::Silent,
                "With `--whole-program`: the report in `main` covers it."};
  Reason NoBlock{"training-in-block", Effect::NoFix,
                 "Every block that a guard could be put into also holds "
                 "training code, or leaves another gradient mode."};
} InferenceWithoutNoGrad{};

class Arbiter {
public:
  /// What says that a forward pass is there to predict, although its result
  /// leaves the function.
  struct Evidence {
    llvm::SmallVector<Because, 2> Why;
    std::optional<Step> Shown;
  };

  /// Forward passes that one guard covers.
  struct Scope {
    const flow::FunctionFlow *Flow;
    /// The block for the guard; null for none.
    const clang::CompoundStmt *Guardable;
    /// Without one: the statement, of the innermost block around all of
    /// Forwards, from which on a guard may live; null for none.
    const clang::Stmt *GuardFrom = nullptr;
    llvm::SmallVector<Because, 2> Why;
    bool IsKept = false; ///< In what a parameter names.
    /// Set while none of its results is used.
    const Reason *Tries = nullptr;
    std::optional<Evidence> ToPredict;
    /// They run modules that nobody trains, in a step of others.
    bool IsUntrained = false;
    llvm::SmallVector<const flow::Label *, 4> Forwards;

    Level strength() const { return lowered(Level::Likely, Why); }
  };

  /// The check that reports forward passes without a guard.
  static constexpr llvm::StringLiteral ReportsPasses =
      "libtorch-inference-without-no-grad";

  /// The arbiter of \p Context's unit.
  static Arbiter &of(clang::ASTContext &Context);
  /// The arbiter of \p Unit after its decision, which the first call brings
  /// about. \p PassesAreReported: does check ReportsPasses run?
  static const Arbiter &decided(flow::UnitModel &Unit, bool PassesAreReported);
  /// Is the whole program known, with its main?
  static bool isClosed(const flow::UnitModel &Unit);
  /// Why whoever calls the function of \p Flow decides on gradient mode there:
  /// it is the forward() of a module, or a method that hands history on. Null
  /// when it decides itself.
  static const Reason *leftToCallers(const flow::FunctionFlow &Flow,
                                     flow::UnitModel &Unit);
  /// What runs where \p L arises, as a clause: 'net' runs.
  static std::string runs(const flow::Label &L);

  /// Collects: a fix lets a guard live from \p Statement to the end of
  /// \p Block. What the guard will cover is the same defect.
  void guard(const clang::CompoundStmt *Block, const clang::Stmt *Statement);

  /// Collects: \p Guard, as written in \p Function, guards nothing.
  void useless(const clang::FunctionDecl *Function,
               clang::SourceLocation Guard) {
    Useless[Function].push_back(Guard);
  }
  /// The last guard before \p Site in \p Function that guards nothing; invalid
  /// when there is none.
  clang::SourceLocation
  uselessBefore(const clang::Expr *Site,
                const clang::FunctionDecl *Function) const;

  /// Would a guard that was handed in reach \p Site, which is in \p Flow?
  bool isToBeGuarded(const clang::Stmt *Site,
                     const flow::FunctionFlow &Flow) const;
  /// What ReportsPasses reports, in source order of the functions. Nothing when
  /// it does not run.
  llvm::ArrayRef<Scope> scopes() const { return Scopes; }
  /// The scope in which the forward pass \p L is reported, in a finding that is
  /// at least as strong as \p Weakest; null when it is not. A NOLINT comment
  /// hides what ReportsPasses says, and not what it would have stood for.
  const Scope *findingOf(const flow::Label &L,
                         Level Weakest = Level::Advisory) const;
  /// \p Scopes by what one reader would guard at once, which is one finding at
  /// the first of them; in source order.
  static std::vector<llvm::SmallVector<Scope, 1>>
  grouped(llvm::ArrayRef<Scope> Scopes, flow::UnitModel &Unit);
  /// What other units need to know of these reports.
  flow::ReportedPasses reported();

private:
  static void sortPasses(llvm::SmallVectorImpl<const flow::Label *> &Passes,
                         const clang::SourceManager &SM);
  /// \p Scopes of one function, where what the guard of one covers is part of
  /// it: of the outermost.
  static std::vector<Scope> joined(std::vector<Scope> Scopes,
                                   const clang::SourceManager &SM);
  /// Finds the scopes in the function of \p Flow.
  void decideOn(const flow::FunctionFlow &Flow);
  /// Why forward pass \p L is not reported in the function of \p Flow; null
  /// when it is.
  const Reason *silenceOf(const flow::Label &L, const flow::FunctionFlow &Flow);
  /// Is every forward pass whose result \p Callee hands out reported there?
  bool reportsItsResults(const flow::FunctionFlow &Callee);
  bool isReportedInside(const flow::Label &L, const flow::FunctionFlow &Flow);
  std::optional<Evidence> evidenceOf(const flow::Label &L,
                                     const flow::FunctionFlow &Flow);
  /// Says that forward pass \p L runs a module that nobody trains, in a step
  /// that trains another; null where it does not.
  const Reason *untrained(const flow::Label &L, const flow::FunctionFlow &Flow);
  /// Does \p L, a forward pass, run a module that nobody trains?
  bool isUntrained(const flow::Label &L, const flow::FunctionFlow &Flow);
  /// Does \p Flow back-propagate through a module that somebody trains?
  bool trainsModule(const flow::FunctionFlow &Flow);
  /// The history that goes into a forward pass.
  enum class Fed {
    Nothing, ///< None, or none that is needed: modules that nobody trains.
    Perhaps, ///< What callers, fields or unseen code may have brought along.
    History
  };
  /// What went into \p L, a forward pass or what carries a value on, that is
  /// not among \p Asked.
  Fed fedTo(const flow::Label &L, const flow::FunctionFlow &Flow,
            llvm::SmallPtrSetImpl<const flow::Label *> &Asked);
  /// Another method of the class of \p F, or of a base of it, that leaves
  /// gradient mode off and may run before \p F; null for none.
  const clang::CXXMethodDecl *leavesOffBefore(const clang::FunctionDecl *F);

  /// In each block, the statement from which on a fix guards.
  llvm::DenseMap<const clang::CompoundStmt *, const clang::Stmt *> Guards;
  llvm::DenseMap<const clang::FunctionDecl *,
                 llvm::SmallVector<clang::SourceLocation, 1>>
      Useless;
  bool IsDecided = false;
  flow::UnitModel *Unit = nullptr; ///< Set when ReportsPasses runs.
  /// What reportsItsResults() says of a function; false while it is asked,
  /// which ends recursion.
  llvm::DenseMap<const clang::FunctionDecl *, bool> Settled;
  /// The methods that leave gradient mode off; absent until they are asked for.
  std::optional<std::vector<const clang::CXXMethodDecl *>> LeavingOff;
  std::optional<flow::TrainedModules> Trained; ///< Set when Unit is.
  /// What isUntrained() and trainsModule() say.
  llvm::DenseMap<const flow::Label *, bool> Untrained;
  llvm::DenseMap<const flow::FunctionFlow *, bool> TrainModules;
  std::vector<Scope> Scopes;
  llvm::DenseMap<const flow::Label *, size_t> ScopeOf; ///< Of forward passes.
};

/// Sorts \p Scopes by where their first forward passes stand.
void sortBySource(llvm::MutableArrayRef<Arbiter::Scope> Scopes,
                  const clang::SourceManager &SM);

/// The declaration of a guard, called \p Wish where \p In does not use the
/// name.
std::string guardDeclaration(llvm::StringRef Wish, const clang::Stmt *In);

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_CHECKS_GUARDS_ARBITER_H
