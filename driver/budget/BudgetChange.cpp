//===- BudgetChange.cpp - Models of two revisions, compared ---------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/budget/BudgetChange.h"
#include "driver/budget/BudgetParts.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using libtorch_tidy::bytes::ModelRows;
using libtorch_tidy::bytes::ModuleRow;
using libtorch_tidy::bytes::RefusedModel;
using llvm::StringRef;

namespace libtorch_tidy::driver {

namespace {

/// Of a module: bytes, and those that a step has of them from its second one
/// on, with gradients and what the optimizer keeps.
struct Sums {
  uint64_t Bytes = 0, Kept = 0, Held = 0;
  bool IsIncomplete = false;
};

} // namespace

bool haveSteps(const ModelPair &P) {
  return hasStep(*P.Before) && hasStep(*P.After);
}

bool isExact(const ModelRows &Model) {
  return Model.Missing.empty() &&
         (!hasStep(Model) || Model.Step.Missing.empty());
}

StringRef classOf(const ModelRows &Model) {
  return StringRef(Model.Title).split('(').first;
}

std::vector<ModelPair> pairsOf(const BudgetSides &Sides) {
  std::vector<ModelPair> Result;
  std::vector<const ModelRows *> Left;
  for (const ModelRows &M : Sides.Before.Models)
    Left.push_back(&M);
  for (const ModelRows &M : Sides.After.Models)
    Result.push_back({nullptr, &M});
  auto Match = [&](auto IsSame) {
    for (ModelPair &P : Result) {
      if (P.Before)
        continue;
      auto It = llvm::find_if(
          Left, [&](const ModelRows *M) { return IsSame(*M, *P.After); });
      if (It == Left.end())
        continue;
      P.Before = *It;
      Left.erase(It);
    }
  };
  Match([](const ModelRows &A, const ModelRows &B) {
    return A.Title == B.Title && A.Made.File == B.Made.File;
  });
  Match([](const ModelRows &A, const ModelRows &B) {
    return A.Title == B.Title;
  });
  Match([&](const ModelRows &A, const ModelRows &B) {
    return classOf(A) == classOf(B) &&
           llvm::count_if(Left,
                          [&](const ModelRows *M) {
                            return classOf(*M) == classOf(A);
                          }) == 1 &&
           llvm::count_if(Result, [&](const ModelPair &P) {
             return !P.Before && classOf(*P.After) == classOf(B);
           }) == 1;
  });
  for (const ModelRows *M : Left)
    Result.push_back({M, nullptr});
  // One that nothing makes has only its class for a title.
  auto RefusalOf = [](const std::vector<RefusedModel> &All,
                      const ModelRows &Model) -> const RefusedModel * {
    auto It = llvm::find_if(All, [&](const RefusedModel &M) {
      return M.Title == Model.Title || M.Title == classOf(Model);
    });
    return It == All.end() ? nullptr : &*It;
  };
  for (ModelPair &P : Result) {
    if (!P.Before)
      P.RefusedBefore = RefusalOf(Sides.Before.Refused, *P.After);
    if (!P.After)
      P.RefusedAfter = RefusalOf(Sides.After.Refused, *P.Before);
  }
  return Result;
}

static Sums ownOf(const ModuleRow &Row, const BudgetOptions &Options) {
  Sums Result;
  Result.Kept = Row.Kept;
  Result.IsIncomplete = Row.IsIncomplete;
  const BudgetTotals All = totalsOf(llvm::ArrayRef(Row), Options.Optimizer);
  Result.Bytes = All.Parameters + All.Buffers + All.Unlisted;
  Result.Held = All.all();
  return Result;
}

/// Row \p At of \p Rows and those below it.
static Sums allOf(llvm::ArrayRef<ModuleRow> Rows, size_t At,
                  const BudgetOptions &Options) {
  Sums Result = ownOf(Rows[At], Options);
  for (size_t I = At + 1, End = endOfSubtree(Rows, At); I < End; ++I) {
    const Sums Below = ownOf(Rows[I], Options);
    Result.Bytes += Below.Bytes;
    Result.Kept += Below.Kept;
    Result.Held += Below.Held;
    Result.IsIncomplete |= Below.IsIncomplete;
  }
  return Result;
}

using PathMap = std::map<std::pair<bool, StringRef>, size_t>;

static PathMap pathsOf(const ModelRows &Model) {
  PathMap Result;
  for (size_t I = 0; I < Model.Modules.size(); ++I)
    Result.try_emplace({Model.Modules[I].IsUnlisted, Model.Modules[I].Path}, I);
  return Result;
}

/// The rows of \p Model that \p Other lacks, without those below such a row.
static std::vector<size_t> onlyIn(const ModelRows &Model,
                                  const PathMap &Other) {
  std::vector<size_t> Result;
  for (size_t I = 0; I < Model.Modules.size();) {
    const ModuleRow &Row = Model.Modules[I];
    if (Other.count({Row.IsUnlisted, Row.Path})) {
      ++I;
      continue;
    }
    Result.push_back(I);
    I = endOfSubtree(Model.Modules, I);
  }
  return Result;
}

std::vector<ModuleChange> modulesOf(const ModelPair &P,
                                    const BudgetOptions &Options) {
  const bool Steps = haveSteps(P);
  const PathMap Before = pathsOf(*P.Before), After = pathsOf(*P.After);
  std::vector<ModuleChange> Result;
  auto Add = [&](const ModuleRow *Old, const Sums &Then, const ModuleRow *New,
                 const Sums &Now) {
    ModuleChange C;
    C.Before = Old;
    C.After = New;
    C.BytesBefore = Then.Bytes;
    C.BytesAfter = Now.Bytes;
    C.KeptBefore = Steps ? Then.Kept : 0;
    C.KeptAfter = Steps ? Now.Kept : 0;
    C.IsIncomplete = Then.IsIncomplete || Now.IsIncomplete;
    C.Part = int64_t(Now.Held - Then.Held) + C.kept();
    if (C.bytes() || C.kept() || !Old || !New)
      Result.push_back(C);
  };
  for (const auto &[Path, I] : After)
    if (auto It = Before.find(Path); It != Before.end()) {
      const ModuleRow &Old = P.Before->Modules[It->second],
                      &New = P.After->Modules[I];
      Add(&Old, ownOf(Old, Options), &New, ownOf(New, Options));
    }
  for (size_t I : onlyIn(*P.After, Before))
    Add(nullptr, {}, &P.After->Modules[I], allOf(P.After->Modules, I, Options));
  for (size_t I : onlyIn(*P.Before, After))
    Add(&P.Before->Modules[I], allOf(P.Before->Modules, I, Options), nullptr,
        {});
  auto Size = [](const ModuleChange &C) { return std::abs(C.Part); };
  llvm::stable_sort(Result, [&](const ModuleChange &A, const ModuleChange &B) {
    return Size(A) > Size(B);
  });
  return Result;
}

std::vector<Figure> figuresOf(const ModelPair &P, const BudgetOptions &Options,
                              StringRef Folder) {
  std::vector<Figure> Result;
  auto Add = [&](const std::vector<Total> &Then, std::vector<Total> Now) {
    for (size_t I = 0; I < Then.size(); ++I)
      if (llvm::none_of(Now,
                        [&](const Total &T) { return T.Name == Then[I].Name; }))
        Now.insert(Now.begin() + std::min(I, Now.size()), {Then[I].Name, 0});
    for (const Total &T : Now) {
      auto It = llvm::find_if(
          Then, [&](const Total &Old) { return Old.Name == T.Name; });
      Result.push_back(
          {T.Name, It == Then.end() ? 0 : It->Bytes, T.Bytes, T.Note});
    }
  };
  Add(modelTotals(*P.Before, Options), modelTotals(*P.After, Options));
  if (haveSteps(P))
    Add(stepTotals(P.Before->Step, Folder), stepTotals(P.After->Step, Folder));
  return Result;
}

bool stepsDiffer(const ModelPair &P) {
  return P.Before->HasStep && P.After->HasStep &&
         P.Before->Step.Fails != P.After->Step.Fails;
}

bool inputsDiffer(const ModelPair &P) {
  return P.Before->HasStep != P.After->HasStep ||
         (P.After->HasStep &&
          P.Before->Step.InputTexts != P.After->Step.InputTexts);
}

bool hasChanged(const ModelPair &P, llvm::ArrayRef<Figure> Figures,
                llvm::ArrayRef<ModuleChange> Modules) {
  return !Modules.empty() || stepsDiffer(P) ||
         llvm::any_of(Figures,
                      [](const Figure &F) { return F.difference() != 0; });
}

} // namespace libtorch_tidy::driver
