// Twelve programs: six that keep more and more, and six that look like them.
#include <libtorch-tidy/watch.h>

#include <deque>
#include <map>
#include <string>
#include <thread>
#include <torch/torch.h>
#include <vector>

using torch::Tensor;

struct NetImpl : torch::nn::Module {
  NetImpl() : wide(16, 64), last(64, 4) {
    register_module("wide", wide);
    register_module("last", last);
  }
  Tensor forward(Tensor x) { return last(torch::relu(wide(x))); }
  torch::nn::Linear wide, last;
};
TORCH_MODULE(Net);

struct TaggerImpl : torch::nn::Module {
  TaggerImpl() : rnn(torch::nn::GRUOptions(16, 16)) {
    register_module("rnn", rnn);
  }
  std::tuple<Tensor, Tensor> forward(Tensor x, Tensor state) {
    return rnn->forward(x, state);
  }
  torch::nn::GRU rnn;
};
TORCH_MODULE(Tagger);

struct Part : torch::nn::Module {
  Part() { fc = register_module("fc", torch::nn::Linear(16, 16)); }
  torch::nn::Linear fc{nullptr};
  std::shared_ptr<Part> other;
};

struct Square : torch::autograd::Function<Square> {
  static Tensor forward(torch::autograd::AutogradContext *ctx, Tensor x) {
    Tensor y = x * x;
    ctx->saved_data["y"] = y;
    return y;
  }
  static torch::autograd::variable_list
  backward(torch::autograd::AutogradContext *ctx,
           torch::autograd::variable_list grads) {
    return {grads[0] * ctx->saved_data["y"].toTensor().sqrt() * 2};
  }
};

using Watch = libtorch_tidy::Watch;
constexpr int Steps = 60;

// The sum of the losses has their graphs.
static void losses(Watch &watch) {
  Net net;
  torch::optim::SGD optimizer(net->parameters(), 0.01);
  Tensor total = torch::zeros({});
  for (int i = 0; i < Steps; ++i) {
    optimizer.zero_grad();
    Tensor loss = net->forward(torch::rand({8, 16})).pow(2).mean();
    loss.backward();
    optimizer.step();
    total += loss;
    watch.step();
  }
}

// So have results that are collected for metrics.
static void metrics(Watch &watch) {
  Net net;
  std::vector<Tensor> all;
  for (int i = 0; i < Steps; ++i) {
    Tensor out = net->forward(torch::rand({8, 16}));
    out.sum().backward();
    all.push_back(out);
    watch.step();
  }
}

// The state of a sequence that goes on for ever.
static void sequence(Watch &watch) {
  Tagger tagger;
  tagger->eval();
  Tensor state = torch::zeros({1, 4, 16});
  for (int i = 0; i < Steps; ++i) {
    Tensor out;
    std::tie(out, state) = tagger->forward(torch::rand({1, 4, 16}), state);
    watch.step();
  }
}

static void saved(Watch &watch) {
  Net net;
  for (int i = 0; i < Steps; ++i) {
    Square::apply(net->forward(torch::rand({8, 16}))).sum().backward();
    watch.step();
  }
}

static void owners(Watch &watch) {
  for (int i = 0; i < Steps; ++i) {
    auto a = std::make_shared<Part>();
    auto b = std::make_shared<Part>();
    a->other = b;
    b->other = a;
    watch.step();
  }
}

// Below a guard, and without an end.
static void features(Watch &watch) {
  static std::map<int, Tensor> seen;
  torch::NoGradGuard guard;
  Net net;
  for (int i = 0; i < Steps; ++i) {
    seen[i] = net->forward(torch::rand({8, 16}));
    watch.step();
  }
}

// And those that keep nothing, or no more than they have to.

static void trained(Watch &watch) {
  Net net;
  torch::optim::Adam optimizer(net->parameters(), 0.01);
  double total = 0;
  for (int i = 0; i < Steps; ++i) {
    optimizer.zero_grad();
    Tensor loss = net->forward(torch::rand({8, 16})).pow(2).mean();
    loss.backward();
    optimizer.step();
    total += loss.item<double>();
    watch.step();
  }
  std::printf("%g\n", total);
}

// Batches of all sizes, each in turn.
static void sorted(Watch &watch) {
  torch::NoGradGuard guard;
  Net net;
  Tensor last;
  for (int i = 0; i < Steps; ++i) {
    last = net->forward(torch::rand({1 + i % 16, 16}));
    watch.step();
  }
}

// A ring that is full.
static void replay(Watch &watch) {
  std::deque<Tensor> ring;
  Net net;
  for (int i = 0; i < 3 * Steps; ++i) {
    torch::NoGradGuard guard;
    ring.push_back(net->forward(torch::rand({1, 16})));
    if (ring.size() > 20)
      ring.pop_front();
    watch.step();
  }
}

static void truncated(Watch &watch) {
  Tagger tagger;
  torch::optim::SGD optimizer(tagger->parameters(), 0.01);
  Tensor state = torch::zeros({1, 4, 16});
  for (int i = 0; i < Steps; ++i) {
    optimizer.zero_grad();
    auto [out, next] = tagger->forward(torch::rand({5, 4, 16}), state);
    out.sum().backward();
    optimizer.step();
    state = next.detach();
    watch.step();
  }
}

// An average of the weights.
static void averaged(Watch &watch) {
  Net net, mean;
  torch::optim::SGD optimizer(net->parameters(), 0.01);
  for (int i = 0; i < Steps; ++i) {
    optimizer.zero_grad();
    net->forward(torch::rand({8, 16})).sum().backward();
    optimizer.step();
    torch::NoGradGuard guard;
    auto to = mean->parameters(), from = net->parameters();
    for (size_t p = 0; p < to.size(); ++p)
      to[p].mul_(0.9).add_(from[p], 0.1);
    watch.step();
  }
}

// Two threads that answer, each with a guard of its own.
static void served(Watch &watch) {
  Net net;
  net->eval();
  std::vector<std::thread> pool;
  for (int t = 0; t < 2; ++t)
    pool.emplace_back([&] {
      torch::NoGradGuard guard;
      for (int i = 0; i < Steps; ++i) {
        net->forward(torch::rand({8, 16})).argmax(1);
        watch.step("request");
      }
    });
  for (auto &thread : pool)
    thread.join();
}

int main(int, char **arguments) {
  Watch watch;
  const std::map<std::string, void (*)(Watch &)> programs = {
      {"losses", losses},       {"metrics", metrics},   {"sequence", sequence},
      {"saved", saved},         {"owners", owners},     {"features", features},
      {"trained", trained},     {"sorted", sorted},     {"replay", replay},
      {"truncated", truncated}, {"averaged", averaged}, {"served", served}};
  programs.at(arguments[1])(watch);
}
