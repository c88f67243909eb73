//===- RawMemory.cpp - Memory that is managed by hand ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/RawMemory.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace libtorch_tidy::cpp {

bool allocates(const Expr *E) {
  if (const auto *New = dyn_cast_or_null<CXXNewExpr>(E))
    return New->getNumPlacementArgs() == 0;
  const auto *Call = dyn_cast_or_null<CallExpr>(E);
  return does(Call, Std::Allocate) && Call->getDirectCallee()->isExternC();
}

/// Does \p W move \p Pointer on, and not write to what it leads to?
static bool moves(const Write &W, const VarDecl *Pointer) {
  const Expr *E = peel(W.Where);
  const auto *Op = dyn_cast<BinaryOperator>(E);
  const auto *Step = dyn_cast<UnaryOperator>(E);
  return variableOf(Op     ? Op->getLHS()
                    : Step ? Step->getSubExpr()
                           : nullptr) == Pointer;
}

const Expr *allocationOf(const VarDecl *Pointer, Body &In) {
  llvm::SmallVector<const Expr *, 2> Given;
  if (Pointer->getInit())
    Given.push_back(Pointer->getInit());
  for (const Write &W : In.writesTo(Pointer))
    if (W.Kind == WriteKind::Assigned && W.Value)
      Given.push_back(W.Value);
    else if (W.Kind != WriteKind::Changed || moves(W, Pointer))
      return nullptr;
  const Expr *Made = nullptr;
  for (const Expr *Value : Given) {
    const Expr *E = peel(Value);
    if (isa_and_nonnull<CXXNullPtrLiteralExpr, GNUNullExpr>(E))
      continue;
    if (Made || !allocates(E))
      return nullptr;
    Made = E;
  }
  return Made;
}

bool onlyUsesBytes(const CallExpr *Call) {
  const FunctionDecl *F = Call->getDirectCallee();
  if (does(Call, Std::CopyBytes))
    return true;
  return F && (F->isExternC() || isStdDecl(F)) &&
         (does(Call, Std::StreamBytes | Std::Overwrite) ||
          isOneOf(nameOf(F),
                  {"memset", "memcmp", "fread", "fwrite", "read", "pread",
                   "recv", "write", "copy", "copy_n", "fill_n", "iota",
                   "generate", "generate_n", "sort", "transform"}));
}

} // namespace libtorch_tidy::cpp
