#pragma once
#include <torch/torch.h>

inline torch::Tensor
unpackedInHeader(const torch::nn::utils::rnn::PackedSequence &Packed) {
  return std::get<0>(torch::nn::utils::rnn::pad_packed_sequence(Packed));
}
