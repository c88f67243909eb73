//===- Specializations.h - Instantiations not worth keeping -----*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// A unit that names one specialization of a template of a precompiled header
/// makes Clang 19 read all of them (RedeclarableTemplateDecl's lazy
/// specializations have no index): 4,400 of std::__or_, nearly all left over
/// from overload resolution in the headers. What nothing else in the header
/// refers to can be left out; the unit instantiates what it needs of that.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_PCH_SPECIALIZATIONS_H
#define LIBTORCH_TIDY_DRIVER_PCH_SPECIALIZATIONS_H

#include "clang/AST/ASTConsumer.h"
#include <memory>

namespace clang {
class CompilerInstance;
} // namespace clang

namespace libtorch_tidy::driver {

/// Makes templates forget the specializations that only their template knows.
/// Goes in front of the consumer that writes the precompiled header.
std::unique_ptr<clang::ASTConsumer>
createForgetSpecializationsConsumer(clang::CompilerInstance &Compiler);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_PCH_SPECIALIZATIONS_H
