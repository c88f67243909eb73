#include <torch/torch.h>

struct NetImpl : torch::nn::Module {
  torch::nn::Linear fc{nullptr};
  NetImpl() : fc(register_module("fc", torch::nn::Linear(3, 4))) {}
  torch::Tensor forward(torch::Tensor x) { return fc(x); }
};
TORCH_MODULE(Net);

// One guard is missing, and all that keeps a result is a defect for the same
// reason: lines that begin with a word in capitals are what is added later.
double evaluate(Net net, const std::vector<torch::Tensor> &data) {
  net->eval();
  double sum = 0;
  std::vector<torch::Tensor> k0, k1, k2, k3, k4, k5, k6, k7, k8, late;
  for (const torch::Tensor &x : data) {
    torch::Tensor out = net(x);
    sum += out.sum().item<double>();
    k0.push_back(out);
    //KEEP k1.push_back(out);
    //MORE k2.push_back(out); k3.push_back(out); k4.push_back(out);
    //LATE late.push_back(out);
    //MORE k5.push_back(out); k6.push_back(out); k7.push_back(out); k8.push_back(out);
  }
  return sum + k0.size() + k1.size() + k8.size() + late.size();
}
