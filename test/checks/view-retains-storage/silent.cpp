// What looks like it and holds nothing more, or has to share.
// RUN: %check_libtorch_tidy %s libtorch-view-retains-storage %t

#include <torch/torch.h>

using torch::Tensor;
void use(Tensor);

struct Data {
  Tensor images;
  std::vector<Tensor> rows;
  Tensor row;
  // The whole lives on: views cost nothing.
  void view_of_member(int64_t i) {
    row = images[i];
    rows.push_back(images.slice(0, 0, i));
  }
  void view_of_parameter(Tensor x) { rows.push_back(x[3]); }
};

// These copy, or may well do so.
struct Copies {
  Tensor row;
  void host(Tensor x) {
    Tensor y = torch::exp(x);
    row = y[1].to(torch::kCPU);
  }
  void doubles(Tensor x) {
    Tensor y = torch::exp(x);
    row = y[1].to(torch::kDouble);
  }
  void column(Tensor x) {
    Tensor y = torch::exp(x);
    row = y.select(1, 1).contiguous();
  }
  void columns(Tensor x) {
    Tensor y = torch::exp(x);
    row = y.index({torch::indexing::Slice(), 1}).contiguous();
  }
  void indices(Tensor x) {
    Tensor y = torch::argmax(x, 1);
    row = y.narrow(0, 1, 4).to(torch::kFloat32);
  }
  void forced(Tensor x) {
    Tensor y = torch::exp(x);
    row = y[1].to(torch::kFloat32, false, /*copy=*/true);
  }
};

// All parts are kept, or the whole as well.
std::vector<Tensor> all_rows(Tensor x) {
  Tensor y = torch::exp(x);
  std::vector<Tensor> rows;
  for (int64_t i = 0; i < y.size(0); ++i)
    rows.push_back(y[i]);
  return rows;
}
std::vector<Tensor> both_halves(int n, Tensor x) {
  std::vector<Tensor> keep;
  for (int i = 0; i < n; ++i) {
    Tensor y = torch::exp(x);
    keep.push_back(y.slice(0, 0, 5));
    keep.push_back(y.slice(0, 5, 10));
  }
  for (int i = 0; i < n; ++i) {
    Tensor y = torch::exp(x);
    keep.push_back(y);
    keep.push_back(y[3]);
  }
  return keep;
}
std::vector<Tensor> copies(int n, Tensor x, Tensor mask) {
  std::vector<Tensor> keep;
  for (int i = 0; i < n; ++i) {
    keep.push_back(torch::exp(x)[3].clone());
    keep.push_back(torch::exp(x).index({mask}));
    keep.push_back(torch::exp(x).index_select(0, mask));
    keep.push_back(torch::exp(x)[3] + 1);
    keep.push_back(torch::exp(x)[3].to(torch::kCPU));
    keep.push_back(torch::exp(x).view({-1}));
    keep.push_back(torch::l1_loss(x, mask).detach());
    keep.push_back(torch::mse_loss(x, mask, at::Reduction::None).detach());
    keep.push_back(torch::mse_loss(x, mask).detach().clone());
  }
  return keep;
}
// The graph is the larger matter.
void with_graph(std::vector<Tensor> &losses, Tensor a, Tensor b) {
  losses.push_back(torch::mse_loss(a, b));
}
// Gone with the iteration, or used up in it.
void used(int n, Tensor x) {
  for (int i = 0; i < n; ++i) {
    std::vector<Tensor> parts;
    parts.push_back(torch::exp(x)[3]);
    use(torch::stack(parts));
  }
}
// The last one only, and gone with the function.
Tensor last_of(int n, Tensor x) {
  Tensor last;
  for (int i = 0; i < n; ++i)
    last = torch::exp(x)[3];
  return last.sum();
}
// Written through.
std::vector<Tensor> slots(int n) {
  std::vector<Tensor> keep;
  for (int i = 0; i < n; ++i) {
    Tensor y = torch::zeros({4, 4});
    keep.push_back(y[3]);
    keep.back().add_(1), keep[i].mul_(2);
  }
  return keep;
}
void files(Tensor x, std::vector<Tensor> list) {
  torch::save(x, "all.pt");
  torch::save(x[1].clone(), "part.pt");
  torch::save(list[0], "first.pt");
  torch::save(x.select(1, 1).contiguous(), "column.pt");
  for (const auto &piece : x.chunk(10))
    torch::save(piece.clone(), "piece.pt");
  for (const auto &entry : list)
    torch::save(entry, "entry.pt");
  for (auto piece : x.chunk(10)) {
    piece = piece * 2;
    torch::save(piece, "computed.pt");
  }
}
