//===- Verdict.h - Says what grows, in words --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_WATCH_VERDICT_H
#define LIBTORCH_TIDY_WATCH_VERDICT_H

#include "libtorch-tidy/watch/Series.h"

#include <c10/core/DeviceType.h>

namespace libtorch_tidy::detail {

/// Growth of what one site has made.
struct SiteGrowth {
  uint32_t Number = 0;
  double Bytes = 0, Blocks = 0, Nodes = 0; ///< Each per step.
  double of(bool IsOfNodes) const { return IsOfNodes ? Nodes : Bytes; }
};

/// One sentence of the report.
struct Verdict {
  std::string Kind;   ///< For programs: see docs/watch.md.
  std::string Series; ///< The name of the steps.
  std::string Device; ///< "cpu", "cuda:0", or nothing.
  double PerStep = 0; ///< In bytes; nodes or threads where these grow.
  std::string Text;   ///< What grows.
  std::string Advice; ///< What to do about it, if anything.
  /// Where it grows over so many steps and begins anew; 0: to the end.
  int64_t PassSteps = 0;
  /// The part of the growth that the stacks of Sites stand for: 0 to 1.
  double Explained = 0;
  std::vector<SiteGrowth> Sites; ///< Who made it, most first.
  double NodesPerStep = 0; ///< Of graphs that grow with it; -1: not known.
};

/// 65792 as "65,792"; with a decimal where that matters.
template <typename T> std::string inWords(T Number) {
  char Digits[64];
  double Value = static_cast<double>(Number);
  bool Whole =
      std::fabs(Value) >= 10 || std::fabs(Value - std::round(Value)) < 0.05;
  std::snprintf(Digits, sizeof Digits, Whole ? "%.0f" : "%.1f", Value);
  std::string Text = Digits;
  size_t End = Text.find('.');
  if (End == std::string::npos)
    End = Text.size();
  for (size_t I = End; I > 3 + (Text[0] == '-' ? 1 : 0); I -= 3)
    Text.insert(I - 3, ",");
  return Text;
}

template <typename T>
std::string count(T Value, const char *One, const char *Many) {
  std::string Text = inWords(Value);
  return Text + (Text == "1" ? One : Many);
}

/// "cpu", "cuda:0".
inline std::string deviceName(const Tracker &T, uint32_t Slot) {
  if (Slot == 0)
    return "cpu";
  int Key = T.Devices[Slot].Key.load();
  return c10::DeviceTypeName(static_cast<c10::DeviceType>(Key / 256),
                             /*lower_case=*/true) +
         ":" + std::to_string(Key % 256);
}

/// Who has made more of what is alive at \p After than at \p Before, most
/// first; bytes or nodes count.
inline std::vector<SiteGrowth> sitesOf(const Snapshot &Before,
                                       const Snapshot &After, bool Nodes,
                                       double PerStep, double &Explained) {
  std::vector<SiteGrowth> Grown;
  double Steps = static_cast<double>(After.Step - Before.Step), Sum = 0;
  Explained = 0;
  if (Steps <= 0 || Before.Step == 0)
    return Grown;
  const auto GrowthOf = [&](uint32_t I) -> SiteGrowth {
    Snapshot::Of Now = After.Sites[I], Old;
    if (I < Before.Sites.size())
      Old = Before.Sites[I];
    return {I, static_cast<double>(Now.Bytes - Old.Bytes) / Steps,
            static_cast<double>(Now.Blocks - Old.Blocks) / Steps,
            static_cast<double>(Now.Nodes - Old.Nodes) / Steps};
  };
  // What each step replaces counts without a stack one time, and with its
  // stack the next: then the first is as much smaller.
  const double NotedSince = After.Sites.empty() ? 0 : -GrowthOf(0).of(Nodes);
  for (uint32_t I = 1; I < After.Sites.size(); ++I) {
    const SiteGrowth G = GrowthOf(I);
    const double TooMuch = G.of(Nodes) - 1.1 * PerStep;
    if (G.of(Nodes) <= 0 || (TooMuch > 0 && TooMuch <= NotedSince))
      continue;
    Sum += G.of(Nodes);
    Grown.push_back(G);
  }
  std::sort(Grown.begin(), Grown.end(),
            [Nodes](const SiteGrowth &A, const SiteGrowth &B) {
              return A.of(Nodes) != B.of(Nodes) ? A.of(Nodes) > B.of(Nodes)
                                                : A.Number < B.Number;
            });
  if (Grown.size() > 20)
    Grown.resize(20);
  Explained = PerStep > 0 ? std::min(1.0, Sum / PerStep) : 0;
  return Grown;
}

/// Judges the steps of one name.
class Judge {
public:
  Judge(const Series &S, Tracker &T) : S(S), T(T) {}

  std::vector<Verdict> verdicts() {
    if (S.Points.size() < EnoughPoints) {
      add("too-few-steps", 0,
          count(S.Steps, " step is", " steps are") +
              " too few to tell what grows: " + std::to_string(EnoughPoints) +
              " are needed");
      return Said;
    }
    tensors();
    if (Said.empty())
      graph();
    if (Said.empty())
      passes();
    caches();
    threads();
    if (Said.empty())
      heapAndProcess();
    if (Said.empty())
      nothing();
    threadPerCall();
    return Said;
  }

private:
  static constexpr double KB = 1024, MB = 1024 * 1024;

  Verdict &add(const char *Kind, double PerStep, std::string Text,
               std::string Advice = "") {
    Said.push_back({Kind,
                    S.Label,
                    "",
                    PerStep,
                    std::move(Text),
                    std::move(Advice),
                    0,
                    0,
                    {},
                    nodesPerStep()});
    return Said.back();
  }

  /// Who has made what grows.
  void name(Verdict &V, const Snapshot &Before, const Snapshot &After,
            bool Nodes) const {
    V.Sites = sitesOf(Before, After, Nodes, V.PerStep, V.Explained);
    if (V.Sites.empty() && T.Mode != Stacks::All)
      V.Advice += "; LIBTORCH_TIDY_WATCH_STACKS=all notes who makes it";
  }

  Trend nodes() const { return trendOf(S, GraphNodes, 5); }

  double nodesPerStep() const {
    Trend Graph = nodes();
    return Graph.Grows ? Graph.PerStep : Graph.Known ? S.Nodes.PerStep : -1;
  }

  /// The last that is known.
  int64_t last(int Metric) const {
    for (size_t I = S.Points.size(); I-- > 0;)
      if (S.Points[I].Values[Metric] >= 0)
        return S.Points[I].Values[Metric];
    return -1;
  }

  bool sizesVary() const {
    size_t Varied = 0, Count = 0;
    for (size_t I = warmup(S.Points.size()); I < S.Points.size(); ++I, ++Count)
      Varied += S.Points[I].Values[OtherSizes] > 0;
    return Varied * 2 > Count;
  }

  void tensors() {
    T.forEachDevice([&](uint32_t I, DeviceFigures &) {
      Trend Bytes = trendOf(S, metricOf(I, TensorBytes), KB);
      if (!Bytes.Grows) {
        unseen(I);
        return;
      }
      if (!keepsMore()) {
        if (!fallsBack(metricOf(I, TensorBytes)))
          larger(I, Bytes);
        return;
      }
      Trend Count = trendOf(S, metricOf(I, TensorCount), 1);
      Trend Graph = nodes();
      std::string Where = I == 0 ? "" : " on " + deviceName(T, I);
      std::string Text = "tensors" + Where + " grow by " +
                         inWords(Bytes.PerStep) + " bytes a step";
      if (Count.Grows)
        Text += " (" + count(Count.PerStep, " tensor)", " tensors)");
      std::string Advice;
      if (Graph.Grows) {
        Text += ", and graph nodes by " + inWords(Graph.PerStep);
        Advice = "a result is kept with its autograd graph, or a hook, "
                 "saved_data or a gradient is part of a cycle: keep detach() "
                 "or item() of "
                 "it, or compute it under a torch::NoGradGuard";
      } else if (Graph.Known) {
        Text += ", graph nodes do not";
        Advice = "tensors are kept without a graph that grows: by a container, "
                 "a cache, the state of an optimizer, or a module or hook that "
                 "owns itself";
      }
      Verdict &V = add("tensors", Bytes.PerStep, Text, Advice);
      V.Device = deviceName(T, I);
      name(V, S.before(), S.Now, /*Nodes=*/false);
    });
  }

  /// Are there more and more tensors or nodes of earlier steps?
  bool keepsMore() const {
    return trendOf(S, KeptTensors, 1).Grows || trendOf(S, KeptNodes, 5).Grows;
  }

  /// Does it fall by half of its range in one step, as at the end of an epoch?
  bool fallsBack(int Metric) const {
    int64_t Low = INT64_MAX, High = 0, Before = 0, Fall = 0;
    for (size_t I = warmup(S.Points.size()); I < S.Points.size(); ++I) {
      int64_t Now = S.Points[I].Values[Metric];
      if (Now < 0)
        continue;
      Fall = std::max(Fall, Before - Now);
      Low = std::min(Low, Now);
      High = std::max(High, Now);
      Before = Now;
    }
    return Fall > (High - Low) / 2;
  }

  /// What grows, and keeps no more of the steps before.
  void larger(uint32_t I, const Trend &Bytes) {
    Verdict &V =
        add("larger", Bytes.PerStep,
            "tensors" + (I == 0 ? std::string() : " on " + deviceName(T, I)) +
                " grow by " + inWords(Bytes.PerStep) +
                " bytes a step, and no more of them are kept",
            "either the inputs grow, as in an epoch sorted by size, or a "
            "tensor that each step makes again, as torch::cat does: a run of "
            "two epochs tells them apart");
    V.Device = deviceName(T, I);
    name(V, S.before(), S.Now, /*Nodes=*/false);
  }

  /// What the allocator of a device has handed out where the watch was not
  /// told.
  void unseen(uint32_t I) {
    Trend Allocated = trendOf(S, metricOf(I, CacheAllocated), KB);
    if (I == 0 || !Allocated.Grows)
      return;
    Verdict &V =
        add("tensors", Allocated.PerStep,
            "tensors on " + deviceName(T, I) + " grow by " +
                inWords(Allocated.PerStep) +
                " bytes a step, made by threads that take no step",
            "call step() in them, too, each with a name of its own: then the "
            "report says who makes what is kept");
    V.Device = deviceName(T, I);
  }

  void graph() {
    Trend Graph = nodes();
    if (!Graph.Grows || !keepsMore())
      return;
    Verdict &V = add(
        "graph", Graph.PerStep,
        "graph nodes grow by " + inWords(Graph.PerStep) +
            " a step, tensors do not",
        "a result is kept with its autograd graph; backward() has freed the "
        "tensors of the graph, but not its nodes: keep detach() or item() "
        "of it");
    name(V, S.before(), S.Now, /*Nodes=*/true);
  }

  /// What grows for a while and is let go of, as often as it likes.
  void passes() {
    bool OfBytes = S.Bytes.Count > 0;
    const Passes &P = OfBytes ? S.Bytes : S.Nodes;
    if (!P.Count)
      return;
    std::string Text =
        OfBytes ? "tensors grow by " + inWords(P.PerStep) + " bytes a step"
                : "graph nodes grow by " + inWords(P.PerStep) + " a step";
    if (OfBytes && S.Nodes.Count)
      Text += ", and graph nodes by " + inWords(S.Nodes.PerStep) + ",";
    else if (!OfBytes)
      Text += ", tensors do not,";
    Text += " over passes of " + inWords(P.Steps) +
            " steps, and are released at the end of each";
    Verdict &V =
        add(OfBytes ? "tensors" : "graph", P.PerStep, Text,
            S.Nodes.Count
                ? "memory runs out within a pass, if at all; unless its end "
                  "needs all of the graphs, as backward() through a sequence "
                  "does, keep detach() or item() of each result"
                : "memory runs out within a pass, if at all; unless its end "
                  "needs all of the tensors, keep less of each");
    V.PassSteps = P.Steps;
    name(V, P.First, P.Last, !OfBytes);
  }

  void caches() {
    T.forEachDevice([&](uint32_t I, DeviceFigures &) {
      Trend Reserved = trendOf(S, metricOf(I, CacheReserved), 2 * MB);
      Trend Allocated = trendOf(S, metricOf(I, CacheAllocated), KB);
      if (I == 0 || !Reserved.Grows || Allocated.Grows)
        return;
      Verdict &V = add(
          "cache", Reserved.PerStep,
          "what the allocator of " + deviceName(T, I) +
              " has reserved grows by " + inWords(Reserved.PerStep) +
              " bytes a step, what tensors use does not",
          "free memory in pieces that do not fit: sizes that change all the "
          "time. Pad inputs to a few sizes, or set PYTORCH_CUDA_ALLOC_CONF="
          "max_split_size_mb:128, from LibTorch 2.1 on "
          "expandable_segments:True");
      V.Device = deviceName(T, I);
    });
  }

  void threads() {
    Trend Now = trendOf(S, ThreadsNow, 3);
    if (Now.Grows)
      add("threads", Now.PerStep,
          "threads grow by " + inWords(Now.PerStep) + " a step",
          "each has a stack, a heap arena and caches: join() them, or use a "
          "pool");
  }

  void heapAndProcess() {
    Trend Used = trendOf(S, HeapUsed, 128 * KB);
    Trend Kept = trendOf(S, HeapKept, MB, /*Noise=*/2);
    Trend Rss = trendOf(S, ProcessRss, 4 * MB);
    bool Vary = sizesVary();
    bool InUse = Used.Grows && Used.PerStep >= 32 && !fallsBack(HeapUsed);
    // A block that is kept for the next step is not growth.
    auto IsGrowth = [&](const Trend &Of) {
      return Of.Grows && Of.PerStep * static_cast<double>(S.Steps) >
                             static_cast<double>(last(ProcessRss)) / 20;
    };
    if (IsGrowth(Kept)) {
      add("heap-kept", Kept.PerStep,
          "tensors: constant; the heap that glibc keeps grows by " +
              inWords(Kept.PerStep) + " bytes a step" +
              (Vary ? " with varying input sizes" : "") +
              (InUse ? ", and what is in use there by " + inWords(Used.PerStep)
                     : std::string()),
          "the memory is free, but not given back: set "
          "MALLOC_TRIM_THRESHOLD_=131072 or ONEDNN_PRIMITIVE_CACHE_CAPACITY=1"
          ", or pad inputs to a few sizes");
      return;
    }
    if (InUse)
      add("heap", Used.PerStep,
          "tensors and graph nodes: constant; the rest of the heap grows by " +
              inWords(Used.PerStep) + " bytes a step" +
              (Vary ? " with varying input sizes" : ""),
          Vary && !std::getenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY")
              ? "LibTorch keeps a plan for each size: set "
                "ONEDNN_PRIMITIVE_CACHE_CAPACITY=1 or pad inputs to a few "
                "sizes. Or containers and strings: heaptrack shows whose "
                "objects they are"
              : "containers, strings or another library: heaptrack shows "
                "whose objects they are");
    if (Said.empty() && IsGrowth(Rss))
      add("process", Rss.PerStep,
          "tensors and the heap: constant; the process grows by " +
              inWords(Rss.PerStep) + " bytes a step",
          "memory that is not on the heap: mapped files, thread stacks, or a "
          "library with an allocator of its own");
  }

  void nothing() {
    std::string Figures;
    T.forEachDevice([&](uint32_t I, DeviceFigures &) {
      int64_t Peak = 0;
      for (const Point &P : S.Points)
        Peak = std::max(Peak, P.Values[metricOf(I, TensorPeak)]);
      Figures += (Figures.empty() ? "tensors" : "; tensors") +
                 (I == 0 ? std::string() : " on " + deviceName(T, I)) +
                 " hold " + inWords(last(metricOf(I, TensorBytes))) +
                 " bytes after a step, and at most " + inWords(Peak) +
                 " within one";
    });
    if (T.Failed.load()) {
      add("step-too-large", 0,
          "nothing grows, and an allocation of " +
              inWords(T.FailedSize.load()) +
              " bytes failed while tensors held " +
              inWords(T.FailedLive.load()) + ": the step is too large",
          "a smaller batch, shorter sequences or smaller images; " + Figures);
      return;
    }
    add("nothing", 0, "nothing grows: " + Figures,
        "if memory runs out, the step is too large");
  }

  void threadPerCall() {
    Trend Seen = trendOf(S, ThreadsSeen, 3);
    if (Seen.Grows && Seen.PerStep >= 0.5)
      add("thread-per-call", Seen.PerStep,
          count(Seen.PerStep, " new thread makes", " new threads make") +
              " tensors in each step",
          "each starts without the guards of its parent, with caches and a "
          "heap arena of its own: use a pool");
  }

  const Series &S;
  Tracker &T;
  std::vector<Verdict> Said;
};

} // namespace libtorch_tidy::detail

#endif // LIBTORCH_TIDY_WATCH_VERDICT_H
