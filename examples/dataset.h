// Simulated vibration sensors of a machine.

#ifndef MACHINE_HEALTH_DATASET_H
#define MACHINE_HEALTH_DATASET_H

#include <torch/torch.h>

constexpr int64_t kClasses = 3;
constexpr int64_t kWindow = 64;
constexpr int64_t kBatch = 32; ///< Windows in a batch.

/// Windows of kWindow samples, shaped [1, kWindow], each with the class of
/// fault that made it.
class Vibrations : public torch::data::datasets::Dataset<Vibrations> {
public:
  explicit Vibrations(int64_t count) {
    labels_ = torch::randint(kClasses, {count}, torch::kLong);
    auto time = torch::linspace(0, 6.28, kWindow).unsqueeze(0);
    auto speed = (labels_.to(torch::kFloat) + 1).unsqueeze(1);
    windows_ =
        torch::sin(speed * time * 4) + 0.1 * torch::randn({count, kWindow});
    windows_ = windows_.unsqueeze(1);
  }

  torch::data::Example<> get(size_t index) override {
    auto i = static_cast<int64_t>(index);
    return {windows_[i], labels_[i]};
  }

  torch::optional<size_t> size() const override {
    return static_cast<size_t>(labels_.size(0));
  }

  /// All windows at once, [count, 1, kWindow].
  const torch::Tensor &windows() const { return windows_; }

private:
  torch::Tensor windows_;
  torch::Tensor labels_;
};

/// Recordings of different lengths, padded with zeros to the longest.
struct Recordings {
  torch::Tensor padded;  ///< [batch, longest, 1]
  torch::Tensor lengths; ///< [batch], longest first, on the CPU
  torch::Tensor tags;    ///< [batch, longest], 1 where the machine runs hot
};

inline Recordings make_recordings(int64_t count, int64_t longest) {
  Recordings recordings;
  recordings.lengths =
      torch::linspace(longest, longest / 2, count).to(torch::kLong);
  recordings.padded = torch::randn({count, longest, 1});
  auto position = torch::arange(longest).unsqueeze(0);
  auto inside = position.lt(recordings.lengths.unsqueeze(1));
  recordings.padded *= inside.unsqueeze(2);
  recordings.tags = recordings.padded.squeeze(2).gt(0).to(torch::kFloat);
  return recordings;
}

#endif // MACHINE_HEALTH_DATASET_H
