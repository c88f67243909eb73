// How much is kept, where the sizes of the tensor are certain.
// RUN: %check_libtorch_tidy %s libtorch-view-retains-storage %t

#include <torch/torch.h>

using torch::Tensor;
using torch::indexing::Slice;

constexpr int64_t kRows = 1000;
const int64_t Columns = 1000;
int64_t Global = 500;

std::vector<Tensor> parts(int n, int64_t given, torch::ScalarType type, torch::TensorOptions options, torch::Device device) {
  std::vector<Tensor> keep;
  const auto half = torch::dtype(torch::kHalf).device(torch::kCPU);
  for (int i = 0; i < n; ++i) {
    Tensor a = torch::randn({kRows, Columns});
    keep.push_back(a[3]);
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: wasted memory: 'keep' keeps a part of 'a', 3.9 KB, and with it the memory of the whole tensor, 3.8 MB; keep a clone() of the part [libtorch-view-retains-storage]
    // CHECK-FIXES: keep.push_back(a[3].clone());
    Tensor b = torch::zeros({kRows, Columns}, half);
    keep.push_back(b[3]);
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: wasted memory: 'keep' keeps a part of 'b', 2.0 KB, and with it the memory of the whole tensor, 1.9 MB; keep a clone() of the part [libtorch-view-retains-storage]
    // CHECK-FIXES: keep.push_back(b[3].clone());
    Tensor c = torch::zeros({kRows, Columns}, torch::TensorOptions().dtype(torch::kInt64));
    keep.push_back(c.narrow(0, 2, 10));
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: wasted memory: 'keep' keeps a part of 'c', 78.1 KB, and with it the memory of the whole tensor, 7.6 MB; keep a clone() of the part [libtorch-view-retains-storage]
    // CHECK-FIXES: keep.push_back(c.narrow(0, 2, 10).clone());
    Tensor d = torch::zeros({kRows, Columns}).to(torch::kFloat64);
    keep.push_back(d.select(1, 2));
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: wasted memory: 'keep' keeps a part of 'd', 7.8 KB, and with it the memory of the whole tensor, 7.6 MB; keep a clone() of the part [libtorch-view-retains-storage]
    // CHECK-FIXES: keep.push_back(d.select(1, 2).clone());
    keep.push_back((torch::ones({kRows, kRows}) * 2).index({Slice(0, 10)}));
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: wasted memory: 'keep' keeps a part of a temporary tensor, 39.1 KB, and with it the memory of the whole tensor, 3.8 MB; keep a clone() of the part [libtorch-view-retains-storage]
    // CHECK-FIXES: keep.push_back((torch::ones({kRows, kRows}) * 2).index({Slice(0, 10)}).clone());
    // Not known, or not certain: the message is the plain one.
    Tensor e = torch::zeros({kRows, given});
    keep.push_back(e[3]);
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: wasted memory: 'keep' keeps a part of 'e' and with it the memory of the whole tensor; keep a clone() of the part [libtorch-view-retains-storage]
    // CHECK-FIXES: keep.push_back(e[3].clone());
    Tensor f = torch::zeros({kRows, Columns}, type);
    keep.push_back(f[3]);
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: wasted memory: 'keep' keeps a part of 'f' and with it the memory of the whole tensor; keep a clone() of the part [libtorch-view-retains-storage]
    // CHECK-FIXES: keep.push_back(f[3].clone());
    Tensor g = torch::zeros({kRows, Columns}, torch::TensorOptions().dtype(type));
    keep.push_back(g[3]);
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: wasted memory: 'keep' keeps a part of 'g' and with it the memory of the whole tensor; keep a clone() of the part [libtorch-view-retains-storage]
    // CHECK-FIXES: keep.push_back(g[3].clone());
    Tensor h = torch::zeros({kRows, Columns}, options);
    keep.push_back(h[3]);
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: wasted memory: 'keep' keeps a part of 'h' and with it the memory of the whole tensor; keep a clone() of the part [libtorch-view-retains-storage]
    // CHECK-FIXES: keep.push_back(h[3].clone());
    Tensor j = torch::zeros({kRows, Columns}).to(type);
    keep.push_back(j[3]);
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: wasted memory: 'keep' keeps a part of 'j' and with it the memory of the whole tensor; keep a clone() of the part [libtorch-view-retains-storage]
    // CHECK-FIXES: keep.push_back(j[3].clone());
    Tensor k = torch::zeros({kRows, Columns}).to(options);
    keep.push_back(k[3]);
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: wasted memory: 'keep' keeps a part of 'k' and with it the memory of the whole tensor; keep a clone() of the part [libtorch-view-retains-storage]
    // CHECK-FIXES: keep.push_back(k[3].clone());
    Tensor l = torch::zeros({kRows, Columns}).to(device).mul(2);
    keep.push_back(l[3]);
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: wasted memory: 'keep' keeps a part of 'l', 3.9 KB, and with it the memory of the whole tensor, 3.8 MB; keep a clone() of the part [libtorch-view-retains-storage]
    // CHECK-FIXES: keep.push_back(l[3].clone());
    Tensor m = torch::zeros({Global, Columns});
    keep.push_back(m[3]);
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: wasted memory: 'keep' keeps a part of 'm' and with it the memory of the whole tensor; keep a clone() of the part [libtorch-view-retains-storage]
    // CHECK-FIXES: keep.push_back(m[3].clone());
    Tensor o = torch::zeros({kRows, Columns}, options.dtype(torch::kHalf));
    keep.push_back(o[3]);
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: wasted memory: 'keep' keeps a part of 'o' and with it the memory of the whole tensor; keep a clone() of the part [libtorch-view-retains-storage]
    // CHECK-FIXES: keep.push_back(o[3].clone());
    Tensor p = torch::zeros({kRows, Columns}, torch::dtype(type));
    keep.push_back(p[3]);
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: wasted memory: 'keep' keeps a part of 'p' and with it the memory of the whole tensor; keep a clone() of the part [libtorch-view-retains-storage]
    // CHECK-FIXES: keep.push_back(p[3].clone());
    std::vector<int64_t> shape = {10, 10};
    shape.push_back(10);
    Tensor q = torch::zeros(shape);
    keep.push_back(q[3]);
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: wasted memory: 'keep' keeps a part of 'q' and with it the memory of the whole tensor; keep a clone() of the part [libtorch-view-retains-storage]
    // CHECK-FIXES: keep.push_back(q[3].clone());
    Tensor r = torch::zeros({kRows, Columns});
    r.resize_({10});
    keep.push_back(r[3]);
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: wasted memory: 'keep' keeps a part of 'r' and with it the memory of the whole tensor; keep a clone() of the part [libtorch-view-retains-storage]
    // CHECK-FIXES: keep.push_back(r[3].clone());
    Tensor s = torch::zeros({i, Columns});
    keep.push_back(s[3]);
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: wasted memory: 'keep' keeps a part of 's' and with it the memory of the whole tensor; keep a clone() of the part [libtorch-view-retains-storage]
    // CHECK-FIXES: keep.push_back(s[3].clone());
    auto t = torch::TensorOptions();
    t = t.dtype(torch::kHalf);
    Tensor u = torch::zeros({kRows, Columns}, t);
    keep.push_back(u[3]);
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: wasted memory: 'keep' keeps a part of 'u' and with it the memory of the whole tensor; keep a clone() of the part [libtorch-view-retains-storage]
    // CHECK-FIXES: keep.push_back(u[3].clone());
    Tensor v = torch::zeros({1, Columns});
    keep.push_back(v[0]);
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: wasted memory: 'keep' keeps a part of 'v' and with it the memory of the whole tensor; keep a clone() of the part [libtorch-view-retains-storage]
    // CHECK-FIXES: keep.push_back(v[0].clone());
  }
  for (int64_t rows : {10, 20}) {
    Tensor w = torch::zeros({rows, Columns});
    keep.push_back(w[3]);
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: wasted memory: 'keep' keeps a part of 'w' and with it the memory of the whole tensor; keep a clone() of the part [libtorch-view-retains-storage]
    // CHECK-FIXES: keep.push_back(w[3].clone());
  }
  for (int64_t rows = 10; rows < 20; rows *= 2) {
    Tensor w = torch::zeros({rows, Columns});
    keep.push_back(w[3]);
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: wasted memory: 'keep' keeps a part of 'w' and with it the memory of the whole tensor; keep a clone() of the part [libtorch-view-retains-storage]
    // CHECK-FIXES: keep.push_back(w[3].clone());
  }
  return keep;
}

void saved() {
  Tensor big = torch::zeros({1000, 1000});
  torch::save(big[2], "x.pt");
  // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: wasted memory: a part of a tensor, 3.9 KB, is saved with the whole memory of that tensor, 3.8 MB; save a clone() of the part [libtorch-view-retains-storage]
  // CHECK-FIXES: torch::save(big[2].clone(), "x.pt");
  torch::save(big.slice(0, 0, 10), "x.pt");
  // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: wasted memory: a part of a tensor, 39.1 KB, is saved with the whole memory of that tensor, 3.8 MB; save a clone() of the part [libtorch-view-retains-storage]
  // CHECK-FIXES: torch::save(big.slice(0, 0, 10).clone(), "x.pt");
}
void set() { Global = 3; }
