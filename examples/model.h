// The networks: one classifies windows, one tags recordings, one acts.

#ifndef MACHINE_HEALTH_MODEL_H
#define MACHINE_HEALTH_MODEL_H

#include <torch/torch.h>

#include <string>
#include <utility>

/// Classifies windows [batch, 1, kWindow] by fault.
struct WindowNetImpl : torch::nn::Module {
  explicit WindowNetImpl(int64_t classes);

  /// One feature vector per window, [batch, 16].
  torch::Tensor features(const torch::Tensor &windows);
  torch::Tensor forward(const torch::Tensor &windows);

  /// What the last forward saw, in a few words.
  std::string describe() const;

private:
  torch::nn::Conv1d narrow_{nullptr}, wide_{nullptr};
  torch::nn::Linear head_{nullptr};
  torch::Tensor last_features_;
  /// Weights of the samples of a window, made once for each length.
  torch::Tensor taper_;
};
TORCH_MODULE(WindowNet);

/// Says for each sample of a padded recording whether the machine runs hot.
struct TaggerImpl : torch::nn::Module {
  explicit TaggerImpl(int64_t hidden);

  torch::Tensor forward(const torch::Tensor &padded,
                        const torch::Tensor &lengths);

  torch::nn::LSTM lstm{nullptr};
  torch::nn::Linear head{nullptr};
};
TORCH_MODULE(Tagger);

/// The tagger for batches that are split among devices and put together
/// again: every part is padded to the length of the whole batch.
struct SplitTaggerImpl : TaggerImpl {
  using TaggerImpl::TaggerImpl;

  torch::Tensor forward(const torch::Tensor &padded,
                        const torch::Tensor &lengths);
};
TORCH_MODULE(SplitTagger);

/// Chooses whether to cool the machine, and estimates how that ends.
struct PolicyImpl : torch::nn::Module {
  PolicyImpl();

  /// The log-probabilities of the actions and the value of the state.
  std::pair<torch::Tensor, torch::Tensor> forward(const torch::Tensor &state);

  torch::nn::Linear body{nullptr}, actor{nullptr}, critic{nullptr};
};
TORCH_MODULE(Policy);

#endif // MACHINE_HEALTH_MODEL_H
