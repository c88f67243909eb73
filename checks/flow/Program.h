//===- Program.h - What the units of a program say to each other *- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The analysis of a unit yields facts. Linked with those of all other units
/// they say what a unit cannot see by itself: what functions of other files do,
/// who calls its own, who uses its fields, and whether anything trains. With
/// that the unit is analysed again; its facts may say more then, and reach the
/// next unit. Names are Clang's USRs; fields go by their qualified names.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_CHECKS_FLOW_PROGRAM_H
#define LIBTORCH_TIDY_CHECKS_FLOW_PROGRAM_H

#include "checks/flow/FunctionSummary.h"
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace clang {
class NamedDecl;
} // namespace clang

namespace libtorch_tidy::flow {

class UnitModel;

/// What one unit says.
struct UnitFacts {
  std::string File; ///< Of the unit. A database may list it more than once.

  /// A function that other units can call, defined here.
  struct Function {
    std::string Usr;
    bool HasSummary = false; ///< Else nobody knows what it does.
    FunctionSummary Summary;
  };
  /// A call of a function that other units can define.
  struct Call {
    std::string Caller, Callee;
    bool Guarded = false; ///< Not with gradient mode on.
    bool operator<(const Call &O) const {
      return std::tie(Caller, Callee, Guarded) <
             std::tie(O.Caller, O.Callee, O.Guarded);
    }
  };

  std::vector<Function> Functions; ///< By their USRs.
  std::set<Call> Calls;
  /// Functions without a body here that code of this unit names.
  std::set<std::string> Uses;
  /// Methods without a body here, of classes whose fields hold tensors here.
  std::set<std::string> Methods;
  /// Virtual methods of bases, by the methods here that override them.
  std::map<std::string, std::set<std::string>> Overriders;
  /// Fields that hold tensors here, and those whose history somebody uses.
  std::set<std::string> Fields, ConsumedFields;
  /// Fields whose module is put in evaluation mode here, and where.
  std::map<std::string, std::string> Evals;
  bool Trains = false;
  bool DefinesMain = false;
  bool CallsEval = false;
  bool Failed = false; ///< Not analysed in full: it may say too little.
};

/// What a unit is told of the rest of its program.
struct ProgramFacts {
  std::map<std::string, FunctionSummary> Functions;
  /// Functions that somebody calls: is gradient mode off at all their calls?
  std::map<std::string, bool> CalledGuarded;
  std::set<std::string> Defined; ///< Of the methods that were asked for.
  std::set<std::string> ConsumedFields;
  std::map<std::string, std::string> Evals;
  bool Trains = false;    ///< Some unit of the program does.
  bool CallsEval = false; ///< Some unit of the program does.
  /// There is a main, and all units that it reaches were analysed in full.
  bool Closed = false;

  /// What the units that are analysed in this thread are told; null: nothing,
  /// each unit is on its own.
  static const ProgramFacts *current();
  /// Installs \p Facts for this thread and returns the previous.
  static const ProgramFacts *install(const ProgramFacts *Facts);
};

/// The name of \p D for facts. Empty when it has none that other units share.
std::string programName(const clang::NamedDecl *D);

/// What \p Unit says, after its checks have run.
UnitFacts factsOf(UnitModel &Unit);

} // namespace libtorch_tidy::flow

#endif // LIBTORCH_TIDY_CHECKS_FLOW_PROGRAM_H
