#include <torch/torch.h>

using torch::nn::utils::rnn::PackedSequence;
using torch::nn::utils::rnn::pad_packed_sequence;

void f(PackedSequence P) {
	pad_packed_sequence(P); // 🔥ä
  pad_packed_sequence(P);
}
// Long enough that the hundred units behind the call are the same in both functions: a second line of a hash.
void g(PackedSequence P) {
  pad_packed_sequence(P);
}
// Long enough that the hundred units behind the call are the same in both functions: a second line of a hash.
