// A model without a module: tensors that require gradients start a graph, too.
// RUN: %check_libtorch_tidy %s libtorch-accumulated-history %t -- -- -I%S/../Inputs
#include "net.h"

using torch::Tensor;

// A list of what is computed from one, not of the tensor itself or of copies.
double of_local(const Batches &batches) {
  Tensor weight = torch::randn({4, 4}).requires_grad_();
  std::vector<Tensor> losses, seen, copies, names;
  for (const Tensor &x : batches) {
    Tensor loss = x.mm(weight).mean();
    losses.push_back(loss);
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: memory growth: 'losses' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added [libtorch-accumulated-history]
    // CHECK-FIXES: losses.push_back(loss.detach());
    seen.push_back(loss.detach());
    copies.push_back(weight.clone());
    names.push_back(weight);
  }
  return torch::stack(losses).mean().item<double>() + double(seen.size() + copies.size() + names.size());
}

// The same in a field of what the list holds, and in what a function is given.
struct Record {
  Tensor value, of;
  int step;
};
struct Memory {
  std::vector<Record> records;
  void push(Record r) { records.push_back(std::move(r)); }
};
static void keep(std::vector<Tensor> &list, Tensor t) { list.push_back(std::move(t)); }
float in_records(const Batches &batches) {
  Tensor weight = torch::randn({4, 4}).requires_grad_();
  std::vector<Record> losses, weights;
  Memory memory, leaves;
  std::vector<Tensor> kept, again, in_lambda;
  int step = 0;
  for (const Tensor &x : batches) {
    Tensor loss = x.mm(weight).mean();
    losses.push_back({loss, x, step});
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: memory growth: 'losses' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added
    memory.push({x, loss, step});
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: memory growth: 'memory.records' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added
    keep(kept, torch::exp(loss));
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: memory growth: 'kept' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added
    auto add = [&] { in_lambda.push_back(loss); };
    add();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: memory growth: 'in_lambda' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added
    auto add_weight = [&] { again.push_back(weight); };
    add_weight();
    weights.push_back({weight, x + 1, step++});
    leaves.push({x * 2, weight, step});
    keep(again, weight);
  }
  float sum = weights.size() + leaves.records.size() + again.size() + kept.size() + in_lambda.size();
  for (const Record &r : losses)
    sum += r.value.item<float>();
  return sum + memory.records.size();
}

class Line {
public:
  Line() : offset(torch::zeros({4}, torch::requires_grad())) {}
  explicit Line(double at) : offset(torch::full({4}, at, torch::dtype(torch::kFloat).requires_grad(true))) {}
  Tensor at(const Tensor &x) const { return x.mm(weight) + offset; }
  std::vector<Tensor> weights() const { return {weight, offset}; }

  double sum(const Batches &batches) {
    Tensor total = torch::zeros({});
    for (const Tensor &x : batches)
      total += x.mm(weight).mean();
      // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: memory growth: 'total' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added
      // CHECK-FIXES: total += x.mm(weight).mean().detach();
    return total.item<double>();
  }
  double under_guard(const Batches &batches) {
    torch::NoGradGuard no_grad;
    Tensor total = torch::zeros({});
    for (const Tensor &x : batches)
      total += x.mm(weight).mean();
    return total.item<double>();
  }
  void fit(const Batches &batches) {
    Tensor total = torch::zeros({});
    for (const Tensor &x : batches)
      total = total + x.mm(weight).mean();
    total.backward();
  }
  double of_others(const Batches &batches) {
    Tensor total = torch::zeros({});
    for (const Tensor &x : batches)
      total += x.mm(changed) + x.mm(plain) + x.mm(set);
    return total.sum().item<double>();
  }
  void change(const Tensor &to) { changed = to; }
  Tensor set = torch::randn({4, 4}).requires_grad_();

private:
  Tensor weight = torch::randn({4, 4}).requires_grad_();
  Tensor offset;
  Tensor changed = torch::randn({4, 4}).requires_grad_();
  Tensor plain = torch::randn({4, 4});
};

double through_a_method(const Line &line, const Batches &batches) {
  std::vector<Tensor> all;
  for (const Tensor &x : batches)
    all.push_back(line.at(x).mean());
    // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: memory growth: 'all' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added
    // CHECK-FIXES: all.push_back(line.at(x).mean().detach());
  return torch::stack(all).mean().item<double>();
}
void set_elsewhere(Line &line, const Tensor &to) { line.set = to; }

struct Points {
  Tensor xyz;
  Points() { xyz = torch::zeros({8, 3}).requires_grad_(); }
};
Tensor render(std::shared_ptr<Points> points) { return torch::sigmoid(points->xyz); }
double of_a_struct(std::shared_ptr<Points> points, const Batches &images) {
  Tensor error = torch::zeros({});
  for (const Tensor &image : images)
    error += (render(points) - image).pow(2).mean();
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: memory growth: 'error' keeps the autograd graph and activations of every iteration, and nothing back-propagates through it; detach what is added
    // CHECK-FIXES: error += (render(points) - image).pow(2).mean().detach();
  return error.item<double>();
}
