//===- Memory.h - Has the programs of test/proof watched --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Takes the place of test/proof/Memory.h, whose guard it defines: each loop
/// that is measured there takes steps here, "loop 1", "loop 2".

#ifndef LIBTORCH_TIDY_TEST_PROOF_MEMORY_H
#define LIBTORCH_TIDY_TEST_PROOF_MEMORY_H

#include <libtorch-tidy/watch.h>
#include <torch/torch.h>

namespace proof {

inline void begin() {
  at::set_num_threads(1);
  torch::manual_seed(0);
}

class Growth {
public:
  static constexpr int First = 10, Last = 40;
  void endOf(int I) {
    static int Loops = 0;
    if (I == 0)
      Name = "loop " + std::to_string(++Loops);
    Watch.step(Name.c_str());
  }
  void print(const char *) {}

private:
  std::string Name;
  libtorch_tidy::Watch Watch;
};

class Span {
public:
  void print(const char *) {}
};

inline void printBits(const char *, const std::vector<float> &) {}

} // namespace proof

#endif // LIBTORCH_TIDY_TEST_PROOF_MEMORY_H
