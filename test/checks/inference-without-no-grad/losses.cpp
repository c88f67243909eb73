// A file that hands losses out trains for others: eval() in one of its functions does
// not say that all of them predict.
// RUN: %check_libtorch_tidy %s libtorch-inference-without-no-grad %t --level=1

#include "../Inputs/net.h"
#include <vector>

using torch::Tensor;

// Its loop, in another file, back-propagates what train_actor() returns.
class Imitation {
public:
  Tensor train_actor() {
    Tensor judged = judge_->forward(torch::stack(actions_));
    Tensor actor_loss =
        torch::binary_cross_entropy(judged, torch::ones_like(judged));
    return actor_loss;
  }
  Tensor train_judge(const Tensor &x) {
    return torch::mse_loss(judge_->forward(x), torch::ones_like(x));
  }
  void step(const Tensor &state) { actions_.push_back(actor_->forward(state)); }
  void evaluate() {
    actor_->eval();
    judge_->eval();
  }

private:
  Net actor_, judge_;
  std::vector<Tensor> actions_;
};
