// Prints the bytes that the library has live at once in a step of a model: its
// parameters, its input and all that a pass allocates. oneDNN is off, unless
// the environment has STEPS_IN_ONEDNN, and one thread works: both decide how
// much scratch memory the library takes.
//
//   model|input|result|kept|guarded|unguarded|first|later
//
// result:    bytes of what forward() returns
// kept:      what a forward pass leaves behind: its result, and what backward()
//            will need
// guarded:   the peak of a forward pass after eval(), below NoGradGuard
// unguarded: the same without the guard
// first:     the peak of forward() and backward() of the sum of the results,
//            without gradients from before
// later:     the same, after zero_grad(), which keeps them before LibTorch 2.0
//
// Before a step after to(), or with autocast, stands "dtype bfloat16|" or
// "autocast bfloat16|".
//
// With STEPS_ON_CUDA model and inputs are on a GPU, the bytes are those of its
// allocator, and two more figures follow: what it has reserved after one
// guarded pass, and after three steps. The environment's STEPS_WITHOUT_CUDNN
// does without cuDNN and its scratch memory. Needs LibTorch 2.9.

#include "../../proof/Memory.h"
#include <ATen/autocast_mode.h>
#include <cstdio>
#include <cstdlib>
#include <torch/torch.h>
#include <tuple>
#ifdef STEPS_ON_CUDA
#include "../../proof/device/Allocator.h"
#endif

namespace steps {

#ifdef STEPS_ON_CUDA
constexpr auto Device = c10::kCUDA;
using namespace proof::device;
#else
constexpr auto Device = c10::kCPU;
inline int64_t live() { return proof::counters().Live; }
inline int64_t peak() { return proof::counters().Peak; }
inline void restart() { proof::counters().Peak = live(); }
#endif
inline void setAutocast(bool on, torch::ScalarType type) {
#if TORCH_VERSION_MAJOR >= 2
  at::autocast::set_autocast_enabled(Device, on);
  at::autocast::set_autocast_dtype(Device, type);
#else
  at::autocast::set_cpu_enabled(on);
  at::autocast::set_autocast_cpu_dtype(type);
#endif
}

/// \p given on the device: tensors, lists, pairs and tuples of them, and what
/// else forward() takes.
inline torch::Tensor there(const torch::Tensor &given) {
  return given.defined() ? given.to(Device) : given;
}
template <typename T> T there(const T &given) { return given; }
template <typename T> std::vector<T> there(const std::vector<T> &all);
template <typename A, typename B>
std::pair<A, B> there(const std::pair<A, B> &both);
template <typename... T> std::tuple<T...> there(const std::tuple<T...> &all) {
  return std::apply(
      [](const auto &...one) { return std::tuple<T...>(there(one)...); }, all);
}
template <typename A, typename B>
std::pair<A, B> there(const std::pair<A, B> &both) {
  return {there(both.first), there(both.second)};
}
template <typename T> std::vector<T> there(const std::vector<T> &all) {
  std::vector<T> result;
  for (const auto &one : all)
    result.push_back(there(one));
  return result;
}

inline void add(torch::Tensor &loss, const torch::Tensor &result) {
  if (!result.defined() || !result.requires_grad())
    return;
  torch::Tensor sum = result.sum();
  loss = loss.defined() ? loss + sum : sum;
}
inline int64_t bytesOf(const torch::Tensor &result) {
  return result.defined() ? result.numel() * result.element_size() : 0;
}

/// Results are tensors, or lists, pairs and tuples of them.
template <typename F> void forEach(const torch::Tensor &result, F f) {
  f(result);
}
template <typename T, typename F> void forEach(const std::vector<T> &all, F f) {
  for (const auto &one : all)
    forEach(one, f);
}
template <typename... T, typename F>
void forEach(const std::tuple<T...> &all, F f) {
  std::apply([&](const auto &...one) { (forEach(one, f), ...); }, all);
}
template <typename A, typename B, typename F>
void forEach(const std::pair<A, B> &both, F f) {
  forEach(both.first, f);
  forEach(both.second, f);
}

/// The gradients of the sum of what forward() returned.
template <typename Results> void backward(const Results &results) {
  torch::Tensor loss;
  forEach(results, [&](const torch::Tensor &t) { add(loss, t); });
  if (loss.defined())
    loss.backward();
}

constexpr char Vector[] = "std::vector<int64_t>";

/// The peak of \p run in bytes above \p start.
template <typename Run> int64_t peakOf(int64_t start, Run run) {
  restart();
  run();
  return peak() - start;
}

/// The type that a model is converted to, or that autocast uses.
struct Mode {
  bool converts = false, casts = false;
  torch::ScalarType type = torch::kBFloat16;
};

template <typename Make, typename... Inputs>
void step(const char *name, const char *input, Make make,
          std::function<std::tuple<Inputs...>()> inputs, Mode mode = {}) {
  const int64_t start = live();
  auto model = make();
  model->to(Device);
  if (mode.converts)
    model->to(mode.type);
  auto given = there(inputs());
  auto forward = [&] {
    if (mode.casts) {
      setAutocast(true, mode.type);
      at::autocast::increment_nesting();
    }
    auto out = std::apply(
        [&](const auto &...one) { return model->forward(one...); }, given);
    if (mode.casts) {
      at::autocast::decrement_nesting();
      at::autocast::clear_cache();
      setAutocast(false, mode.type);
    }
    return out;
  };
  int64_t result = 0, kept = 0;
  model->eval();
  const int64_t guarded = peakOf(start, [&] {
    torch::NoGradGuard guard;
    auto out = forward();
  });
  const int64_t unguarded = peakOf(start, [&] { auto out = forward(); });
  model->train();
  {
    const int64_t before = live();
    auto out = forward();
    forEach(out, [&](const torch::Tensor &t) { result += bytesOf(t); });
    kept = live() - before;
  }
  auto pass = [&] {
    model->zero_grad();
    auto out = forward();
    backward(out);
  };
  const int64_t first = peakOf(start, pass);
  const int64_t later = peakOf(start, pass);
  // As the command line takes lists.
  std::string shown = name;
  if (const size_t at = shown.find(Vector); at != std::string::npos)
    shown.erase(at, sizeof Vector - 1);
  if (mode.converts || mode.casts)
    std::printf("%s bfloat16|", mode.converts ? "dtype" : "autocast");
  std::printf("%s|%s|%lld|%lld|%lld|%lld|%lld|%lld", shown.c_str(), input,
              (long long)result, (long long)kept, (long long)guarded,
              (long long)unguarded, (long long)first, (long long)later);
#ifdef STEPS_ON_CUDA
  // Anew, with nothing in the cache.
  const auto reservedBy = [&](int passes, auto run) {
    model = {nullptr};
    given = {};
    allocator().emptyCache();
    const int64_t before = reserved();
    model = make();
    model->to(Device);
    if (mode.converts)
      model->to(mode.type);
    given = there(inputs());
    for (int i = 0; i < passes; ++i)
      run();
    return (long long)(reserved() - before);
  };
  const long long inference = reservedBy(1, [&] {
    torch::NoGradGuard guard;
    model->eval();
    auto out = forward();
  });
  std::printf("|%lld|%lld", inference, reservedBy(3, pass));
#endif
  std::printf("\n");
}

/// Steps with an optimizer, as a training loop makes them:
///
///   optimizer name|model|input|first|later
template <typename Optimizer, typename Make, typename... Inputs>
void stepWith(const char *name, const char *shown, const char *input,
              typename Optimizer::Options options, Make make,
              std::function<std::tuple<Inputs...>()> inputs) {
  const int64_t start = live();
  auto model = make();
  model->to(Device);
  auto given = there(inputs());
  typename Optimizer::Type optimizer(model->parameters(), options);
  auto pass = [&] {
    optimizer.zero_grad();
    auto out = std::apply(
        [&](const auto &...one) { return model->forward(one...); }, given);
    backward(out);
    optimizer.step();
  };
  const int64_t first = peakOf(start, pass);
  const int64_t later = peakOf(start, pass);
  std::printf("optimizer %s|%s|%s|%lld|%lld\n", name, shown, input,
              (long long)first, (long long)later);
}

template <typename T, typename O> struct Optimized {
  using Type = T;
  using Options = O;
};

inline void begin() {
#ifdef STEPS_ON_CUDA
  at::globalContext().setUserEnabledCuDNN(!std::getenv("STEPS_WITHOUT_CUDNN"));
  warmUp();
  std::fprintf(stderr, "libraries hold %lld bytes\n", (long long)live());
#else
  proof::begin();
  at::globalContext().setUserEnabledMkldnn(std::getenv("STEPS_IN_ONEDNN"));
#endif
}

/// Runs \p measure, on a device unless the model makes its tensors elsewhere.
template <typename Measure>
void attempt([[maybe_unused]] const char *name, Measure measure) {
#ifdef STEPS_ON_CUDA
  try {
    measure();
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s: %.200s\n", name, error.what());
  }
#else
  measure();
#endif
}

} // namespace steps

/// STEP(Net(3), "2x3x8x8", torch::rand({2, 3, 8, 8}), ...)
#define STEP(MODEL, INPUT, ...) STEP_IN(false, false, MODEL, INPUT, __VA_ARGS__)
/// The same after to(bfloat16), and with autocast.
#define STEP_IN(CONVERTS, CASTS, MODEL, INPUT, ...)                            \
  steps::attempt(#MODEL, [] {                                                  \
    steps::step(                                                               \
        #MODEL, INPUT, [] { return MODEL; },                                   \
        std::function([] { return std::make_tuple(__VA_ARGS__); }),            \
        steps::Mode{CONVERTS, CASTS});                                         \
  })
#define CONVERTED(MODEL, INPUT, ...)                                           \
  STEP_IN(true, false, MODEL, INPUT, __VA_ARGS__)
#define AUTOCAST(MODEL, INPUT, ...)                                            \
  STEP_IN(false, true, MODEL, INPUT, __VA_ARGS__)
/// OPTIMIZED("adam", Adam, AdamOptions(0.1), Net(3), "2x3", torch::rand({2,
/// 3}))
#define OPTIMIZED(NAME, TYPE, OPTIONS, MODEL, INPUT, ...)                      \
  steps::stepWith<                                                             \
      steps::Optimized<torch::optim::TYPE, torch::optim::TYPE##Options>>(      \
      NAME, #MODEL, INPUT, torch::optim::OPTIONS, [] { return MODEL; },        \
      std::function([] { return std::make_tuple(__VA_ARGS__); }))
