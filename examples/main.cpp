// Watches over a machine: learns to tell faults from vibrations, to tag
// recordings and to cool in time. All data is made up, and small.

#include "tasks.h"

#include <iostream>
#include <numeric>

static double mean(const std::vector<double> &values) {
  return std::accumulate(values.begin(), values.end(), 0.0) /
         static_cast<double>(values.size());
}

int main() {
  torch::manual_seed(1);
  Vibrations training(512), validation(256);

  std::cout << "windows\n";
  WindowNet net(kClasses);
  torch::optim::Adam optimizer(net->parameters(), 1e-2);
  for (int epoch = 0; epoch < 3; ++epoch) {
    auto [loss, accuracy] = train_windows(net, training, optimizer);
    std::cout << "  loss " << loss << ", accuracy " << accuracy << "\n";
  }
  std::cout << "  loss "
            << train_windows_in_large_steps(net, training, optimizer) << "\n";
  auto score_of_net = validate(net, validation);
  auto guarded = validate_guarded(net, validation);
  std::cout << "  accuracy " << score_of_net.accuracy << ", guarded "
            << guarded.accuracy << "\n"
            << "  feature norm " << mean(feature_norms(net, validation)) << ", "
            << net->describe() << "\n"
            << "  most salient sample "
            << saliency(net, validation.windows().slice(0, 0, 1))
                   .argmax()
                   .item<int64_t>()
            << "\n";

  std::cout << "recordings\n";
  auto recordings = make_recordings(8, 30);
  Tagger tagger(16);
  std::cout << "  loss " << train_tagger(tagger, recordings, 20).back() << "\n"
            << "  hot "
            << smoothed_tags(tagger, recordings).mean().item<float>() << "\n";
  SplitTagger split_tagger(16);
  std::cout << "  split loss " << train_split_tagger(split_tagger, recordings)
            << "\n";

  std::cout << "service\n";
  auto bytes = export_scorer();
  std::cout << "  score " << mean(score(bytes, validation.windows()))
            << ", guarded " << mean(score_guarded(bytes, validation.windows()))
            << "\n";

  std::cout << "policy\n";
  Policy policy;
  auto [reward, value] = explore(policy, 3);
  std::cout << "  exploring: reward " << reward << ", expected " << value
            << "\n";
  std::cout << "  learning: reward " << reinforce(policy, 10) << "\n";

  std::cout << "memory\n";
  auto embedded = embed(net, validation.windows());
  auto embedded_in_halves = embed_in_halves(net, validation.windows());
  std::cout << "  embedded " << embedded.size(0) << " and "
            << embedded_in_halves.size(0) << " windows\n";
}
