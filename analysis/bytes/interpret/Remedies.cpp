//===- Remedies.cpp - What would make a larger batch fit ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/bytes/Bytes.h"
#include "analysis/bytes/library/ModuleParameters.h"
#include "llvm/ADT/STLExtras.h"

using llvm::StringRef;

namespace libtorch_tidy::bytes {

/// One for which the search has ended.
static bool hasLimit(const ModelRows &Model) {
  return Model.HasStep && Model.Step.Batch.Largest >= 0 &&
         Model.Step.Batch.Largest < StepRows::AnyBatch;
}

void addRemedies(UnitBudget &Budget, const BudgetRequest &Request,
                 llvm::function_ref<UnitBudget(const BudgetRequest &)> Make) {
  if (!Request.Memory || llvm::none_of(Budget.Models, hasLimit))
    return;
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
      if (Option.empty() ? Largest > 0 : Largest > Model.Step.Batch.Largest)
        Model.Step.Batch.Remedies.push_back({Option.str(), Largest});
    }
  };
  if (optimizerNamed(Request.Optimizer).value_or(Optimizer()).Copies > 0) {
    BudgetRequest Changed = Request;
    Changed.Optimizer = "sgd";
    Try("--optimizer=sgd", Changed);
  }
  // What oneDNN takes for smaller types is not known.
  if (Request.Type.empty() && Request.Autocast.empty() &&
      Request.Device != DeviceKind::CpuOneDnn) {
    BudgetRequest Changed = Request;
    Changed.Autocast = "bfloat16";
    Try("--autocast=bfloat16", Changed);
    Changed = Request;
    Changed.Type = "bfloat16";
    Try("--dtype=bfloat16", Changed);
  }
  BudgetRequest Changed = Request;
  Changed.Accumulates = true;
  Try("", Changed);
}

} // namespace libtorch_tidy::bytes
