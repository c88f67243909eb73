//===- Report.h - The report as text and as JSON ----------------*- C++ -*-===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// docs/watch.md describes the JSON. Whoever changes the meaning of a field
/// raises FormatVersion, and teaches scripts/watch-report.
///
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_WATCH_REPORT_H
#define LIBTORCH_TIDY_WATCH_REPORT_H

#include "libtorch-tidy/watch/Verdict.h"

#include <ctime>
#include <torch/version.h>

namespace libtorch_tidy {
namespace detail {

constexpr int FormatVersion = 1;

/// What a region has kept, over all its times but the first.
struct RegionFigures {
  char Name[64] = "";
  int64_t Times = 0;
  int64_t Bytes = 0; ///< Of tensors.
  int64_t Nodes = 0; ///< Of graphs: a number.
};

/// All that a report is made of.
struct Findings {
  std::string End; ///< "exit", "exception", or "running".
  double Seconds = 0;
  std::time_t Began = 0;
  bool HeapKnown = false, GraphKnown = false;
  std::vector<const detail::Series *> Series;
  const PageVector<RegionFigures> *Regions = nullptr;
  std::vector<Verdict> Verdicts;
  std::string Report; ///< The name of the JSON file, or nothing.
};

inline const char *baseName(const char *Path) {
  const char *Slash = std::strrchr(Path, '/');
  return Slash ? Slash + 1 : Path;
}

/// "train+0x1234", for addr2line.
inline std::string placeOf(uintptr_t Address) {
  const Module *M = tracker().Made.modules().find(Address);
  char Text[300];
  std::snprintf(Text, sizeof Text, "%s+0x%llx", M ? baseName(M->Path) : "?",
                static_cast<unsigned long long>(Address - (M ? M->Base : 0)));
  return Text;
}

inline std::string asText(const Findings &F) {
  std::string Text = "libtorch-tidy watch: ";
  if (F.Series.empty())
    Text += "no step was taken; call watch.step() at the end of each iteration";
  for (size_t I = 0; I < F.Series.size(); ++I)
    Text += (I ? ", " : "") +
            count(static_cast<double>(F.Series[I]->Steps), " step of '",
                  " steps of '") +
            F.Series[I]->Label + "'";
  if (F.End == "exception")
    Text += "; the program was ended by an exception";
  Text += "\n";
  bool HaveSites = false;
  for (const Verdict &V : F.Verdicts) {
    Text += "  " + V.Series + ": " + V.Text + "\n";
    // Stacks are a sample: what they show stands for all of the growth.
    double Scale = V.Explained < 0.98 ? 1 / V.Explained : 1;
    for (size_t I = 0; I < V.Sites.size() && I < 3; ++I) {
      const SiteGrowth &G = V.Sites[I];
      const Stack &S = tracker().Made[G.Number].Calls;
      Text += (Scale > 1 ? "    about " : "    ") +
              (V.Kind == "graph" ? count(G.Nodes * Scale, " node", " nodes")
                                 : inWords(G.Bytes * Scale) + " bytes") +
              " a step made at ";
      int First = S.HasOperator && S.Size > 1 ? 1 : 0;
      for (int J = First; J < S.Size && J < First + 3; ++J)
        Text += (J > First ? " < " : "") + placeOf(S.Frames[J]);
      Text += "\n";
      HaveSites = true;
    }
    if (!V.Advice.empty())
      Text += "    " + V.Advice + "\n";
  }
  for (const RegionFigures &R : *F.Regions) {
    double Times = static_cast<double>(R.Times > 1 ? R.Times - 1 : 1);
    Text += "  region '" + std::string(R.Name) +
            "': " + count(static_cast<double>(R.Times), " time", " times") +
            ", keeps " + inWords(static_cast<double>(R.Bytes) / Times) +
            " bytes of tensors and " +
            count(static_cast<double>(R.Nodes) / Times, " graph node",
                  " graph nodes") +
            " each time\n";
  }
  if (HaveSites && !F.Report.empty())
    Text += "  libtorch-tidy-watch-report " + F.Report +
            " says the lines of these addresses\n";
  return Text;
}

/// Writes JSON, with commas where they belong.
class JsonWriter {
public:
  JsonWriter &key(const char *Name) {
    text(Name);
    Out += ": ";
    Comma = false;
    return *this;
  }
  void open(char Bracket) {
    separate();
    Out += Bracket;
    Comma = false;
  }
  void close(char Bracket) {
    Out += Bracket;
    Comma = true;
  }
  void line() { Out += Comma ? ",\n" : "\n", Comma = false; }
  void text(const std::string &Value) {
    separate();
    Out += '"';
    for (char C : Value) {
      unsigned char Byte = static_cast<unsigned char>(C);
      char Escape[8];
      if (C == '"' || C == '\\')
        Out += '\\', Out += C;
      else if (Byte < 0x20)
        std::snprintf(Escape, sizeof Escape, "\\u%04x", Byte), Out += Escape;
      else
        Out += C;
    }
    Out += '"';
  }
  void number(double Value) {
    separate();
    char Digits[40];
    std::snprintf(Digits, sizeof Digits, "%.12g", Value);
    Out += Digits;
  }
  void boolean(bool Value) {
    separate();
    Out += Value ? "true" : "false";
  }
  std::string Out;

private:
  void separate() {
    if (Comma)
      Out += ", ";
    Comma = true;
  }
  bool Comma = false;
};

inline void writeSites(JsonWriter &J, const Findings &F) {
  Tracker &T = tracker();
  std::vector<uint32_t> Numbers;
  for (const Verdict &V : F.Verdicts)
    for (const SiteGrowth &G : V.Sites)
      Numbers.push_back(G.Number);
  // And who holds most at the last step, whether it grows or not.
  const Snapshot None;
  const Snapshot *Now = &None;
  double Latest = -1;
  for (const detail::Series *S : F.Series)
    if (!S->Points.empty() && S->Points.back().Seconds > Latest) {
      Latest = S->Points.back().Seconds;
      Now = &S->Now;
    }
  std::vector<std::pair<int64_t, uint32_t>> Largest;
  for (uint32_t I = 1; I < Now->Sites.size(); ++I)
    Largest.emplace_back(Now->Sites[I].Bytes, I);
  std::sort(Largest.rbegin(), Largest.rend());
  for (size_t I = 0; I < Largest.size() && I < 20 && Largest[I].first > 0; ++I)
    Numbers.push_back(Largest[I].second);
  std::sort(Numbers.begin(), Numbers.end());
  Numbers.erase(std::unique(Numbers.begin(), Numbers.end()), Numbers.end());

  const PageVector<Module> *Mods = &T.Made.modules().all();
  J.key("sites").open('[');
  for (uint32_t Number : Numbers) {
    const Site &S = T.Made[Number];
    Snapshot::Of Alive;
    if (Number < Now->Sites.size())
      Alive = Now->Sites[Number];
    J.line();
    J.open('{');
    J.key("site").number(Number);
    J.key("bytes").number(static_cast<double>(Alive.Bytes));
    J.key("blocks").number(static_cast<double>(Alive.Blocks));
    J.key("nodes").number(static_cast<double>(Alive.Nodes));
    J.key("operator").boolean(S.Calls.HasOperator);
    J.key("frames").open('[');
    for (int I = 0; I < S.Calls.Size; ++I) {
      const Module *M = T.Made.modules().find(S.Calls.Frames[I]);
      J.open('[');
      J.number(M ? static_cast<double>(M - Mods->data()) : -1);
      J.number(static_cast<double>(S.Calls.Frames[I] - (M ? M->Base : 0)));
      J.close(']');
    }
    J.close(']');
    J.close('}');
  }
  J.close(']');
  J.line();
  J.key("modules").open('[');
  for (const Module &M : *Mods) {
    J.line();
    J.text(M.Path);
  }
  J.close(']');
}

inline void writeSeries(JsonWriter &J, const Findings &F) {
  static const char *Names[] = {"heapUsed",   "heapKept",   "rss",
                                "graphNodes", "threads",    "threadsSeen",
                                "allocated",  "sizesVaried"};
  static const char *OfDevices[] = {"tensorBytes",    "tensorCount",
                                    "tensorPeak",     "tensorLargest",
                                    "cacheAllocated", "cacheReserved"};
  Tracker &T = tracker();
  std::vector<int> Columns;
  J.key("columns").open('[');
  J.text("step");
  J.text("seconds");
  for (int I = 0; I < FirstOfDevices; ++I) {
    J.text(Names[I]);
    Columns.push_back(I);
  }
  for (uint32_t D = 0; D < Tracker::MaxDevices; ++D)
    for (int I = 0; T.Devices[D].Key.load() >= 0 && I < DeviceMetrics; ++I) {
      J.text(deviceName(T, D) + " " + OfDevices[I]);
      Columns.push_back(metricOf(D, static_cast<DeviceMetric>(I)));
    }
  J.close(']');
  J.line();
  J.key("series").open('[');
  for (const detail::Series *S : F.Series) {
    J.line();
    J.open('{');
    J.key("name").text(S->Label);
    J.key("steps").number(static_cast<double>(S->Steps));
    J.key("points").open('[');
    for (const Point &P : S->Points) {
      J.line();
      J.open('[');
      J.number(static_cast<double>(P.Step));
      J.number(P.Seconds);
      for (int Column : Columns)
        J.number(static_cast<double>(P.Values[Column]));
      J.close(']');
    }
    J.close(']');
    J.close('}');
  }
  J.close(']');
}

inline void writeVerdicts(JsonWriter &J, const Findings &F) {
  J.key("verdicts").open('[');
  for (const Verdict &V : F.Verdicts) {
    J.line();
    J.open('{');
    J.key("kind").text(V.Kind);
    J.key("series").text(V.Series);
    if (!V.Device.empty())
      J.key("device").text(V.Device);
    J.key("perStep").number(V.PerStep);
    if (V.PassSteps)
      J.key("passSteps").number(static_cast<double>(V.PassSteps));
    J.key("text").text(V.Text);
    J.key("advice").text(V.Advice);
    J.key("explained").number(V.Explained);
    J.key("sites").open('[');
    for (const SiteGrowth &G : V.Sites) {
      J.open('{');
      J.key("site").number(G.Number);
      J.key("bytesPerStep").number(G.Bytes);
      J.key("blocksPerStep").number(G.Blocks);
      J.key("nodesPerStep").number(G.Nodes);
      J.close('}');
    }
    J.close(']');
    J.close('}');
  }
  J.close(']');
}

inline std::string asJson(const Findings &F) {
  Tracker &T = tracker();
  char Began[32] = "";
  std::tm Utc;
  if (::gmtime_r(&F.Began, &Utc))
    std::strftime(Began, sizeof Began, "%Y-%m-%dT%H:%M:%SZ", &Utc);
  JsonWriter J;
  J.open('{');
  J.key("format").text("libtorch-tidy watch");
  J.key("version").number(FormatVersion);
  J.line();
  J.key("torch").text(TORCH_VERSION);
  J.key("pid").number(::getpid());
  J.key("began").text(Began);
  J.key("seconds").number(F.Seconds);
  J.key("end").text(F.End);
  J.line();
  J.key("heapKnown").boolean(F.HeapKnown);
  J.key("graphKnown").boolean(F.GraphKnown);
  J.key("stacks").text(T.Mode == Stacks::All    ? "all"
                       : T.Mode == Stacks::None ? "none"
                                                : "auto");
  J.key("ownBytes").number(static_cast<double>(ownBytes().load()));
  J.key("failedAllocations").number(static_cast<double>(T.Failed.load()));
  J.line();
  writeVerdicts(J, F);
  J.line();
  J.key("regions").open('[');
  for (const RegionFigures &R : *F.Regions) {
    J.open('{');
    J.key("name").text(R.Name);
    J.key("times").number(static_cast<double>(R.Times));
    J.key("bytesKept").number(static_cast<double>(R.Bytes));
    J.key("nodesKept").number(static_cast<double>(R.Nodes));
    J.close('}');
  }
  J.close(']');
  J.line();
  writeSites(J, F);
  J.line();
  writeSeries(J, F);
  J.close('}');
  return J.Out + "\n";
}

} // namespace detail
} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_WATCH_REPORT_H
