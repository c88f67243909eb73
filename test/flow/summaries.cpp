// RUN: %flow-facts %s -- %torch_flags | %FileCheck %s -implicit-check-not={{.}}

// What functions do to their arguments, as their callers see it.

#include <functional>
#include <torch/torch.h>

struct NetImpl : torch::nn::Module {
  torch::nn::Linear fc{nullptr};
  NetImpl() { fc = register_module("fc", torch::nn::Linear(4, 4)); }
  torch::Tensor forward(torch::Tensor x) { return fc->forward(x); }
  torch::Tensor encode(torch::Tensor x) { return fc->forward(x).relu(); }
};
TORCH_MODULE(Net);

void print(double);

void train(torch::Tensor loss) { loss.sum().backward(); }
void show(const torch::Tensor &t) { print(t.sum().item<double>()); }
torch::Tensor cut(torch::Tensor t) { return t.detach(); }
torch::Tensor same(torch::Tensor t) { return t; }
void growRef(torch::Tensor &total, const torch::Tensor &x) { total += x; }
void growCopy(torch::Tensor total, const torch::Tensor &x) { total += x; }
void rebindCopy(torch::Tensor total, const torch::Tensor &x) {
  total = total + x;
}
void keep(std::vector<torch::Tensor> *all, torch::Tensor x) {
  all->push_back(x);
}
torch::Tensor guarded(Net net, torch::Tensor x) {
  torch::NoGradGuard guard;
  return net->forward(x);
}
torch::Tensor whoever(Net net, torch::Tensor x) { return net->forward(x); }
void switchOff() { torch::GradMode::set_enabled(false); }

void callers(Net net, torch::Tensor x) {
  train(net->forward(x));
  show(net->forward(x));
  same(net->forward(x)).sum().backward();
  cut(net->forward(x)).sum().backward();
}

void grows(Net net, torch::Tensor x) {
  torch::Tensor byRef = torch::zeros({4}), byCopy = torch::zeros({4}),
                not_ = torch::zeros({4});
  std::vector<torch::Tensor> all;
  for (int i = 0; i < 100; ++i) {
    torch::Tensor y = net->encode(x);
    growRef(byRef, y);
    growCopy(byCopy, y);
    rebindCopy(not_, y);
    keep(&all, y);
  }
}

void guardInside(Net net, torch::Tensor x) { show(guarded(net, x)); }

void onlyGuarded(Net net, torch::Tensor x) {
  torch::InferenceMode mode;
  show(whoever(net, x));
}

void afterSwitch(Net net, torch::Tensor x) {
  switchOff();
  show(net->forward(x));
}

torch::Tensor recursive(Net net, torch::Tensor x, int depth) {
  if (depth == 0)
    return net->forward(x);
  return recursive(net, x.relu(), depth - 1);
}

void recurses(Net net, torch::Tensor x) { train(recursive(net, x, 3)); }

void lambda(Net net, torch::Tensor x) {
  auto run = [&](torch::Tensor in) { return net->forward(in); };
  train(run(x));
  torch::Tensor total = torch::zeros({4});
  auto add = [&total](torch::Tensor y) { total += y; };
  for (int i = 0; i < 100; ++i)
    add(net->forward(x));
}

void function(Net net, torch::Tensor x) {
  std::function<torch::Tensor(torch::Tensor)> run = [&](torch::Tensor in) {
    return net->forward(in);
  };
  train(run(x));
}

void functions(Net net, torch::Tensor x,
               std::function<torch::Tensor(torch::Tensor)> any) {
  std::function<torch::Tensor(torch::Tensor)> run = [&](torch::Tensor in) {
    return net->forward(in);
  };
  run = any;
  show(run(x));
}

// Each calls the other: the history comes back all the same.
torch::Tensor pong(Net net, torch::Tensor x, int depth);
torch::Tensor ping(Net net, torch::Tensor x, int depth) {
  return depth ? pong(net, x, depth - 1) : net->forward(x);
}
torch::Tensor pong(Net net, torch::Tensor x, int depth) {
  return ping(net, x, depth);
}
void match(Net net, torch::Tensor x) { show(pong(net, x, 3)); }

void trainsDeep(torch::Tensor loss, int depth) {
  if (depth)
    return trainsDeep(loss, depth - 1);
  loss.backward();
}
void deep(Net net, torch::Tensor x) { trainsDeep(net->forward(x).sum(), 3); }

template <typename T> struct Runner {
  T net;
  torch::Tensor run(torch::Tensor x) { return net->forward(x); }
};

void instantiated(Runner<Net> runner, torch::Tensor x) { show(runner.run(x)); }

struct Plain {
  torch::nn::Linear fc{4, 4};
  torch::Tensor forward(torch::Tensor x) { return fc->forward(x); }
};

void kinds(Plain plain, torch::nn::AnyModule any, torch::nn::ModuleList list,
           Net net, torch::Tensor x) {
  show(plain.forward(x));
  show(any.forward<torch::Tensor>(x));
  show(list[0]->as<torch::nn::Linear>()->forward(x));
  show((*net).forward(x));
}

std::vector<torch::Tensor> returns(const std::vector<torch::Tensor> &values) {
  std::vector<torch::Tensor> sums;
  torch::Tensor sum = torch::zeros({4});
  for (const torch::Tensor &value : values) {
    sum = value + 0.9 * sum;
    sums.push_back(sum);
  }
  return sums;
}

void rollout(Net net, torch::Tensor x) {
  std::vector<torch::Tensor> values;
  for (int i = 0; i < 100; ++i)
    values.push_back(net->forward(x));
  torch::Tensor target = torch::stack(returns(values)).detach();
  show(target);
}

// CHECK: {{^}}10: function NetImpl::NetImpl
// CHECK-NEXT: {{^}}11: function NetImpl::forward
// CHECK-NEXT: {{^}}11:   entry of x -> returned
// CHECK-NEXT: {{^}}11:   forward -> returned
// CHECK-NEXT: {{^}}12: function NetImpl::encode
// CHECK-NEXT: {{^}}12:   entry of x -> returned
// CHECK-NEXT: {{^}}12:   forward -> returned
// CHECK-NEXT: {{^}}18: function train, trains
// CHECK-NEXT: {{^}}18:   entry of loss -> backward
// CHECK-NEXT: {{^}}19: function show
// CHECK-NEXT: {{^}}20: function cut
// CHECK-NEXT: {{^}}21: function same
// CHECK-NEXT: {{^}}21:   entry of t -> returned
// CHECK-NEXT: {{^}}22: function growRef
// CHECK-NEXT: {{^}}22:   accumulates into total, in place, mode on, entry of x
// CHECK-NEXT: {{^}}22:   carried in total -> stored
// CHECK-NEXT: {{^}}22:   entry of total -> stored
// CHECK-NEXT: {{^}}22:   entry of x -> stored
// CHECK-NEXT: {{^}}23: function growCopy
// CHECK-NEXT: {{^}}24: function rebindCopy
// CHECK-NEXT: {{^}}27: function keep
// CHECK-NEXT: {{^}}27:   entry of all -> stored
// CHECK-NEXT: {{^}}27:   entry of x -> stored
// CHECK-NEXT: {{^}}28:   accumulates into all, contains, mode on, entry of x
// CHECK-NEXT: {{^}}28:   carried in all -> stored
// CHECK-NEXT: {{^}}30: function guarded
// CHECK-NEXT: {{^}}34: function whoever, called only guarded
// CHECK-NEXT: {{^}}34:   entry of x -> returned
// CHECK-NEXT: {{^}}34:   forward -> returned
// CHECK-NEXT: {{^}}35: function switchOff, leaves gradients off
// CHECK-NEXT: {{^}}37: function callers, trains
// CHECK-NEXT: {{^}}37:   entry of x -> backward
// CHECK-NEXT: {{^}}38:   forward -> backward
// CHECK-NEXT: {{^}}39:   forward -> nobody
// CHECK-NEXT: {{^}}40:   forward -> backward
// CHECK-NEXT: {{^}}41:   forward -> nobody
// CHECK-NEXT: {{^}}44: function grows
// CHECK-NEXT: {{^}}49:   forward -> nobody
// CHECK-NEXT: {{^}}50:   accumulates into byRef, via call, mode on, entry of x, forward of line 49
// CHECK-NEXT: {{^}}50:   carried in byRef -> nobody
// CHECK-NEXT: {{^}}51:   accumulates into byCopy, via call, mode on, entry of x, forward of line 49
// CHECK-NEXT: {{^}}51:   carried in byCopy -> nobody
// CHECK-NEXT: {{^}}53:   accumulates into all, via call, mode on, entry of x, forward of line 49
// CHECK-NEXT: {{^}}53:   carried in all -> nobody
// CHECK-NEXT: {{^}}57: function guardInside
// CHECK-NEXT: {{^}}59: function onlyGuarded
// CHECK-NEXT: {{^}}64: function afterSwitch, leaves gradients off
// CHECK-NEXT: {{^}}69: function recursive
// CHECK-NEXT: {{^}}69:   entry of x -> returned
// CHECK-NEXT: {{^}}71:   forward -> returned
// CHECK-NEXT: {{^}}72:   helper that runs a module -> returned
// CHECK-NEXT: {{^}}75: function recurses, trains
// CHECK-NEXT: {{^}}75:   entry of x -> backward
// CHECK-NEXT: {{^}}75:   helper that runs a module -> backward
// CHECK-NEXT: {{^}}77: function lambda, trains
// CHECK-NEXT: {{^}}77:   entry of x -> backward
// CHECK-NEXT: {{^}}79:   helper that runs a module -> backward
// CHECK-NEXT: {{^}}83:   accumulates into total, via call, mode on, entry of x, forward of line 83
// CHECK-NEXT: {{^}}83:   carried in total -> nobody
// CHECK-NEXT: {{^}}83:   forward -> nobody
// CHECK-NEXT: {{^}}78: function lambda(Net, torch::Tensor)::({{anonymous class|lambda}})::operator()
// CHECK-NEXT: {{^}}78:   entry of in -> returned
// CHECK-NEXT: {{^}}78:   forward -> returned
// CHECK-NEXT: {{^}}81: function lambda(Net, torch::Tensor)::({{anonymous class|lambda}})::operator()
// CHECK-NEXT: {{^}}81:   accumulates into total, in place, mode on, entry of y
// CHECK-NEXT: {{^}}81:   carried in total -> stored
// CHECK-NEXT: {{^}}81:   entry of total -> stored
// CHECK-NEXT: {{^}}81:   entry of y -> stored
// CHECK-NEXT: {{^}}86: function function, trains
// CHECK-NEXT: {{^}}86:   entry of x -> backward
// CHECK-NEXT: {{^}}90:   helper that runs a module -> backward
// CHECK-NEXT: {{^}}87: function function(Net, torch::Tensor)::({{anonymous class|lambda}})::operator()
// CHECK-NEXT: {{^}}87:   entry of in -> returned
// CHECK-NEXT: {{^}}88:   forward -> returned
// CHECK-NEXT: {{^}}93: function functions
// CHECK-NEXT: {{^}}93:   entry of x -> computed
// CHECK-NEXT: {{^}}95: function functions(Net, torch::Tensor, std::function<torch::Tensor (torch::Tensor)>)::({{anonymous class|lambda}})::operator()
// CHECK-NEXT: {{^}}95:   entry of in -> returned
// CHECK-NEXT: {{^}}96:   forward -> returned
// CHECK-NEXT: {{^}}104: function ping
// CHECK-NEXT: {{^}}104:   entry of x -> returned
// CHECK-NEXT: {{^}}105:   forward -> returned
// CHECK-NEXT: {{^}}105:   helper that runs a module -> returned
// CHECK-NEXT: {{^}}107: function pong
// CHECK-NEXT: {{^}}107:   entry of x -> returned
// CHECK-NEXT: {{^}}108:   helper that runs a module -> returned
// CHECK-NEXT: {{^}}110: function match
// CHECK-NEXT: {{^}}110:   helper that runs a module -> nobody
// CHECK-NEXT: {{^}}112: function trainsDeep, trains
// CHECK-NEXT: {{^}}112:   entry of loss -> backward
// CHECK-NEXT: {{^}}117: function deep, trains
// CHECK-NEXT: {{^}}117:   entry of x -> backward
// CHECK-NEXT: {{^}}117:   forward -> backward
// CHECK-NEXT: {{^}}121: function Runner<Net>::run
// CHECK-NEXT: {{^}}121:   entry of x -> returned
// CHECK-NEXT: {{^}}121:   forward -> returned
// CHECK-NEXT: {{^}}124: function instantiated
// CHECK-NEXT: {{^}}124:   helper that runs a module -> nobody
// CHECK-NEXT: {{^}}128: function Plain::forward
// CHECK-NEXT: {{^}}128:   entry of x -> returned
// CHECK-NEXT: {{^}}128:   forward -> returned
// CHECK-NEXT: {{^}}131: function kinds
// CHECK-NEXT: {{^}}133:   forward -> nobody
// CHECK-NEXT: {{^}}134:   forward -> nobody
// CHECK-NEXT: {{^}}135:   forward -> nobody
// CHECK-NEXT: {{^}}136:   forward -> nobody
// CHECK-NEXT: {{^}}139: function returns
// CHECK-NEXT: {{^}}139:   entry of values -> returned
// CHECK-NEXT: {{^}}143:   accumulates into sum, rebinds, mode on, entry of values
// CHECK-NEXT: {{^}}143:   carried in sum -> returned
// CHECK-NEXT: {{^}}144:   accumulates into sums, contains, mode on, entry of values
// CHECK-NEXT: {{^}}144:   carried in sums -> returned
// CHECK-NEXT: {{^}}149: function rollout
// CHECK-NEXT: {{^}}152:   accumulates into values, contains, mode on, entry of x, forward of line 152
// CHECK-NEXT: {{^}}152:   carried in values -> nobody
// CHECK-NEXT: {{^}}152:   forward -> nobody
// CHECK-NEXT: {{^}}153:   grown by returns -> nobody
// CHECK-NEXT: {{^}}153:   grown by returns -> nobody
