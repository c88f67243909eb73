#include "tagger.h"

torch::Tensor unpacked(const torch::Tensor &Padded,
                       const torch::Tensor &Lengths) {
  namespace rnn = torch::nn::utils::rnn;
  auto Packed = rnn::pack_padded_sequence(Padded, Lengths, true);
  // The first element of the result is the padded output, the second holds the
  // lengths.
  torch::Tensor Output = std::get<0>(rnn::pad_packed_sequence(Packed, true));
  return Output + unpackedInHeader(Packed);
}
