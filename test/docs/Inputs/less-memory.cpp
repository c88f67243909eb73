// The figures of docs/less-memory.md, one line each. All of them are exact, and
// the same in each run.
#include "../../proof/Memory.h"
#include <torch/script.h>
#include <torch/torch.h>

namespace nn = torch::nn;

static long long kb(int64_t bytes) { return bytes / 1024; }
static long long bytesOf(const torch::Tensor &x) {
  return static_cast<long long>(x.storage().nbytes());
}
static long long parametersOf(nn::Module &net) {
  int64_t sum = 0;
  for (const auto &parameter : net.parameters())
    sum += static_cast<int64_t>(parameter.nbytes());
  return kb(sum);
}
static bool throws(const std::function<void()> &run) {
  try {
    run();
  } catch (const c10::Error &) {
    return true;
  }
  return false;
}

static void sizes() {
  auto x = torch::zeros({256, 1024});
  std::printf("size: %lld KB by hand, %lld KB by nbytes()\n",
              kb(x.element_size() * x.numel()),
              kb(static_cast<int64_t>(x.nbytes())));
  auto row = x[0];
  std::printf("row: %lld KB by nbytes(), %lld KB held\n",
              kb(static_cast<int64_t>(row.nbytes())), kb(bytesOf(row)));
  auto wide = torch::zeros({1, 1024}).expand({256, 1024});
  std::printf("expanded: %lld KB by nbytes(), %lld KB held\n",
              kb(static_cast<int64_t>(wide.nbytes())), kb(bytesOf(wide)));
}

static void inPlace() {
  torch::NoGradGuard no_grad;
  auto x = torch::randn({256, 1024});
  {
    proof::Span span;
    auto y = torch::relu(x);
    y = y * 2;
    span.print("relu, times 2");
  }
  {
    proof::Span span;
    auto y = torch::relu(x);
    y *= 2;
    span.print("relu, times 2 in place");
  }
  {
    proof::Span span;
    x.relu_().mul_(2);
    span.print("both in place");
  }
  torch::AutoGradMode grad(true);
  auto w = torch::randn({8}, torch::requires_grad());
  std::printf("in place, what backward needs: %s\n", throws([&] {
                auto y = w.exp(); // Its derivative is its result.
                y.mul_(2);
                y.sum().backward();
              })
                                                         ? "throws"
                                                         : "runs");
  std::printf("in place, what it does not need: %s\n", throws([&] {
                auto y = w * 3;
                y.add_(2);
                y.sum().backward();
              })
                                                           ? "throws"
                                                           : "runs");
}

static void out() {
  auto a = torch::randn({256, 256}), b = torch::randn({256, 256});
  {
    torch::NoGradGuard no_grad;
    {
      proof::Span span;
      for (int i = 0; i < 20; ++i)
        auto c = torch::mm(a, b);
      span.printAllocated("20 products");
    }
    {
      proof::Span span;
      auto c = torch::empty({256, 256});
      for (int i = 0; i < 20; ++i)
        torch::mm_out(c, a, b);
      span.printAllocated("20 products, out=");
    }
  }
  a.requires_grad_();
  auto c = torch::empty({256, 256});
  std::printf("out= of what requires gradients: %s\n",
              throws([&] { torch::mm_out(c, a, b); }) ? "throws" : "runs");
}

static void preallocated() {
  torch::NoGradGuard no_grad;
  {
    proof::Span span;
    std::vector<torch::Tensor> parts;
    for (int i = 0; i < 64; ++i)
      parts.push_back(torch::rand({16, 256}));
    auto all = torch::cat(parts);
    span.print("64 parts, joined");
  }
  {
    proof::Span span;
    auto all = torch::empty({64 * 16, 256});
    for (int i = 0; i < 64; ++i)
      all.narrow(0, 16 * i, 16).copy_(torch::rand({16, 256}));
    span.print("64 parts, copied into place");
  }
}

static void half() {
  nn::Sequential net(nn::Conv2d(nn::Conv2dOptions(3, 64, 3)),
                     nn::BatchNorm2d(64), nn::Linear(1024, 256));
  std::printf("float32: %lld KB\n", parametersOf(*net));
  net->to(torch::kBFloat16);
  std::printf("bfloat16: %lld KB\n", parametersOf(*net));
  for (auto &module : net->modules(/*include_self=*/false))
    if (module->as<nn::BatchNorm2d>())
      module->to(torch::kFloat);
  std::printf(
      "the norm's weight: %s, the layer's: %s\n",
      c10::toString(net[1]->as<nn::BatchNorm2d>()->weight.scalar_type()),
      c10::toString(net[2]->as<nn::Linear>()->weight.scalar_type()));
}

static void quantized() {
  auto w = torch::randn({1024, 1024});
  auto q = torch::quantize_per_tensor(w, 0.05, 0, torch::kQInt8);
  std::printf("int8: %lld KB in place of %lld KB\n", kb(bytesOf(q)),
              kb(bytesOf(w)));
}

static void pruned() {
  auto w = torch::rand({1024, 1024});
  auto zeroed = w * (w > 0.9);
  std::printf("90 percent zeros: %lld KB\n", kb(bytesOf(zeroed)));
  auto sparse = zeroed.to_sparse();
  std::printf("90 percent zeros, sparse: %lld KB\n",
              kb(bytesOf(sparse._values()) + bytesOf(sparse._indices())) / 100 *
                  100);
  // Whole rows that are not needed.
  auto kept = torch::arange(0, 1024, 2);
  std::printf("every second row: %lld KB\n",
              kb(bytesOf(w.index_select(0, kept))));
}

static void lowRank() {
  nn::Linear full(nn::LinearOptions(1024, 1024).bias(false));
  nn::Sequential low(nn::Linear(nn::LinearOptions(1024, 64).bias(false)),
                     nn::Linear(nn::LinearOptions(64, 1024).bias(false)));
  std::printf("rank 64: %lld KB in place of %lld KB\n", parametersOf(*low),
              parametersOf(*full));
}

// A block that is computed again in backward().
struct Checkpoint : torch::autograd::Function<Checkpoint> {
  static torch::Tensor forward(torch::autograd::AutogradContext *context,
                               const torch::Tensor &x, nn::Sequential block) {
    context->save_for_backward({x});
    context->saved_data["block"] =
        reinterpret_cast<int64_t>(block.get()); // Owned by the caller.
    torch::NoGradGuard no_grad;
    return block->forward(x);
  }
  static torch::autograd::variable_list
  backward(torch::autograd::AutogradContext *context,
           torch::autograd::variable_list grads) {
    auto *block = reinterpret_cast<nn::SequentialImpl *>(
        context->saved_data["block"].toInt());
    auto x = context->get_saved_variables()[0].detach().requires_grad_();
    torch::AutoGradMode grad(true);
    torch::autograd::backward({block->forward(x)}, {grads[0]});
    return {x.grad(), torch::Tensor()};
  }
};

static void checkpointed() {
  std::vector<nn::Sequential> blocks;
  for (int i = 0; i < 4; ++i) {
    nn::Sequential block;
    for (int layer = 0; layer < 4; ++layer) {
      block->push_back(nn::Linear(nn::LinearOptions(64, 64).bias(false)));
      block->push_back(nn::Tanh());
    }
    blocks.push_back(block);
  }
  auto x = torch::randn({2048, 64}, torch::requires_grad());
  for (auto &block : blocks) // So that the gradients are there.
    block->forward(x).sum().backward();
  double sums[2];
  for (bool checkpoint : {false, true}) {
    for (auto &block : blocks)
      block->zero_grad(/*set_to_none=*/false);
    proof::Span span;
    auto y = x;
    for (auto &block : blocks)
      y = checkpoint ? Checkpoint::apply(y, block) : block->forward(y);
    y.sum().backward();
    span.print(checkpoint ? "16 layers, 4 checkpoints" : "16 layers");
    sums[checkpoint] = 0;
    for (auto &block : blocks)
      for (auto &parameter : block->parameters())
        sums[checkpoint] += parameter.grad().abs().sum().item<double>();
  }
  std::printf("the same gradients: %s\n", sums[0] == sums[1] ? "yes" : "no");
}

int main() {
  proof::begin();
  sizes();
  inPlace();
  out();
  preallocated();
  half();
  quantized();
  pruned();
  lowRank();
  checkpointed();
}
