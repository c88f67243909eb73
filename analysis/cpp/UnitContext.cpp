//===- UnitContext.cpp - What the analyses of a unit share ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/UnitContext.h"

using namespace clang;

namespace libtorch_tidy::cpp {

UnitContext &UnitContext::of(ASTContext &AST) {
  // Thread-local because a syntax tree has no room for data of its users: this
  // is the way from one to its context. A tree stays in the thread that made
  // it.
  static thread_local llvm::DenseMap<const ASTContext *,
                                     std::unique_ptr<UnitContext>>
      All;
  std::unique_ptr<UnitContext> &Known = All[&AST];
  if (!Known) {
    Known = std::make_unique<UnitContext>(AST);
    AST.AddDeallocation(
        [](void *Gone) { All.erase(static_cast<const ASTContext *>(Gone)); },
        &AST);
  }
  return *Known;
}

} // namespace libtorch_tidy::cpp
