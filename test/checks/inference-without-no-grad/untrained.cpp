// Modules that nobody trains, in the step of another: target networks, teachers.
// RUN: %check_libtorch_tidy %s libtorch-inference-without-no-grad %t

#include <torch/torch.h>
#include <memory>
#include <vector>

using torch::Tensor;

struct QImpl : torch::nn::Module {
  QImpl() { fc = register_module("fc", torch::nn::Linear(4, 4)); }
  Tensor forward(Tensor x) { return fc(x); }
  void copy_from(QImpl &other) {
    torch::NoGradGuard no_grad;
    auto to = parameters(), from = other.parameters();
    for (size_t i = 0; i < to.size(); ++i)
      to[i].copy_(from[i]);
  }
  void descend(double rate) {
    for (auto &p : parameters())
      p.data().sub_(rate * p.grad());
  }
  std::vector<Tensor> weights() { return parameters(); }
  torch::nn::Linear fc{nullptr};
};
TORCH_MODULE(Q);

template <typename M> void copy_parameters(M to, const M &from) {
  torch::NoGradGuard no_grad;
  auto sources = from->named_parameters();
  for (auto &item : to->named_parameters()) {
    auto *source = sources.find(item.key());
    if (source != nullptr)
      item.value().copy_(*source);
  }
}

// What goes in comes from callers: advice.
class Agent {
  Q actor, critic, actor_target, critic_target;
  torch::optim::Adam actor_optimizer, critic_optimizer;

public:
  Agent()
      : actor_optimizer(actor->parameters(), 1e-3),
        critic_optimizer(critic->parameters(), 1e-3) {
    copy_parameters(actor_target, actor);
    torch::load(critic_target, "critic.pt");
  }
  void learn(Tensor state, Tensor next, Tensor reward) {
    Tensor actions = actor_target->forward(next);
    // CHECK-MESSAGES: :[[@LINE-1]]:36: warning: inference without NoGradGuard: 'actor_target' runs in 'learn' and records an autograd graph, although nothing in this file trains its parameters; its activations stay in memory until backward() has made gradients that nothing reads; give it a block of its own, with a guard [libtorch-inference-without-no-grad]
    // CHECK-MESSAGES: :[[@LINE+2]]:49: note: 'critic_target' runs with gradient mode on here, so its result holds an autograd graph
    // CHECK-MESSAGES: :[[@LINE+4]]:10: note: no fix: a guard would also cover this, which needs gradients
    Tensor goal = reward + 0.9 * critic_target->forward(actions);
    Tensor loss = torch::mse_loss(critic->forward(state), goal);
    critic_optimizer.zero_grad();
    loss.backward();
    critic_optimizer.step();
    // Not detached, and back-propagated alone: the critic is trained.
    Tensor worth = -critic->forward(actor->forward(state)).mean();
    actor_optimizer.zero_grad();
    worth.backward();
    actor_optimizer.step();
    for (size_t i = 0; i < actor->parameters().size(); ++i) {
      torch::NoGradGuard no_grad;
      actor_target->parameters()[i].lerp_(actor->parameters()[i], 0.01);
    }
    critic_target->copy_from(*critic);
  }
};

static Tensor batch() { return torch::rand({8, 4}); }

void distill(Q student) {
  auto teacher = std::make_shared<QImpl>();
  torch::load(teacher, "teacher.pt");
  teacher->eval();
  torch::optim::SGD optimizer(student->parameters(), 0.1);
  for (int i = 0; i < 100; ++i) {
    Tensor x = batch();
    Tensor loss = torch::mse_loss(student(x), teacher->forward(x));
    // CHECK-MESSAGES: :[[@LINE-1]]:56: warning: inference without NoGradGuard: 'teacher' runs in 'distill' and records an autograd graph, although nothing in this file trains its parameters; its activations stay in memory until backward() has made gradients that nothing reads; give it a block of its own, with a guard [libtorch-inference-without-no-grad]
    // CHECK-MESSAGES: :[[@LINE+2]]:10: note: no fix: a guard would also cover this, which needs gradients
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}

void cloned(Q net, torch::optim::Optimizer &optimizer) {
  auto old = std::dynamic_pointer_cast<QImpl>(net->clone());
  Tensor x = batch();
  Tensor loss = (net(x) - old->forward(x)).pow(2).mean();
  // CHECK-MESSAGES: :[[@LINE-1]]:32: warning: inference without NoGradGuard: 'old' runs in 'cloned' and records an autograd graph, although nothing in this file trains its parameters; its activations stay in memory until backward() has made gradients that nothing reads; give it a block of its own, with a guard [libtorch-inference-without-no-grad]
  // CHECK-MESSAGES: :[[@LINE+1]]:8: note: no fix: a guard would also cover this, which needs gradients
  loss.backward();
  optimizer.step();
}

// Silent: somebody trains it, or may.
void unseen(Q &);
static Q made() { return Q(); }

#define STEP(INTO, VALUE)                                                      \
  Tensor x = batch();                                                          \
  Tensor loss = (net(x) - (VALUE)).pow(2).mean();                              \
  loss.backward();                                                             \
  INTO.step();

void by_hand(Q net, torch::optim::Optimizer &o) {
  Q other;
  STEP(o, other(x))
  other->descend(0.1);
}
void by_a_method(Q net) {
  Q other;
  torch::optim::SGD o(other->weights(), 0.1);
  STEP(o, other(x))
}
void by_a_list(Q net) {
  Q other;
  auto all = net->parameters(), more = other->parameters();
  all.insert(all.end(), more.begin(), more.end());
  torch::optim::SGD o(all, 0.1);
  STEP(o, other(x))
}
void by_a_loop(Q net) {
  Q other;
  std::vector<Tensor> all;
  for (auto &p : other->parameters())
    all.push_back(p);
  torch::optim::SGD o(all, 0.1);
  STEP(o, other(x))
}
void by_another_name(Q net) {
  Q other;
  auto *raw = other.get();
  torch::optim::SGD o(raw->parameters(), 0.1);
  STEP(o, other(x))
}
void by_a_lambda(Q net) {
  Q other;
  auto all = [kept = other] { return kept->parameters(); };
  torch::optim::SGD o(all(), 0.1);
  STEP(o, other(x))
}
void by_a_layer(Q net) {
  Q other;
  torch::optim::SGD o({other->fc->weight}, 0.1);
  STEP(o, other(x))
}
void by_a_group(Q net, torch::optim::Optimizer &o) {
  Q other;
  o.add_param_group(torch::optim::OptimizerParamGroup(other->parameters()));
  STEP(o, other(x))
}
void as_a_part(Q net) {
  Q other;
  torch::nn::Sequential both(other, torch::nn::ReLU());
  torch::optim::SGD o(both->parameters(), 0.1);
  STEP(o, other(x))
}
void as_the_same(Q net, torch::optim::Optimizer &o) {
  Q other = net;
  STEP(o, other(x))
}
void given_away(Q net, torch::optim::Optimizer &o) {
  Q other;
  unseen(other);
  STEP(o, other(x))
}
void from_elsewhere(Q net, torch::optim::Optimizer &o) {
  Q other = made();
  STEP(o, other(x))
}
void of_the_caller(Q net, Q other, torch::optim::Optimizer &o) {
  STEP(o, other(x))
}
struct Both {
  Q net, other;
  torch::optim::Adam o{net->parameters(), 0.1};
  torch::optim::Adam second{other->parameters(), 0.1};
  void learn() { STEP(o, other(x)) }
};
class Shows {
  Q net, other;
  torch::optim::Adam o{net->parameters(), 0.1};

public:
  Q &shown() { return other; }
  void learn() { STEP(o, other(x)) }
};
struct Holds {
  Q net, other;
};
struct Trains : Holds {
  torch::optim::Adam o, second{other->parameters(), 0.1};
  Trains() : o(net->parameters(), 0.1) {}
  void learn() { STEP(o, other(x)) }
};
struct Whole : torch::nn::Module {
  Q net, other;
  Whole() {
    register_module("net", net);
    register_module("other", other);
  }
  void learn(torch::optim::Optimizer &o) { STEP(o, other(x)) }
};

// Silent: history goes in, or the gradient is asked for.
void perceptual(Q net, torch::optim::Optimizer &o) {
  Q features;
  STEP(o, features(net(x)))
}
void adversarial(Q net, torch::optim::Optimizer &o) {
  Q judge;
  Tensor patch = torch::zeros({8, 4}, torch::requires_grad());
  STEP(o, judge(x + patch))
}
void of_weights(Q net, torch::optim::Optimizer &o) {
  Q other;
  auto g = torch::autograd::grad({other(batch()).sum()}, other->parameters());
  STEP(o, other(x))
}
// Silent: no other is trained in this step, or none of this one's graph is made.
void alone(torch::optim::Optimizer &o) {
  Q net;
  STEP(o, batch())
}
void guarded(Q net, torch::optim::Optimizer &o) {
  Q other;
  auto predicted = [&](const Tensor &in) {
    torch::NoGradGuard no_grad;
    return other(in);
  };
  STEP(o, predicted(x))
}
void frozen(Q net, torch::optim::Optimizer &o) {
  Q other;
  for (auto &p : other->parameters())
    p.set_requires_grad(false);
  STEP(o, other(x))
}
