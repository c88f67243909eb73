// Classes that own each other, with no place that is seen to close the cycle.
// RUN: %check_libtorch_tidy %s libtorch-module-ownership-cycle %t

#include <torch/torch.h>

struct TreeImpl;
struct BranchImpl : torch::nn::Module {
  explicit BranchImpl(std::shared_ptr<TreeImpl> tree)
      : tree_(std::move(tree)) {}
  std::shared_ptr<TreeImpl> tree_;
  // CHECK-NOTES: :[[@LINE-1]]:29: warning: memory leak: 'tree_' owns a module of class 'TreeImpl', which owns 'BranchImpl' modules: if that module owns this one, neither is ever freed; let one of them hold a weak or plain pointer [libtorch-module-ownership-cycle]
  // CHECK-NOTES: :[[@LINE-3]]:9: note: it is given one here
  // CHECK-NOTES: :[[@LINE+6]]:23: note: 'TreeImpl' owns 'BranchImpl' modules by this member
};
TORCH_MODULE(Branch);

struct TreeImpl : torch::nn::Module {
  void grow(Branch branch) { branches.push_back(branch); }
  std::vector<Branch> branches;
};

struct OuterImpl;
struct InnerImpl : torch::nn::Module {
  void attach(const std::shared_ptr<OuterImpl> &outer) { outer_ = outer; }
  std::shared_ptr<OuterImpl> outer_;
  // CHECK-NOTES: :[[@LINE-1]]:30: warning: memory leak: 'outer_' owns a module of class 'OuterImpl', which owns 'InnerImpl' modules: if that module owns this one, neither is ever freed; let one of them hold a weak or plain pointer [libtorch-module-ownership-cycle]
  // CHECK-NOTES: :[[@LINE-3]]:67: note: it is given one here
  // CHECK-NOTES: :[[@LINE+6]]:31: note: 'OuterImpl' owns 'InnerImpl' modules by this member
};
struct MiddleImpl : torch::nn::Module {
  std::shared_ptr<InnerImpl> inner;
};
struct OuterImpl : torch::nn::Module {
  std::shared_ptr<MiddleImpl> middle;
};
