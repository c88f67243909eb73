// The code of the pages, each block where it may stand: PAGE.N is the Nth block
// of C++ in a page (code_blocks.py takes them out). What the code leaves to the
// reader is around it.
#include "../../checks/Inputs/matrices.h"
#include "../../checks/Inputs/net.h"
#include <ATen/autocast_mode.h>
#include <cstring>
#include <libtorch-tidy/watch.h>
#include <random>
#include <thread>
#include <torch/script.h>

using torch::Tensor;
namespace nn = torch::nn;
namespace rnn = torch::nn::utils::rnn;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// CUDA's and pybind11's headers are not everywhere.
namespace c10::cuda::CUDACachingAllocator {
void emptyCache();
}
namespace torch::nn::parallel {
template <typename Module> Tensor data_parallel(Module module, Tensor input);
}
extern "C" int cudaFree(void *), cudaDeviceReset();
namespace py {
struct error_already_set : std::exception {};
} // namespace py
#define CV_8UC3 16

// What most of them use.
extern Net net;
extern nn::Linear head, decoder;
extern nn::GRU gru;
extern nn::LSTM lstm;
extern nn::LSTMCell cell;
extern nn::MSELoss criterion;
extern torch::optim::SGD optimizer, sgd;
extern torch::jit::Module module;
extern std::vector<Tensor> batches, results, images, losses, last_steps;
extern Tensor x, y, h, c, t, a, b, mask, loss, image, input, lengths, prompt,
    chw, table, result, embeddings, densified;
extern const bool training;
extern const int64_t n, start, count, batch, hidden, w;
extern const int iteration, epochs, i;
extern const torch::Device device;
extern const std::string path;
Tensor encoder(Tensor), half(Tensor), model(Tensor);
float augment(const std::vector<float> &, std::mt19937 &);
template <typename T> void use(const T &);
struct Data : torch::data::datasets::Dataset<Data> {
  torch::data::Example<> get(size_t) override;
  torch::optional<size_t> size() const override;
};
using Stacked =
    torch::data::datasets::MapDataset<Data, torch::data::transforms::Stack<>>;
extern std::unique_ptr<torch::data::StatelessDataLoader<
    Stacked, torch::data::samplers::RandomSampler>>
    loader;

namespace accumulated_history {
extern const int batches;
void bad() {
#include "libtorch-accumulated-history.1"
}
void good() {
  Tensor total, loss;
#include "libtorch-accumulated-history.2"
}
void item() {
#include "libtorch-accumulated-history.3"
}
} // namespace accumulated_history

namespace autocast_cache {
void bad() {
#include "libtorch-autocast-cache.1"
}
void good() {
#include "libtorch-autocast-cache.2"
}
#include "libtorch-autocast-cache.3"
} // namespace autocast_cache

namespace autograd_context_cycle {
#include "libtorch-autograd-context-cycle.1"
void good(AutogradContext *ctx) {
  {
    Tensor y;
    {
#include "libtorch-autograd-context-cycle.2"
    }
  }
}
} // namespace autograd_context_cycle

namespace blob_layout {
extern cv::Mat image;
extern Eigen::Matrix4f pose;
extern const int h;
void bad() {
#include "libtorch-blob-layout.1"
}
void good() {
#include "libtorch-blob-layout.2"
}
} // namespace blob_layout

namespace cat_in_loop {
void bad() {
#include "libtorch-cat-in-loop.1"
}
void list() {
#include "libtorch-cat-in-loop.2"
}
void in_place(Net model) {
#include "libtorch-cat-in-loop.3"
}
void fixed(Tensor all) {
#include "libtorch-cat-in-loop.4"
}
} // namespace cat_in_loop

namespace create_graph_cycle {
extern nn::Linear net;
void bad() {
#include "libtorch-create-graph-cycle.1"
}
void good() {
#include "libtorch-create-graph-cycle.2"
}
void reset() {
#include "libtorch-create-graph-cycle.3"
}
} // namespace create_graph_cycle

namespace dangling_from_blob {
extern const int n, h;
std::vector<float> read();
struct Camera {
  void read(float *);
} camera;
std::vector<float> buffer;
std::vector<Tensor> frames;
namespace bad {
#include "libtorch-dangling-from-blob.1"
}
namespace good {
#include "libtorch-dangling-from-blob.2"
}
} // namespace dangling_from_blob

namespace dangling_tensor_data {
extern const int64_t h;
void bad() {
#include "libtorch-dangling-tensor-data.1"
}
void good() {
#include "libtorch-dangling-tensor-data.2"
}
} // namespace dangling_tensor_data

namespace dataset_worker_copy {
struct Base {
  Tensor augment(const std::vector<float> &, std::mt19937 &);
};
Tensor augment(const std::vector<float> &, std::mt19937 &);
std::vector<Tensor> labels;
namespace bad {
#include "libtorch-dataset-worker-copy.1"
}
namespace good {
#include "libtorch-dataset-worker-copy.2"
}
} // namespace dataset_worker_copy

namespace discarded_result {
void bad() {
#include "libtorch-discarded-result.1"
}
void good() {
#include "libtorch-discarded-result.2"
}
void detached() {
#include "libtorch-discarded-result.3"
}
void indexed() {
#include "libtorch-discarded-result.4"
}
} // namespace discarded_result

namespace element_size {
void bad() {
#include "libtorch-element-size.1"
}
void good() {
#include "libtorch-element-size.2"
}
} // namespace element_size

namespace empty_cache_in_loop {
void train(torch::data::Example<> &);
void bad() {
#include "libtorch-empty-cache-in-loop.1"
#include "libtorch-empty-cache-in-loop.2"
}
void good() {
#include "libtorch-empty-cache-in-loop.3"
}
} // namespace empty_cache_in_loop

namespace factory_then_to {
void bad() {
#include "libtorch-factory-then-to.1"
}
void good() {
#include "libtorch-factory-then-to.2"
}
void fixed() {
#include "libtorch-factory-then-to.3"
}
} // namespace factory_then_to

namespace hook_capture_cycle {
struct ScaledImpl : nn::Module {
  nn::Linear fc{4, 4};
  Tensor scale;
};
TORCH_MODULE(Scaled);
struct Session {
  std::function<Tensor(Tensor)> run;
  Net net;
};
void bad(Tensor weight, Scaled net, std::shared_ptr<Session> session) {
#include "libtorch-hook-capture-cycle.1"
}
void good(Tensor weight, Scaled net, std::shared_ptr<Session> session) {
#include "libtorch-hook-capture-cycle.2"
}
#include "libtorch-hook-capture-cycle.3"
} // namespace hook_capture_cycle

namespace ineffective_grad_guard {
void bad() {
#include "libtorch-ineffective-grad-guard.1"
}
#include "libtorch-ineffective-grad-guard.2"
struct Detector {
  Detector(const std::string &path);
  Tensor detect(const Tensor &image);
  torch::jit::Module model_;
};
#include "libtorch-ineffective-grad-guard.3"
void thread() {
#include "libtorch-ineffective-grad-guard.4"
}
void good() {
#include "libtorch-ineffective-grad-guard.5"
}
void thread_with_guard() {
#include "libtorch-ineffective-grad-guard.6"
}
#include "libtorch-ineffective-grad-guard.7"
void mode() {
#include "libtorch-ineffective-grad-guard.8"
}
} // namespace ineffective_grad_guard

namespace inference_without_no_grad {
namespace bad {
#include "libtorch-inference-without-no-grad.1"
}
namespace good {
#include "libtorch-inference-without-no-grad.2"
}
void step(Net &target, torch::Tensor reward, torch::Tensor next) {
#include "libtorch-inference-without-no-grad.3"
}
} // namespace inference_without_no_grad

namespace jit_unguarded_warmup {
void bad() {
#include "libtorch-jit-unguarded-warmup.1"
}
void good() {
#include "libtorch-jit-unguarded-warmup.2"
}
} // namespace jit_unguarded_warmup

namespace load_in_loop {
void bad() {
#include "libtorch-load-in-loop.1"
}
void good() {
#include "libtorch-load-in-loop.2"
}
} // namespace load_in_loop

namespace long_lived_intermediate {
float sum;
void bad() {
#include "libtorch-long-lived-intermediate.1"
}
#include "libtorch-long-lived-intermediate.2"
void good() {
#include "libtorch-long-lived-intermediate.3"
}
void detached(Tensor last, Tensor rows) {
#include "libtorch-long-lived-intermediate.4"
}
} // namespace long_lived_intermediate

namespace manual_release {
void bad() {
#include "libtorch-manual-release.1"
}
void good() {
#include "libtorch-manual-release.2"
}
} // namespace manual_release

namespace module_ownership_cycle {
namespace bad {
struct ModelImpl;
struct LayerImpl;
using Layer = std::shared_ptr<LayerImpl>;
#include "libtorch-module-ownership-cycle.1"
} // namespace bad
namespace good {
struct ModelImpl;
#include "libtorch-module-ownership-cycle.2"
} // namespace good
} // namespace module_ownership_cycle

namespace nolint {
void all(double total, Tensor sum, std::vector<Tensor> history) {
#include "levels.1"
#include "libtorch-nolint.1"
  {
    Tensor total;
#include "command-line.1"
#include "first-steps.2"
  }
}
} // namespace nolint

namespace oom_catch_type {
int batch;
Tensor bad() {
#include "libtorch-oom-catch-type.1"
  return {};
}
#include "libtorch-oom-catch-type.2"
} // namespace oom_catch_type

namespace oom_recovery_in_catch {
void bad() {
#include "libtorch-oom-recovery-in-catch.1"
#include "libtorch-oom-recovery-in-catch.2"
}
void good(Tensor features) {
  try {
#include "libtorch-oom-recovery-in-catch.3"
#include "libtorch-oom-recovery-in-catch.4"
  }
} // namespace oom_recovery_in_catch

namespace oversized_linear {
void bad() {
#include "libtorch-oversized-linear.1"
}
void good() {
#include "libtorch-oversized-linear.2"
#include "libtorch-oversized-linear.3"
}
#include "libtorch-oversized-linear.4"
} // namespace oversized_linear

namespace pad_packed_total_length {
#include "libtorch-pad-packed-total-length.1"
Tensor good(rnn::PackedSequence output) {
#include "libtorch-pad-packed-total-length.2"
}
void fixed(rnn::PackedSequence output) {
#include "libtorch-pad-packed-total-length.3"
}
} // namespace pad_packed_total_length

namespace retained_graph {
void bad(Tensor total) {
#include "libtorch-retained-graph.1"
#include "libtorch-retained-graph.2"
}
void good(Tensor total) {
#include "libtorch-retained-graph.3"
#include "libtorch-retained-graph.4"
#include "libtorch-retained-graph.5"
}
} // namespace retained_graph

namespace shared_snapshot {
extern nn::Linear net;
void bad() {
#include "libtorch-shared-snapshot.1"
}
void good() {
#include "libtorch-shared-snapshot.2"
}
void fixed() {
#include "libtorch-shared-snapshot.3"
}
} // namespace shared_snapshot

namespace stale_optimizer_state {
void bad() {
#include "libtorch-stale-optimizer-state.1"
}
#include "libtorch-stale-optimizer-state.3"
void good() {
#include "libtorch-stale-optimizer-state.2"
}
} // namespace stale_optimizer_state

namespace strided_access {
extern const int h, w;
void bad() {
#include "libtorch-strided-access.1"
}
void good() {
#include "libtorch-strided-access.2"
}
} // namespace strided_access

namespace undetached_hidden_state {
void bad() {
#include "libtorch-undetached-hidden-state.1"
}
void good() {
#include "libtorch-undetached-hidden-state.2"
}
void fixed(std::tuple<Tensor, Tensor> state) {
#include "libtorch-undetached-hidden-state.3"
}
} // namespace undetached_hidden_state

namespace unfinished_copy {
std::vector<std::vector<float>> frames;
std::vector<Tensor> batch;
float bad() {
#include "libtorch-unfinished-copy.1"
}
float good() {
#include "libtorch-unfinished-copy.2"
}
} // namespace unfinished_copy

namespace view_retains_storage {
std::vector<torch::data::Example<>> loader;
void bad() {
#include "libtorch-view-retains-storage.1"
}
void good(std::vector<float> losses) {
#include "libtorch-view-retains-storage.2"
}
} // namespace view_retains_storage

namespace other_pages {
#include "comparison.1"
Tensor forward(AutogradContext *ctx, Tensor x) {
#include "comparison.2"
}
#include "first-steps.1"
void less_memory() {
#include "less-memory.1"
  {
#include "less-memory.2"
  }
#include "less-memory.3"
#include "less-memory.5"
}
#include "less-memory.4"
} // namespace other_pages

namespace watch {
#include "watch.1"
}
