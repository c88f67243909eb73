// One worker or none, shared data, and generators that do not repeat.
// RUN: %check_libtorch_tidy %s libtorch-dataset-worker-copy %t

#include <random>
#include <torch/torch.h>

using torch::Tensor;
namespace data = torch::data;
using Example = data::Example<>;

template <typename Self> struct Sized : data::datasets::Dataset<Self> {
  torch::optional<size_t> size() const override { return 100; }
};
struct Crops : Sized<Crops> {
  Example get(size_t index) override {
    return {torch::tensor(rows[index]) * static_cast<int>(rng()), Tensor()};
  }
  std::vector<std::vector<float>> rows;
  std::mt19937 rng{42};
};

void fewWorkers(size_t given, data::DataLoaderOptions configured) {
  auto none = data::make_data_loader(Crops(), 64);
  auto defaults = data::make_data_loader(Crops());
  auto zero = data::make_data_loader(
      Crops(), data::DataLoaderOptions().batch_size(8).workers(0));
  auto one =
      data::make_data_loader(Crops(), data::DataLoaderOptions().workers(1));
  auto unknown = data::make_data_loader(
      Crops(), data::DataLoaderOptions().workers(given));
  auto elsewhere = data::make_data_loader(Crops(), configured);
  // One dataset for all workers.
  auto shared = data::make_data_loader(
      data::datasets::make_shared_dataset<Crops>(),
      data::DataLoaderOptions().workers(4));
}

struct Image { // cv::Mat is such a handle
  std::shared_ptr<std::vector<float>> pixels;
};
struct Box {
  float x, y;
};
// Handles, small things, and what workers do not touch.
struct Shared : Sized<Shared> {
  Shared(std::vector<std::vector<float>> given, std::mt19937 &rng)
      : onlyInConstructor(std::move(given)), reference(rng) {
    std::shuffle(paths.begin(), paths.end(), shuffler);
  }
  Example get(size_t index) override {
    auto local = std::mt19937(seed + index);
    std::lock_guard<std::mutex> lock(*mutex);
    double sum = (*rows)[index][0] + mean[0] + reference() +
                 pictures[index].pixels->size() + (*boxes)[index].x +
                 (*constant).size() + generator->current_seed();
    return {images[index] + tensors[index] + byName.at(names[index]) + sum,
            torch::tensor(labels[index] + static_cast<int>(local()) +
                          static_cast<int>(paths[index].size()))};
  }
  Tensor images;
  std::vector<Tensor> tensors;
  std::map<std::string, Tensor> byName;
  std::shared_ptr<std::vector<std::vector<float>>> rows;
  std::shared_ptr<const std::vector<std::string>> constant;
  std::vector<std::vector<float>> onlyInConstructor;
  std::vector<Image> pictures;
  const std::vector<Box> *boxes = nullptr;
  std::vector<std::string> paths, names;
  std::vector<std::pair<std::string, int>> labelled_files;
  std::vector<int64_t> labels;
  std::vector<double> mean{0.5, 0.5, 0.5};
  std::shared_ptr<std::mutex> mutex;
  std::mt19937 shuffler;
  std::mt19937 &reference;
  torch::optional<torch::Generator> generator;
  unsigned seed = 0;
};

// Seeded where it is used.
struct Seeded : Sized<Seeded> {
  Example get(size_t index) override {
    rng.seed(index);
    other = std::mt19937(index);
    return {torch::tensor(static_cast<int>(rng() + other())), Tensor()};
  }
  std::mt19937 rng, other;
};
// It knows that it is copied.
struct Reseeds : Sized<Reseeds> {
  Reseeds() = default;
  Reseeds(const Reseeds &other) : rng(other.rng) { rng.discard(1000); }
  Example get(size_t) override {
    return {torch::tensor(static_cast<int>(rng())), Tensor()};
  }
  std::mt19937 rng;
};
struct Engine {
  Engine() = default;
  Engine(const Engine &) : engine(std::random_device()()) {}
  std::mt19937 engine;
};
struct Wrapped : Sized<Wrapped> {
  Example get(size_t) override {
    return {torch::tensor(static_cast<int>(random.engine())), Tensor()};
  }
  Engine random;
};
// What it does with it is not seen.
struct Hidden : Sized<Hidden> {
  Example get(size_t index) override;
  std::mt19937 rng;
  std::vector<std::vector<float>> rows;
};
// One for each thread.
struct PerThread : Sized<PerThread> {
  Example get(size_t) override {
    return {torch::tensor(static_cast<int>(rng())), Tensor()};
  }
  static thread_local std::mt19937 rng;
};

// Stateful datasets are shared by the workers.
struct Stream : data::datasets::StatefulDataset<Stream> {
  torch::optional<std::vector<Example>> get_batch(size_t) override {
    return std::vector<Example>{
        {torch::tensor(rows[rng() % rows.size()]), Tensor()}};
  }
  torch::optional<size_t> size() const override { return {}; }
  void reset() override {}
  void save(torch::serialize::OutputArchive &) const override {}
  void load(torch::serialize::InputArchive &) override {}
  std::vector<std::vector<float>> rows;
  std::mt19937 rng;
};

void loaders(std::mt19937 &rng) {
  auto options = data::DataLoaderOptions().batch_size(4).workers(4);
  auto shared = data::make_data_loader(Shared({}, rng), options);
  auto seeded = data::make_data_loader(Seeded(), options);
  auto reseeds = data::make_data_loader(Reseeds(), options);
  auto wrapped = data::make_data_loader(Wrapped(), options);
  auto hidden = data::make_data_loader(Hidden(), options);
  auto perThread = data::make_data_loader(PerThread(), options);
  auto stream = data::make_data_loader(Stream(), options);
  auto mnist = data::make_data_loader(
      data::datasets::MNIST("data").map(data::transforms::Stack<>()), options);
  // Set again.
  auto changed = data::DataLoaderOptions().workers(4);
  changed.workers(0);
  auto crops = data::make_data_loader(Crops(), changed);
}
