// An element is not another: what is kept in one of them and read from one that
// may be another is no more than likely.
// RUN: %check_libtorch_tidy %s libtorch-dangling-from-blob %t --level=1
// RUN: %check_libtorch_tidy %s libtorch-dangling-from-blob %t --level=0 --check-suffix=L0

#include <array>
#include <deque>
#include <map>
#include <queue>
#include <string>
#include <torch/torch.h>

using torch::Tensor;
void rd(const Tensor &);
void rd_all(const std::vector<Tensor> &);
void change(int &);
enum class Part { Left, Right };

// May be another.
void chosen(std::array<Tensor, 2> q, int n) {
  {
    std::vector<float> v(10);
    q[n % 2] = torch::from_blob(v.data(), {10});
    // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
  }
  rd(q[1]);
}
void known(std::array<Tensor, 2> q, int n) {
  {
    std::vector<float> v(10);
    q[1] = torch::from_blob(v.data(), {10});
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
  }
  rd(q[n]);
}
void two_names(std::array<Tensor, 2> q, int n, int m) {
  {
    std::vector<float> v(10);
    q[n] = torch::from_blob(v.data(), {10});
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
  }
  rd(q.at(m));
}
void added(std::vector<Tensor> q) {
  {
    std::vector<float> v(10);
    q.push_back(torch::from_blob(v.data(), {10}));
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
  }
  rd(q[0]);
}
void counted_on(std::vector<Tensor> q, int i) {
  {
    std::vector<float> v(10);
    q[i] = torch::from_blob(v.data(), {10});
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
  }
  i++;
  rd(q[i]);
}
void changed(std::vector<Tensor> q, int i) {
  {
    std::vector<float> v(10);
    q[i] = torch::from_blob(v.data(), {10});
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
  }
  change(i);
  rd(q[i]);
}
void by_lambda(std::vector<Tensor> q, int i) {
  auto next = [&] { ++i; };
  {
    std::vector<float> v(10);
    q[i] = torch::from_blob(v.data(), {10});
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
  }
  next();
  rd(q[i]);
}
void bound_before(std::vector<Tensor> q, int i) {
  auto &e = q[i];
  ++i;
  {
    std::vector<float> v(10);
    q[i] = torch::from_blob(v.data(), {10});
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
  }
  rd(e);
}
void shadow(std::vector<Tensor> q, int i) {
  {
    std::vector<float> v(10);
    q[i] = torch::from_blob(v.data(), {10});
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
  }
  {
    int i = 0;
    rd(q[i]);
  }
}
void keys(std::map<std::string, Tensor> q, std::string k) {
  {
    std::vector<float> v(10);
    q["a"] = torch::from_blob(v.data(), {10});
    // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
  }
  rd(q[k]);
}
void key_changes(std::map<std::string, Tensor> q, std::string k) {
  {
    std::vector<float> v(10);
    q[k] = torch::from_blob(v.data(), {10});
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
  }
  k += "b";
  rd(q[k]);
}
void array(int n) {
  Tensor q[2];
  {
    std::vector<float> v(10);
    q[n] = torch::from_blob(v.data(), {10});
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
  }
  rd(q[0]);
}
void pointer(int n) {
  Tensor two[2];
  Tensor *q = two;
  {
    std::vector<float> v(10);
    q[n] = torch::from_blob(v.data(), {10});
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: dangling tensor: '*q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
  }
  rd(*q);
}
void copied_first(std::vector<Tensor> q, int n) {
  {
    std::vector<float> v(10);
    q[n] = torch::from_blob(v.data(), {10});
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
  }
  Tensor t = q[0];
  rd(t);
}
static int At;
void global(std::vector<Tensor> q) {
  {
    std::vector<float> v(10);
    q[At] = torch::from_blob(v.data(), {10});
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
  }
  rd(q[At]);
}
static void put(std::vector<Tensor> &to, int i, float *p) {
  to[i] = torch::from_blob(p, {10});
}
void helped(std::vector<Tensor> q, int i) {
  {
    std::vector<float> v(10);
    put(q, 0, v.data());
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
  }
  rd(q[i]);
}
void each_but_the_first(std::vector<Tensor> q) {
  {
    std::vector<float> v(10);
    q.push_back(torch::from_blob(v.data(), {10}));
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
  }
  for (size_t i = 1; i < q.size(); ++i)
    rd(q[i]);
}
void each_but_the_last(std::vector<Tensor> q) {
  {
    std::vector<float> v(10);
    q.push_back(torch::from_blob(v.data(), {10}));
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
  }
  for (size_t i = 0; i < q.size() - 1; ++i)
    rd(q[i]);
}
void as_many_as_another(std::vector<Tensor> q, std::vector<Tensor> p) {
  {
    std::vector<float> v(10);
    q.push_back(torch::from_blob(v.data(), {10}));
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
  }
  for (size_t i = 0; i < p.size(); ++i)
    rd(q[i]);
}
void each_second(std::vector<Tensor> q) {
  {
    std::vector<float> v(10);
    q.push_back(torch::from_blob(v.data(), {10}));
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
  }
  for (size_t i = 0; i < q.size(); i += 2)
    rd(q[i]);
}
void some_rounds(std::vector<Tensor> q) {
  {
    std::vector<float> v(10);
    q.push_back(torch::from_blob(v.data(), {10}));
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
  }
  for (size_t i = 0; i < q.size(); ++i)
    if (i == 1)
      rd(q[i]);
}
void steps_itself(std::vector<Tensor> q) {
  {
    std::vector<float> v(10);
    q.push_back(torch::from_blob(v.data(), {10}));
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
  }
  for (size_t i = 0; i < q.size(); ++i)
    rd(q[i++]);
}
void perhaps_the_second(bool c) {
  std::vector<Tensor> q;
  if (c)
    q.push_back(torch::ones(3));
  {
    std::vector<float> v(10);
    q.push_back(torch::from_blob(v.data(), {10}));
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
  }
  rd(q[0]);
}
void one_is_taken_out(std::vector<Tensor> q, int i) {
  {
    std::vector<float> v(10);
    q.push_back(torch::from_blob(v.data(), {10}));
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
  }
  q.erase(q.begin() + i);
  rd(q.back());
}
void first_is_taken_out(std::vector<Tensor> q) {
  {
    std::vector<float> v(10);
    q.push_back(torch::from_blob(v.data(), {10}));
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
  }
  q.erase(q.begin());
  for (auto &e : q)
    rd(e);
}
void found(std::map<int, Tensor> q) {
  {
    std::vector<float> v(10);
    q[1] = torch::from_blob(v.data(), {10});
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
  }
  auto it = q.find(3);
  rd(it->second);
}
// Surely the same.
void constant(std::array<Tensor, 2> q) {
  constexpr int Left = 1;
  {
    std::vector<float> v(10);
    q[Left] = torch::from_blob(v.data(), {10});
    // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
    // CHECK-FIXES: q[Left] = torch::from_blob(v.data(), {10}).clone();
    // CHECK-MESSAGES-L0: :[[@LINE-3]]:15: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
    // CHECK-FIXES-L0: q[Left] = torch::from_blob(v.data(), {10}).clone();
  }
  rd(q.at(1));
}
void same_name(std::vector<Tensor> q, int n) {
  {
    std::vector<float> v(10);
    q[n % 2] = torch::from_blob(v.data(), {10});
    // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
    // CHECK-FIXES: q[n % 2] = torch::from_blob(v.data(), {10}).clone();
    // CHECK-MESSAGES-L0: :[[@LINE-3]]:16: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
    // CHECK-FIXES-L0: q[n % 2] = torch::from_blob(v.data(), {10}).clone();
  }
  rd(q[n % 2]);
}
void in_loop(std::vector<Tensor> q) {
  for (int i = 0; i < 4; ++i) {
    {
      std::vector<float> v(10);
      q[i] = torch::from_blob(v.data(), {10});
      // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
      // CHECK-FIXES: q[i] = torch::from_blob(v.data(), {10}).clone();
      // CHECK-MESSAGES-L0: :[[@LINE-3]]:14: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
      // CHECK-FIXES-L0: q[i] = torch::from_blob(v.data(), {10}).clone();
    }
    rd(q[i]);
  }
}
void each(std::vector<Tensor> q, int n) {
  {
    std::vector<float> v(10);
    q[n] = torch::from_blob(v.data(), {10});
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
    // CHECK-FIXES: q[n] = torch::from_blob(v.data(), {10}).clone();
    // CHECK-MESSAGES-L0: :[[@LINE-3]]:12: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
    // CHECK-FIXES-L0: q[n] = torch::from_blob(v.data(), {10}).clone();
  }
  for (const auto &e : q)
    rd(e);
}
void whole(std::vector<Tensor> q) {
  {
    std::vector<float> v(10);
    q.push_back(torch::from_blob(v.data(), {10}));
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
    // CHECK-FIXES: q.push_back(torch::from_blob(v.data(), {10}).clone());
    // CHECK-MESSAGES-L0: :[[@LINE-3]]:17: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
    // CHECK-FIXES-L0: q.push_back(torch::from_blob(v.data(), {10}).clone());
  }
  rd_all(q);
}
void last_is_read(std::vector<Tensor> q) {
  {
    std::vector<float> v(10);
    q.push_back(torch::from_blob(v.data(), {10}));
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
    // CHECK-FIXES: q.push_back(torch::from_blob(v.data(), {10}).clone());
    // CHECK-MESSAGES-L0: :[[@LINE-3]]:17: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
    // CHECK-FIXES-L0: q.push_back(torch::from_blob(v.data(), {10}).clone());
  }
  rd(q.back());
}
void last_is_read_after_a_look(std::vector<Tensor> q) {
  {
    std::vector<float> v(10);
    q.push_back(torch::from_blob(v.data(), {10}));
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
    // CHECK-FIXES: q.push_back(torch::from_blob(v.data(), {10}).clone());
    // CHECK-MESSAGES-L0: :[[@LINE-3]]:17: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
    // CHECK-FIXES-L0: q.push_back(torch::from_blob(v.data(), {10}).clone());
  }
  if (!q.empty() && q[0].numel() == 3)
    rd(q.back());
}
void another_is_last(std::vector<Tensor> q) {
  {
    std::vector<float> v(10);
    q.push_back(torch::from_blob(v.data(), {10}));
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
  }
  q.push_back(torch::ones(3));
  rd(q.back());
}
void another_is_inserted(std::vector<Tensor> q) {
  {
    std::vector<float> v(10);
    q.push_back(torch::from_blob(v.data(), {10}));
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
  }
  q.insert(q.begin(), torch::ones(3));
  rd(q.back());
}
void first_is_read(std::vector<Tensor> q) {
  {
    std::vector<float> v(10);
    q.push_back(torch::from_blob(v.data(), {10}));
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
  }
  rd(q.front());
}
void another_may_be_last(std::vector<Tensor> q, bool again) {
  {
    std::vector<float> v(10);
    q.push_back(torch::from_blob(v.data(), {10}));
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
  }
  if (again)
    q.push_back(torch::ones(3));
  rd(q.back());
}
void same_key(std::map<std::string, Tensor> q, std::map<Part, Tensor> p) {
  {
    std::vector<float> v(10);
    q["a"] = torch::from_blob(v.data(), {10});
    // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
    // CHECK-FIXES: q["a"] = torch::from_blob(v.data(), {10}).clone();
    // CHECK-MESSAGES-L0: :[[@LINE-3]]:14: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
    // CHECK-FIXES-L0: q["a"] = torch::from_blob(v.data(), {10}).clone();
    p[Part::Left] = torch::from_blob(v.data(), {10});
    // CHECK-MESSAGES: :[[@LINE-1]]:21: warning: dangling tensor: 'p' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
    // CHECK-FIXES: p[Part::Left] = torch::from_blob(v.data(), {10}).clone();
    // CHECK-MESSAGES-L0: :[[@LINE-3]]:21: warning: dangling tensor: 'p' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
    // CHECK-FIXES-L0: p[Part::Left] = torch::from_blob(v.data(), {10}).clone();
  }
  rd(q["a"]);
  rd(p[Part::Left]);
}
void one_of_both(std::vector<Tensor> q, int n) {
  {
    std::vector<float> v(10);
    q[n] = torch::from_blob(v.data(), {10});
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
    // CHECK-FIXES: q[n] = torch::from_blob(v.data(), {10}).clone();
    // CHECK-MESSAGES-L0: :[[@LINE-3]]:12: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
    // CHECK-FIXES-L0: q[n] = torch::from_blob(v.data(), {10}).clone();
  }
  rd(q[0]);
  rd(q[n]);
}
void each_by_index(std::vector<Tensor> q) {
  {
    std::vector<float> v(10);
    q.push_back(torch::from_blob(v.data(), {10}));
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
    // CHECK-FIXES: q.push_back(torch::from_blob(v.data(), {10}).clone());
    // CHECK-MESSAGES-L0: :[[@LINE-3]]:17: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
    // CHECK-FIXES-L0: q.push_back(torch::from_blob(v.data(), {10}).clone());
  }
  for (size_t i = 0; i < q.size(); ++i)
    rd(q[i]);
}
void each_by_iterator(std::vector<Tensor> q) {
  {
    std::vector<float> v(10);
    q.push_back(torch::from_blob(v.data(), {10}));
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
    // CHECK-FIXES: q.push_back(torch::from_blob(v.data(), {10}).clone());
    // CHECK-MESSAGES-L0: :[[@LINE-3]]:17: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
    // CHECK-FIXES-L0: q.push_back(torch::from_blob(v.data(), {10}).clone());
  }
  for (auto it = q.begin(); it != q.end(); ++it)
    rd(*it);
}
void each_of_known_length() {
  Tensor q[2];
  {
    std::vector<float> v(10);
    q[1] = torch::from_blob(v.data(), {10});
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
    // CHECK-FIXES: q[1] = torch::from_blob(v.data(), {10}).clone();
    // CHECK-MESSAGES-L0: :[[@LINE-3]]:12: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
    // CHECK-FIXES-L0: q[1] = torch::from_blob(v.data(), {10}).clone();
  }
  for (int i = 0; i < 2; ++i)
    rd(q[i]);
}
void size_in_variable(std::vector<Tensor> q) {
  {
    std::vector<float> v(10);
    q.push_back(torch::from_blob(v.data(), {10}));
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
    // CHECK-FIXES: q.push_back(torch::from_blob(v.data(), {10}).clone());
    // CHECK-MESSAGES-L0: :[[@LINE-3]]:17: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
    // CHECK-FIXES-L0: q.push_back(torch::from_blob(v.data(), {10}).clone());
  }
  const size_t n = q.size();
  for (size_t i = 0; i < n; i++)
    rd(q.at(i));
}
void only_one() {
  std::vector<Tensor> q;
  {
    std::vector<float> v(10);
    q.push_back(torch::from_blob(v.data(), {10}));
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
    // CHECK-FIXES: q.push_back(torch::from_blob(v.data(), {10}).clone());
    // CHECK-MESSAGES-L0: :[[@LINE-3]]:17: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
    // CHECK-FIXES-L0: q.push_back(torch::from_blob(v.data(), {10}).clone());
  }
  rd(q[0]);
}
void only_one_is_first() {
  std::vector<Tensor> q;
  {
    std::vector<float> v(10);
    q.push_back(torch::from_blob(v.data(), {10}));
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
    // CHECK-FIXES: q.push_back(torch::from_blob(v.data(), {10}).clone());
    // CHECK-MESSAGES-L0: :[[@LINE-3]]:17: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
    // CHECK-FIXES-L0: q.push_back(torch::from_blob(v.data(), {10}).clone());
  }
  rd(q.front());
}
void second() {
  std::vector<Tensor> q;
  q.push_back(torch::ones(3));
  {
    std::vector<float> v(10);
    q.push_back(torch::from_blob(v.data(), {10}));
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
    // CHECK-FIXES: q.push_back(torch::from_blob(v.data(), {10}).clone());
    // CHECK-MESSAGES-L0: :[[@LINE-3]]:17: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
    // CHECK-FIXES-L0: q.push_back(torch::from_blob(v.data(), {10}).clone());
  }
  rd(q[1]);
}
void emptied_before(std::vector<Tensor> q) {
  q.clear();
  {
    std::vector<float> v(10);
    q.push_back(torch::from_blob(v.data(), {10}));
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
    // CHECK-FIXES: q.push_back(torch::from_blob(v.data(), {10}).clone());
    // CHECK-MESSAGES-L0: :[[@LINE-3]]:17: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
    // CHECK-FIXES-L0: q.push_back(torch::from_blob(v.data(), {10}).clone());
  }
  rd(q[0]);
}
void moves_down() {
  std::deque<Tensor> q;
  q.push_back(torch::ones(3));
  {
    std::vector<float> v(10);
    q.push_back(torch::from_blob(v.data(), {10}));
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
    // CHECK-FIXES: q.push_back(torch::from_blob(v.data(), {10}).clone());
    // CHECK-MESSAGES-L0: :[[@LINE-3]]:17: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
    // CHECK-FIXES-L0: q.push_back(torch::from_blob(v.data(), {10}).clone());
  }
  q.pop_front();
  rd(q[0]);
}
void moves_up(std::deque<Tensor> q) {
  {
    std::vector<float> v(10);
    q.push_front(torch::from_blob(v.data(), {10}));
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
    // CHECK-FIXES: q.push_front(torch::from_blob(v.data(), {10}).clone());
    // CHECK-MESSAGES-L0: :[[@LINE-3]]:18: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
    // CHECK-FIXES-L0: q.push_front(torch::from_blob(v.data(), {10}).clone());
  }
  q.push_front(torch::ones(3));
  rd(q[1]);
}
void first_of_queue() {
  std::queue<Tensor> q;
  {
    std::vector<float> v(10);
    q.push(torch::from_blob(v.data(), {10}));
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
    // CHECK-FIXES: q.push(torch::from_blob(v.data(), {10}).clone());
    // CHECK-MESSAGES-L0: :[[@LINE-3]]:12: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
    // CHECK-FIXES-L0: q.push(torch::from_blob(v.data(), {10}).clone());
  }
  rd(q.front());
}
void other_value_of_map(std::map<int, Tensor> q) {
  {
    std::vector<float> v(10);
    q[1] = torch::from_blob(v.data(), {10});
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
    // CHECK-FIXES: q[1] = torch::from_blob(v.data(), {10}).clone();
    // CHECK-MESSAGES-L0: :[[@LINE-3]]:12: warning: dangling tensor: 'q' uses the memory of 'v', which is destroyed when its block ends; clone() it there [libtorch-dangling-from-blob]
    // CHECK-FIXES-L0: q[1] = torch::from_blob(v.data(), {10}).clone();
  }
  for (auto &[key, e] : q)
    rd(e);
}
// Surely another.
void other(std::array<Tensor, 2> q, std::map<std::string, Tensor> m,
           std::map<Part, Tensor> e) {
  Tensor three[3];
  Tensor *p = three;
  {
    std::vector<float> v(10);
    q[0] = torch::from_blob(v.data(), {10});
    m["a"] = torch::from_blob(v.data(), {10});
    e[Part::Left] = torch::from_blob(v.data(), {10});
    *p = torch::from_blob(v.data(), {10});
  }
  rd(q[1]), rd(m["b"]), rd(e[Part::Right]), rd(p[1]), rd(p[2]);
}
void others_of_known(Tensor safe) {
  std::vector<Tensor> q, p;
  p.push_back(safe);
  {
    std::vector<float> v(10);
    q.push_back(torch::from_blob(v.data(), {10}));
    p.push_back(torch::from_blob(v.data(), {10}));
  }
  q.push_back(safe);
  rd(q[1]), rd(q.back()), rd(p[0]), rd(p.front());
}
