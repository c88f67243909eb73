// Sequences that are packed, all of full length: what --budget takes the others
// for.

#include "step.h"

namespace nn = torch::nn;
using torch::Tensor;

struct PackedImpl : nn::Module {
  PackedImpl(int64_t layers, bool both, bool batchFirst)
      : batchFirst(batchFirst), lstm(nn::LSTMOptions(16, 12)
                                         .num_layers(layers)
                                         .bidirectional(both)
                                         .batch_first(batchFirst)),
        gru(nn::GRUOptions(both ? 24 : 12, 10)), out(10, 3) {
    register_module("lstm", lstm);
    register_module("gru", gru);
    register_module("out", out);
  }
  Tensor forward(Tensor x, Tensor lengths) {
    namespace rnn = nn::utils::rnn;
    auto packed = rnn::pack_padded_sequence(x, lengths, batchFirst);
    auto encoded = lstm->forward_with_packed_input(packed);
    auto [again, state] = gru->forward_with_packed_input(std::get<0>(encoded));
    auto padded = rnn::pad_packed_sequence(again, batchFirst);
    return out(std::get<0>(padded));
  }
  bool batchFirst;
  nn::LSTM lstm;
  nn::GRU gru;
  nn::Linear out;
};
TORCH_MODULE(Packed);

int main() {
  steps::begin();
  STEP(Packed(1, false, false), "6x8x16 8:int64", torch::rand({6, 8, 16}),
       torch::full({8}, 6, torch::kLong));
  STEP(Packed(2, true, true), "10x5x16 10:int64", torch::rand({10, 5, 16}),
       torch::full({10}, 5, torch::kLong));
}
