// Advice only: silent unless level 2 is asked for.
// RUN: %check_libtorch_tidy %s libtorch-factory-then-to %t --level=1

#include <torch/torch.h>

auto moved(torch::Device device) { return torch::zeros({2, 3}).to(device); }
