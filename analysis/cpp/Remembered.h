//===- Remembered.h - Answers that are kept for a unit ----------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// A place for answers that are asked for again and again.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_CPP_REMEMBERED_H
#define LIBTORCH_TIDY_ANALYSIS_CPP_REMEMBERED_H

#include "clang/AST/ASTContext.h"
#include <map>

namespace libtorch_tidy::cpp {

/// What is remembered of a unit, as long as its syntax tree lives.
template <typename T> T &rememberedFor(clang::ASTContext &Context) {
  static thread_local std::map<const clang::ASTContext *, T> Units;
  auto [It, New] = Units.try_emplace(&Context);
  if (New)
    Context.AddDeallocation(
        [](void *Gone) {
          Units.erase(static_cast<const clang::ASTContext *>(Gone));
        },
        &Context);
  return It->second;
}

} // namespace libtorch_tidy::cpp

#endif // LIBTORCH_TIDY_ANALYSIS_CPP_REMEMBERED_H
