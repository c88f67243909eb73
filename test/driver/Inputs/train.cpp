// A finding of level 2 with a fix, and one of level 1 that has a longer story.
#include "packed.h"

namespace rnn = torch::nn::utils::rnn;

torch::Tensor unpacked(const torch::Tensor &Padded,
                       const torch::Tensor &Lengths) {
  auto Packed = rnn::pack_padded_sequence(Padded, Lengths, true);
  // Größe 🔥
  torch::Tensor Output = std::get<0>(rnn::pad_packed_sequence(Packed, true));
  return Output + unpackedInHeader(Packed);
}

double train(torch::nn::Linear Net, torch::optim::SGD &Optimizer,
             const std::vector<torch::Tensor> &Batches) {
  torch::Tensor Total = torch::zeros({});
  for (const torch::Tensor &Batch : Batches) {
    Optimizer.zero_grad();
    torch::Tensor Loss = Net->forward(Batch).pow(2).mean();
    Loss.backward();
    Optimizer.step();
    Total = Total + Loss;
  }
  return Total.item<double>();
}
