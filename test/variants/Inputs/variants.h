// What every generated program of variants.py begins with. A variant writes what it
// computes; the program prints a line of it, or of what was thrown, for each variant.
#pragma once

#include <torch/torch.h>

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace variants {

/// The line of a variant: numbers to the last bit.
class Out {
public:
  void add(double Value) {
    char Text[40];
    std::snprintf(Text, sizeof(Text), " %a", Value);
    Line += Text;
  }
  void add(const char *Word) { Line = Line + " " + Word; }
  /// The shape, the type and the elements of a tensor; whether it has history is not
  /// told: that is what the fixes change.
  void add(const torch::Tensor &Value) {
    torch::NoGradGuard guard;
    if (!Value.defined()) {
      add("undefined");
      return;
    }
    Line += " [";
    for (int64_t Size : Value.sizes())
      Line += std::to_string(Size) + ",";
    Line += std::string("] ") + toString(Value.scalar_type());
    const torch::Tensor Flat = Value.to(torch::kDouble).reshape({-1}).contiguous();
    const double *Data = Flat.data_ptr<double>();
    for (int64_t Index = 0; Index < Flat.numel(); ++Index)
      add(Data[Index]);
  }
  const std::string &line() const { return Line; }

private:
  std::string Line;
};

inline void run(const char *Name, const std::function<void(Out &)> &Variant) {
  torch::manual_seed(7);
  Out Result;
  try {
    Variant(Result);
  } catch (const std::exception &) {
    Result.add("throws");
  }
  if (!torch::GradMode::is_enabled())
    Result.add("leaves gradient mode off");
  torch::GradMode::set_enabled(true);
  std::printf("%s%s\n", Name, Result.line().c_str());
  std::fflush(stdout);
}

/// How often loops go round: 4, which only a run can tell.
inline int rounds() {
  static volatile int Rounds = 4;
  return Rounds;
}
inline std::vector<int> numbers() {
  std::vector<int> Numbers;
  for (int Number = 0; Number < rounds(); ++Number)
    Numbers.push_back(Number);
  return Numbers;
}
inline torch::Tensor batch(int Number) {
  return torch::arange(12, torch::kFloat).reshape({3, 4}).sin() * (Number + 1);
}
inline torch::Tensor target(int Number) {
  return torch::full({3, 1}, 0.25 * Number, torch::kFloat);
}

} // namespace variants
