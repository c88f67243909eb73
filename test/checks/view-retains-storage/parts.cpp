// Parts, losses and files that come with the memory of a whole tensor.
// RUN: %check_libtorch_tidy %s libtorch-view-retains-storage %t

#include <torch/torch.h>

using torch::Tensor;
using torch::indexing::Slice;

struct NetImpl : torch::nn::Module {
  Tensor forward(Tensor x);
};
TORCH_MODULE(Net);

std::vector<Tensor> variables(int n) {
  std::vector<Tensor> keep;
  for (int i = 0; i < n; ++i) {
    Tensor big = torch::randn({10, 1000});
    keep.push_back(big[3]);
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: wasted memory: 'keep' keeps a part of 'big', 3.9 KB, and with it the memory of the whole tensor, 39.1 KB; keep a clone() of the part [libtorch-view-retains-storage]
    // CHECK-FIXES: keep.push_back(big[3].clone());
  }
  for (int i = 0; i < n; ++i) {
    Tensor big = torch::randn({10, 1000}) * 2;
    auto last = big.narrow(0, 9, 1);
    keep.emplace_back(last.detach());
    // CHECK-MESSAGES: :[[@LINE-1]]:23: warning: wasted memory: 'keep' keeps a part of 'big', 3.9 KB, and with it the memory of the whole tensor, 39.1 KB; keep a clone() of the part [libtorch-view-retains-storage]
    // CHECK-FIXES: keep.emplace_back(last.detach().clone());
  }
  return keep;
}

std::vector<Tensor> temporaries(int n, Tensor x) {
  std::vector<Tensor> keep(n);
  for (int i = 0; i < n; ++i) {
    keep[i] = torch::exp(x).index({Slice(0, 1), 2});
    // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: wasted memory: 'keep' keeps a part of a temporary tensor and with it the memory of the whole tensor; keep a clone() of the part [libtorch-view-retains-storage]
    keep.push_back(torch::exp(x).chunk(10)[2]);
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: wasted memory: 'keep' keeps a part of a temporary tensor and with it the memory of the whole tensor; keep a clone() of the part [libtorch-view-retains-storage]
    keep.push_back(std::get<0>(x.sort(0)).slice(0, 0, 3));
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: wasted memory: 'keep' keeps a part of a temporary tensor and with it the memory of the whole tensor; keep a clone() of the part [libtorch-view-retains-storage]
    // CHECK-FIXES: keep[i] = torch::exp(x).index({Slice(0, 1), 2}).clone();
    // CHECK-FIXES: keep.push_back(torch::exp(x).chunk(10)[2].clone());
    // CHECK-FIXES: keep.push_back(std::get<0>(x.sort(0)).slice(0, 0, 3).clone());
    // It may be the only sample of its batch.
    keep.push_back(torch::exp(x)[0]);
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: wasted memory: 'keep' keeps a part of a temporary tensor and with it the memory of the whole tensor; keep a clone() of the part [libtorch-view-retains-storage]
    // CHECK-FIXES: keep.push_back(torch::exp(x)[0].clone());
  }
  return keep;
}

std::vector<Tensor> losses(int n, Tensor a, Tensor b) {
  std::vector<Tensor> keep;
  torch::nn::MSELoss criterion;
  for (int i = 0; i < n; ++i) {
    keep.push_back(torch::mse_loss(a, b).detach());
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: wasted memory: 'keep' keeps the whole unreduced loss alive for a single number; keep a clone() of that number [libtorch-view-retains-storage]
    // CHECK-FIXES: keep.push_back(torch::mse_loss(a, b).detach().clone());
    auto loss = criterion(a, b);
    loss.backward();
    keep.push_back(loss.detach());
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: wasted memory: 'keep' keeps the whole unreduced loss alive for a single number; keep a clone() of that number [libtorch-view-retains-storage]
    // CHECK-FIXES: keep.push_back(loss.detach().clone());
  }
  return keep;
}

class Recorder {
public:
  void step(Net net, Tensor x) {
    torch::NoGradGuard no_grad;
    Tensor out = net(x);
    steps_.push_back(out.select(1, -1));
    // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: wasted memory: 'steps_' keeps a part of 'out' and with it the memory of the whole tensor; keep a clone() of the part [libtorch-view-retains-storage]
    // CHECK-FIXES: steps_.push_back(out.select(1, -1).clone());
  }
  // The graph is what costs most here.
  void with_graph(Net net, Tensor x) {
    Tensor out = net(x);
    steps_.push_back(out.select(1, -1));
    // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: wasted memory: 'steps_' keeps a part of 'out' and with it the memory of the whole tensor; keep a clone() of the part [libtorch-view-retains-storage]
    // CHECK-FIXES: steps_.push_back(out.select(1, -1).clone());
  }
  // These copy only what is not in place and of that type already.
  void rows(Net net, Tensor x) {
    torch::NoGradGuard no_grad;
    Tensor out = net(x);
    last_ = out[1].narrow(0, 0, 4).contiguous();
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: wasted memory: 'last_' keeps a part of 'out' and with it the memory of the whole tensor; keep a clone() of the part [libtorch-view-retains-storage]
    // CHECK-FIXES: last_ = out[1].narrow(0, 0, 4).contiguous().clone();
  }
  void converted(Net net, Tensor x, int id) {
    torch::NoGradGuard no_grad;
    Tensor out = net(x);
    tracks_[id].row =
        out.index({1, torch::indexing::Slice(0, 4)}).to(torch::kFloat32);
    // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: wasted memory: 'tracks_' keeps a part of 'out' and with it the memory of the whole tensor; keep a clone() of the part [libtorch-view-retains-storage]
    // CHECK-FIXES: out.index({1, torch::indexing::Slice(0, 4)}).to(torch::kFloat32).clone();
  }
  int in_static(Net net, Tensor x) {
    torch::NoGradGuard no_grad;
    Tensor out = net(x);
    static Tensor reference = out.select(1, 2);
    // CHECK-MESSAGES: :[[@LINE-1]]:31: warning: wasted memory: 'reference' keeps a part of 'out' and with it the memory of the whole tensor; keep a clone() of the part [libtorch-view-retains-storage]
    // CHECK-FIXES: static Tensor reference = out.select(1, 2).clone();
    return reference.dim();
  }
  // One at a time.
  void last(Net net, Tensor x) {
    Tensor out = net(x);
    last_ = out.select(1, -1).detach();
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: wasted memory: 'last_' keeps a part of 'out' and with it the memory of the whole tensor; keep a clone() of the part [libtorch-view-retains-storage]
    // CHECK-FIXES: last_ = out.select(1, -1).detach().clone();
  }

private:
  struct Track {
    Tensor row;
  };
  std::vector<Tensor> steps_;
  std::map<int, Track> tracks_;
  Tensor last_;
};

void files(Tensor x) {
  torch::save(x.slice(0, 0, 4), "slice.pt");
  // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: wasted memory: a part of a tensor is saved with the whole memory of that tensor; save a clone() of the part [libtorch-view-retains-storage]
  // CHECK-FIXES: torch::save(x.slice(0, 0, 4).clone(), "slice.pt");
  auto part = x.narrow(0, 2, 2);
  torch::save(part, "part.pt");
  // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: wasted memory: a part of a tensor is saved with the whole memory of that tensor; save a clone() of the part [libtorch-view-retains-storage]
  // CHECK-FIXES: torch::save(part.clone(), "part.pt");
  torch::save(x[1].contiguous(), "row.pt");
  // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: wasted memory: a part of a tensor is saved with the whole memory of that tensor; save a clone() of the part [libtorch-view-retains-storage]
  // CHECK-FIXES: torch::save(x[1].contiguous().clone(), "row.pt");
  torch::save({x[1], x.clone()}, "list.pt");
  // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: wasted memory: a part of a tensor is saved with the whole memory of that tensor; save a clone() of the part [libtorch-view-retains-storage]
  // CHECK-FIXES: torch::save({x[1].clone(), x.clone()}, "list.pt");
  for (const auto &piece : x.chunk(10))
    torch::save(piece, "piece.pt");
  // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: wasted memory: a part of a tensor is saved with the whole memory of that tensor; save a clone() of the part [libtorch-view-retains-storage]
  // CHECK-FIXES: torch::save(piece.clone(), "piece.pt");
  auto rows = x.unbind(1);
  for (auto row : rows)
    torch::save(row, "rows.pt");
  // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: wasted memory: a part of a tensor is saved with the whole memory of that tensor; save a clone() of the part [libtorch-view-retains-storage]
  // CHECK-FIXES: torch::save(row.clone(), "rows.pt");
  // Not the only element: there are others.
  auto first = x[0];
  torch::save(first, "first.pt");
  // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: wasted memory: a part of a tensor is saved with the whole memory of that tensor; save a clone() of the part [libtorch-view-retains-storage]
  // CHECK-FIXES: torch::save(first.clone(), "first.pt");
}
