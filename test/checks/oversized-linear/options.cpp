// The threshold: weight, gradient and Adam's state together.
// RUN: %check_libtorch_tidy %s libtorch-oversized-linear %t
// RUN: %check_libtorch_tidy %s libtorch-oversized-linear %t --check-suffix=LOW \
// RUN:   -- -config='{CheckOptions: {Level: 2, libtorch-oversized-linear.TrainingBytes: 16000000}}'
// RUN: %check_libtorch_tidy %s libtorch-oversized-linear %t --expect-none --level=1

#include <torch/torch.h>

torch::nn::Linear under(4096, 4095);
// CHECK-MESSAGES-LOW: :[[@LINE-1]]:19: warning: large layer: Linear(4096, 4095) takes 64.0 MB for its weight, 128.0 MB with the gradient and 255.9 MB with Adam's state (float32) [libtorch-oversized-linear]
torch::nn::Linear exact(4096, 4096);
// CHECK-MESSAGES: :[[@LINE-1]]:19: warning: large layer: Linear(4096, 4096) takes 64.0 MB for its weight, 128.0 MB with the gradient and 256.0 MB with Adam's state (float32) [libtorch-oversized-linear]
// CHECK-MESSAGES-LOW: :[[@LINE-2]]:19: warning: large layer: Linear(4096, 4096) takes 64.0 MB for its weight, 128.0 MB with the gradient and 256.0 MB with Adam's state (float32) [libtorch-oversized-linear]
torch::nn::Linear small(1000, 1000);
// CHECK-MESSAGES-LOW: :[[@LINE-1]]:19: warning: large layer: Linear(1000, 1000) takes 3.8 MB for its weight, 7.6 MB with the gradient and 15.3 MB with Adam's state (float32) [libtorch-oversized-linear]
torch::nn::Linear smaller(999, 1000);
