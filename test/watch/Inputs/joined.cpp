// Leaks of several causes: the argument says which of them runs.
#include <libtorch-tidy/watch.h>

#include <map>
#include <string>
#include <torch/torch.h>
#include <vector>

struct Exp : torch::autograd::Function<Exp> {
  static torch::Tensor forward(torch::autograd::AutogradContext *ctx,
                               torch::Tensor x) {
    torch::Tensor y = x.exp();
    ctx->saved_data["y"] = y;
    return y;
  }
  static torch::autograd::variable_list
  backward(torch::autograd::AutogradContext *ctx,
           torch::autograd::variable_list grads) {
    return {grads[0] * ctx->saved_data["y"].toTensor()};
  }
};

struct Part : torch::nn::Module {
  Part() { fc = register_module("fc", torch::nn::Linear(64, 128)); }
  torch::nn::Linear fc{nullptr};
  std::shared_ptr<Part> other;
};

static void makePair() {
  auto a = std::make_shared<Part>();
  auto b = std::make_shared<Part>();
  a->other = b;
  b->other = a;
}

struct Tree;
struct Leaf : torch::nn::Module {
  Leaf() { fc = register_module("fc", torch::nn::Linear(16, 16)); }
  torch::nn::Linear fc{nullptr};
  std::shared_ptr<Tree> tree;
};
struct Tree : torch::nn::Module {
  Tree() {
    trunk = register_module("trunk", torch::nn::Linear(64, 128));
    leaf = register_module("leaf", std::make_shared<Leaf>());
  }
  void adopt() {
    leaf->tree = std::dynamic_pointer_cast<Tree>(shared_from_this());
  }
  torch::nn::Linear trunk{nullptr};
  std::shared_ptr<Leaf> leaf;
};
static void makeTree() { std::make_shared<Tree>()->adopt(); }

struct Net : torch::nn::Module {
  Net() : fc(16, 4) { register_module("fc", fc); }
  torch::Tensor forward(torch::Tensor x) {
    return torch::log_softmax(fc->forward(x), 1);
  }
  torch::nn::Linear fc;
};

// Has a defect of its own, or two.
struct Leaking : torch::nn::Module {
  Leaking() : fc(16, 4) { register_module("fc", fc); }
  torch::Tensor forward(torch::Tensor x) {
    if (leak == "context")
      return Exp::apply(fc->forward(x));
    if (leak == "pair")
      makePair();
    else
      makeTree();
    return fc->forward(x);
  }
  torch::nn::Linear fc;
  std::string leak;
};

// Two lists of one pass, of which one is filled.
static void train(Net &net, bool sums, libtorch_tidy::Watch &watch) {
  torch::Tensor running = torch::zeros({});
  std::vector<torch::Tensor> outputs;
  for (int i = 0; i < 40; ++i) {
    torch::Tensor output = net.forward(torch::rand({8, 16}));
    torch::Tensor loss = output.mean();
    loss.backward();
    if (sums)
      running =
          running + loss;
    else
      outputs.push_back(output);
    watch.step();
  }
}

// What a guard would not change, called where one is missing.
static void serve(Leaking &net, libtorch_tidy::Watch &watch) {
  net.eval();
  for (int i = 0; i < 40; ++i) {
    torch::Tensor answer = net.forward(torch::rand({8, 16}));
    std::cout << answer.argmax(1)[0].item<int64_t>() << "\n";
    watch.step();
  }
}

static void collect(Net &net, libtorch_tidy::Watch &watch) {
  static std::map<int, torch::Tensor> images;
  net.eval();
  for (int i = 0; i < 40; ++i) {
    images[i] = net.forward(torch::rand({8, 16})).detach().clone();
    watch.step();
  }
}

static void gather(Net &net, libtorch_tidy::Watch &watch) {
  net.eval();
  std::vector<torch::Tensor> results;
  for (int i = 0; i < 40; ++i) {
    results.push_back(net.forward(torch::rand({8, 16})));
    watch.step();
  }
}

// A hook that keeps its own tensor.
static void observe(libtorch_tidy::Watch &watch) {
  for (int i = 0; i < 40; ++i) {
    torch::Tensor seen = torch::rand({8, 16}, torch::requires_grad()) * 2;
    seen.register_hook([seen](torch::Tensor grad) { return grad * seen; });
    watch.step();
  }
}

// State that is carried with its graph.
static void recur(libtorch_tidy::Watch &watch) {
  torch::nn::GRUCell cell(16, 16);
  torch::Tensor hidden = torch::zeros({8, 16});
  for (int i = 0; i < 40; ++i) {
    hidden = cell(torch::rand({8, 16}), hidden);
    hidden.sum().backward({}, /*keep_graph=*/true);
    watch.step();
  }
}

// An optimizer that is given more and more.
static void widen(libtorch_tidy::Watch &watch) {
  Net net;
  torch::optim::Adam optimizer(net.parameters(), 0.1);
  for (int i = 0; i < 40; ++i) {
    torch::nn::Linear extra(16, 4);
    optimizer.add_param_group(
        torch::optim::OptimizerParamGroup(extra->parameters()));
    extra->forward(torch::rand({8, 16})).sum().backward();
    optimizer.step();
    watch.step();
  }
}

// Gradients that own their graph, and what callers made for it.
static void penalize(const torch::Tensor &loss) {
  loss.backward({}, /*keep_graph=*/true, /*create_graph=*/true);
}
static void learn(const torch::Tensor &out, const torch::Tensor &aim) {
  penalize((out - aim).pow(2).mean());
}
static void differ(libtorch_tidy::Watch &watch) {
  torch::nn::Linear wide(16, 64), narrow(64, 4);
  for (int i = 0; i < 40; ++i) {
    torch::Tensor seen = torch::tanh(wide(torch::rand({8, 16})));
    learn(narrow(seen), torch::rand({8, 4}));
    watch.step();
  }
}

// A hook that is set only if somebody asks for it.
static void maybeObserve(bool on, libtorch_tidy::Watch &watch) {
  for (int i = 0; i < 40; ++i) {
    torch::Tensor seen = torch::rand({8, 16}, torch::requires_grad()) * 2;
    on ? seen.register_hook([seen](torch::Tensor grad) { return grad * seen; })
       : 0U;
    watch.step();
  }
}

int main(int, char **arguments) {
  libtorch_tidy::Watch watch;
  Net net;
  Leaking leaking;
  const std::string what = arguments[1];
  leaking.leak = what;
  if (what == "sum" || what == "list")
    train(net, what == "sum", watch);
  else if (what == "map")
    collect(net, watch);
  else if (what == "results")
    gather(net, watch);
  else if (what == "hook")
    observe(watch);
  else if (what == "state")
    recur(watch);
  else if (what == "groups")
    widen(watch);
  else if (what == "graph")
    differ(watch);
  else if (what == "asked" || what == "unasked")
    maybeObserve(what == "asked", watch);
  else
    serve(leaking, watch);
}
