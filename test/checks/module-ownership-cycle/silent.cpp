// Modules that refer to their owner, or own what does not own them.
// RUN: %check_libtorch_tidy %s libtorch-module-ownership-cycle %t

#include <torch/torch.h>

struct ParentImpl;
struct ChildImpl : torch::nn::Module {
  void set(ParentImpl *p) { raw = p; }
  void set(std::shared_ptr<ParentImpl> p) { weak = p; }
  ParentImpl *raw = nullptr;
  std::weak_ptr<ParentImpl> weak;
};
TORCH_MODULE(Child);
struct ParentImpl : torch::nn::Module,
                    std::enable_shared_from_this<ParentImpl> {
  using std::enable_shared_from_this<ParentImpl>::shared_from_this;
  ParentImpl() {
    child = register_module("child", Child());
    child->set(this);
  }
  void adopt() {
    child->raw = this;
    child->weak = shared_from_this();
    child->set(shared_from_this());
  }
  Child child{nullptr};
};

// A chain and a tree.
struct NodeImpl : torch::nn::Module {
  void add(std::shared_ptr<NodeImpl> node) {
    children_.push_back(register_module("child", node));
  }
  std::vector<std::shared_ptr<NodeImpl>> children_;
  std::shared_ptr<NodeImpl> next;
  std::weak_ptr<NodeImpl> up;
};
std::shared_ptr<NodeImpl> build(int depth) {
  auto root = std::make_shared<NodeImpl>();
  auto last = root;
  for (int i = 0; i < depth; ++i) {
    auto node = std::make_shared<NodeImpl>();
    last->next = node;
    node->up = last;
    root->add(node);
    last = node;
  }
  return root;
}
void siblings(std::shared_ptr<NodeImpl> a, std::shared_ptr<NodeImpl> b) {
  a->add(b);
  a->next = b;
  b->next = std::make_shared<NodeImpl>();
}

// Shared layers.
struct BackboneImpl : torch::nn::Module {
  torch::nn::Linear fc{4, 4};
};
TORCH_MODULE(Backbone);
struct HeadImpl : torch::nn::Module {
  explicit HeadImpl(Backbone b) : backbone(b) {
    register_module("backbone", backbone);
    fc = register_module("fc", torch::nn::Linear(4, 4));
  }
  Backbone backbone{nullptr};
  torch::nn::Linear fc{nullptr};
};
TORCH_MODULE(Head);
struct NetImpl : torch::nn::Module {
  NetImpl() : head(backbone) {
    register_module("backbone", backbone);
    register_module("head", head);
    layers->push_back(head);
    layers->push_back(torch::nn::Linear(4, 4));
    register_module("layers", layers);
    same = head;
  }
  Backbone backbone;
  Head head, same{nullptr};
  torch::nn::Sequential layers;
};

// Two of a kind are not the same one.
struct PairImpl : torch::nn::Module {
  std::shared_ptr<PairImpl> other;
};
void pair(std::shared_ptr<PairImpl> a, std::shared_ptr<PairImpl> b) {
  a->other = b;
  a = std::make_shared<PairImpl>();
  b->other = a;
}

// Somebody opens the cycle again.
struct OwnerImpl;
struct PartImpl : torch::nn::Module {
  explicit PartImpl(std::shared_ptr<OwnerImpl> o) : owner(o) {}
  void close() { owner.reset(); }
  std::shared_ptr<OwnerImpl> owner;
};
struct OwnerImpl : torch::nn::Module {
  std::shared_ptr<PartImpl> part;
};
void opened(std::shared_ptr<OwnerImpl> owner) {
  owner->part = std::make_shared<PartImpl>(owner);
}

// Classes that could, but are never given an owner.
struct RightImpl;
struct LeftImpl : torch::nn::Module {
  std::shared_ptr<RightImpl> right;
};
struct RightImpl : torch::nn::Module {
  void make() { left = std::make_shared<LeftImpl>(); }
  std::shared_ptr<LeftImpl> left;
};

// No modules.
struct Item {
  std::shared_ptr<Item> self;
};
void item(std::shared_ptr<Item> i) { i->self = i; }
