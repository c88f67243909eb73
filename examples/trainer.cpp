#include "tasks.h"

namespace F = torch::nn::functional;

Score train_windows(WindowNet &net, Vibrations data,
                    torch::optim::Optimizer &optimizer) {
  auto loader = torch::data::make_data_loader(
      data.map(torch::data::transforms::Stack<>()), kBatch);
  net->train();
  auto epoch_loss = torch::zeros({});
  auto correct = torch::zeros({}, torch::kLong);
  int64_t batches = 0;
  for (auto &batch : *loader) {
    optimizer.zero_grad();
    auto logits = net(batch.data);
    auto loss = F::cross_entropy(logits, batch.target);
    loss.backward();
    optimizer.step();

    // seeded: libtorch-accumulated-history
    epoch_loss += loss;
    // look-alike: a sum of comparisons, which have no derivative.
    correct += logits.argmax(1).eq(batch.target).sum();
    ++batches;
    watch.step("train_windows");
  }
  return {epoch_loss.item<double>() / batches,
          correct.item<double>() / data.size().value()};
}

double train_windows_in_large_steps(WindowNet &net, Vibrations data,
                                    torch::optim::Optimizer &optimizer) {
  constexpr int64_t kBatchesPerStep = 4;
  auto loader = torch::data::make_data_loader(
      data.map(torch::data::transforms::Stack<>()), kBatch / 4);
  net->train();
  optimizer.zero_grad();
  double sum = 0;
  int64_t batches = 0;
  auto pending = torch::zeros({});
  for (auto &batch : *loader) {
    auto loss = F::cross_entropy(net(batch.data), batch.target);
    // look-alike: the sum is back-propagated every few batches and begins anew.
    pending = pending + loss / kBatchesPerStep;
    sum += loss.item<double>();
    if (++batches % kBatchesPerStep == 0) {
      pending.backward();
      optimizer.step();
      optimizer.zero_grad();
      pending = torch::zeros({});
    }
    watch.step("train_windows_in_large_steps");
  }
  return sum / batches;
}

/// Keeps the weights small.
static torch::Tensor penalty(const std::vector<torch::Tensor> &parameters) {
  auto sum = torch::zeros({});
  for (const auto &parameter : parameters)
    // look-alike: a loss function; the caller back-propagates the sum.
    sum += parameter.pow(2).sum();
  return 1e-4 * sum;
}

std::vector<double> train_tagger(Tagger &tagger, const Recordings &recordings,
                                 int steps) {
  torch::optim::Adam optimizer(tagger->parameters(), 1e-2);
  tagger->train();
  std::vector<torch::Tensor> losses;
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    auto logits = tagger(recordings.padded, recordings.lengths);
    auto loss = F::binary_cross_entropy_with_logits(logits, recordings.tags) +
                penalty(tagger->parameters());
    loss.backward();
    optimizer.step();
    // seeded: libtorch-accumulated-history
    losses.push_back(loss);
    watch.step("train_tagger");
  }

  std::vector<double> history;
  for (const auto &loss : losses)
    history.push_back(loss.item<double>());
  return history;
}

double train_split_tagger(SplitTagger &tagger, const Recordings &recordings) {
  torch::optim::SGD optimizer(tagger->parameters(), 0.1);
  tagger->train();
  optimizer.zero_grad();

  // As several devices would: each takes a part of the batch.
  std::vector<torch::Tensor> logits;
  auto parts = recordings.padded.chunk(2);
  auto lengths = recordings.lengths.chunk(2);
  for (size_t i = 0; i < parts.size(); ++i)
    // look-alike: the parts are put together and back-propagated below.
    logits.push_back(tagger(parts[i], lengths[i]));

  auto loss =
      F::binary_cross_entropy_with_logits(torch::cat(logits), recordings.tags);
  loss.backward();
  optimizer.step();
  return loss.item<double>();
}
