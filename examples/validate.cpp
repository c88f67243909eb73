#include "tasks.h"

namespace F = torch::nn::functional;

Score validate(WindowNet &net, Vibrations data) {
  auto loader = torch::data::make_data_loader(
      data.map(torch::data::transforms::Stack<>()), kBatch);
  net->eval();
  auto total = torch::zeros({});
  int64_t correct = 0, batches = 0;
  for (auto &batch : *loader) {
    // seeded: libtorch-inference-without-no-grad
    auto logits = net(batch.data);
    // seeded: libtorch-accumulated-history (level 2)
    total += F::cross_entropy(logits, batch.target);
    correct += logits.argmax(1).eq(batch.target).sum().item<int64_t>();
    ++batches;
    watch.step("validate");
  }
  return {total.item<double>() / batches,
          static_cast<double>(correct) / data.size().value()};
}

Score validate_guarded(WindowNet &net, Vibrations data) {
  torch::NoGradGuard no_grad;
  auto loader = torch::data::make_data_loader(
      data.map(torch::data::transforms::Stack<>()), kBatch);
  net->eval();
  auto total = torch::zeros({});
  int64_t correct = 0, batches = 0;
  for (auto &batch : *loader) {
    auto logits = net(batch.data);
    // look-alike: the same sum, but nothing here has a history.
    total += F::cross_entropy(logits, batch.target);
    correct += logits.argmax(1).eq(batch.target).sum().item<int64_t>();
    ++batches;
    watch.step("validate_guarded");
  }
  return {total.item<double>() / batches,
          static_cast<double>(correct) / data.size().value()};
}

std::vector<double> feature_norms(WindowNet &net, Vibrations data) {
  torch::NoGradGuard no_grad;
  net->eval();
  std::vector<double> norms;
  // seeded: libtorch-long-lived-intermediate (level 2)
  torch::Tensor features;
  for (const auto &windows : data.windows().split(kBatch)) {
    features = net->features(windows);
    norms.push_back(features.norm().item<double>());
  }
  return norms;
}

torch::Tensor smoothed_tags(Tagger &tagger, const Recordings &recordings) {
  torch::NoGradGuard no_grad;
  tagger->eval();
  // look-alike: each round reads what the round before it made.
  auto smooth = torch::zeros_like(recordings.tags);
  for (int round = 0; round < 3; ++round) {
    auto noisy =
        recordings.padded + 0.05 * torch::randn_like(recordings.padded);
    smooth = 0.5 * smooth + 0.5 * tagger(noisy, recordings.lengths).sigmoid();
  }
  return smooth;
}
