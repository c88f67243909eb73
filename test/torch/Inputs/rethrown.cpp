// Prints the type of what is thrown where memory runs out behind LibTorch's interface of C.

#include <cstdio>
#include <stdexcept>
#include <torch/csrc/inductor/aoti_runner/model_container_runner_cpu.h>
#include <torch/torch.h>
#include <torch/version.h>
#if TORCH_VERSION_MINOR >= 14
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>
#endif

template <typename F> static void report(const char *what, F run) {
  std::printf("%s, 2.%d: ", what, TORCH_VERSION_MINOR);
  try {
    run();
    std::puts("nothing");
  } catch (const c10::OutOfMemoryError &) {
    std::puts("c10::OutOfMemoryError");
  } catch (const c10::Error &) {
    std::puts("c10::Error");
  } catch (const std::runtime_error &e) {
    const bool told = std::string(e.what()).find("can't allocate memory") != std::string::npos;
    std::printf("std::runtime_error, %s the reason\n", told ? "with" : "without");
  }
}

int main(int, char **argv) {
  const int64_t size = int64_t(1) << 50;
  report("ATen", [&] { (void)torch::empty({size}); });
  torch::inductor::AOTIModelContainerRunnerCpu runner(argv[1]);
  report("a compiled model", [&] { (void)runner.run({torch::ones(2)}); });
#if TORCH_VERSION_MINOR >= 14
  torch::stable::Tensor small = torch::stable::empty({4});
  report("torch::stable", [&] { (void)torch::stable::pad(small, {size, 0}); });
#else
  std::puts("no torch::stable");
#endif
}
