#ifndef FIXED
// Four workers, each with a dataset of 10 MB and a generator.
#else
// Four workers that share 10 MB, and a generator for each example.
#endif
#include "Memory.h"
#include <condition_variable>
#include <mutex>
#include <random>
#include <set>

constexpr int Workers = 4, Examples = 16;

// Lets the workers draw in turns: none is faster than the others.
class Rounds {
public:
  void wait() {
    std::unique_lock<std::mutex> lock(mutex);
    int64_t round = arrived++ / Workers;
    if (arrived % Workers == 0)
      next.notify_all();
    next.wait(lock, [&] { return arrived / Workers > round; });
  }

private:
  std::mutex mutex;
  std::condition_variable next;
  int64_t arrived = 0;
};
static Rounds rounds;
static std::mutex drawnMutex;
static std::set<uint32_t> drawn;

static std::vector<std::vector<float>> makeRows() {
  return {10, std::vector<float>((1 << 20) / 4, 3.0F)};
}

struct Noisy : torch::data::datasets::Dataset<Noisy> {
  torch::data::Example<> get(size_t index) override {
#ifdef FIXED
    std::mt19937 engine(42 + index);
#endif
    uint32_t number = engine();
    rounds.wait();
    std::lock_guard<std::mutex> lock(drawnMutex);
    drawn.insert(number);
#ifndef FIXED
    return {torch::tensor(rows[index % 10][index]), torch::Tensor()};
#else
    return {torch::tensor((*rows)[index % 10][index]), torch::Tensor()};
#endif
  }
  torch::optional<size_t> size() const override { return Examples; }

#ifndef FIXED
  std::vector<std::vector<float>> rows = makeRows();
  std::mt19937 engine{42};
#else
  std::shared_ptr<const std::vector<std::vector<float>>> rows =
      std::make_shared<std::vector<std::vector<float>>>(makeRows());
#endif
};

int main() {
  proof::begin();
  std::vector<float> results;
  int64_t before = proof::counters().HeapLive;
  auto loader =
      torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
          Noisy(), torch::data::DataLoaderOptions().workers(Workers));
  std::printf("data of four workers: %lld MB of heap\n",
              static_cast<long long>(
                  (proof::counters().HeapLive - before + (1 << 19)) >> 20));
  for (const auto &batch : *loader)
    results.push_back(batch[0].data.item<float>());
  std::printf("numbers drawn by four workers: %zu different ones in %d draws\n",
              drawn.size(), Examples);
  proof::printBits("examples", results);
}
