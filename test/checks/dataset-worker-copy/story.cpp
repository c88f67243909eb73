// Where a worker uses its copy, and what made it; in a template, of a macro,
// with NOLINT.
// RUN: %check_libtorch_tidy %s libtorch-dataset-worker-copy %t --level=1

#include <random>
#include <torch/torch.h>

namespace data = torch::data;

#define GENERATOR(name) std::mt19937 name
template <typename T>
struct Random : data::datasets::Dataset<Random<T>, data::TensorExample> {
  data::TensorExample get(size_t) override {
    return torch::tensor(static_cast<int>(rng() + quiet() + macro()));
  }
  torch::optional<size_t> size() const override { return 16; }
  std::mt19937 rng{42};
  // CHECK-NOTES: :[[@LINE-1]]:16: warning: repeated random numbers: each of the 4 workers of the data loader has a copy of 'rng' and draws the same random numbers; seed a generator from the index where it is used [libtorch-dataset-worker-copy]
  // CHECK-NOTES: :[[@LINE-5]]:43: note: a worker uses its copy of 'rng' here
  // CHECK-NOTES: :[[@LINE+12]]:10: note: this loader copies 'Random' for each worker
  // CHECK-NOTES: :[[@LINE+13]]:59: note: the number of workers is set here
  std::mt19937 quiet; // NOLINT(libtorch-dataset-worker-copy)
  GENERATOR(macro);
  // CHECK-NOTES: :[[@LINE-1]]:13: warning: repeated random numbers: each of the 4 workers of the data loader has a copy of 'macro' and draws the same random numbers; seed a generator from the index where it is used [libtorch-dataset-worker-copy]
  // CHECK-NOTES: :[[@LINE-11]]:61: note: a worker uses its copy of 'macro' here
  // CHECK-NOTES: :[[@LINE+6]]:10: note: this loader copies 'Random' for each worker
  // CHECK-NOTES: :[[@LINE+7]]:59: note: the number of workers is set here
  std::vector<std::string> notes;
};

template <typename Dataset> auto load(Dataset dataset, size_t batch) {
  return data::make_data_loader(
      std::move(dataset),
      data::DataLoaderOptions().batch_size(batch).workers(4));
}
void loaders() {
  load(Random<int>(), 4);
  load(Random<float>(), 4);
}

struct Config {
  size_t workers = 4, none = 0;
};
struct Shifted : data::datasets::Dataset<Shifted> {
  data::Example<> get(size_t) override {
    return {torch::full({1}, static_cast<int64_t>(rng())), torch::ones({1})};
  }
  torch::optional<size_t> size() const override { return 16; }
  std::mt19937 rng{42};
  // CHECK-NOTES: :[[@LINE-1]]:16: warning: repeated random numbers: each worker of the data loader has a copy of 'rng' and draws the same random numbers; seed a generator from the index where it is used [libtorch-dataset-worker-copy]
  // CHECK-NOTES: :[[@LINE-5]]:51: note: a worker uses its copy of 'rng' here
  // CHECK-NOTES: :[[@LINE+11]]:17: note: this loader copies 'Shifted' for each worker
  // CHECK-NOTES: :[[@LINE+11]]:73: note: the number of workers is set here
};
struct Alone : data::datasets::Dataset<Alone> {
  data::Example<> get(size_t) override {
    return {torch::full({1}, static_cast<int64_t>(rng())), torch::ones({1})};
  }
  torch::optional<size_t> size() const override { return 16; }
  std::mt19937 rng{42};
};
void configured(const Config &config) {
  auto loader = data::make_data_loader(
      Shifted(), data::DataLoaderOptions().batch_size(4).workers(config.workers));
  auto alone = data::make_data_loader(
      Alone(), data::DataLoaderOptions().batch_size(4).workers(config.none));
}
