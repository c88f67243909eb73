#include <torch/torch.h>

using Net = torch::nn::Sequential;

void run(Net &Model, const torch::Tensor &Batch) {
  auto Output = Model->forward(Batch);
  std::cout << Output.argmax(1).item<int64_t>() << '\n';
}
