// What destroys or overwrites elements reads none of them, and what is gone or
// has another value is not read later.
// RUN: %check_libtorch_tidy %s libtorch-dangling-from-blob %t

#include <array>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <queue>
#include <stack>
#include <torch/torch.h>

using torch::Tensor;
void rd(const Tensor &);
struct View {
  Tensor p;
  int n = 0;
};

void pop_back(std::vector<Tensor> q) {
  {
    std::vector<float> v(4);
    q.push_back(torch::from_blob(v.data(), {4}));
  }
  q.pop_back();
}
void pop_both(std::deque<Tensor> q) {
  {
    std::vector<float> v(4);
    q.push_back(torch::from_blob(v.data(), {4}));
  }
  q.pop_front();
  q.pop_back();
}
void erase_first(std::vector<Tensor> q) {
  {
    std::vector<float> v(4);
    q.push_back(torch::from_blob(v.data(), {4}));
  }
  q.erase(q.begin());
}
void erase_all(std::vector<Tensor> q) {
  {
    std::vector<float> v(4);
    q.push_back(torch::from_blob(v.data(), {4}));
  }
  q.erase(q.begin(), q.end());
}
void erase_second(std::vector<Tensor> q) {
  {
    std::vector<float> v(4);
    q.push_back(torch::from_blob(v.data(), {4}));
  }
  q.erase(q.begin() + 1);
}
void erase_last(std::vector<Tensor> q) {
  {
    std::vector<float> v(4);
    q.push_back(torch::from_blob(v.data(), {4}));
  }
  q.erase(std::prev(q.end()));
}
void erase_key(std::map<int, Tensor> q) {
  {
    std::vector<float> v(4);
    q[1] = torch::from_blob(v.data(), {4});
  }
  q.erase(1);
}
void erase_found(std::map<int, Tensor> q) {
  {
    std::vector<float> v(4);
    q[1] = torch::from_blob(v.data(), {4});
  }
  auto it = q.find(1);
  if (it != q.end())
    q.erase(it);
}
void resize_to_none(std::vector<Tensor> q) {
  {
    std::vector<float> v(4);
    q.push_back(torch::from_blob(v.data(), {4}));
  }
  q.resize(0);
}
void assign_none(std::vector<Tensor> q) {
  {
    std::vector<float> v(4);
    q.push_back(torch::from_blob(v.data(), {4}));
  }
  q = {};
}
void swap_with_temporary(std::vector<Tensor> q) {
  {
    std::vector<float> v(4);
    q.push_back(torch::from_blob(v.data(), {4}));
  }
  std::vector<Tensor>().swap(q);
}
void swap_with_other(std::vector<Tensor> q) {
  {
    std::vector<float> v(4);
    q.push_back(torch::from_blob(v.data(), {4}));
  }
  std::vector<Tensor> e;
  q.swap(e);
}
void std_swap(std::vector<Tensor> q) {
  {
    std::vector<float> v(4);
    q.push_back(torch::from_blob(v.data(), {4}));
  }
  std::vector<Tensor> e;
  std::swap(q, e);
}
void pop_stack(std::stack<Tensor> q) {
  {
    std::vector<float> v(4);
    q.push(torch::from_blob(v.data(), {4}));
  }
  q.pop();
}
void pop_queue(std::queue<Tensor> q) {
  {
    std::vector<float> v(4);
    q.push(torch::from_blob(v.data(), {4}));
  }
  while (!q.empty())
    q.pop();
}
void overwrite_each(std::vector<Tensor> q, Tensor safe) {
  {
    std::vector<float> v(4);
    q.push_back(torch::from_blob(v.data(), {4}));
  }
  for (auto &e : q)
    e = safe;
  for (auto &e : q)
    rd(e);
}
void overwrite_by_index(std::vector<Tensor> q, Tensor safe) {
  {
    std::vector<float> v(4);
    q.push_back(torch::from_blob(v.data(), {4}));
  }
  for (size_t i = 0; i < q.size(); ++i)
    q[i] = safe;
  for (auto &e : q)
    rd(e);
}
void overwrite_by_iterator(std::vector<Tensor> q, Tensor safe) {
  {
    std::vector<float> v(4);
    q.push_back(torch::from_blob(v.data(), {4}));
  }
  for (auto it = q.begin(); it != q.end(); ++it)
    *it = safe;
  for (auto &e : q)
    rd(e);
}
void fill_range(std::vector<Tensor> q, Tensor safe) {
  {
    std::vector<float> v(4);
    q.push_back(torch::from_blob(v.data(), {4}));
  }
  std::fill(q.begin(), q.end(), safe);
  for (auto &e : q)
    rd(e);
}
void fill_array(std::array<Tensor, 2> q, Tensor safe) {
  {
    std::vector<float> v(4);
    q[1] = torch::from_blob(v.data(), {4});
  }
  q.fill(safe);
  for (auto &e : q)
    rd(e);
}
void assign_several(std::vector<Tensor> q, Tensor safe) {
  {
    std::vector<float> v(4);
    q.push_back(torch::from_blob(v.data(), {4}));
  }
  q.assign(2, safe);
  for (auto &e : q)
    rd(e);
}
void delete_object() {
  auto *p = new View;
  {
    std::vector<float> v(4);
    p->p = torch::from_blob(v.data(), {4});
  }
  delete p;
}
void reset_owner() {
  auto p = std::make_unique<View>();
  {
    std::vector<float> v(4);
    p->p = torch::from_blob(v.data(), {4});
  }
  p.reset();
}
void clear_and_add(std::vector<Tensor> q) {
  {
    std::vector<float> v(4);
    q.push_back(torch::from_blob(v.data(), {4}));
  }
  q.clear();
  q.push_back(torch::ones(3));
  rd(q[0]);
}
void reset_optional(std::optional<Tensor> q) {
  {
    std::vector<float> v(4);
    q = torch::from_blob(v.data(), {4});
  }
  q.reset();
}
void assign_nullopt(std::optional<Tensor> q) {
  {
    std::vector<float> v(4);
    q = torch::from_blob(v.data(), {4});
  }
  q = std::nullopt;
}
void overwrite_field(std::vector<View> q, Tensor safe) {
  {
    std::vector<float> v(4);
    q.push_back({torch::from_blob(v.data(), {4}), 1});
  }
  for (auto &e : q)
    e.p = safe;
  for (auto &e : q)
    rd(e.p);
}
void pop_and_read_last(std::vector<Tensor> q) {
  {
    std::vector<float> v(4);
    q.push_back(torch::from_blob(v.data(), {4}));
  }
  q.pop_back();
  rd(q.back());
}
void pop_only_one() {
  std::vector<Tensor> q;
  {
    std::vector<float> v(4);
    q.push_back(torch::from_blob(v.data(), {4}));
  }
  q.pop_back();
  for (auto &e : q)
    rd(e);
}
void pop_only_one_of_deque() {
  std::deque<Tensor> q;
  {
    std::vector<float> v(4);
    q.push_back(torch::from_blob(v.data(), {4}));
  }
  q.pop_front();
  for (auto &e : q)
    rd(e);
}
void erase_key_and_read(std::map<int, Tensor> q) {
  {
    std::vector<float> v(4);
    q[1] = torch::from_blob(v.data(), {4});
  }
  q.erase(1);
  rd(q[1]);
}
void overwrite_values(std::map<int, Tensor> q, Tensor safe) {
  {
    std::vector<float> v(4);
    q[1] = torch::from_blob(v.data(), {4});
  }
  for (auto &[k, e] : q)
    e = safe;
  rd(q[1]);
}
void overwrite_seconds(std::map<int, Tensor> q, Tensor safe) {
  {
    std::vector<float> v(4);
    q[1] = torch::from_blob(v.data(), {4});
  }
  for (auto &e : q)
    e.second = safe;
  rd(q[1]);
}
void pop_list(std::list<Tensor> q) {
  {
    std::vector<float> v(4);
    q.push_back(torch::from_blob(v.data(), {4}));
  }
  q.pop_back();
}
void pop_many(std::vector<Tensor> q) {
  {
    std::vector<float> v(4);
    q.push_back(torch::from_blob(v.data(), {4}));
  }
  while (q.size() > 1)
    q.pop_back();
}
void erase_each(std::list<Tensor> q) {
  {
    std::vector<float> v(4);
    q.push_back(torch::from_blob(v.data(), {4}));
  }
  for (auto it = q.begin(); it != q.end();)
    it = q.erase(it);
}
void overwrite_and_read(std::vector<Tensor> q, Tensor safe) {
  {
    std::vector<float> v(4);
    q.push_back(torch::from_blob(v.data(), {4}));
  }
  for (auto &e : q) {
    e = safe;
    rd(e);
  }
  rd(q.back());
}
void reset_each(std::vector<Tensor> q) {
  {
    std::vector<float> v(4);
    q.push_back(torch::from_blob(v.data(), {4}));
  }
  for (auto &e : q)
    e.reset();
  rd(q.back());
}
void overwrite_by_choice(std::vector<Tensor> q) {
  {
    std::vector<float> v(4);
    q.push_back(torch::from_blob(v.data(), {4}));
  }
  for (auto &e : q)
    e = e.defined() ? torch::ones(3) : Tensor();
  rd(q.back());
}
void overwrite_std_array(std::array<Tensor, 2> q, Tensor safe) {
  {
    std::vector<float> v(4);
    q[1] = torch::from_blob(v.data(), {4});
  }
  for (int i = 0; i < 2; i++)
    q[i] = safe;
  rd(q[1]);
}
void overwrite_array(Tensor safe) {
  Tensor q[2];
  {
    std::vector<float> v(4);
    q[1] = torch::from_blob(v.data(), {4});
  }
  for (int i = 0; i < 2; i++)
    q[i] = safe;
  rd(q[1]);
}
void overwrite_array_each(Tensor safe) {
  Tensor q[2];
  {
    std::vector<float> v(4);
    q[1] = torch::from_blob(v.data(), {4});
  }
  for (auto &e : q)
    e = safe;
  rd(q[1]);
}
void pop_outer(std::vector<std::vector<Tensor>> q) {
  {
    std::vector<float> v(4);
    q[0].push_back(torch::from_blob(v.data(), {4}));
  }
  q.pop_back();
}
void pop_inner(std::vector<std::vector<Tensor>> q) {
  {
    std::vector<float> v(4);
    q[0].push_back(torch::from_blob(v.data(), {4}));
  }
  q[0].pop_back();
}
void clear_each(std::vector<std::vector<Tensor>> q) {
  {
    std::vector<float> v(4);
    q[0].push_back(torch::from_blob(v.data(), {4}));
  }
  for (auto &e : q)
    e.clear();
  rd(q[0][0]);
}
void overwrite_nested(std::vector<std::vector<Tensor>> q, Tensor safe) {
  {
    std::vector<float> v(4);
    q[0].push_back(torch::from_blob(v.data(), {4}));
  }
  for (auto &e : q)
    for (auto &t : e)
      t = safe;
  rd(q[0][0]);
}
void pop_if_many(std::deque<Tensor> q) {
  {
    std::vector<float> v(4);
    q.push_back(torch::from_blob(v.data(), {4}));
  }
  if (q.size() > 4)
    q.pop_front();
}
void insert_before(std::vector<Tensor> q, Tensor safe) {
  {
    std::vector<float> v(4);
    q[0] = torch::from_blob(v.data(), {4});
  }
  q.insert(q.begin(), safe);
  rd(q[0]);
}
void erase_and_read_next(std::vector<Tensor> q, Tensor safe) {
  {
    std::vector<float> v(4);
    q[0] = torch::from_blob(v.data(), {4});
  }
  q.erase(q.begin());
  rd(q[0]);
}
void push_before(std::deque<Tensor> q, Tensor safe) {
  {
    std::vector<float> v(4);
    q[0] = torch::from_blob(v.data(), {4});
  }
  q.push_front(safe);
  rd(q[0]);
}
void assign_tensor(Tensor safe) {
  Tensor t;
  {
    std::vector<float> v(4);
    t = torch::from_blob(v.data(), {4});
  }
  t = safe;
  rd(t);
}
void swap_tensor(Tensor safe) {
  Tensor t;
  {
    std::vector<float> v(4);
    t = torch::from_blob(v.data(), {4});
  }
  std::swap(t, safe);
  rd(t);
}
void exchange_tensor(Tensor safe) {
  Tensor t;
  {
    std::vector<float> v(4);
    t = torch::from_blob(v.data(), {4});
  }
  std::exchange(t, safe);
  rd(t);
}
void move_tensor(Tensor safe) {
  Tensor t;
  {
    std::vector<float> v(4);
    t = torch::from_blob(v.data(), {4});
  }
  t = std::move(safe);
  rd(t);
}
void resize_and_read(std::vector<Tensor> q) {
  {
    std::vector<float> v(4);
    q.push_back(torch::from_blob(v.data(), {4}));
  }
  q.resize(0);
  q.resize(3);
  rd(q[0]);
}
void overwrite_to_named_end(std::vector<Tensor> q, Tensor safe) {
  {
    std::vector<float> v(4);
    q.push_back(torch::from_blob(v.data(), {4}));
  }
  for (auto it = q.begin(), end = q.end(); it != end; ++it)
    *it = safe;
  rd(q.back());
}
void erase_defined(std::vector<Tensor> q) {
  {
    std::vector<float> v(4);
    q.push_back(torch::from_blob(v.data(), {4}));
  }
  for (auto it = q.begin(); it != q.end();) {
    if (it->defined())
      it = q.erase(it);
    else
      ++it;
  }
}
void erase_counted(std::map<int, Tensor> q) {
  {
    std::vector<float> v(4);
    q[1] = torch::from_blob(v.data(), {4});
  }
  if (q.count(1))
    q.erase(1);
}
void pop_of_two() {
  std::vector<Tensor> q(2);
  {
    std::vector<float> v(4);
    q[1] = torch::from_blob(v.data(), {4});
  }
  q.pop_back();
  for (auto &e : q)
    rd(e);
}
void swapped_away(std::vector<Tensor> q) {
  std::vector<Tensor> p;
  {
    std::vector<float> v(4);
    q.push_back(torch::from_blob(v.data(), {4}));
  }
  std::swap(p, q);
  for (auto &e : q)
    rd(e);
}
// An element stays where its number is.
struct Row {
  std::vector<Tensor> q;
  void resized(const Tensor &x, int n) {
    std::vector<float> v(4);
    q[n % 2] = torch::from_blob(v.data(), {4});
    q.resize(2);
    q[n % 2] = x;
  }
};
// A loop of constants goes through elements that are named by a number.
void overwrite_four(Tensor *q, Tensor safe) {
  {
    std::vector<float> v(4);
    q[1] = torch::from_blob(v.data(), {4});
  }
  for (int i = 0; i < 4; ++i)
    q[i] = safe;
  rd(q[1]);
}
void overwrite_from_one(std::vector<Tensor> &q, Tensor safe) {
  constexpr int End = 3;
  {
    std::vector<float> v(4);
    q[2] = torch::from_blob(v.data(), {4});
  }
  for (int i = 1; i != End; i++) {
    rd(safe);
    q.at(i) = safe;
  }
  rd(q[2]);
}
void overwrite_first(View *q, Tensor safe) {
  {
    std::vector<float> v(4);
    q->p = torch::from_blob(v.data(), {4});
  }
  for (int i = 0; i < 2; ++i)
    q[i].p = safe;
  rd(q->p);
}
void overwrite_row(Tensor (*q)[3], Tensor safe) {
  {
    std::vector<float> v(4);
    q[0][2] = torch::from_blob(v.data(), {4});
  }
  for (int i = 0; i < 3; ++i)
    q[0][i] = safe;
  rd(q[0][2]);
}
void overwrite_before(Tensor *q, Tensor safe) {
  {
    std::vector<float> v(4);
    q[4] = torch::from_blob(v.data(), {4});
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: dangling tensor: '*q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
    // CHECK-FIXES: q[4] = torch::from_blob(v.data(), {4}).clone();
  }
  for (int i = 0; i < 4; ++i)
    q[i] = safe;
  rd(q[4]);
}
void overwrite_some(Tensor *q, Tensor safe, bool some) {
  {
    std::vector<float> v(4);
    q[1] = torch::from_blob(v.data(), {4});
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: dangling tensor: '*q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
    // CHECK-FIXES: q[1] = torch::from_blob(v.data(), {4}).clone();
  }
  for (int i = 0; i < 4; ++i)
    if (some)
      q[i] = safe;
  rd(q[1]);
}
void overwrite_every_second(Tensor *q, Tensor safe) {
  {
    std::vector<float> v(4);
    q[1] = torch::from_blob(v.data(), {4});
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: dangling tensor: '*q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
    // CHECK-FIXES: q[1] = torch::from_blob(v.data(), {4}).clone();
  }
  for (int i = 0; i < 4; i += 2)
    q[i] = safe;
  rd(q[1]);
}
void overwrite_the_others(Tensor (*q)[3], Tensor safe) {
  {
    std::vector<float> v(4);
    q[1][2] = torch::from_blob(v.data(), {4});
    // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: dangling tensor: '*q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
    // CHECK-FIXES: q[1][2] = torch::from_blob(v.data(), {4}).clone();
  }
  for (int i = 0; i < 3; ++i)
    q[0][i] = safe;
  rd(q[1][2]);
}
void resize_to_less() {
  std::vector<View> q(1);
  {
    std::vector<float> v(4);
    q.push_back({torch::from_blob(v.data(), {4}), 1});
  }
  q.resize(1);
  for (auto &e : q)
    rd(e.p);
}
void resize_and_read_last(std::vector<Tensor> q, size_t n) {
  {
    std::vector<float> v(4);
    q.push_back(torch::from_blob(v.data(), {4}));
  }
  q.resize(n);
  rd(q.back());
}
void resize_to_more() {
  std::vector<View> q;
  {
    std::vector<float> v(4);
    q.push_back({torch::from_blob(v.data(), {4}), 1});
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: dangling tensor: 'q.p' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
    // CHECK-FIXES: q.push_back({torch::from_blob(v.data(), {4}).clone(), 1});
  }
  q.resize(2);
  for (auto &e : q)
    rd(e.p);
}
