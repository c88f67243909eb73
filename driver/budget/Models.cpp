//===- Models.cpp - Sums and changes of models ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/bytes/library/ModuleParameters.h"
#include "driver/budget/Document.h"
#include "driver/project/Messages.h"
#include "driver/project/Paths.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include <map>
#include <set>

using libtorch_tidy::bytes::ModelRows;
using libtorch_tidy::bytes::ModuleRow;
using libtorch_tidy::bytes::RefusedModel;
using libtorch_tidy::bytes::TensorRow;
using llvm::StringRef;

namespace libtorch_tidy::driver {

BudgetTotals totalsOf(llvm::ArrayRef<ModuleRow> Rows, StringRef Optimizer) {
  BudgetTotals Result;
  for (const ModuleRow &Row : Rows)
    for (const TensorRow &T : Row.Tensors) {
      if (Row.IsUnlisted) {
        Result.Unlisted += T.Bytes;
        continue;
      }
      (T.IsParameter ? Result.ParameterCount : Result.BufferCount) +=
          T.Elements;
      (T.IsParameter ? Result.Parameters : Result.Buffers) += T.Bytes;
      if (T.GetsGradient)
        Result.Gradients += T.Bytes;
    }
  // What gets no gradient, no step looks at.
  if (const auto Known = bytes::optimizerNamed(Optimizer))
    Result.OptimizerState = Known->Copies * Result.Gradients;
  return Result;
}

/// How much is known of \p M: the more, the greater.
static std::tuple<bool, bool, bool> knownOf(const ModelRows &M) {
  return {M.Missing.empty(), M.HasStep, M.Step.LossAt.Line > 0};
}

bytes::UnitBudget merged(llvm::ArrayRef<bytes::UnitBudget> Units) {
  using Key = std::tuple<std::string, std::string, unsigned>;
  bytes::UnitBudget Result;
  std::map<Key, size_t> Seen;
  std::set<Key> Refused;
  std::set<std::pair<std::string, unsigned>> InModels;
  for (const bytes::UnitBudget &Unit : Units) {
    for (const ModelRows &M : Unit.Models) {
      auto [It, New] = Seen.try_emplace(Key(M.Title, M.Made.File, M.Made.Line),
                                        Result.Models.size());
      if (New)
        Result.Models.push_back(M);
      else if (knownOf(Result.Models[It->second]) < knownOf(M))
        Result.Models[It->second] = M; // Another unit sees more of it.
      for (const ModuleRow &Row : M.Modules)
        InModels.emplace(Row.Defined.File, Row.Defined.Line);
    }
    for (const std::string &Known : Unit.Known)
      if (!llvm::is_contained(Result.Known, Known))
        Result.Known.push_back(Known);
    for (const std::string &Name : Unit.Names)
      if (!llvm::is_contained(Result.Names, Name))
        Result.Names.push_back(Name);
    Result.HasModel |= Unit.HasModel;
  }
  for (const bytes::UnitBudget &Unit : Units)
    for (const bytes::RefusedModel &M : Unit.Refused)
      if ((M.Elsewhere.File.empty() ||
           !InModels.count({M.Elsewhere.File, M.Elsewhere.Line})) &&
          Refused.emplace(M.Title, M.Where.File, M.Where.Line).second)
        Result.Refused.push_back(M);
  return Result;
}

/// The first row of \p Rows after row \p At that is not below it.
static size_t endOfSubtree(llvm::ArrayRef<ModuleRow> Rows, size_t At) {
  size_t End = At + 1;
  while (End < Rows.size() && Rows[End].Depth > Rows[At].Depth &&
         Rows[End].IsUnlisted == Rows[At].IsUnlisted)
    ++End;
  return End;
}

static Subtree sumOf(llvm::ArrayRef<ModuleRow> Rows) {
  Subtree Result;
  for (const ModuleRow &Row : Rows) {
    Result.IsIncomplete |= Row.IsIncomplete;
    Result.Kept += Row.Kept;
    for (const TensorRow &T : Row.Tensors) {
      Result.Parameters += T.IsParameter ? T.Elements : 0;
      Result.Bytes += T.Bytes;
    }
  }
  return Result;
}

std::vector<Subtree> subtrees(llvm::ArrayRef<ModuleRow> Rows) {
  std::vector<Subtree> Result;
  for (size_t I = 0; I < Rows.size(); ++I)
    Result.push_back(sumOf(Rows.slice(I, endOfSubtree(Rows, I) - I)));
  return Result;
}

/// Which value of --set makes the report incomparable: "with --set=width=64",
/// where this run has another one; empty: none does. What only one side does
/// not know, only one side can be given.
static std::string differentlyGiven(const BudgetSides &Sides,
                                    const BudgetOptions &Options) {
  const std::map<std::string, std::string> Then(Sides.Given.begin(),
                                                Sides.Given.end()),
      Now(Options.Given.begin(), Options.Given.end());
  for (const auto &[Name, Value] : Then)
    if (auto It = Now.find(Name);
        It != Now.end() ? It->second != Value
                        : llvm::is_contained(Sides.After.Names, Name))
      return "with --set=" + Name + "=" + Value;
  for (const auto &[Name, Value] : Now)
    if (llvm::is_contained(Sides.Before.Names, Name))
      return "without --set=" + Name;
  return "";
}

llvm::Error addAfter(BudgetSides &Sides, bytes::UnitBudget Now, bool LacksSome,
                     const BudgetOptions &Options) {
  Sides.After = std::move(Now);
  Sides.LacksAfter = LacksSome;
  if (std::string Differs = differentlyGiven(Sides, Options); !Differs.empty())
    return writtenOtherwise(Sides.Against, Differs);
  if (Options.Model.empty())
    return llvm::Error::success();
  // The name in a title is shorter than the user's may be.
  StringRef Title = Options.Model;
  const bool IsRefused =
      Sides.After.Models.empty() && !Sides.After.Refused.empty();
  if (IsRefused)
    Title = Sides.After.Refused.front().Title;
  else if (!Sides.After.Models.empty())
    Title = Sides.After.Models.front().Title;
  auto IsOther = [&](const auto &M) {
    return IsRefused ? M.Title != Title : classOf(M.Title) != classOf(Title);
  };
  llvm::erase_if(Sides.Before.Models, IsOther);
  llvm::erase_if(Sides.Before.Refused, IsOther);
  return llvm::Error::success();
}

std::vector<ModelPair> pairsOf(const BudgetSides &Sides, StringRef Folder) {
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
  Match([&](const ModelRows &A, const ModelRows &B) {
    return A.Title == B.Title && relativePath(A.Made.File, Folder) ==
                                     relativePath(B.Made.File, Folder);
  });
  Match([](const ModelRows &A, const ModelRows &B) {
    return A.Title == B.Title;
  });
  // How many of each class have no partner yet.
  llvm::StringMap<unsigned> Old, New;
  for (const ModelRows *M : Left)
    ++Old[classOf(M->Title)];
  for (const ModelPair &P : Result)
    if (!P.Before)
      ++New[classOf(P.After->Title)];
  Match([&](const ModelRows &A, const ModelRows &B) {
    const StringRef Class = classOf(A.Title);
    return Class == classOf(B.Title) && Old.lookup(Class) == 1 &&
           New.lookup(Class) == 1;
  });
  for (const ModelRows *M : Left)
    Result.push_back({M, nullptr});
  // One that nothing makes has only its class for a title.
  auto RefusalOf = [](const std::vector<RefusedModel> &All,
                      const ModelRows &Model) -> const RefusedModel * {
    auto It = llvm::find_if(All, [&](const RefusedModel &M) {
      return M.Title == Model.Title || M.Title == classOf(Model.Title);
    });
    return It == All.end() ? nullptr : &*It;
  };
  for (ModelPair &P : Result)
    if (!P.hasBoth())
      P.Refused =
          RefusalOf((P.After ? Sides.Before : Sides.After).Refused, P.one());
  return Result;
}

using PathMap = std::map<std::pair<bool, StringRef>, size_t>;

static PathMap pathsOf(const ModelRows &Model) {
  PathMap Result;
  for (size_t I = 0; I < Model.Modules.size(); ++I)
    Result.try_emplace({Model.Modules[I].IsUnlisted, Model.Modules[I].Path}, I);
  return Result;
}

std::vector<ModuleChange> modulesOf(const ModelPair &P,
                                    const BudgetOptions &Options) {
  const PathMap Before = pathsOf(*P.Before), After = pathsOf(*P.After);
  std::vector<ModuleChange> Result;
  // Rows of both sides; none where a side lacks the module.
  auto Add = [&](llvm::ArrayRef<ModuleRow> Old, llvm::ArrayRef<ModuleRow> New) {
    ModuleChange C = {Old.empty() ? nullptr : &Old.front(),
                      New.empty() ? nullptr : &New.front(), sumOf(Old),
                      sumOf(New)};
    if (!P.haveSteps())
      C.Then.Kept = C.Now.Kept = 0;
    // Gradients and what the optimizer keeps are there from the second step on.
    // A report can hold any number, so that sums have to be unsigned.
    C.Part = int64_t(totalsOf(New, Options.Optimizer).all() -
                     totalsOf(Old, Options.Optimizer).all() + C.Now.Kept -
                     C.Then.Kept);
    if (C.bytes() || C.kept() || !C.Before || !C.After)
      Result.push_back(C);
  };
  // What \p Other lacks comes with all that is below it.
  auto ForEachOnlyIn = [](llvm::ArrayRef<ModuleRow> Rows, const PathMap &Other,
                          auto Do) {
    for (size_t I = 0, End; I < Rows.size(); I = End) {
      const bool IsInBoth = Other.count({Rows[I].IsUnlisted, Rows[I].Path});
      End = IsInBoth ? I + 1 : endOfSubtree(Rows, I);
      if (!IsInBoth)
        Do(Rows.slice(I, End - I));
    }
  };
  for (const auto &[Path, I] : After)
    if (auto It = Before.find(Path); It != Before.end())
      Add(P.Before->Modules[It->second], P.After->Modules[I]);
  ForEachOnlyIn(P.After->Modules, Before, [&](auto Rows) { Add({}, Rows); });
  ForEachOnlyIn(P.Before->Modules, After, [&](auto Rows) { Add(Rows, {}); });
  llvm::stable_sort(Result, [](const ModuleChange &A, const ModuleChange &B) {
    return magnitude(A.Part) > magnitude(B.Part);
  });
  return Result;
}

bool hasChanged(const ModelPair &P, const BudgetOptions &Options,
                llvm::ArrayRef<ModuleChange> Modules) {
  auto FiguresOf = [&](const ModelRows &M) -> std::vector<uint64_t> {
    const BudgetTotals Of = totalsOf(M.Modules, Options.Optimizer);
    std::vector<uint64_t> Result = {Of.Parameters, Of.Buffers, Of.Gradients,
                                    Of.OptimizerState.value_or(0), Of.Unlisted};
    if (const bytes::StepRows &Step = M.Step; P.haveSteps())
      Result.insert(Result.end(),
                    {Step.Kept, Step.Inference.Bytes, Step.Unguarded.Bytes,
                     Step.FirstStep.Bytes, Step.LaterSteps.Bytes,
                     Step.ReservedByInference, Step.ReservedByTraining});
    return Result;
  };
  return !Modules.empty() || P.stepsDiffer() ||
         FiguresOf(*P.Before) != FiguresOf(*P.After);
}

std::vector<Refusal> refusalsOf(const BudgetSides &Sides,
                                llvm::ArrayRef<ModelPair> Pairs) {
  std::vector<Refusal> Result;
  auto Add = [&](const RefusedModel &M, bool IsBefore) {
    if (llvm::none_of(Pairs,
                      [&](const ModelPair &P) { return P.Refused == &M; }))
      Result.push_back({&M, IsBefore});
  };
  for (const RefusedModel &M : Sides.After.Refused)
    Add(M, false);
  for (const RefusedModel &M : Sides.Before.Refused)
    if (llvm::none_of(Sides.After.Refused, [&](const RefusedModel &Now) {
          return Now.Title == M.Title;
        }))
      Add(M, true);
  return Result;
}

} // namespace libtorch_tidy::driver
