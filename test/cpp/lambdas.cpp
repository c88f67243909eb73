// RUN: %cpp-facts %s -- %torch_flags | %FileCheck %s

// Where a lambda may run.

#include <algorithm>
#include <functional>
#include <thread>
#include <vector>

static std::vector<std::function<void()>> Later;
template <typename F> void runs(F f) { f(); }
template <typename F> void runs_and_stores(F f) {
  f();
  Later.push_back(f);
}
void unseen(std::function<void()>);

void here(std::vector<int> &all, int &n) {
  [&] { ++n; }();
  std::for_each(all.begin(), all.end(), [&](int i) { n += i; });
  runs([&] { ++n; });
  auto add = [&] { ++n; };
  add();
  runs(add);
  const std::function<void()> held = [&] { ++n; };
  held();
  auto never = [&] { ++n; };
}
// CHECK: : function here
// CHECK: {{^}}19:   lambda runs at line 19{{$}}
// CHECK: {{^}}20:   lambda runs at line 20{{$}}
// CHECK: {{^}}21:   lambda runs at line 21{{$}}
// CHECK: {{^}}22:   lambda runs at line 23, line 24{{$}}
// CHECK: {{^}}25:   lambda runs at line 26{{$}}
// CHECK: {{^}}27:   lambda runs nowhere{{$}}

void elsewhere(int &n, bool which) {
  Later.push_back([&] { ++n; });
  runs_and_stores([&] { ++n; });
  unseen([&] { ++n; });
  std::thread other([&] { ++n; });
  other.join();
  auto add = [&] { ++n; };
  std::function<void()> set = [&] { ++n; };
  set = add;
  auto inner = [&] { ++n; };
  auto outer = [&] { inner(); };
  outer();
}
// CHECK: : function elsewhere
// CHECK: {{^}}38:   lambda may run elsewhere{{$}}
// CHECK: {{^}}39:   lambda may run elsewhere{{$}}
// CHECK: {{^}}40:   lambda may run elsewhere{{$}}
// CHECK: {{^}}41:   lambda may run elsewhere{{$}}
// CHECK: {{^}}43:   lambda may run elsewhere{{$}}
// CHECK: {{^}}44:   lambda may run elsewhere{{$}}
// CHECK: {{^}}46:   lambda may run elsewhere{{$}}
// CHECK: {{^}}47:   lambda runs at line 48{{$}}
