//===- WatchedRun.cpp - What a run of the program kept --------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/findings/WatchedRun.h"
#include "checks/base/Catalog.h"
#include "driver/findings/RunReport.h"
#include "driver/llvm/Compat.h"
#include "driver/project/Paths.h"
#include "driver/project/Printable.h"
#include "llvm/ADT/STLExtras.h"
#include <set>
#include <tuple>

using llvm::Expected;
using llvm::StringRef;

namespace libtorch_tidy::driver {

Expected<WatchedRun>
WatchedRun::read(StringRef File, StringRef Folder,
                 llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS) {
  Expected<RunReport> Report = RunReport::read(File, *FS, /*AllSites=*/false);
  if (!Report)
    return Report.takeError();
  WatchedRun Result;
  Result.Folder = Folder.str();
  for (const RunReport::Verdict &Said : Report->Verdicts)
    for (const RunReport::Growth &Grown : Said.Sites) {
      Growth G;
      // The verdict says which of the two grows; the other one varies.
      if (RunReport::countsNodes(Said))
        G.PerStep.Nodes = Grown.Nodes;
      else
        G.PerStep.Bytes = Grown.Bytes;
      G.PerStep.Steps = Said.Series;
      for (const RunReport::Call &Call : Grown.Maker->Calls) {
        llvm::SmallString<256> Path(Call.File);
        compat::makeAbsolute(Folder, Path);
        G.Calls.push_back(
            {canonicalPath(Path, "", *FS), Call.Line, Call.Function});
      }
      Result.add(std::move(G));
    }
  return Result;
}

void WatchedRun::add(Growth New) {
  auto Same = llvm::find_if(Growths, [&](const Growth &Old) {
    return Old.PerStep.Steps == New.PerStep.Steps &&
           std::equal(Old.Calls.begin(), Old.Calls.end(), New.Calls.begin(),
                      New.Calls.end(), [](const Line &A, const Line &B) {
                        return A.Path == B.Path && A.Number == B.Number;
                      });
  });
  if (Same == Growths.end()) {
    Growths.push_back(std::move(New));
    return;
  }
  Same->PerStep.Bytes += New.PerStep.Bytes;
  Same->PerStep.Nodes += New.PerStep.Nodes;
}

/// Is the check about memory that is kept?
static bool isAboutWhatIsKept(const Finding &F) {
  const CatalogEntry *Entry = findInCatalog(F.Check);
  return F.Kind == FindingKind::Defect && Entry &&
         llvm::is_contained(Entry->Tags, "external/cwe/cwe-401");
}

/// Is \p L the line of \p F or of one of its steps?
static bool isOnLineOf(const Finding &F, StringRef Path, unsigned Line) {
  auto IsAt = [&](const Place &Where) {
    return Line == Where.Line && Path == Where.Path;
  };
  return IsAt(F.Where) || llvm::any_of(F.Steps, [&](const FindingStep &S) {
           return IsAt(S.Where);
         });
}

void WatchedRun::confirm(std::vector<Finding> &Findings) {
  for (Finding &F : Findings) {
    if (!isAboutWhatIsKept(F))
      continue;
    // The functions that its lines are in.
    std::set<std::tuple<StringRef, StringRef, StringRef>> Around;
    for (Growth &G : Growths) {
      auto On = llvm::find_if(G.Calls, [&](const Line &L) {
        return isOnLineOf(F, L.Path, L.Number);
      });
      if (On == G.Calls.end())
        continue;
      Around.insert({G.PerStep.Steps, On->Path, On->Function});
      G.Explained = true;
      if (!F.Confirmed)
        F.Confirmed = Measured{0, 0, G.PerStep.Steps};
      F.Confirmed->Bytes += G.PerStep.Bytes;
      F.Confirmed->Nodes += G.PerStep.Nodes;
    }
    if (!F.Confirmed)
      continue;
    // A graph that is kept has nodes of the lines in between as well.
    for (Growth &G : Growths)
      if (G.PerStep.Bytes <= F.Confirmed->Bytes &&
          G.PerStep.Nodes <= F.Confirmed->Nodes &&
          llvm::any_of(G.Calls, [&](const Line &L) {
            return Around.count({G.PerStep.Steps, L.Path, L.Function});
          }))
        G.Explained = true;
    F.Steps.push_back({F.Where, "a run of the program kept " +
                                    printable(amountInWords(*F.Confirmed)) +
                                    ", made on the lines of this finding"});
  }
}

std::vector<std::string> WatchedRun::unexplained() const {
  std::vector<std::string> Result;
  for (const Growth &G : Growths) {
    if (G.Explained)
      continue;
    std::string Text = printable(amountInWords(G.PerStep));
    if (G.Calls.empty())
      Text += ", made at a place that is not known";
    else
      Text += ", made at " +
              printable(relativePath(G.Calls.front().Path, Folder)) + ":" +
              std::to_string(G.Calls.front().Number) + " in " +
              printable(G.Calls.front().Function);
    Result.push_back(std::move(Text));
  }
  return Result;
}

} // namespace libtorch_tidy::driver
