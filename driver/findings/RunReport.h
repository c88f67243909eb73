//===- RunReport.h - A run of the program, as its watch saw it --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_DRIVER_FINDINGS_RUNREPORT_H
#define LIBTORCH_TIDY_DRIVER_FINDINGS_RUNREPORT_H

#include "driver/findings/Finding.h"
#include "driver/project/Json.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/VirtualFileSystem.h"
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace libtorch_tidy::driver {

/// A report of <libtorch-tidy/watch.h>, which docs/watch.md describes: what
/// grew in a run of a program, and which lines made it. Nothing in it is
/// trusted: what is missing or of another type is zero or empty.
struct RunReport {
  struct Call {
    std::string Function; ///< Without its arguments.
    std::string File;     ///< As debug information has it, without dots.
    unsigned Line = 0;
  };
  /// Who made something.
  struct Site {
    std::string Made;        ///< The operator of LibTorch, if it is known.
    std::vector<Call> Calls; ///< Of the user's code, innermost first.
    std::string Where;       ///< "train+0x12f0 < train+0x2340"
  };
  struct Growth {
    const Site *Maker = nullptr;
    double Bytes = 0, Nodes = 0; ///< Each per step.
  };
  struct Verdict {
    std::string Kind, Series, Text, Advice;
    double PerStep = 0;   ///< In what the kind of verdict counts.
    double Explained = 0; ///< The part that Sites stand for: 0 to 1.
    double Nodes = 0;     ///< Of graphs, each step; -1: not known.
    std::vector<Growth> Sites;

    /// What the stacks of sites show of the growth is a sample.
    bool isSampled() const { return Explained < 0.98; }
    /// Does it count graph nodes? Others count bytes or threads.
    bool countsNodes() const { return Kind == "graph"; }
    /// Larger inputs would explain it as well.
    bool mayBeInputs() const { return Kind == "larger"; }
  };
  struct Region {
    std::string Name;
    double Times = 0, Bytes = 0, Nodes = 0;
  };
  struct Steps {
    std::string Name;
    double Count = 0;
    /// A number for each of Columns, or fewer; -1: not known.
    std::vector<std::vector<double>> Points;
  };

  /// Reads \p File. The programs that it names are asked for the lines, unless
  /// it has them already: those of the sites that verdicts name, or of all.
  static llvm::Expected<RunReport>
  read(llvm::StringRef File, llvm::vfs::FileSystem &FS, bool AllSites);

  /// The report as JSON, with `made` and `calls` for each site that was read.
  /// Files below \p Root are relative to it.
  std::string withLines(llvm::StringRef Root) const;

  std::string Torch, Began, End;
  double Process = 0, Seconds = 0;
  std::vector<Verdict> Verdicts;
  std::vector<Region> Regions;
  std::map<double, Site> Sites; ///< By number.
  /// The calls during which tensors or nodes were made, without order.
  std::vector<Call> Reached;
  bool ReachedAll = false; ///< It misses none of them.
  std::vector<std::string> Columns;
  std::vector<Steps> Series;

private:
  Json Written;
};

/// A RunReport joined with the findings: which of them the run confirms, and
/// what grew that no finding explains.
class WatchedRun {
public:
  /// Reads the RunReport \p File. Files without a folder are \p Folder's.
  static llvm::Expected<WatchedRun>
  read(llvm::StringRef File, llvm::StringRef Folder,
       llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS);

  /// Notes in each of \p Findings that is about what is kept (CWE-401) how much
  /// grew that was made on its line, or on that of one of its steps, and that
  /// its defect can keep. What one place made confirms one finding, that of the
  /// innermost call. Smaller growth of the same steps that was made in the
  /// functions of these lines is explained as well: a graph has nodes of many
  /// lines. Says of those that add what they keep, and did not, that the run
  /// has not reached them.
  void confirm(std::vector<Finding> &Findings);

  /// What grew that no finding has explained, one line of text each.
  std::vector<std::string> unexplained() const;

private:
  /// What one place made and the run kept.
  struct Growth {
    Measured PerStep;
    /// Innermost first, of the user's code. Files are canonical.
    std::vector<RunReport::Call> Calls;
    bool HasGraph = false;   ///< Nodes grow in these steps, or may do so.
    bool HasTensors = false; ///< Bytes grow in them.
    bool Explained = false;
  };
  /// How well a growth fits a finding; the least fits best.
  struct Fit {
    size_t Depth;      ///< The call that is on a line of it; 0: the innermost.
    unsigned Evidence; ///< 0: its own line made something, 2: it should have.
    bool operator<(const Fit &O) const {
      return std::tie(Depth, Evidence) < std::tie(O.Depth, O.Evidence);
    }
  };
  std::optional<Fit> fitOf(const Finding &F, const Growth &G) const;
  /// Did \p F not run, for certain?
  bool isUnreached(const Finding &F) const;
  void explain(const Finding &F, llvm::ArrayRef<Growth *> Kept);
  /// What \p F has in common with the calls that made \p Kept, in words.
  static std::string makersOf(const Finding &F, llvm::ArrayRef<Growth *> Kept);

  std::vector<Growth> Growths;
  std::vector<RunReport::Call> Reached; ///< Of all; empty: not known.
  std::string Folder;
};

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_FINDINGS_RUNREPORT_H
