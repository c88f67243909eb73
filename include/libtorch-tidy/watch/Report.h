//===- Report.h - The report as text and as JSON ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// docs/watch.md describes the JSON. Whoever changes the meaning of a field
/// raises FormatVersion, and teaches those who read it.

#ifndef LIBTORCH_TIDY_WATCH_REPORT_H
#define LIBTORCH_TIDY_WATCH_REPORT_H

#include "libtorch-tidy/watch/Verdict.h"

#include <ctime>
#include <torch/version.h>

namespace libtorch_tidy::detail {

constexpr int FormatVersion = 1;

/// What a region has kept, over all its times but the first.
struct RegionFigures {
  char Name[64] = "";
  int64_t Times = 0;
  int64_t Bytes = 0; ///< Of tensors.
  int64_t Nodes = 0; ///< Of graphs: a number.
};

/// All that a report is made of.
struct RunSummary {
  /// "exit", "exception", "running", or the name of the signal that ended it.
  std::string End;
  double Seconds = 0;
  std::time_t Began = 0;
  int Process = 0;
  int Parent = 0; ///< If that was watched, too; or 0.
  bool HeapKnown = false, GraphKnown = false;
  std::string Report; ///< The name of the JSON file, or nothing.
  const PageVector<RegionFigures> *Regions = nullptr;
  std::vector<const detail::Series *> Series;
  std::vector<Verdict> Verdicts;
};

/// "train+0x1234", for addr2line.
inline std::string placeOf(uintptr_t Address) {
  const Module *M = tracker().Made.modules().find(Address);
  char Text[300];
  std::snprintf(Text, sizeof Text, "%s+0x%llx", M ? baseName(M->Path) : "?",
                static_cast<unsigned long long>(Address - (M ? M->Base : 0)));
  return Text;
}

inline std::string asText(const RunSummary &Run) {
  std::string Text = "libtorch-tidy watch: ";
  if (Run.Series.empty())
    Text += "no step was taken; call watch.step() at the end of each iteration";
  for (size_t I = 0; I < Run.Series.size(); ++I)
    Text += (I ? ", " : "") +
            count(Run.Series[I]->Steps, " step of '", " steps of '") +
            Run.Series[I]->Label + "'";
  if (Run.Parent)
    Text += "; process " + std::to_string(Run.Process) + ", a fork of " +
            std::to_string(Run.Parent);
  if (Run.End != "exit" && Run.End != "running")
    Text += "; the program was ended by " +
            (Run.End == "exception" ? "an exception" : Run.End);
  Text += "\n";
  bool HaveSites = false;
  for (const Verdict &V : Run.Verdicts) {
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
  for (const RegionFigures &R : *Run.Regions) {
    double Times = static_cast<double>(R.Times > 1 ? R.Times - 1 : 1);
    Text += "  region '" + std::string(R.Name) +
            "': " + count(R.Times, " time", " times") + ", keeps " +
            inWords(static_cast<double>(R.Bytes) / Times) +
            " bytes of tensors and " +
            count(static_cast<double>(R.Nodes) / Times, " graph node",
                  " graph nodes") +
            " each time\n";
  }
  if (HaveSites && !Run.Report.empty())
    Text += "  libtorch-tidy-watch-report " + Run.Report +
            " prints the lines of these addresses\n";
  return Text;
}

/// Writes JSON, with commas where they belong.
class JsonWriter {
public:
  JsonWriter &key(const char *Name) {
    value(Name);
    Out += ": ";
    Comma = false;
    return *this;
  }
  /// Names, each before its value.
  template <typename T, typename... Others>
  void fields(const char *Name, const T &Value, const Others &...More) {
    key(Name).value(Value);
    if constexpr (sizeof...(More) > 0)
      fields(More...);
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
  template <typename List, typename Function>
  void list(const char *Name, const List &All, Function Write) {
    key(Name).open('[');
    for (const auto &Each : All)
      Write(Each);
    close(']');
  }
  void line() { Out += Comma ? ",\n" : "\n", Comma = false; }
  void value(const std::string &Text) { value(Text.c_str()); }
  void value(const char *Text) {
    separate();
    Out += '"';
    for (; *Text; ++Text) {
      char Escape[8] = {*Text};
      unsigned char Byte = static_cast<unsigned char>(*Text);
      if (*Text == '"' || *Text == '\\')
        Out += '\\';
      else if (Byte < 0x20)
        std::snprintf(Escape, sizeof Escape, "\\u%04x", Byte);
      Out += Escape;
    }
    Out += '"';
  }
  void value(bool Value) {
    separate();
    Out += Value ? "true" : "false";
  }
  template <typename T>
  std::enable_if_t<std::is_arithmetic<T>::value> value(T Number) {
    separate();
    char Digits[40];
    std::snprintf(Digits, sizeof Digits, "%.12g", static_cast<double>(Number));
    Out += Digits;
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

inline void writeSites(JsonWriter &J, const RunSummary &Run) {
  Tracker &T = tracker();
  std::vector<uint32_t> Numbers;
  for (const Verdict &V : Run.Verdicts)
    for (const SiteGrowth &G : V.Sites)
      Numbers.push_back(G.Number);
  // And who holds most at the last step, whether it grows or not.
  const Snapshot None;
  const Snapshot *Now = &None;
  double Latest = -1;
  for (const detail::Series *S : Run.Series)
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
  auto WriteFrame = [&](uintptr_t Address) {
    const Module *M = T.Made.modules().find(Address);
    J.open('[');
    J.value(M ? static_cast<double>(M - Mods->data()) : -1);
    J.value(Address - (M ? M->Base : 0));
    J.close(']');
  };
  J.list("sites", Numbers, [&](uint32_t Number) {
    const Site &S = T.Made[Number];
    Snapshot::Of Alive =
        Number < Now->Sites.size() ? Now->Sites[Number] : Snapshot::Of();
    J.line();
    J.open('{');
    J.fields("site", Number, "bytes", Alive.Bytes, "blocks", Alive.Blocks,
             "nodes", Alive.Nodes, "operator", S.Calls.HasOperator);
    J.key("frames").open('[');
    for (int I = 0; I < S.Calls.Size; ++I)
      WriteFrame(S.Calls.Frames[I]);
    J.close(']');
    J.close('}');
  });
  J.line();
  std::vector<uintptr_t> Reached;
  for (uint32_t I = 1; I < T.Made.size(); ++I) {
    const Stack &S = T.Made[I].Calls;
    Reached.insert(Reached.end(), S.Frames + (S.HasOperator ? 1 : 0),
                   S.Frames + S.Size);
  }
  std::sort(Reached.begin(), Reached.end());
  Reached.erase(std::unique(Reached.begin(), Reached.end()), Reached.end());
  J.fields("reachedAll", !T.Missed.load());
  J.list("reached", Reached, WriteFrame);
  J.line();
  J.list("modules", *Mods, [&](const Module &M) {
    J.line();
    J.value(M.Path);
  });
}

inline void writeSeries(JsonWriter &J, const RunSummary &Run) {
  static const char *Names[] = {
      "heapUsed",    "heapKept",  "rss",         "graphNodes",  "threads",
      "threadsSeen", "allocated", "sizesVaried", "keptTensors", "keptNodes"};
  static const char *OfDevices[] = {"tensorBytes",    "tensorCount",
                                    "tensorPeak",     "tensorLargest",
                                    "cacheAllocated", "cacheReserved"};
  Tracker &T = tracker();
  std::vector<int> Columns;
  J.key("columns").open('[');
  J.value("step");
  J.value("seconds");
  for (int I = 0; I < FirstOfDevices; ++I) {
    J.value(Names[I]);
    Columns.push_back(I);
  }
  T.forEachDevice([&](uint32_t D, DeviceFigures &) {
    for (int I = 0; I < DeviceMetrics; ++I) {
      J.value(deviceName(T, D) + " " + OfDevices[I]);
      Columns.push_back(metricOf(D, static_cast<DeviceMetric>(I)));
    }
  });
  J.close(']');
  J.line();
  J.list("series", Run.Series, [&](const detail::Series *S) {
    J.line();
    J.open('{');
    J.fields("name", S->Label, "steps", S->Steps);
    J.list("points", S->Points, [&](const Point &P) {
      J.line();
      J.open('[');
      J.value(P.Step);
      J.value(P.Seconds);
      for (int Column : Columns)
        J.value(P.Values[Column]);
      J.close(']');
    });
    J.close('}');
  });
}

inline void writeVerdicts(JsonWriter &J, const RunSummary &Run) {
  J.list("verdicts", Run.Verdicts, [&](const Verdict &V) {
    J.line();
    J.open('{');
    J.fields("kind", V.Kind, "series", V.Series);
    if (!V.Device.empty())
      J.fields("device", V.Device);
    J.fields("perStep", V.PerStep);
    if (V.NodesPerStep >= 0)
      J.fields("graphNodesPerStep", V.NodesPerStep);
    if (V.PassSteps)
      J.fields("passSteps", V.PassSteps);
    J.fields("text", V.Text, "advice", V.Advice, "explained", V.Explained);
    J.list("sites", V.Sites, [&](const SiteGrowth &G) {
      J.open('{');
      J.fields("site", G.Number, "bytesPerStep", G.Bytes);
      J.fields("blocksPerStep", G.Blocks, "nodesPerStep", G.Nodes);
      J.close('}');
    });
    J.close('}');
  });
}

inline std::string asJson(const RunSummary &Run) {
  Tracker &T = tracker();
  char Began[32] = "";
  std::tm Utc;
  if (::gmtime_r(&Run.Began, &Utc))
    std::strftime(Began, sizeof Began, "%Y-%m-%dT%H:%M:%SZ", &Utc);
  JsonWriter J;
  J.open('{');
  J.fields("format", "libtorch-tidy watch", "version", FormatVersion);
  J.line();
  J.fields("torch", TORCH_VERSION, "pid", Run.Process, "began", Began);
  if (Run.Parent)
    J.fields("parent", Run.Parent);
  J.fields("seconds", Run.Seconds, "end", Run.End);
  J.line();
  const char *Mode = T.Mode == Stacks::All    ? "all"
                     : T.Mode == Stacks::None ? "none"
                                              : "auto";
  J.fields("heapKnown", Run.HeapKnown, "graphKnown", Run.GraphKnown);
  J.fields("stacks", Mode, "ownBytes", ownBytes().load());
  J.fields("failedAllocations", T.Failed.load());
  J.line();
  writeVerdicts(J, Run);
  J.line();
  J.list("regions", *Run.Regions, [&](const RegionFigures &R) {
    J.open('{');
    J.fields("name", R.Name, "times", R.Times, "bytesKept", R.Bytes,
             "nodesKept", R.Nodes);
    J.close('}');
  });
  J.line();
  writeSites(J, Run);
  J.line();
  writeSeries(J, Run);
  J.close('}');
  return J.Out + "\n";
}

} // namespace libtorch_tidy::detail

#endif // LIBTORCH_TIDY_WATCH_REPORT_H
