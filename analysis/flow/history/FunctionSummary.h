//===- FunctionSummary.h - A function, as other units see it ----*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The flow of a function without its AST: what callers in other units need to
/// know, so that a call counts there as if the body were in sight. Places are
/// named from the object or a parameter on; what a function does with globals
/// counts as unknown.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_FLOW_HISTORY_FUNCTIONSUMMARY_H
#define LIBTORCH_TIDY_ANALYSIS_FLOW_HISTORY_FUNCTIONSUMMARY_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace libtorch_tidy::flow {

struct FunctionSummary {
  /// As flow::Value. Labels are numbers of Labels.
  struct Value {
    std::vector<unsigned> Labels;
    bool Unknown = false;
    std::vector<std::pair<std::string, Value>> Parts; ///< By selector.
  };
  /// As flow::Place, from its root on.
  struct Place {
    unsigned Root = 0; ///< 0: the object; else one more than the parameter.
    /// `ns::Class::field`, or `#1` for an element of a tuple.
    std::vector<std::string> Path;
  };
  /// As flow::Label, of the kinds that callers tell apart.
  struct Label {
    unsigned Kind = 0;  ///< A flow::Label::Kind.
    unsigned Where = 0; ///< A number of Places, for Entry and Carry.
    unsigned Consumers = 0;
    bool Arises = false, RunsModule = false;
    std::vector<unsigned> Assigned; ///< Of a Carry.
    std::string From; ///< Of what brings history: its way, by file:line.
  };
  /// As flow::Accumulation.
  struct Addition {
    unsigned Where = 0, Carry = 0;
    unsigned How = 0; ///< A flow::Accumulation::Form.
    Value Added;
    bool Bounded = false;
    std::string At; ///< As file:line.
  };

  bool Trains = false;
  unsigned ExitMode = 0; ///< A torch::GradMode.
  /// Every forward pass whose result it hands out is reported in it.
  bool ReportsResults = false;
  /// Fields of its object whose modules it leaves frozen (see FrozenModules),
  /// by their qualified names.
  std::vector<std::string> Frozen;
  /// It lets some tensor require gradients.
  bool LetsTrain = false;
  /// Of a constructor: its module has parameters.
  bool HasParameters = false;
  std::vector<Place> Places;
  std::vector<Label> Labels;
  Value Return;
  std::vector<std::pair<unsigned, Value>> Exit; ///< By number of Places.
  std::vector<Addition> Additions;

  /// Do all numbers name something? One that comes from a file may not.
  bool isConsistent() const;
};

} // namespace libtorch_tidy::flow

#endif // LIBTORCH_TIDY_ANALYSIS_FLOW_HISTORY_FUNCTIONSUMMARY_H
