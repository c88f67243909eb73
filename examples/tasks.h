// What the program does with the networks, one function for each step.

#ifndef MACHINE_HEALTH_TASKS_H
#define MACHINE_HEALTH_TASKS_H

#include "dataset.h"
#include "model.h"

#include <torch/script.h>
#include <torch/torch.h>

#include <string>
#include <utility>
#include <vector>

// Where libtorch-tidy is installed, `LIBTORCH_TIDY_WATCH=watch.json
// ./machine_health` says who holds its memory, and `libtorch-tidy
// watch join watch.json` which findings that confirms.
#if __has_include(<libtorch-tidy/watch.h>)
#include <libtorch-tidy/watch.h>
inline libtorch_tidy::Watch watch;
#else
struct NoWatch {
  void step(const char *) {}
};
inline NoWatch watch;
#endif

/// Means over a pass through the data.
struct Score {
  double loss;
  double accuracy;
};

/// trainer.cpp: training, one call for each epoch.
Score train_windows(WindowNet &net, Vibrations data,
                    torch::optim::Optimizer &optimizer);
double train_windows_in_large_steps(WindowNet &net, Vibrations data,
                                    torch::optim::Optimizer &optimizer);
std::vector<double> train_tagger(Tagger &tagger, const Recordings &recordings,
                                 int steps);
double train_split_tagger(SplitTagger &tagger, const Recordings &recordings);

/// validate.cpp: how good a network is.
Score validate(WindowNet &net, Vibrations data);
Score validate_guarded(WindowNet &net, Vibrations data);
std::vector<double> feature_norms(WindowNet &net, Vibrations data);
torch::Tensor smoothed_tags(Tagger &tagger, const Recordings &recordings);

/// infer.cpp: a TorchScript module, as a service would load it.
std::string export_scorer();
std::vector<double> score(const std::string &bytes,
                          const torch::Tensor &windows);
std::vector<double> score_guarded(const std::string &bytes,
                                  const torch::Tensor &windows);
torch::Tensor saliency(WindowNet &net, const torch::Tensor &window);

/// rollout.cpp: episodes of a policy that keeps the machine cool; the mean
/// reward of one and, when exploring, what the policy expected.
std::pair<double, double> explore(Policy &policy, int episodes);
double reinforce(Policy &policy, int episodes);

/// oom.cpp: features of more windows than memory may hold at once.
torch::Tensor embed(WindowNet &net, const torch::Tensor &windows);
torch::Tensor embed_in_halves(WindowNet &net, const torch::Tensor &windows);

#endif // MACHINE_HEALTH_TASKS_H
