// Where something stops requiring gradients, it may be the member.
// RUN: %check_libtorch_tidy %s libtorch-accumulated-history %t -- -- -I%S/../Inputs
#include "net.h"

using torch::Tensor;

class Line {
public:
  std::vector<Tensor> weights() const { return {weight}; }
  double sum(const Batches &batches) {
    Tensor total = torch::zeros({});
    for (const Tensor &x : batches)
      total += x.mm(weight).mean();
    return total.item<double>();
  }

private:
  Tensor weight = torch::randn({4, 4}).requires_grad_();
};

double frozen(Line line, const Batches &batches) {
  for (Tensor &weight : line.weights())
    weight.set_requires_grad(false);
  return line.sum(batches);
}
