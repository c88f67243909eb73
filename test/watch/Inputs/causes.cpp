// One program for each verdict that test/proof has no program for: the argument
// says which one runs.
#include <libtorch-tidy/watch.h>

#include <cstdio>
#include <deque>
#include <string>
#include <thread>
#include <torch/torch.h>

static libtorch_tidy::Watch *watch;
static torch::Tensor freedAfterMain;
static int sizes = 40; // For varyingSizes(): more of them for longer runs.

// Sizes that change all the time: oneDNN keeps a primitive for each of them,
// in between what is freed on the heap.
static void varyingSizes() {
  torch::NoGradGuard guard;
  torch::nn::Conv2d first(torch::nn::Conv2dOptions(3, 32, 3));
  torch::nn::Conv2d second(torch::nn::Conv2dOptions(32, 32, 3));
  for (int i = 0; i < sizes; ++i) {
    second(torch::relu(first(torch::rand({1, 3, 96 + (i * 37) % 160, 128}))));
    watch->step();
  }
}

static void threadPerCall() {
  torch::nn::Linear net(16, 16);
  for (int i = 0; i < 20; ++i) {
    std::thread([&] { net(torch::rand({4, 16})).sum().backward(); }).join();
    net->zero_grad();
    watch->step("request");
  }
}

static void threadsThatStay() {
  static std::deque<std::thread> threads;
  for (int i = 0; i < 20; ++i) {
    threads.emplace_back([] {
      for (;;)
        std::this_thread::sleep_for(std::chrono::seconds(1));
    });
    watch->step("request");
  }
  for (std::thread &thread : threads)
    thread.detach();
}

// A user's own thread is seen as any other.
static void growthInThread() {
  std::vector<torch::Tensor> kept;
  std::thread([&] {
    for (int i = 0; i < 20; ++i) {
      kept.push_back(torch::rand({256}));
      watch->step("request");
    }
  }).join();
}

// One of a hundred that have its size is kept, for 30 short steps.
static void amongTemporaries() {
  std::vector<torch::nn::Linear> layers;
  std::vector<torch::Tensor> kept;
  for (int i = 0; i < 24; ++i)
    layers.emplace_back(8, 8);
  for (int i = 0; i < 30; ++i) {
    torch::Tensor x = torch::rand({8, 8});
    for (auto &layer : layers)
      x = torch::relu(layer(x));
    x.sum().backward();
    kept.push_back(x.detach().clone());
    watch->step();
  }
}

static void stepTooLarge() {
  for (int i = 0; i < 20; ++i) {
    torch::Tensor data = torch::rand({64, 64});
    try {
      if (i == 15)
        torch::empty({int64_t(1) << 45});
    } catch (const c10::Error &) {
      std::puts("out of memory");
    }
    watch->step();
  }
}

static void objectsOfTheUser() {
  static std::deque<std::string> log;
  for (int i = 0; i < 50; ++i) {
    torch::rand({16});
    log.emplace_back(20000, 'x');
    watch->step();
  }
}

static void bufferThatFills() {
  std::deque<torch::Tensor> replay;
  for (int i = 0; i < 100; ++i) {
    replay.push_back(torch::rand({1024}));
    if (replay.size() > 30)
      replay.pop_front();
    watch->step();
  }
}

// Kept over an epoch, or over a few steps: each begins anew.
static void sumOver(int steps) {
  torch::nn::Linear net(16, 16);
  torch::Tensor sum;
  for (int i = 0; i < 64; ++i) {
    torch::Tensor loss = torch::relu(net(torch::rand({4, 16}))).mean();
    sum = i % steps ? sum + loss : loss;
    loss = torch::Tensor();
    watch->step("batch");
  }
}

// Batches that are sorted by size, over and over: `last` outlives its step.
static void sizesInOrder(int epochs) {
  torch::nn::Linear net(16, 16);
  torch::Tensor last;
  for (int i = 0; i < 160; ++i) {
    last = net(torch::rand({1 + i % (160 / epochs), 16}));
    watch->step();
  }
}

// Sequences that are sorted by length: their graphs are alive at the step.
static void lengthsInOrder(int epochs) {
  torch::nn::Linear net(16, 16);
  for (int i = 0; i < 160; ++i) {
    torch::Tensor state = torch::zeros({4, 16});
    for (int j = 0; j <= i % (160 / epochs); ++j)
      state = torch::tanh(net(state));
    watch->step();
  }
}

// One tensor that a step makes anew, and larger.
static void joinedOn() {
  torch::Tensor all = torch::zeros({1, 16});
  for (int i = 0; i < 160; ++i) {
    all = torch::cat({all, torch::rand({1, 16})});
    watch->step();
  }
}

// Goes up and down.
static void sizesAtRandom() {
  for (int i = 0; i < 200; ++i) {
    torch::Tensor data = torch::rand({1024 + (i * 37) % 101 * 64});
    watch->step();
  }
}

// What the allocator of a GPU reports.
static void cacheOfADevice() {
  c10::Device gpu(c10::DeviceType::CUDA, 1);
  const int64_t MB = 1 << 20;
  for (int64_t i = 0; i < 20; ++i) {
    void *block = reinterpret_cast<void *>((i + 1) * MB);
    c10::reportMemoryUsageToProfiler(block, 3 * MB, 5 * MB, (20 + 4 * i) * MB,
                                     gpu);
    c10::reportMemoryUsageToProfiler(block, -3 * MB, 2 * MB, (20 + 4 * i) * MB,
                                     gpu);
    watch->step();
  }
}

static void tensorsOfADevice() {
  c10::Device gpu(c10::DeviceType::CUDA, 0);
  for (int64_t i = 1; i <= 20; ++i) {
    c10::reportMemoryUsageToProfiler(reinterpret_cast<void *>(i * 4096), 4096,
                                     i * 4096, 1 << 21, gpu);
    watch->step();
  }
}

/// Its allocator has handed out more and more, but not to this thread.
static void threadsOfADevice() {
  c10::Device gpu(c10::DeviceType::CUDA, 0);
  void *block = reinterpret_cast<void *>(4096);
  for (int64_t i = 1; i <= 20; ++i) {
    c10::reportMemoryUsageToProfiler(block, 4096, (i + 1) * 4096, 1 << 21, gpu);
    c10::reportMemoryUsageToProfiler(block, -4096, i * 4096, 1 << 21, gpu);
    watch->step();
  }
}

static void fullDevice() {
  c10::Device gpu(c10::DeviceType::CUDA, 0);
  void *block = reinterpret_cast<void *>(4096);
  c10::reportMemoryUsageToProfiler(block, 4096, 4096, 1 << 21, gpu);
  for (int i = 0; i < 20; ++i)
    watch->step();
  c10::reportOutOfMemoryToProfiler(int64_t(1) << 40, 4096, 1 << 21, gpu);
}

/// Each step replaces large tensors, and keeps a small one. The last steps are
/// slow: there is time to note all stacks.
static void replacedAndKept() {
  std::vector<torch::Tensor> kept, state(200);
  for (int i = 0; i < 60; ++i) {
    for (auto &tensor : state)
      tensor = torch::empty({1 << 12});
    kept.push_back(torch::rand({128}));
    if (i > 40)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    watch->step();
  }
}

static void fewSteps() {
  for (int i = 0; i < 3; ++i)
    watch->step();
}

static void regions() {
  std::vector<torch::Tensor> kept;
  for (int epoch = 0; epoch < 5; ++epoch) {
    {
      auto training = watch->region("training");
      torch::rand({64, 64});
    }
    auto validation = watch->region("validation");
    kept.push_back(torch::rand({64}));
  }
}

static void uncaught() {
  std::vector<torch::Tensor> kept;
  for (int i = 0; i < 20; ++i) {
    kept.push_back(torch::rand({1024}));
    watch->step();
  }
  throw std::runtime_error("nobody catches this");
}

static void intervals() {
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
  std::puts(watch->verdict().empty() ? "off" : "on");
}

int main(int argc, char **arguments) {
  std::string name = arguments[1];
  if (argc > 2)
    sizes = std::atoi(arguments[2]);
  // Made before the watch and freed while it is there; and the raw interface.
  torch::Tensor early = torch::rand({1000});
  c10::Allocator *allocator = c10::GetAllocator(c10::DeviceType::CPU);
  void *earlyBlock = allocator->raw_allocate(1000);
  libtorch_tidy::Watch theWatch;
  watch = &theWatch;
  early = torch::Tensor();
  allocator = c10::GetAllocator(c10::DeviceType::CPU);
  allocator->raw_deallocate(earlyBlock);
  void *block = allocator->raw_allocate(1000);
  freedAfterMain = torch::rand({8});
  if (name == "varying-sizes")
    varyingSizes();
  else if (name == "thread-per-call")
    threadPerCall();
  else if (name == "threads-that-stay")
    threadsThatStay();
  else if (name == "growth-in-thread")
    growthInThread();
  else if (name == "among-temporaries")
    amongTemporaries();
  else if (name == "step-too-large")
    stepTooLarge();
  else if (name == "objects-of-the-user")
    objectsOfTheUser();
  else if (name == "buffer-that-fills")
    bufferThatFills();
  else if (name == "sum-over-epochs")
    sumOver(16);
  else if (name == "sum-over-a-few")
    sumOver(4);
  else if (name == "sizes-in-order")
    sizesInOrder(10);
  else if (name == "lengths-in-order")
    lengthsInOrder(10);
  else if (name == "one-epoch-in-order")
    sizesInOrder(1);
  else if (name == "one-epoch-of-lengths")
    lengthsInOrder(1);
  else if (name == "two-epochs-of-lengths")
    lengthsInOrder(2);
  else if (name == "joined-on")
    joinedOn();
  else if (name == "sizes-at-random")
    sizesAtRandom();
  else if (name == "cache-of-a-device")
    cacheOfADevice();
  else if (name == "tensors-of-a-device")
    tensorsOfADevice();
  else if (name == "threads-of-a-device")
    threadsOfADevice();
  else if (name == "full-device")
    fullDevice();
  else if (name == "replaced-and-kept")
    replacedAndKept();
  else if (name == "few-steps")
    fewSteps();
  else if (name == "regions")
    regions();
  else if (name == "uncaught")
    uncaught();
  else if (name == "intervals")
    intervals();
  allocator->raw_deallocate(block);
}
