// Ends of programs: the first argument says which.
#include <libtorch-tidy/watch.h>

#include <csignal>
#include <cstdio>
#include <sys/wait.h>
#include <thread>
#include <torch/torch.h>

static libtorch_tidy::Watch *watch;
static std::vector<torch::Tensor> kept;
static volatile bool heapIsLocked = false;

// A heap that a thread has locked for good.
void *operator new(std::size_t size) {
  while (heapIsLocked)
    ;
  return std::malloc(size);
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, std::size_t) noexcept { std::free(memory); }

static void steps(int count, int size = 256) {
  for (int i = 0; i < count; ++i) {
    kept.push_back(torch::zeros({size}));
    watch->step();
  }
}

// An overflow of the stack.
static int deeper(int depth) {
  volatile char frame[4096] = {};
  return frame[depth % 4096] + (depth < 0 ? 0 : deeper(depth + 1)) + frame[0];
}

static void ownHandler(int) { std::exit(7); }

static void crash() {
  volatile int *null = nullptr;
  *null = 1;
}

static void waitFor(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("child %s%d\n",
              WIFSIGNALED(status) ? "ended by signal " : "returned ",
              WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
  std::fflush(stdout);
}

int main(int, char **arguments) {
  const std::string name = arguments[1];
  if (name == "ignored")
    std::signal(SIGTERM, SIG_IGN);
  if (name == "own-handler")
    std::signal(SIGTERM, ownHandler);
  libtorch_tidy::Watch theWatch;
  watch = &theWatch;
  steps(20);
  if (name == "abort")
    std::abort();
  if (name == "check")
    TORCH_INTERNAL_ASSERT(false);
  if (name == "crash")
    crash();
  if (name == "overflow")
    return deeper(1);
  if (name == "crash-in-threads") {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back(crash);
    for (std::thread &thread : threads)
      thread.join();
  }
  if (name == "terminate" || name == "ignored" || name == "own-handler")
    std::raise(SIGTERM);
  if (name == "interrupt")
    std::raise(SIGINT);
  if (name == "quick-exit")
    std::quick_exit(3);
  if (name == "at-any-time") {
    // It is ended while it takes steps: in LibTorch, the heap, the watch.
    std::puts("begins");
    std::fflush(stdout);
    for (;;) {
      std::vector<torch::Tensor> some;
      for (int i = 0; i < 8; ++i)
        some.push_back(torch::zeros({64 << i}));
      watch->step();
    }
  }
  if (name == "locked") {
    watch->report();
    heapIsLocked = true;
    std::abort();
  }
  if (name == "fork" || name == "fork-without-steps" ||
      name == "fork-and-crash") {
    pid_t child = fork();
    if (child == 0) {
      if (name == "fork-without-steps")
        return 4;
      steps(10, 512);
      if (name == "fork-and-crash")
        crash();
      return 5;
    }
    waitFor(child);
    steps(10);
  }
  if (name == "fork-while-steps") {
    // Other threads take steps and make tensors at each fork. Not random ones:
    // a child has LibTorch's generator as locked as it was.
    std::atomic<bool> done{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i)
      threads.emplace_back([&] {
        while (!done) {
          torch::zeros({64});
          watch->step("others");
        }
      });
    int whole = 0;
    for (int i = 0; i < 100; ++i) {
      pid_t child = fork();
      if (child == 0) {
        steps(3);
        _exit(9);
      }
      int status = 0;
      waitpid(child, &status, 0);
      whole += WIFEXITED(status) && WEXITSTATUS(status) == 9;
    }
    done = true;
    for (std::thread &thread : threads)
      thread.join();
    std::printf("%d children are whole\n", whole);
  }
  return 0;
}
