// What an included file that is not there leaves of LibTorch has no classes made of
// templates, and loops over these are not in the AST: no check takes what is left for
// all that is written.
// REQUIRES: driver
// RUN: %not %libtorch-tidy --config={} --no-cache --no-background --level=2 %s -- \
// RUN:   %torch_flags_nopch > %t.out 2> %t.err
// RUN: %FileCheck %s --input-file=%t.err --check-prefix=ERR
// ERR-NOT: {{.}}
// ERR: libtorch-tidy: error: '{{.*}}missing-header-first.cpp' could not be analysed in full because it does not compile: missing-header-first.cpp:[[#HEADER:]]: 'not_there.h' file not found{{$}}
// ERR-NOT: {{.}}
// RUN: %FileCheck %s --input-file=%t.out
// CHECK: missing-header-first.cpp:[[#@LINE+4]]:10: error: 'not_there.h' file not found [clang-diagnostic-error]
// CHECK-NOT: warning:
// CHECK-NOT: error:

#include "not_there.h"
#include <torch/torch.h>

void load(const torch::nn::Module &from, torch::nn::Module &to) {
  torch::NoGradGuard guard;
  using Dict = torch::OrderedDict<std::string, torch::Tensor>;
  Dict known = to.named_parameters();
  const Dict read = from.named_parameters();
  for (const auto &parameter : read)
    if (torch::Tensor *here = known.find(parameter.key()))
      here->copy_(parameter.value());
}
