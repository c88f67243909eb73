// A class that is by its base a pointer to itself ends no search for a pointee.
// RUN: %ends
#include <torch/torch.h>

struct NodePtr : std::shared_ptr<NodePtr> {};
void handles(NodePtr n) {
  n.reset();
  NodePtr m = n;
}

struct Odd;
struct Even : std::shared_ptr<Odd> {};
struct Odd : std::shared_ptr<Even> {};
struct Both {
  Odd odd;
  Even even;
};
void two(Odd a, Even b, torch::Tensor x) {
  Both both{a, b};
  x.register_hook([a, b](torch::Tensor g) { return g; });
}

struct Worker : std::unique_ptr<Worker> {
  void step();
};
void steps(Worker &w, torch::Tensor x) {
  w.step();
  w->step();
  x.register_hook([p = &w](torch::Tensor g) {
    (*p)->step();
    return g;
  });
}
