#include "shared.h"

int main() {
  libtorch_tidy::WatchOptions options =
      libtorch_tidy::WatchOptions::fromEnvironment();
  libtorch_tidy::Watch watch(options);
  std::vector<torch::Tensor> kept;
  std::thread worker([&kept] {
    for (int i = 0; i < 20; ++i)
      work(kept);
  });
  worker.join();
  watch.report();
}
