//===- ScriptCalls.h - What a TorchScript call is for -----------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The code of a TorchScript module is not in the program. What its call is
/// for shows in what goes in and what is read from the result.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_FLOW_UNIT_SCRIPTCALLS_H
#define LIBTORCH_TIDY_ANALYSIS_FLOW_UNIT_SCRIPTCALLS_H

#include "analysis/cpp/Body.h"
#include "analysis/torch/modules/Modules.h"

namespace libtorch_tidy::flow {

/// Does \p M only ask a TorchScript module something: no tensor goes in, and
/// what comes out is read as a number, a text or a list, or not at all, or the
/// method is called get_... or set_...? Such a method returns an attribute:
/// module.run_method("get_cutoff").toDouble().
bool isQuery(const torch::ModuleCall &M, const cpp::Body &In);

/// Do names in function \p In say that its TorchScript modules differentiate
/// inside: "forward_lower", an output called "forces", dvirial? Such a module
/// throws under a guard.
bool namesDerivatives(const cpp::Body &In);

/// Does the name of a part of what \p M returns say that a module, whose body
/// is in another file, differentiates: auto [energy, forces] = net->forward(x)?
bool handsOutDerivative(const torch::ModuleCall &M, const cpp::Body &In);

} // namespace libtorch_tidy::flow

#endif // LIBTORCH_TIDY_ANALYSIS_FLOW_UNIT_SCRIPTCALLS_H
