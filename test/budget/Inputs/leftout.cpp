// Steps of which a part is not followed: the peaks lack it.
#ifdef MEASURED
#include "peak.h"
#endif
#include <torch/torch.h>

using namespace torch;

struct NetImpl : nn::Module {
  explicit NetImpl(int64_t width) {
    first = register_module("first", nn::Linear(2, width));
    last = register_module("last", nn::Linear(width, 1));
  }
  Tensor forward(const Tensor &x) { return last(first(x).tanh()); }
  nn::Linear first{nullptr}, last{nullptr};
};
TORCH_MODULE(Net);

#ifdef MEASURED
Tensor elsewhere(const Tensor &x) { return x.sum(); }
#else
Tensor elsewhere(const Tensor &);
#endif

#if defined(DERIVATIVE)
// The loss has the derivative of the result.
int main() {
  Net net(30);
  optim::Adam optimizer(net->parameters());
  for (int i = 0; i < 3; ++i) {
    const Tensor x = torch::rand({50, 2}, torch::requires_grad());
    const Tensor u = net(x);
    const Tensor slope = autograd::grad({u}, {x}, {torch::ones_like(u)}, true, true)[0];
    optimizer.zero_grad();
    slope.pow(2).mean().backward();
    optimizer.step();
  }
}
#elif defined(CLIPPED)
// Between backward() and step() something runs that is not known.
int main() {
  Net net(30);
  optim::Adam optimizer(net->parameters());
  for (int i = 0; i < 3; ++i) {
    optimizer.zero_grad();
    const Tensor loss = net(torch::rand({50, 2})).mean();
    loss.backward();
    const Tensor seen = elsewhere(loss);
    (net->last->weight.grad() * seen).sum();
    optimizer.step();
  }
}
#elif defined(TWICE)
// The second backward() of the step is of a loss that is not known.
int main() {
  Net net(30);
  optim::Adam optimizer(net->parameters());
  for (int i = 0; i < 3; ++i) {
    optimizer.zero_grad();
    const Tensor out = net(torch::rand({50, 2}));
    out.mean().backward({}, true);
    elsewhere(out).backward();
    optimizer.step();
  }
}
#elif defined(OTHERS)
// The step of another model before it is not followed.
int main() {
  Net wide(300), net(30);
  optim::Adam ofWide(wide->parameters()), optimizer(net->parameters());
  for (int i = 0; i < 3; ++i) {
    ofWide.zero_grad();
    elsewhere(wide(torch::rand({50, 2}))).backward();
    ofWide.step();
    optimizer.zero_grad();
    net(torch::rand({50, 2})).mean().backward();
    optimizer.step();
  }
}
#elif defined(ONCE)
// Later steps are not the program's, which makes one: what the other model has then is not known.
int main() {
  Net wide(300), net(30);
  optim::Adam ofWide(wide->parameters()), optimizer(net->parameters());
  net(torch::rand({50, 2})).mean().backward();
  optimizer.step();
  wide(torch::rand({50, 2})).mean().backward();
  ofWide.step();
}
#elif defined(EARLIER)
// The other model has its steps before this one is made.
int main() {
  Net wide(300);
  optim::Adam ofWide(wide->parameters());
  for (int i = 0; i < 3; ++i) {
    wide(torch::rand({50, 2})).mean().backward();
    ofWide.step();
  }
  Net net(30);
  optim::Adam optimizer(net->parameters());
  for (int i = 0; i < 3; ++i) {
    optimizer.zero_grad();
    net(torch::rand({50, 2})).mean().backward();
    optimizer.step();
  }
}
#elif defined(CLOSURE)
// What calls the closure is not seen. The closure of LBFGS is followed, and what it keeps is not.
void minimize(optim::Optimizer &, const std::function<Tensor()> &);
int main() {
  Net wide(300), net(30);
  optim::SGD ofWide(wide->parameters(), 0.1);
  optim::LBFGS optimizer(net->parameters());
  for (int i = 0; i < 3; ++i) {
    minimize(ofWide, [&] {
      const Tensor loss = wide(torch::rand({50, 2})).mean();
      loss.backward();
      return loss;
    });
    optimizer.step([&] {
      optimizer.zero_grad();
      const Tensor loss = net(torch::rand({50, 2})).mean();
      loss.backward();
      return loss;
    });
  }
}
#elif defined(HEADS)
// The loss may be of one result alone, and the rest may be gone before backward().
struct HeadsImpl : nn::Module {
  HeadsImpl() {
    narrow = register_module("narrow", nn::Linear(4, 3));
    wide = register_module("wide", nn::Sequential(nn::Linear(4, 500), nn::Tanh(), nn::Linear(500, 500)));
  }
  std::tuple<Tensor, Tensor> forward(const Tensor &x) {
    const Tensor first = narrow(x);
    return {first, wide->forward(x)};
  }
  nn::Linear narrow{nullptr};
  nn::Sequential wide{nullptr};
};
TORCH_MODULE(Heads);
int main() {
  Heads net;
  optim::Adam optimizer(net->parameters());
  for (int i = 0; i < 3; ++i) {
    optimizer.zero_grad();
    elsewhere(std::get<0>(net->forward(torch::rand({50, 4})))).backward();
    optimizer.step();
  }
}
#elif defined(GRAPH)
// What backward() keeps beside its gradients is not known.
int main() {
  Net net(30);
  optim::Adam optimizer(net->parameters());
  for (int i = 0; i < 3; ++i) {
    optimizer.zero_grad();
    net(torch::rand({50, 2})).mean().backward({}, true, /*create_graph=*/true);
    optimizer.step();
  }
}
#else
// All is followed, or has no gradients: the figures are exact.
int main() {
  Net frozen(300), net(30);
  for (Tensor &p : frozen->parameters())
    p.set_requires_grad(false);
  optim::Adam optimizer(net->parameters());
  for (int i = 0; i < 3; ++i) {
    optimizer.zero_grad();
    const Tensor aim = elsewhere(frozen(torch::rand({50, 2})));
    net(torch::rand({50, 2})).mean().backward();
    optimizer.step();
    elsewhere(aim);
  }
}
#endif
