// At level 1 only parts that are certainly smaller, pile up, and carry no graph.
// RUN: %check_libtorch_tidy %s libtorch-view-retains-storage %t --level=1

#include <torch/torch.h>

using torch::Tensor;

struct NetImpl : torch::nn::Module {
  Tensor forward(Tensor x);
};
TORCH_MODULE(Net);

struct Recorder {
  Tensor last;
  std::vector<Tensor> steps;
  void likely(Net net, Tensor x) {
    auto out = net(x);
    auto end = out.select(1, -1);
    steps.push_back(end.detach());
    // CHECK-NOTES: :[[@LINE-1]]:21: warning: wasted memory: 'steps' keeps a part of 'out' and with it the memory of the whole tensor; keep a clone() of the part [libtorch-view-retains-storage]
    // CHECK-NOTES: :[[@LINE-4]]:10: note: 'out' is destroyed at the end of its block, but its memory is not
    // CHECK-NOTES: :[[@LINE-4]]:16: note: the part is taken here
    // CHECK-FIXES: steps.push_back(end.detach().clone());
  }
  void with_graph(Net net, Tensor x) {
    auto out = net(x);
    steps.push_back(out.select(1, -1));
  }
  void only_sample(Net net, Tensor x) {
    auto out = net(x);
    steps.push_back(out[0].detach());
  }
  void one_at_a_time(Net net, Tensor x) {
    auto out = net(x);
    last = out.select(1, -1).detach();
  }
};

// A copy would not show what is written to the tensor later: no edit.
struct WrittenLater {
  std::vector<Tensor> steps;
  void keep(Net net, Tensor x) {
    auto out = net(x);
    auto end = out.select(1, -1);
    steps.push_back(end.detach());
    // CHECK-NOTES: :[[@LINE-1]]:21: warning: wasted memory: 'steps' keeps a part of 'out' and with it the memory of the whole tensor; keep a clone() of the part [libtorch-view-retains-storage]
    // CHECK-NOTES: :[[@LINE-4]]:10: note: 'out' is destroyed at the end of its block, but its memory is not
    // CHECK-NOTES: :[[@LINE-4]]:16: note: the part is taken here
    // CHECK-FIXES: steps.push_back(end.detach());
    out.mul_(2);
  }
};
