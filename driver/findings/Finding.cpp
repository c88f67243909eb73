//===- Finding.cpp - What was found, as pure data -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/findings/Finding.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <tuple>

namespace libtorch_tidy::driver {

static auto identity(const Finding &F) {
  return std::tie(F.Where.Path, F.Where.Begin, F.Check, F.Message);
}

/// Is it one finding, of which two units know different amounts? A check speaks
/// once of a place.
static bool differsInBytes(const Finding &A, const Finding &B) {
  return A.Kind == FindingKind::Defect && A.Bytes != B.Bytes &&
         std::tie(A.Where.Path, A.Where.Begin, A.Check) ==
             std::tie(B.Where.Path, B.Where.Begin, B.Check);
}

static bool isAmong(const FindingStep &S, llvm::ArrayRef<FindingStep> Steps) {
  return llvm::any_of(Steps, [&](const FindingStep &Other) {
    return Other.Where.Path == S.Where.Path &&
           Other.Where.Begin == S.Where.Begin;
  });
}

std::vector<Finding> mergeFindings(std::vector<Finding> Findings) {
  llvm::stable_sort(Findings, [](const Finding &A, const Finding &B) {
    return std::tuple_cat(identity(A), std::tie(A.Strength)) <
           std::tuple_cat(identity(B), std::tie(B.Strength));
  });
  Findings.erase(
      std::unique(
          Findings.begin(), Findings.end(),
          [](Finding &Kept, Finding &Next) {
            if (identity(Kept) != identity(Next) && !differsInBytes(Kept, Next))
              return false;
            const Level Strength = std::min(Kept.Strength, Next.Strength);
            const bool AsError = Kept.AsError || Next.AsError;
            std::vector<FindingStep> Members = Kept.Members;
            llvm::copy_if(Next.Members, std::back_inserter(Members),
                          [&](const FindingStep &S) {
                            return !isAmong(S, Kept.Members);
                          });
            if (Next.Bytes > Kept.Bytes)
              Kept = std::move(Next);
            Kept.Members = std::move(Members);
            Kept.Strength = Strength;
            Kept.AsError = AsError;
            return true;
          }),
      Findings.end());
  return Findings;
}

std::string whyWithheld(const Finding &F) {
  if (F.Verdict == fixits::Verdict::Rejected)
    return "the fix is withheld: " + F.WhyNot;
  return F.NotWithOthers.empty()
             ? ""
             : "the fix waits for others: " + F.NotWithOthers;
}

std::string amountInWords(const Measured &M) {
  const auto Bytes = uint64_t(std::llround(std::max(M.Bytes, 0.0)));
  const auto Nodes = uint64_t(std::llround(std::max(M.Nodes, 0.0)));
  std::string Result;
  if (Bytes || !Nodes)
    Result = llvm::formatv("{0:N} {1}", Bytes, Bytes == 1 ? "byte" : "bytes");
  if (Nodes)
    Result +=
        (Result.empty() ? "" : " and ") +
        llvm::formatv("{0:N} graph {1}", Nodes, Nodes == 1 ? "node" : "nodes")
            .str();
  Result = (M.IsEstimate ? "about " : "") + Result + " in each step";
  return M.Steps == "step" ? Result : Result + " of '" + M.Steps + "'";
}

} // namespace libtorch_tidy::driver
