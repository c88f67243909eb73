// What every worker has a copy of.
// RUN: %check_libtorch_tidy %s libtorch-dataset-worker-copy %t

#include <random>
#include <thread>
#include <torch/torch.h>

using torch::Tensor;
namespace data = torch::data;
using Example = data::Example<>;

// A generator, drawn from by get() itself or by what it calls.
struct Crops : data::datasets::Dataset<Crops> {
  Example get(size_t index) override {
    return {images[index], images[index].slice(0, offset())};
  }
  torch::optional<size_t> size() const override { return 100; }
  int64_t offset() { return std::uniform_int_distribution<int>(0, 8)(rng); }
  Tensor images;
  std::mt19937 rng{42};
  // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: repeated random numbers: each of the 4 workers of the data loader has a copy of 'rng' and draws the same random numbers; seed a generator from the index where it is used [libtorch-dataset-worker-copy]
};

struct Augment {
  float scale() { return std::normal_distribution<float>()(engine); }
  std::default_random_engine engine;
};
class Scaled : public data::Dataset<Scaled> {
public:
  Example get(size_t index) override;
  torch::optional<size_t> size() const override { return 100; }

private:
  Tensor images;
  Augment augment;
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: repeated random numbers: each of the 2 workers of the data loader has a copy of 'augment' and draws the same random numbers; seed a generator from the index where it is used [libtorch-dataset-worker-copy]
};
Example Scaled::get(size_t index) {
  return {images[index] * augment.scale(), images[index]};
}

// Rows in containers of the standard library.
struct Rows : data::datasets::Dataset<Rows> {
  struct Sample {
    std::vector<float> values;
    int64_t label;
  };
  Example get(size_t index) override {
    Tensor x = torch::tensor(rows[index]);
    x += flat[index * 784];
    x += torch::tensor(samples.at(index).values);
    x += torch::from_blob(bytes.data() + index * 784, {784}, torch::kByte);
    x += torch::tensor(std::vector<float>(flatter.begin() + index * 28,
                                          flatter.begin() + index * 28 + 28));
    return {x + table[index], Tensor()};
  }
  torch::optional<size_t> size() const override { return rows.size(); }
  std::vector<std::vector<float>> rows;
  // CHECK-MESSAGES: :[[@LINE-1]]:35: warning: duplicated memory: each of the 8 workers of the data loader has a copy of 'rows'; a tensor or a std::shared_ptr to the data is shared [libtorch-dataset-worker-copy]
  std::vector<double> flat;
  // CHECK-MESSAGES: :[[@LINE-1]]:23: warning: duplicated memory: each of the 8 workers of the data loader has a copy of 'flat'; a tensor or a std::shared_ptr to the data is shared [libtorch-dataset-worker-copy]
  std::deque<Sample> samples;
  // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: duplicated memory: each of the 8 workers of the data loader has a copy of 'samples'; a tensor or a std::shared_ptr to the data is shared [libtorch-dataset-worker-copy]
  std::vector<uint8_t> bytes;
  // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: duplicated memory: each of the 8 workers of the data loader has a copy of 'bytes'; a tensor or a std::shared_ptr to the data is shared [libtorch-dataset-worker-copy]
  std::vector<float> flatter;
  // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: duplicated memory: each of the 8 workers of the data loader has a copy of 'flatter'; a tensor or a std::shared_ptr to the data is shared [libtorch-dataset-worker-copy]
  double table[1 << 20];
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: duplicated memory: each of the 8 workers of the data loader has a copy of 'table'; a tensor or a std::shared_ptr to the data is shared [libtorch-dataset-worker-copy]
};

// A row for each example of a batch, by a function of its own.
struct Batches : data::datasets::BatchDataset<Batches, std::vector<Example>> {
  std::vector<Example> get_batch(c10::ArrayRef<size_t> indices) override {
    std::vector<Example> batch;
    for (size_t i : indices)
      batch.push_back({torch::tensor(rows[i]), row(i)});
    return batch;
  }
  Tensor row(int64_t i) const { return torch::tensor(cells[i * columns]); }
  torch::optional<size_t> size() const override { return 10; }
  std::vector<std::vector<int>> rows;
  // CHECK-MESSAGES: :[[@LINE-1]]:33: warning: duplicated memory: each of the 2 workers of the data loader has a copy of 'rows'; a tensor or a std::shared_ptr to the data is shared [libtorch-dataset-worker-copy]
  std::vector<int64_t> cells;
  // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: duplicated memory: each of the 2 workers of the data loader has a copy of 'cells'; a tensor or a std::shared_ptr to the data is shared [libtorch-dataset-worker-copy]
  int64_t columns = 100;
};

// Few, perhaps.
struct Anchors : data::datasets::Dataset<Anchors> {
  Example get(size_t) override {
    return {torch::tensor(levels[0][1] + scales[columns * 2]), Tensor()};
  }
  torch::optional<size_t> size() const override { return 10; }
  std::vector<std::vector<int>> levels;
  // CHECK-MESSAGES: :[[@LINE-1]]:33: warning: duplicated memory: each of the 2 workers of the data loader has a copy of 'levels'; a tensor or a std::shared_ptr to the data is shared [libtorch-dataset-worker-copy]
  std::vector<int> scales;
  int64_t columns = 100;
};

// Strings may be many.
struct Text : data::datasets::Dataset<Text> {
  Example get(size_t index) override {
    return {torch::tensor(static_cast<int64_t>(sentences[index].size())),
            torch::tensor(vocabulary.at(sentences[index]))};
  }
  torch::optional<size_t> size() const override { return sentences.size(); }
  std::vector<std::string> sentences;
  // CHECK-MESSAGES: :[[@LINE-1]]:28: warning: duplicated memory: each of the 3 workers of the data loader has a copy of 'sentences'; a tensor or a std::shared_ptr to the data is shared [libtorch-dataset-worker-copy]
  std::map<std::string, int64_t> vocabulary;
  // CHECK-MESSAGES: :[[@LINE-1]]:34: warning: duplicated memory: each of the 3 workers of the data loader has a copy of 'vocabulary'; a tensor or a std::shared_ptr to the data is shared [libtorch-dataset-worker-copy]
};

// Batches, a base class, and a transform on top.
struct Base : data::datasets::BatchDataset<Base, std::vector<Example>> {
  std::vector<Example> get_batch(c10::ArrayRef<size_t> indices) override {
    return {{torch::tensor(cache[indices[0]]), Tensor()}};
  }
  torch::optional<size_t> size() const override { return 10; }
  std::unordered_map<int, std::vector<int>> cache;
  // CHECK-MESSAGES: :[[@LINE-1]]:45: warning: duplicated memory: each worker of the data loader has a copy of 'cache'; a tensor or a std::shared_ptr to the data is shared [libtorch-dataset-worker-copy]
};
struct Noise : data::transforms::TensorTransform<> {
  Tensor operator()(Tensor x) override { return x * unit(rng); }
  std::mt19937_64 rng;
  // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: repeated random numbers: each of the 2 workers of the data loader has a copy of 'rng' and draws the same random numbers; seed a generator from the index where it is used [libtorch-dataset-worker-copy]
  std::uniform_real_distribution<double> unit;
};
struct Plain : data::datasets::Dataset<Plain> {
  Example get(size_t index) override { return {images[index], images[index]}; }
  torch::optional<size_t> size() const override { return 100; }
  Tensor images;
};

void loaders() {
  auto crops = data::make_data_loader(
      Crops(), data::DataLoaderOptions().batch_size(8).workers(4));
  constexpr size_t kWorkers = 2;
  auto scaled = data::make_data_loader<data::samplers::SequentialSampler>(
      Scaled(), data::DataLoaderOptions(8).workers(kWorkers).drop_last(true));
  auto options = data::DataLoaderOptions(8);
  options.batch_size(4).workers(8).max_jobs(2);
  auto rows = data::make_data_loader(Rows(), options);
  int workers = 3;
  auto text = data::make_data_loader(
      Text().map(data::transforms::Stack<>()),
      data::DataLoaderOptions().workers(workers));
  auto base = data::make_data_loader(
      Base(), data::samplers::RandomSampler(10),
      data::DataLoaderOptions().workers(std::thread::hardware_concurrency()));
  auto batches = data::make_data_loader(
      Batches(), data::DataLoaderOptions().workers(2));
  auto anchors = data::make_data_loader(
      Anchors(), data::DataLoaderOptions().workers(2));
  auto noise = data::make_data_loader(
      Plain().map(Noise()).map(data::transforms::Stack<>()),
      data::DataLoaderOptions().workers(2));
}
