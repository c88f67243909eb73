// What another function gave: fields, captured variables, helpers with several
// ways out.
// RUN: %check_libtorch_tidy %s libtorch-strided-access %t

#include <ATen/Parallel.h>
#include <torch/torch.h>

#include <cstring>
#include <vector>

using torch::Tensor;
void use(const Tensor &);
void change(Tensor &);

class Frame {
  Tensor hwc_;

public:
  explicit Frame(const Tensor &chw) : hwc_(chw.permute({1, 2, 0})) {}
  void write(float *to) const {
    std::memcpy(to, hwc_.data_ptr<float>(), hwc_.nbytes());
    // CHECK-MESSAGES: :[[@LINE-1]]:21: warning: wrong bytes: 'memcpy' copies the bytes of 'hwc_' as they lie in memory, but 'permute' has moved no bytes: they lie in the order from before; read from a packed copy, contiguous(), kept in a variable [libtorch-strided-access]
    // CHECK-FIXES: auto packed = hwc_.contiguous();
    // CHECK-FIXES: std::memcpy(to, packed.data_ptr<float>(), hwc_.nbytes());
  }
};
struct Table {
  Tensor columns;
  void load() { columns = torch::rand({3, 4}).t(); }
  void empty() { columns = Tensor(); }
  std::vector<float> values() {
    return {columns.data_ptr<float>(), columns.data_ptr<float>() + columns.numel()};
    // CHECK-MESSAGES: :[[@LINE-1]]:21: warning: wrong bytes: 'vector' takes the elements of 'columns' as they lie in memory, but 't()' has moved no bytes
    // CHECK-FIXES: auto packed = columns.contiguous();
    // CHECK-FIXES: return {packed.data_ptr<float>(), packed.data_ptr<float>() + columns.numel()};
  }
};

// Packed by one of the methods, asked by one, or changed by who knows whom.
class Packed {
  Tensor hwc_;

public:
  void set(const Tensor &chw) { hwc_ = chw.permute({1, 2, 0}); }
  void pack() { hwc_ = hwc_.contiguous(); }
  void write(float *to) const { std::memcpy(to, hwc_.data_ptr<float>(), hwc_.nbytes()); }
};
class Asked {
  Tensor hwc_;

public:
  void set(const Tensor &chw) {
    hwc_ = chw.permute({1, 2, 0});
    TORCH_CHECK(hwc_.is_contiguous());
  }
  void write(float *to) const { std::memcpy(to, hwc_.data_ptr<float>(), hwc_.nbytes()); }
};
class AskedElsewhere {
  Tensor hwc_;

public:
  void set(const Tensor &chw) { hwc_ = chw.permute({1, 2, 0}); }
  void write(float *to) const;
};
void AskedElsewhere::write(float *to) const {
  if (hwc_.is_contiguous())
    std::memcpy(to, hwc_.data_ptr<float>(), hwc_.nbytes());
}
class AskedByAnother {
  Tensor hwc_;

public:
  void set(const Tensor &chw) { hwc_ = chw.permute({1, 2, 0}); }
  bool isPacked() const;
  void write(float *to) const { std::memcpy(to, hwc_.data_ptr<float>(), hwc_.nbytes()); }
};
bool AskedByAnother::isPacked() const { return hwc_.is_contiguous(); }
struct Given {
  Tensor hwc;
  void set(const Tensor &chw) { hwc = chw.permute({1, 2, 0}); }
  void write(float *to) const { std::memcpy(to, hwc.data_ptr<float>(), hwc.nbytes()); }
};
void pack(Given &g) { g.hwc = g.hwc.contiguous(); }
class Passed {
  Tensor hwc_;

public:
  void set(const Tensor &chw) {
    hwc_ = chw.permute({1, 2, 0});
    change(hwc_);
  }
  void write(float *to) const { std::memcpy(to, hwc_.data_ptr<float>(), hwc_.nbytes()); }
};
// Turned back by the reader.
class Back {
  Tensor hwc_;

public:
  void set(const Tensor &chw) { hwc_ = chw.permute({1, 2, 0}); }
  void write(float *to) const {
    auto chw = hwc_.permute({2, 0, 1});
    std::memcpy(to, chw.data_ptr<float>(), chw.nbytes());
  }
};

// Captured by lambdas.
std::vector<float> captured_pointer() {
  auto x = torch::rand({3, 4}).t();
  const float *p = x.data_ptr<float>();
  std::vector<float> all;
  auto read = [&] {
    for (int64_t i = 0; i < x.numel(); ++i)
      all.push_back(p[i]);
    // CHECK-MESSAGES: :[[@LINE-1]]:21: warning: wrong bytes: the loop goes through the memory of 'x' element by element, but 't()' has moved no bytes
  };
  read();
  return all;
}
std::vector<float> captured_tensor(const Tensor &table) {
  auto x = table.t();
  std::vector<float> all(x.numel());
  auto read = [&] {
    std::memcpy(all.data(), x.data_ptr<float>(), x.nbytes());
    // CHECK-MESSAGES: :[[@LINE-1]]:29: warning: wrong bytes: 'memcpy' copies the bytes of 'x'
    // CHECK-FIXES: auto x_packed = x.contiguous();
    // CHECK-FIXES: std::memcpy(all.data(), x_packed.data_ptr<float>(), x.nbytes());
  };
  read();
  return all;
}
std::vector<float> in_parallel() {
  auto x = torch::rand({3, 4}).t();
  std::vector<float> all(12);
  const float *p = x.data_ptr<float>();
  at::parallel_for(0, x.numel(), 4, [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i)
      all[i] = p[i];
    // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: wrong bytes: the loop goes through the memory of 'x' element by element
  });
  return all;
}
std::vector<float> captured_packed(bool turn, Tensor given) {
  auto x = torch::rand({3, 4});
  if (turn)
    x = x.contiguous();
  given = given.t();
  auto y = torch::rand({3, 4}).t(), z = x.t(), w = given.t();
  std::vector<float> all(12);
  auto read = [&] {
    std::memcpy(all.data(), x.data_ptr<float>(), x.nbytes());
    std::memcpy(all.data(), z.data_ptr<float>(), z.nbytes());
    std::memcpy(all.data(), w.data_ptr<float>(), w.nbytes());
    auto back = y.t();
    std::memcpy(all.data(), back.data_ptr<float>(), back.nbytes());
  };
  read();
  return all;
}
// Of what is given twice no dimension is known: it may be the one of one element
// that is moved.
std::vector<float> captured_unit(const Tensor &x) {
  Tensor t = x;
  t = t.slice(0, 0, 9, 2);
  auto moved = t.masked_fill(t > 0.5, 0).movedim(0, 2);
  std::vector<float> all(moved.numel());
  auto read = [&] { std::memcpy(all.data(), moved.data_ptr<float>(), moved.nbytes()); };
  read();
  return all;
}
// The rows of a part of a range say nothing of all.
std::vector<float> rows_in_parallel() {
  auto x = torch::rand({3, 4}).t();
  std::vector<float> all(4);
  const float *p = x.data_ptr<float>();
  at::parallel_for(0, 4, 1, [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i)
      all[i] = p[i];
  });
  return all;
}

// One way or the other, none is in order.
static Tensor turned(const Tensor &x, bool first) {
  if (first)
    return x.permute({1, 2, 0});
  return x.transpose(0, 2);
}
static Tensor part(const Tensor &x, bool first) {
  if (first)
    return x.slice(1, 1, 3);
  return x.select(1, 1);
}
// A copy of the one has no gaps, and one of the other keeps its order.
static Tensor other(const Tensor &x, bool first) {
  if (first)
    return x.slice(1, 1, 3);
  return x.transpose(0, 2);
}
static Tensor either(const Tensor &x, bool first) {
  if (first)
    return x.permute({1, 2, 0});
  return x;
}
void several_ways(float *to, bool first) {
  auto x = torch::rand({3, 4, 5});
  auto a = turned(x, first), b = part(x, first), c = either(x, first);
  auto d = other(x, first).clone(), e = other(x, first);
  std::memcpy(to, a.data_ptr<float>(), a.nbytes());
  // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: wrong bytes: 'memcpy' copies the bytes of 'a' as they lie in memory, but the result of 'turned' lies in another order
  // CHECK-FIXES: auto a_packed = a.contiguous();
  // CHECK-FIXES: std::memcpy(to, a_packed.data_ptr<float>(), a.nbytes());
  std::memcpy(to, b.data_ptr<float>(), b.nbytes());
  // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: wrong bytes: 'memcpy' copies the bytes of 'b' as they lie in memory, but the result of 'part' has others between them
  // CHECK-FIXES: auto b_packed = b.contiguous();
  // CHECK-FIXES: std::memcpy(to, b_packed.data_ptr<float>(), b.nbytes());
  std::memcpy(to, e.data_ptr<float>(), e.nbytes());
  // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: wrong bytes: 'memcpy' copies the bytes of 'e' as they lie in memory, but the result of 'other' lies in another order
  // CHECK-FIXES: auto e_packed = e.contiguous();
  // CHECK-FIXES: std::memcpy(to, e_packed.data_ptr<float>(), e.nbytes());
  std::memcpy(to, c.data_ptr<float>(), c.nbytes());
  std::memcpy(to, d.data_ptr<float>(), d.nbytes());
}
