// Two replicas whose longest sequences differ.
#include "Memory.h"
#include <torch/torch.h>

// What torch/nn/parallel/data_parallel.h does on devices (its headers need
// CUDA), here one after the other: scatter, replicas, gather.
namespace torch::nn::parallel {
template <typename ModuleType>
Tensor data_parallel(ModuleType module, Tensor input,
                     optional<std::vector<Device>> = nullopt,
                     optional<Device> = nullopt, int64_t dim = 0) {
  std::vector<Tensor> outputs;
  for (const Tensor &part : input.chunk(2, dim))
    outputs.push_back(module->forward(part));
  return torch::cat(outputs, dim);
}
} // namespace torch::nn::parallel

namespace rnn = torch::nn::utils::rnn;

struct EncoderImpl : torch::nn::Module {
  EncoderImpl() { register_module("lstm", lstm); }
  torch::Tensor forward(torch::Tensor x) {
    torch::Tensor lengths = x.abs().sum(2).gt(0).sum(1);
    auto packed = rnn::pack_padded_sequence(x, lengths, true, false);
    auto [output, state] = lstm->forward_with_packed_input(packed);
#ifndef FIXED
    return std::get<0>(rnn::pad_packed_sequence(output, true));
#else
    return std::get<0>(rnn::pad_packed_sequence(output, true, 0.0, x.size(1)));
#endif
  }
  torch::nn::LSTM lstm{torch::nn::LSTMOptions(2, 3).batch_first(true)};
};
TORCH_MODULE(Encoder);

int main() {
  proof::begin();
  torch::NoGradGuard no_grad;
  Encoder encoder;
  torch::Tensor x = torch::zeros({4, 5, 2});
  const int lengths[] = {5, 2, 3, 1};
  for (int i = 0; i < 4; ++i)
    x[i].slice(0, 0, lengths[i]) = torch::randn({lengths[i], 2});

  try {
    std::cout << "gathered: "
              << torch::nn::parallel::data_parallel(encoder, x).sizes() << "\n";
  } catch (const c10::Error &e) {
    std::cout << e.what_without_backtrace() << "\n";
  }
  std::cout.flush();
  torch::Tensor first = encoder(x).slice(1, 0, 2).contiguous();
  proof::printBits("outputs", {first.data_ptr<float>(),
                               first.data_ptr<float>() + first.numel()});
}
