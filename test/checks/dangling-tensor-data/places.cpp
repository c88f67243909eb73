// A pointer is followed into all places that can store it, and out of them.
// RUN: %check_libtorch_tidy %s libtorch-dangling-tensor-data %t

#include <torch/torch.h>

#include <functional>
#include <map>
#include <tuple>

using torch::Tensor;
void read(const float *);
void use(const std::vector<const float *> &);
struct View {
  const float *p = nullptr;
  int64_t n = 0;
};
struct Frame {
  std::vector<View> views;
};
struct Keep {
  const float *p = nullptr;
  void set(const float *q) { p = q; }
  float get() const { return p[0]; }
};
Tensor scaled(const Tensor &x) { return x * 2; }
View pack(const float *p) {
  View v;
  v.p = p;
  return v;
}
std::pair<const float *, int> first(const Tensor &x) {
  return {x.data_ptr<float>(), 1};
}
void out(const Tensor &x, const float **p) { *p = x.data_ptr<float>(); }

void elements(Tensor x, bool last) {
  std::vector<const float *> ps;
  for (int i = 0; i < 3; ++i) {
    Tensor t = x * i;
    ps.push_back(t.data_ptr<float>());
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: dangling pointer: 'ps' points into 't', which is destroyed when its block ends; declare it before that block [libtorch-dangling-tensor-data]
  }
  use(ps);
  const float *two[2] = {};
  {
    Tensor t = x * 2;
    two[0] = t.data_ptr<float>();
    // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: dangling pointer: 'two' points into 't', which is destroyed when its block ends; declare it before that block [libtorch-dangling-tensor-data]
    two[1] = x.data_ptr<float>();
  }
  read(two[last]);
  std::map<std::string, View> named;
  {
    Tensor t = x * 2;
    named["a"].p = t.data_ptr<float>();
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: dangling pointer: 'named.p' points into 't', which is destroyed when its block ends; declare it before that block [libtorch-dangling-tensor-data]
  }
  read(named["a"].p);
}
View in_braces(Tensor x) {
  Tensor t = x * 2;
  return {t.data_ptr<float>(), 3};
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: dangling pointer: what is returned points into 't', which is destroyed when the function returns; return the tensor, not a pointer into it [libtorch-dangling-tensor-data]
}
View packed(Tensor x) {
  Tensor t = scaled(x);
  return pack(t.data_ptr<float>());
  // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: dangling pointer: what is returned points into 't', which is destroyed when the function returns; return the tensor, not a pointer into it [libtorch-dangling-tensor-data]
}
Frame nested(Tensor x) {
  Tensor t = x * 2;
  Frame f;
  f.views.resize(2);
  auto &left = f.views[0];
  left.p = t.data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: dangling pointer: what is returned points into 't', which is destroyed when the function returns; return the tensor, not a pointer into it [libtorch-dangling-tensor-data]
  return f;
}
void by_pointer(Tensor x) {
  const float *p;
  {
    Tensor t = x * 2;
    out(t, &p);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: dangling pointer: 'p' points into 't', which is destroyed when its block ends; declare it before that block [libtorch-dangling-tensor-data]
  }
  read(p);
}
std::function<float()> later(Tensor x) {
  Tensor t = x * 2;
  auto p = t.data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: dangling pointer: what is returned points into 't', which is destroyed when the function returns; return the tensor, not a pointer into it [libtorch-dangling-tensor-data]
  return [p] { return p[0]; };
}
const float *arm(Tensor x, bool own) {
  Tensor t = x * 2;
  return own ? x.data_ptr<float>() : t.data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:38: warning: dangling pointer: what is returned points into 't', which is destroyed when the function returns; return the tensor, not a pointer into it [libtorch-dangling-tensor-data]
}
void parts(Tensor x) {
  const float *p;
  int n;
  {
    Tensor t = x * 2;
    std::tie(p, n) = first(t);
    // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: dangling pointer: 'p' points into 't', which is destroyed when its block ends; declare it before that block [libtorch-dangling-tensor-data]
  }
  read(p);
  auto [q, m] = first(x * 2);
  // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: dangling pointer: 'q' points into a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
  // CHECK-FIXES: auto q_tensor = x * 2;
  // CHECK-FIXES: auto [q, m] = first(q_tensor);
  read(q);
}
void in_object(Tensor x) {
  Keep keep;
  {
    Tensor t = x * 2;
    keep.set(t.data_ptr<float>());
    // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: dangling pointer: 'keep.p' points into 't', which is destroyed when its block ends; declare it before that block [libtorch-dangling-tensor-data]
  }
  keep.get();
}

// Other parts are read, the tensor is kept beside the pointer, or the place
// gets another pointer first.
void other_parts(Tensor x) {
  const float *two[2];
  std::vector<View> views;
  {
    Tensor t = x * 2;
    two[0] = t.data_ptr<float>();
    two[1] = x.data_ptr<float>();
    views.push_back({t.data_ptr<float>(), 1});
  }
  read(two[1]);
  for (auto &view : views)
    view.n++;
  auto [q, m] = first(x * 2);
  m++;
}
std::function<float()> with_owner(Tensor x) {
  Tensor t = x * 2;
  auto p = t.data_ptr<float>();
  return [p, t] { return p[0]; };
}
struct Owned {
  Tensor t;
  const float *p;
};
Owned beside(Tensor x) {
  Tensor t = x * 2;
  return {t, t.data_ptr<float>()};
}
void replaced(Tensor x, int i) {
  std::vector<View> views(4);
  Keep keep;
  {
    Tensor t = x * 2;
    views[i % 4].p = t.data_ptr<float>();
    keep.set(t.data_ptr<float>());
  }
  views[i % 4] = {x.data_ptr<float>(), 1};
  keep.set(x.data_ptr<float>());
  read(views[i % 4].p), keep.get();
}
std::function<char *(size_t)> resizer(Tensor &t) {
  return [&t](size_t n) {
    t.resize_({static_cast<int64_t>(n)});
    return reinterpret_cast<char *>(t.contiguous().data_ptr());
  };
}
std::vector<float> copied(Tensor x) {
  Tensor t = x * 2;
  const float *p = t.data_ptr<float>();
  std::vector<float> v;
  v.insert(v.end(), p, p + t.numel());
  return v;
}

// The other element is read, and what the key has surely; a helper that reads
// the list before it fills it.
static void addAfter(std::vector<const float *> &to, const float *v) {
  if (!to.empty())
    read(to.back());
  to.push_back(v);
}
void replacedPart(Tensor x, int n) {
  std::array<const float *, 2> two{};
  two[n % 2] = (x * 2).data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: dangling pointer: 'two' points into a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
  two[1] = x.data_ptr<float>();
  read(two[0]);
  std::map<int, const float *> by;
  by.emplace(2, x.data_ptr<float>());
  by.insert_or_assign(2, (x * 2).data_ptr<float>());
  // CHECK-MESSAGES: :[[@LINE-1]]:26: warning: dangling pointer: 'by' points into a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
  for (auto &e : by)
    read(e.second);
  std::vector<const float *> list;
  for (int i = 0; i < n; ++i) {
    Tensor t = x * 2;
    addAfter(list, t.data_ptr<float>());
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: dangling pointer: 'list' points into 't', which is destroyed when its block ends; declare it before that block [libtorch-dangling-tensor-data]
  }
}
