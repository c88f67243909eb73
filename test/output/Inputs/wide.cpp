#include <torch/torch.h>

// A pair of surrogates and a two-byte letter before the call: UTF-16 columns
// are neither bytes nor characters.
torch::Tensor wide(const torch::nn::utils::rnn::PackedSequence &Packed) {
  /* 🔥ä */ return std::get<0>(torch::nn::utils::rnn::pad_packed_sequence(Packed));
}
