// RUN: %cpp-facts %s -- %torch_flags | %FileCheck %s -implicit-check-not={{.}}

// What a variable is given, where a value comes from, what surrounds it.

#include <functional>
#include <map>
#include <torch/torch.h>

void ask(torch::Tensor);
void take(torch::Tensor &);

void chased(torch::Tensor x) {
  torch::Tensor y = x.relu();
  torch::Tensor &alias = y;
  auto moved = std::move(alias);
  ask(moved);
}

void assigned(torch::Tensor x, bool which) {
  torch::Tensor y;
  if (which)
    y = x + 1;
  else
    y = x - 1;
  ask(y);
  y.reset();
}

void escapes(torch::Tensor x) {
  torch::Tensor y = x;
  take(y);
  y = x.exp();
  int count = 0;
  count += 1;
}

void loops(std::vector<torch::Tensor> xs) {
  for (int i = 0; i < 3; ++i)
    for (auto &x : xs) {
      torch::Tensor first = x;
      if (i == 0)
        ask(first);
    }
  int n = 9;
  while (n > 0)
    n = n / 2;
}

struct ReadsImpl : torch::nn::Module {
  torch::Tensor forward(const torch::Tensor &x) { return x; }
};
TORCH_MODULE(Reads);

struct WritesImpl : torch::nn::Module {
  torch::Tensor forward(torch::Tensor &x) { return x = x + 1; }
};
TORCH_MODULE(Writes);

void called(torch::nn::Linear lin, Reads reads, Writes writes,
            std::function<void(torch::Tensor &)> any) {
  torch::Tensor a = torch::ones(3), b = torch::ones(3);
  torch::Tensor c = torch::ones(3), d = torch::ones(3);
  lin(a);
  reads(b);
  writes(c);
  any(d);
}

// CHECK: {{^}}12: function chased
// CHECK-NEXT: {{^}}12:   x: own, shares what it owns, given {} and perhaps more
// CHECK-NEXT: {{^}}13:   y: own, shares what it owns, given {x.relu()} and perhaps more
// CHECK-NEXT: {{^}}14:   alias: not own, set once, shares what it owns, given {y} and perhaps more
// CHECK-NEXT: {{^}}14:   y escapes
// CHECK-NEXT: {{^}}15:   alias released
// CHECK-NEXT: {{^}}15:   moved: own, set once, shares what it owns, given {std::move(alias)}
// CHECK-NEXT: {{^}}16:   moved is y, as moved, part of moved, from y, keeps {moved}
// CHECK-NEXT: {{^}}19: function assigned
// CHECK-NEXT: {{^}}19:   which: own, given {} and perhaps more
// CHECK-NEXT: {{^}}19:   x: own, shares what it owns, given {} and perhaps more
// CHECK-NEXT: {{^}}20:   y: own, shares what it owns, given {x + 1, x - 1}
// CHECK-NEXT: {{^}}22:   y assigned
// CHECK-NEXT: {{^}}24:   y assigned
// CHECK-NEXT: {{^}}25:   y is y, part of y, from y, keeps {y}
// CHECK-NEXT: {{^}}26:   takes out by reset
// CHECK-NEXT: {{^}}26:   y released
// CHECK-NEXT: {{^}}29: function escapes
// CHECK-NEXT: {{^}}29:   x: own, shares what it owns, given {} and perhaps more
// CHECK-NEXT: {{^}}30:   y: own, shares what it owns, given {x, x.exp()} and perhaps more
// CHECK-NEXT: {{^}}31:   y escapes
// CHECK-NEXT: {{^}}32:   y assigned
// CHECK-NEXT: {{^}}33:   count: own, given {0} and perhaps more
// CHECK-NEXT: {{^}}34:   count changed
// CHECK-NEXT: {{^}}37: function loops
// CHECK-NEXT: {{^}}37:   xs: own, given {} and perhaps more
// CHECK-NEXT: {{^}}38:   i changed
// CHECK-NEXT: {{^}}38:   i: own, given {0} and perhaps more, scope of line 38
// CHECK-NEXT: {{^}}38:   loop, few times
// CHECK-NEXT: {{^}}39:   loop, in the loop of line 38
// CHECK-NEXT: {{^}}39:   x: not own, set once, shares what it owns, given {:} and perhaps more, scope of line 39
// CHECK-NEXT: {{^}}40:   first: own, set once, shares what it owns, given {x}, scope of line 39
// CHECK-NEXT: {{^}}42:   first is xs[], as first, part of first, from :, keeps {first}, in the loop of line 39, in the first round
// CHECK-NEXT: {{^}}44:   n: own, given {9, n / 2}
// CHECK-NEXT: {{^}}45:   loop
// CHECK-NEXT: {{^}}46:   n assigned, read later
// CHECK-NEXT: {{^}}50: function ReadsImpl::forward
// CHECK-NEXT: {{^}}50:   x: not own, shares what it owns, given {} and perhaps more
// CHECK-NEXT: {{^}}55: function WritesImpl::forward
// CHECK-NEXT: {{^}}55:   x assigned
// CHECK-NEXT: {{^}}55:   x: not own, shares what it owns, given {x + 1} and perhaps more
// What is called may change what it is given only where it could.
// CHECK-NEXT: {{^}}59: function called
// CHECK-NEXT: {{^}}59:   lin: own, shares what it owns, given {} and perhaps more
// CHECK-NEXT: {{^}}59:   reads: own, shares what it owns, given {} and perhaps more
// CHECK-NEXT: {{^}}59:   writes: own, shares what it owns, given {} and perhaps more
// CHECK-NEXT: {{^}}60:   any: own, holds functions, given {} and perhaps more
// CHECK-NEXT: {{^}}61:   a: own, set once, shares what it owns, given {torch::ones(3)} and perhaps more
// CHECK-NEXT: {{^}}61:   b: own, set once, shares what it owns, given {torch::ones(3)} and perhaps more
// CHECK-NEXT: {{^}}62:   c: own, shares what it owns, given {torch::ones(3)} and perhaps more
// CHECK-NEXT: {{^}}62:   d: own, shares what it owns, given {torch::ones(3)} and perhaps more
// CHECK-NEXT: {{^}}63:   a escapes
// CHECK-NEXT: {{^}}64:   b escapes
// CHECK-NEXT: {{^}}65:   c escapes
// CHECK-NEXT: {{^}}66:   d escapes
