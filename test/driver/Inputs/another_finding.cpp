#include <torch/torch.h>
#define detach() detach(), Last = Loss
#define ADD(To, What) To = To + What

// What .detach() of the fix does here makes another finding, of Sum, which
// has no fix.
double train(torch::nn::Sequential &Net, torch::optim::Optimizer &Opt,
             const std::vector<torch::Tensor> &Xs) {
  torch::Tensor Total = torch::zeros({}), Sum = torch::zeros({});
  torch::Tensor Last = torch::zeros({});
  for (const torch::Tensor &X : Xs) {
    Opt.zero_grad();
    torch::Tensor Loss = Net->forward(X).mean();
    Loss.backward();
    Opt.step();
    Total = Total + Loss;
    ADD(Sum, Last);
  }
  return (Total + Sum).item<double>();
}
