// Three ways to run out of memory, and one handler for all of them.
#include "Budget.h"
#include <torch/script.h>
#ifdef FIXED

// The words of devices' allocators, of the CPU's, and of this program's.
static bool outOfMemory(const std::exception &e) {
  for (const char *words :
       {"out of memory", "can't allocate memory", "over the budget"})
    if (std::strstr(e.what(), words))
      return true;
  return false;
}
#endif

static std::vector<float> results;

// Runs `work` on all rows, or on half of them where memory does not suffice.
template <typename Work> static void halveOnOom(Work work, int64_t rows) {
  try {
    results.push_back(work(rows));
    std::puts("done");
#ifndef FIXED
  } catch (const c10::OutOfMemoryError &e) {
#else
  } catch (const std::exception &e) {
    if (!outOfMemory(e))
      throw;
#endif
    results.push_back(work(rows / 2));
    std::puts("recovered");
  }
}

static torch::jit::Module script("script");
static float scripted(int64_t rows) {
  torch::Tensor x = torch::full({rows, 1 << 18}, 3.0);
  return script.forward({x}).toTensor().item<float>();
}
// The handler inlined, where the check sees what the try block runs.
static void scriptOrHalf(int64_t rows) {
  try {
    results.push_back(scripted(rows));
    std::puts("done");
#ifndef FIXED
  } catch (const c10::OutOfMemoryError &e) {
#else
  } catch (const std::exception &e) {
    if (!outOfMemory(e))
      throw;
#endif
    results.push_back(scripted(rows / 2));
    std::puts("recovered");
  }
}

template <typename F> static void report(const char *what, F run) {
  std::printf("%s: ", what);
  try {
    run();
  } catch (const c10::OutOfMemoryError &) {
    std::puts("c10::OutOfMemoryError passes");
  } catch (const c10::Error &) {
    std::puts("c10::Error passes");
  } catch (const std::runtime_error &e) {
    bool told = std::strstr(e.what(), "over the budget") != nullptr;
    std::printf("std::runtime_error passes, %s\n",
                told ? "and mentions memory" : "without a reason");
  }
}

int main() {
  // The library's own allocator, asked for more than there can be.
  report("CPU", [] {
    try {
      torch::empty({1LL << 50});
#ifndef FIXED
    } catch (const c10::OutOfMemoryError &e) {
#else
    } catch (const std::exception &e) {
      if (!outOfMemory(e))
        throw;
#endif
      std::puts("recovered");
    }
  });
  proof::beginWithBudget();
  torch::NoGradGuard guard;
  script.define("def forward(self, x):\n"
                "  y = x * 2\n"
                "  return (y + x * 3).sum()\n");
  proof::Limit limit(20);
  report("eager", [] {
    halveOnOom(
        [](int64_t rows) {
          torch::Tensor x = torch::full({rows, 1 << 18}, 3.0);
          return (x * 2 + x * 3).sum().item<float>();
        },
        8);
  });
  report("TorchScript", [] { scriptOrHalf(8); });
  results.resize(1);
  proof::printBits("eager", results);
}
