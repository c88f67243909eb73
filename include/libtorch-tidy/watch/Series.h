//===- Series.h - Figures over the steps of a run ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_WATCH_SERIES_H
#define LIBTORCH_TIDY_WATCH_SERIES_H

#include "libtorch-tidy/watch/Tracker.h"

#include <cmath>
#include <string>

namespace libtorch_tidy::detail {

/// What a step notes down. Bytes, unless said otherwise; -1: not known.
enum Metric {
  HeapUsed,    ///< In use on glibc's heap, without CPU tensors.
  HeapKept,    ///< Free on glibc's heap, not given back to the system.
  ProcessRss,  ///< In RAM, without the watch's own notes.
  GraphNodes,  ///< Nodes of autograd graphs that are alive: a number.
  ThreadsNow,  ///< Threads of the process: a number.
  ThreadsSeen, ///< Threads that have made a tensor so far: a number.
  Allocated,   ///< Tensors made so far: a number.
  OtherSizes,  ///< 1: the step made tensors of other sizes than the one before.
  KeptTensors, ///< Tensors of earlier steps that are alive: a number.
  KeptNodes,   ///< The same of graph nodes.
  FirstOfDevices,
};

/// What it notes down of each device.
enum DeviceMetric {
  TensorBytes,    ///< Of tensors that are alive.
  TensorCount,    ///< How many those are.
  TensorPeak,     ///< The most that was alive since the step before.
  TensorLargest,  ///< The largest that was made since the step before.
  CacheAllocated, ///< What the device's allocator has handed out.
  CacheReserved,  ///< What it holds, with what is free.
  DeviceMetrics,
};

constexpr int metricOf(uint32_t Device, DeviceMetric M) {
  return FirstOfDevices + static_cast<int>(Device) * DeviceMetrics + M;
}
constexpr int MetricCount =
    FirstOfDevices + static_cast<int>(Tracker::MaxDevices) * DeviceMetrics;

struct Point {
  int64_t Step = 0;   ///< Counted from 1.
  double Seconds = 0; ///< Since the watch began.
  int64_t Values[MetricCount];
};

/// What was alive of each site at a step.
struct Snapshot {
  struct Of {
    int64_t Bytes = 0, Blocks = 0, Nodes = 0;
  };
  int64_t Step = 0;
  PageVector<Of> Sites;

  void take(Tracker &T, int64_t At) {
    Step = At;
    Sites.resize(T.Made.size());
    for (uint32_t I = 0; I < Sites.size(); ++I) {
      const Site &S = T.Made[I];
      Sites[I] = {S.Bytes.load(), S.Blocks.load(), S.Nodes.load()};
    }
  }
};

/// Fewer steps than that are too few to tell.
constexpr size_t EnoughPoints = 8;

/// What goes up from step to step and comes down again, over and over: a sum
/// over an epoch that begins anew with the next one. Over the whole run it does
/// not grow; at its highest it may be what the memory is too small for. What
/// goes up because the sizes do, as in batches that are sorted by length, keeps
/// nothing from step to step, or always as many.
class Passes {
public:
  /// \p Least is what a pass has to grow by, to count.
  explicit Passes(int64_t Least) : Least(Least) {}

  /// \p Kept: how many of those whose sum is \p Value are from earlier steps.
  void add(int64_t Value, int64_t Kept, Tracker &T) {
    ++Step;
    const bool Falls = Step > 1 && Value < Before - (Before - Low) / 2;
    if (Falls && Before - Low >= Least)
      end();
    if (Falls || Step == 1 || Value <= Low) {
      Low = Value;
      Length = 1;
      Rises = 0;
    } else {
      ++Length;
      Rises += Value > Before && Kept > KeptBefore;
      // Few of these are taken: each is of all sites.
      if (Length == Enough / 2)
        Early.take(T, Step);
      else if (Length >= Enough && (Length & (Length - 1)) == 0)
        Late.take(T, Step);
    }
    Before = Value;
    KeptBefore = Kept;
  }

  int64_t Count = 0;    ///< Passes that have ended.
  int64_t Steps = 0;    ///< Of the last one.
  double PerStep = 0;   ///< What it grew by.
  Snapshot First, Last; ///< Both within it.

private:
  static constexpr auto Enough = static_cast<int64_t>(EnoughPoints);

  /// A few steps are not a pass, and neither is what goes up and down.
  void end() {
    if (Length < Enough || Rises * 4 < (Length - 1) * 3)
      return;
    ++Count;
    Steps = Length;
    PerStep =
        static_cast<double>(Before - Low) / static_cast<double>(Length - 1);
    std::swap(First, Early);
    std::swap(Last, Late);
  }

  int64_t Least;
  int64_t Step = 0;
  int64_t Low = 0, Before = 0; ///< At the first step of the pass, at the last.
  int64_t Length = 0, Rises = 0, KeptBefore = 0;
  Snapshot Early, Late;
};

/// The steps of one name. Has room for a fixed number of points: when they are
/// too many, every second one goes.
class Series {
public:
  static constexpr size_t Room = 512;

  explicit Series(const char *Name) {
    std::strncpy(Label, Name, sizeof Label - 1);
    Points.reserve(Room);
  }

  /// To be called at each step. True where it is one to note down.
  bool count(Tracker &T) {
    int64_t LiveBytes = T.liveBytes(), LiveNodes = T.Nodes.load();
    OldTensors = T.Tensors.keptOf(T.liveTensors());
    OldNodes = T.NewNodes.keptOf(LiveNodes);
    Bytes.add(LiveBytes, OldTensors, T);
    Nodes.add(LiveNodes, OldNodes, T);
    ++Steps;
    if (Steps == LookUntil)
      T.lookCloser(false);
    return Steps % Stride == 0;
  }

  void add(Point P, Tracker &T) {
    P.Step = Steps;
    P.Values[KeptTensors] = OldTensors;
    if (P.Values[GraphNodes] >= 0)
      P.Values[KeptNodes] = OldNodes;
    if (Points.size() == Room) {
      for (size_t I = 0; I < Room / 2; ++I)
        Points[I] = Points[2 * I + 1];
      Points.resize(Room / 2);
      Stride *= 2;
    }
    Points.push_back(P);
    Now.take(T, Steps);
    if (Steps < NextSnapshot)
      return;
    NextSnapshot = Steps * 2;
    std::swap(Older, Newer);
    Newer.take(T, Steps);
    // What comes now is compared with this one.
    if (Steps < static_cast<int64_t>(EnoughPoints))
      return;
    LookUntil = Steps + 4;
    T.lookCloser(true);
  }

  /// What was alive at a step that lies before the last third of them.
  const Snapshot &before() const {
    return Newer.Step * 3 <= Steps * 2 ? Newer : Older;
  }

  char Label[64] = "";
  Snapshot Now; ///< Of the last step: at exit, much of it is freed.
  PageVector<Point> Points;
  int64_t Steps = 0, Stride = 1;
  Passes Bytes{1024}; ///< Of tensors, on all devices.
  Passes Nodes{5};

private:
  int64_t NextSnapshot = 1, LookUntil = 0;
  int64_t OldTensors = 0, OldNodes = 0; ///< That are alive after this step.
  Snapshot Older, Newer;
};

/// How a figure moves over the steps.
struct Trend {
  bool Known = false; ///< There were enough steps to tell.
  bool Grows = false; ///< To the end of the run, beyond what varies.
  double PerStep = 0; ///< The median slope.
  int64_t First = 0;  ///< At the end of the warm-up.
  int64_t Last = 0;   ///< At the end.
};

inline double medianOf(std::vector<double> Values) {
  if (Values.empty())
    return 0;
  auto Middle = Values.begin() + static_cast<std::ptrdiff_t>(Values.size() / 2);
  std::nth_element(Values.begin(), Middle, Values.end());
  return *Middle;
}

/// Steps that say nothing about growth: LibTorch fills its caches in them.
inline size_t warmup(size_t Points) { return std::max<size_t>(2, Points / 5); }

/// The median of the slopes between all pairs of points (Theil and Sen): up to
/// a quarter of the steps may be odd without moving it. At most 48 points are
/// looked at, from \p First on.
inline double slopeOf(const std::vector<double> &X,
                      const std::vector<double> &Y, size_t First = 0) {
  std::vector<double> Slopes;
  size_t By = (X.size() - First) / 48 + 1;
  for (size_t I = First; I < X.size(); I += By)
    for (size_t J = I + By; J < X.size(); J += By)
      Slopes.push_back((Y[J] - Y[I]) / (X[J] - X[I]));
  return medianOf(Slopes);
}

/// Whether \p Metric grows by \p Tolerance over the steps after the warm-up,
/// by \p Noise times of what it varies, and in their second half as well.
inline Trend trendOf(const Series &S, int Metric, double Tolerance,
                     double Noise = 4) {
  Trend T;
  size_t Count = S.Points.size();
  if (Count < EnoughPoints)
    return T;
  std::vector<double> X, Y;
  for (size_t I = warmup(Count); I < Count; ++I) {
    const Point &P = S.Points[I];
    if (P.Values[Metric] < 0)
      continue;
    X.push_back(static_cast<double>(P.Step));
    Y.push_back(static_cast<double>(P.Values[Metric]));
  }
  if (X.size() < EnoughPoints - warmup(EnoughPoints))
    return T;
  T.Known = true;
  T.First = static_cast<int64_t>(Y.front());
  T.Last = static_cast<int64_t>(Y.back());
  T.PerStep = slopeOf(X, Y);
  double Total = T.PerStep * (X.back() - X.front());
  if (Total < Tolerance)
    return T;
  // What is left when the slope is taken off.
  std::vector<double> Rest;
  for (size_t I = 0; I < X.size(); ++I)
    Rest.push_back(Y[I] - T.PerStep * X[I]);
  double Level = medianOf(Rest);
  for (double &Value : Rest)
    Value = std::fabs(Value - Level);
  if (Total < Noise * medianOf(Rest))
    return T;
  // What has filled up by then does not grow any more.
  T.Grows = slopeOf(X, Y, X.size() / 2) > T.PerStep / 4;
  return T;
}

} // namespace libtorch_tidy::detail

#endif // LIBTORCH_TIDY_WATCH_SERIES_H
