//===- Summaries.h - What callers know of a function ------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Summaries of functions, made on demand: who makes one asks for those of the
/// callees, so these are made first. Functions that call each other are made
/// again until their summaries no longer change. Any domain can have summaries;
/// a summary is a class with
///
///   /// Would callers see the same function in \p Earlier?
///   bool saysTheSame(const Summary &Earlier) const;
///   /// False when the function was given up: its callers treat it as unseen.
///   bool available() const;
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_ANALYSIS_FLOW_SUMMARIES_H
#define LIBTORCH_TIDY_ANALYSIS_FLOW_SUMMARIES_H

#include "clang/AST/Decl.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <memory>
#include <vector>

namespace libtorch_tidy::flow {

/// How often the functions of a cycle are made before what is known of them is
/// taken as it is.
constexpr unsigned MaxRounds = 4;

template <typename Summary> class Summaries {
public:
  using Maker = llvm::function_ref<std::unique_ptr<Summary>()>;

  /// The summary of \p F, a definition, if it is made or being made. In the
  /// latter case (recursion) it is what is known so far.
  const Summary *find(const clang::FunctionDecl *F) {
    if (auto It = Made.find(F); It != Made.end()) {
      if (auto On = WaitsFor.find(F); On != WaitsFor.end())
        dependOn(On->second);
      return It->second.get();
    }
    for (size_t I = 0; I < Stack.size(); ++I) {
      if (Stack[I].F != F)
        continue;
      Stack[I].Recurses = true;
      dependOn(I);
      return Stack[I].SoFar.get();
    }
    return nullptr;
  }

  /// Makes the summary of \p F, which find() does not know. \p Make may ask for
  /// other summaries; \p SoFar is what they see of F meanwhile.
  const Summary *make(const clang::FunctionDecl *F,
                      std::unique_ptr<Summary> SoFar, Maker Make);

  /// Takes \p Known as the summary of \p F.
  const Summary *set(const clang::FunctionDecl *F,
                     std::unique_ptr<Summary> Known) {
    return (Made[F] = std::move(Known)).get();
  }
  /// Is a summary being made?
  bool busy() const { return !Stack.empty(); }

private:
  /// A function whose summary is being made.
  struct Making {
    const clang::FunctionDecl *F;
    std::unique_ptr<Summary> SoFar;
    bool Recurses = false;
    /// The outermost function being made that it calls; its own index if none.
    size_t Outermost;
    /// Summaries that were made with the help of SoFar.
    std::vector<const clang::FunctionDecl *> Dependent;
  };

  /// All functions being made from \p Index on use its SoFar.
  void dependOn(size_t Index) {
    for (size_t Above = Index + 1; Above < Stack.size(); ++Above)
      Stack[Above].Outermost = std::min(Stack[Above].Outermost, Index);
  }

  llvm::DenseMap<const clang::FunctionDecl *, std::unique_ptr<Summary>> Made;
  std::vector<Making> Stack;
  /// Summaries that are not final: the index of the function they wait for.
  llvm::DenseMap<const clang::FunctionDecl *, size_t> WaitsFor;
};

template <typename Summary>
const Summary *Summaries<Summary>::make(const clang::FunctionDecl *F,
                                        std::unique_ptr<Summary> SoFar,
                                        Maker Make) {
  const size_t Index = Stack.size();
  Stack.push_back({F, std::move(SoFar), false, Index, {}});
  std::unique_ptr<Summary> Latest;
  for (unsigned Round = 0; Round < MaxRounds; ++Round) {
    Latest = Make();
    Making &Here = Stack[Index];
    // The outermost function of a cycle makes all of it again.
    if (!Here.Recurses || Here.Outermost < Index || !Latest->available() ||
        Latest->saysTheSame(*Here.SoFar))
      break;
    for (const clang::FunctionDecl *Other : Here.Dependent) {
      Made.erase(Other);
      WaitsFor.erase(Other);
    }
    Here.Dependent.clear();
    Here.SoFar = std::move(Latest);
    Latest = nullptr;
  }
  if (!Latest) // Still moving after the last round.
    Latest = std::move(Stack[Index].SoFar);
  Making Done = std::move(Stack.back());
  Stack.pop_back();
  if (Done.Outermost < Index) {
    std::vector<const clang::FunctionDecl *> &Dependent =
        Stack[Done.Outermost].Dependent;
    Dependent.push_back(F);
    llvm::append_range(Dependent, Done.Dependent);
    for (const clang::FunctionDecl *Other : Done.Dependent)
      WaitsFor[Other] = Done.Outermost;
    WaitsFor[F] = Done.Outermost;
  } else {
    for (const clang::FunctionDecl *Other : Done.Dependent)
      WaitsFor.erase(Other);
  }
  return set(F, std::move(Latest));
}

} // namespace libtorch_tidy::flow

#endif // LIBTORCH_TIDY_ANALYSIS_FLOW_SUMMARIES_H
