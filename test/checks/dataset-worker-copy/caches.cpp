// Caches that workers fill: each its own.
// RUN: %check_libtorch_tidy %s libtorch-dataset-worker-copy %t

#include <memory>
#include <mutex>
#include <torch/torch.h>
#include <unordered_map>

using torch::Tensor;
namespace data = torch::data;

Tensor decode(size_t index);

struct Filled : data::datasets::Dataset<Filled> {
  data::Example<> get(size_t index) override {
    auto found = images.find(index);
    if (found == images.end())
      found = images.emplace(index, decode(index)).first;
    labels[index] = decode(index);
    recent.push_back(decode(index));
    if (recent.size() > 8)
      recent.erase(recent.begin());
    seen.push_back(index);
    return {found->second, labels[index]};
  }
  torch::optional<size_t> size() const override { return 8; }

  std::unordered_map<size_t, Tensor> images;
  // CHECK-MESSAGES: :[[@LINE-1]]:38: warning: duplicated memory: each of the 6 workers of the data loader fills its own copy of 'images', and their memory adds up; share it through a std::shared_ptr, with a mutex [libtorch-dataset-worker-copy]
  std::map<size_t, Tensor> labels;
  // CHECK-MESSAGES: :[[@LINE-1]]:28: warning: duplicated memory: each of the 6 workers of the data loader fills its own copy of 'labels', and their memory adds up; share it through a std::shared_ptr, with a mutex [libtorch-dataset-worker-copy]
  // Elements are taken out again.
  std::vector<Tensor> recent;
  // Numbers are small.
  std::vector<size_t> seen;
};

struct Shared : data::datasets::Dataset<Shared> {
  struct State {
    std::mutex mutex;
    std::unordered_map<size_t, Tensor> images;
  };
  data::Example<> get(size_t index) override {
    std::lock_guard<std::mutex> lock(state->mutex);
    return {state->images.emplace(index, decode(index)).first->second, Tensor()};
  }
  torch::optional<size_t> size() const override { return 8; }
  std::shared_ptr<State> state = std::make_shared<State>();
};

// Filled once, before it is copied.
struct Preloaded : data::datasets::Dataset<Preloaded> {
  Preloaded() {
    for (size_t i = 0; i < 8; ++i)
      images.push_back(decode(i));
  }
  data::Example<> get(size_t index) override { return {images[index], Tensor()}; }
  torch::optional<size_t> size() const override { return images.size(); }
  std::vector<Tensor> images;
};

void loaders() {
  auto options = data::DataLoaderOptions(8).workers(6);
  auto filled = data::make_data_loader(Filled(), options);
  auto shared = data::make_data_loader(Shared(), options);
  auto preloaded = data::make_data_loader(Preloaded(), options);
}
