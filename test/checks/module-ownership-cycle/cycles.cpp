// Modules that are given their owner.
// RUN: %check_libtorch_tidy %s libtorch-module-ownership-cycle %t

#include <torch/torch.h>

using torch::Tensor;

struct ParentImpl;

struct ChildImpl : torch::nn::Module {
  void set_parent(std::shared_ptr<ParentImpl> p) { parent = std::move(p); }
  std::shared_ptr<ParentImpl> parent;
  std::weak_ptr<ParentImpl> weak;
  torch::nn::AnyModule any;
};
TORCH_MODULE(Child);

struct ParentImpl : torch::nn::Module {
  ParentImpl() { register_module("child", child); }
  void adopt() {
    child->parent = std::static_pointer_cast<ParentImpl>(shared_from_this());
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: memory leak: this makes 'child' own this module, which owns it: neither is ever freed; let one of them hold a weak or plain pointer [libtorch-module-ownership-cycle]
  }
  void adopt_by_setter() {
    auto self = std::dynamic_pointer_cast<ParentImpl>(shared_from_this());
    child->set_parent(self);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: memory leak: this makes 'child' own this module, which owns it: neither is ever freed; let one of them hold a weak or plain pointer [libtorch-module-ownership-cycle]
  }
  void adopt_all() {
    for (auto &one : children_)
      one->parent = std::static_pointer_cast<ParentImpl>(shared_from_this());
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: memory leak: this makes 'children_' own this module, which owns it: neither is ever freed; let one of them hold a weak or plain pointer [libtorch-module-ownership-cycle]
  }
  void keep_itself() { me = shared_from_this(); }
  // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: memory leak: this makes this module own itself, directly or through a member: it is never freed; hold a weak or plain pointer there [libtorch-module-ownership-cycle]
  Child child;
  std::vector<Child> children_;
  std::shared_ptr<torch::nn::Module> me;
};
TORCH_MODULE(Parent);

void outside(Parent parent) { parent->child->parent = parent.ptr(); }
  // CHECK-MESSAGES: :[[@LINE-1]]:31: warning: memory leak: this makes 'parent.child' own 'parent', which owns it: neither is ever freed; let one of them hold a weak or plain pointer [libtorch-module-ownership-cycle]

void both_ways() {
  auto parent = std::make_shared<ParentImpl>();
  auto child = std::make_shared<ChildImpl>();
  parent->child = Child(child);
  child->set_parent(parent);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: memory leak: this makes 'child' own 'parent', which owns it: neither is ever freed; let one of them hold a weak or plain pointer [libtorch-module-ownership-cycle]
}

void registered(Parent parent, Child child) {
  parent->register_module("c", child);
  child->register_module("p", parent);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: memory leak: this makes 'child' own 'parent', which owns it: neither is ever freed, and parameters() recurses without end; let one of them hold a weak or plain pointer [libtorch-module-ownership-cycle]
}

void registers_itself(Child child) { child->register_module("self", child); }
  // CHECK-MESSAGES: :[[@LINE-1]]:38: warning: memory leak: this makes 'child' own itself, directly or through a member: it is never freed, and parameters() recurses without end; hold a weak or plain pointer there [libtorch-module-ownership-cycle]

struct Encoder : torch::nn::Module {
  explicit Encoder(std::shared_ptr<torch::nn::Module> owner)
      : owner_(std::move(owner)) {}
  std::shared_ptr<torch::nn::Module> owner_;
};
struct ModelImpl : torch::nn::Module {
  std::shared_ptr<Encoder> encoder;
};
TORCH_MODULE(Model);

void constructed() {
  Model model;
  model->encoder = std::make_shared<Encoder>(model.ptr());
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: memory leak: this makes 'model' own itself, directly or through a member: it is never freed; hold a weak or plain pointer there [libtorch-module-ownership-cycle]
}
std::shared_ptr<ModelImpl> through_a_variable() {
  auto model = std::make_shared<ModelImpl>();
  auto encoder = std::make_shared<Encoder>(model);
  model->encoder = model->register_module("encoder", encoder);
  model->encoder = encoder;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: memory leak: this makes 'model' own itself, directly or through a member: it is never freed; hold a weak or plain pointer there [libtorch-module-ownership-cycle]
  return model;
}

// A tree is none, unless its leaves own the way up.
struct NodeImpl : torch::nn::Module {
  void add(std::shared_ptr<NodeImpl> node) { children_.push_back(node); }
  std::vector<std::shared_ptr<NodeImpl>> children_;
  std::shared_ptr<NodeImpl> up;
};
void tree(std::shared_ptr<NodeImpl> root) {
  auto leaf = std::make_shared<NodeImpl>();
  root->add(leaf);
  leaf->up = root;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: memory leak: this makes 'leaf' own 'root', which owns it: neither is ever freed; let one of them hold a weak or plain pointer [libtorch-module-ownership-cycle]
}
