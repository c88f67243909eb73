// What does not compile can lack a type: the initializer of 'named'.
// REQUIRES: driver
// RUN: sh %S/../driver/Inputs/exits.sh 3 %libtorch-tidy --no-cache --config={} --level=2 %s -- %torch_flags_library > %t 2>&1
// RUN: grep "no-type.cpp:11:3: error: use of undeclared identifier 'missing'" %t && %not grep crashed %t

#include <torch/torch.h>

torch::Tensor parameter() { return torch::zeros({256}, torch::requires_grad()); }

void momentum() {
  missing::Options options(0.1);
  torch::optim::SGD named({parameter()}, options);
  for (int i = 0; i < 100; ++i) {
    named.param_groups()[0].params()[0] = parameter();
    named.step();
  }
}
