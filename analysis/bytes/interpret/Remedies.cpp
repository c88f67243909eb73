//===- Remedies.cpp - What would make a larger batch fit ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/bytes/Bytes.h"
#include "analysis/bytes/library/ModuleParameters.h"
#include "llvm/ADT/STLExtras.h"
#include <set>

using llvm::StringRef;

namespace libtorch_tidy::bytes {

/// One for which the search has ended.
static bool hasLimit(const ModelRows &Model) {
  return Model.HasStep && Model.Step.Batch.Largest >= 0 &&
         Model.Step.Batch.Largest < StepRows::AnyBatch;
}

/// The containers of \p Model of which a checkpoint may free most: a few. Not
/// those that draw numbers, as they would draw others when they run again.
static std::vector<std::string> checkpointsOf(const ModelRows &Model) {
  std::vector<std::pair<uint64_t, std::string>> Found;
  const llvm::ArrayRef<ModuleRow> Rows = Model.Modules;
  for (size_t I = 1; I < Rows.size(); ++I) {
    if (Rows[I].Class != "Sequential" || Rows[I].IsRepeated)
      continue;
    const auto Below = Rows.drop_front(I + 1).take_while(
        [&](const ModuleRow &Row) { return Row.Depth > Rows[I].Depth; });
    uint64_t Kept = 0;
    for (const ModuleRow &Row : Below)
      Kept += Row.Kept;
    if (Kept && llvm::none_of(Below, [](const ModuleRow &Row) {
          return StringRef(Row.Class).contains("Dropout") ||
                 Row.Class == "RReLU";
        }))
      Found.emplace_back(Kept, Rows[I].Path);
  }
  llvm::sort(Found, std::greater<>());
  constexpr size_t Several = 3;
  Found.resize(std::min(Found.size(), Several));
  std::vector<std::string> Result;
  for (auto &[Kept, Path] : Found)
    Result.push_back(std::move(Path));
  return Result;
}

void addRemedies(UnitBudget &Budget, const BudgetRequest &Request,
                 llvm::function_ref<UnitBudget(const BudgetRequest &)> Make) {
  if (!Request.Memory || llvm::none_of(Budget.Models, hasLimit))
    return;
  BudgetRequest OfTraining = Request;
  OfTraining.WithInference = false;
  auto Try = [&](StringRef Option, const BudgetRequest &Changed) {
    const UnitBudget Other = Make(Changed);
    for (ModelRows &Model : Budget.Models) {
      const auto It = llvm::find_if(Other.Models, [&](const ModelRows &M) {
        // Of the same loss.
        return M.Title == Model.Title && hasLimit(M) &&
               M.Step.LossAt.Line == Model.Step.LossAt.Line;
      });
      if (!hasLimit(Model) || It == Other.Models.end())
        continue;
      const int64_t Largest = It->Step.Batch.Largest;
      std::vector<BatchRow::Remedy> &Known = Model.Step.Batch.Remedies;
      // Of several checkpoints, the best.
      const bool Replaces = !Changed.Checkpoint.empty() && !Known.empty() &&
                            Known.back().IsCheckpoint;
      if (Option.empty() ? Largest > 0
                         : Largest > (Replaces ? Known.back().Largest
                                               : Model.Step.Batch.Largest)) {
        if (Replaces)
          Known.pop_back();
        Known.push_back({Option.str(), Largest, !Changed.Checkpoint.empty()});
      }
    }
  };
  if (optimizerNamed(Request.Optimizer).value_or(Optimizer()).Copies > 0) {
    BudgetRequest Changed = OfTraining;
    Changed.Optimizer = "sgd";
    Try("--optimizer=sgd", Changed);
  }
  // What oneDNN takes for smaller types is not known.
  if (Request.Type.empty() && Request.Autocast.empty() &&
      Request.Device != DeviceKind::CpuOneDnn) {
    BudgetRequest Changed = OfTraining;
    Changed.Autocast = "bfloat16";
    Try("--autocast=bfloat16", Changed);
    Changed = OfTraining;
    Changed.Type = "bfloat16";
    Try("--dtype=bfloat16", Changed);
  }
  std::set<std::string> Checkpoints;
  for (const ModelRows &Model : Budget.Models)
    if (hasLimit(Model))
      for (std::string &Path : checkpointsOf(Model))
        Checkpoints.insert(std::move(Path));
  for (const std::string &Path : Checkpoints) {
    BudgetRequest Changed = OfTraining;
    Changed.Checkpoint = Path;
    Try("a checkpoint of '" + Path + "'", Changed);
  }
  BudgetRequest Changed = OfTraining;
  Changed.Accumulates = true;
  Try("", Changed);
}

} // namespace libtorch_tidy::bytes
