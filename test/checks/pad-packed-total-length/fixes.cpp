// Every way in which the padded length can be followed to its packing.
// RUN: %check_libtorch_tidy %s libtorch-pad-packed-total-length %t

#include <torch/torch.h>

namespace rnn = torch::nn::utils::rnn;
using torch::Tensor;

Tensor direct(torch::nn::LSTM lstm, Tensor x, Tensor lengths) {
  auto packed = rnn::pack_padded_sequence(x, lengths, true);
  auto result = lstm->forward_with_packed_input(packed);
  auto padded = rnn::pad_packed_sequence(std::get<0>(result), true);
  // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: wrong length: pad_packed_sequence without total_length pads to the longest sequence of this batch, not to the length of the padded input; data_parallel cannot gather such outputs [libtorch-pad-packed-total-length]
  // CHECK-FIXES: auto padded = rnn::pad_packed_sequence(std::get<0>(result), true, 0.0, x.size(1));
  return std::get<0>(padded);
}

Tensor nested(torch::nn::GRU gru, const Tensor &x, Tensor lengths) {
  return std::get<0>(rnn::pad_packed_sequence(std::get<0>(
      gru->forward_with_packed_input(rnn::pack_padded_sequence(x, lengths)))));
  // CHECK-MESSAGES: :[[@LINE-2]]:22: warning: wrong length: pad_packed_sequence without total_length
  // CHECK-FIXES: gru->forward_with_packed_input(rnn::pack_padded_sequence(x, lengths))), false, 0.0, x.size(0)));
}

Tensor bindings(torch::nn::LSTM lstm, Tensor x, Tensor lengths) {
  // What was assigned before the packing does not matter.
  x = torch::dropout(x, 0.5, true);
  auto packed = rnn::pack_padded_sequence(x, lengths, true, false);
  auto [output, state] = lstm->forward_with_packed_input(packed);
  auto [padded, sizes] = rnn::pad_packed_sequence(output, true, -1.0);
  // CHECK-MESSAGES: :[[@LINE-1]]:26: warning: wrong length: pad_packed_sequence without total_length
  // CHECK-FIXES: auto [padded, sizes] = rnn::pad_packed_sequence(output, true, -1.0, x.size(1));
  return padded;
}

Tensor tied(torch::nn::LSTM first, torch::nn::LSTM second, Tensor x,
            Tensor lengths) {
  rnn::PackedSequence packed = rnn::pack_padded_sequence(x, lengths, true);
  std::tuple<Tensor, Tensor> state;
  std::tie(packed, state) = first->forward_with_packed_input(packed);
  std::tie(packed, state) = second->forward_with_packed_input(packed, state);
  Tensor padded, sizes;
  std::tie(padded, sizes) =
      rnn::pad_packed_sequence(std::move(packed), /*batch_first=*/true);
  // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: wrong length: pad_packed_sequence without total_length
  // CHECK-FIXES: rnn::pad_packed_sequence(std::move(packed), /*batch_first=*/true, 0.0, x.size(1));
  return padded;
}

Tensor moved_to_device(torch::nn::LSTM lstm, Tensor x, Tensor lengths) {
  const auto packed = rnn::pack_padded_sequence(x, lengths, false).to(torch::kCPU);
  auto output = std::get<0>(lstm->forward_with_packed_input(packed));
  return std::get<0>(rnn::pad_packed_sequence(output, false, 0));
  // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: wrong length: pad_packed_sequence without total_length
  // CHECK-FIXES: return std::get<0>(rnn::pad_packed_sequence(output, false, 0, x.size(0)));
}

Tensor rebuilt(torch::nn::LSTM lstm, Tensor x, Tensor lengths) {
  auto packed = rnn::pack_padded_sequence(x, lengths, true);
  rnn::PackedSequence activated(torch::relu(packed.data()),
                                packed.batch_sizes());
  return std::get<0>(rnn::pad_packed_sequence(activated, true));
  // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: wrong length: pad_packed_sequence without total_length
  // CHECK-FIXES: return std::get<0>(rnn::pad_packed_sequence(activated, true, 0.0, x.size(1)));
}

Tensor explicit_nullopt(torch::nn::LSTM lstm, Tensor x, Tensor lengths) {
  auto packed = rnn::pack_padded_sequence(x, lengths, true);
  auto a = rnn::pad_packed_sequence(packed, true, 0.0, torch::nullopt);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: wrong length: pad_packed_sequence without total_length
  // CHECK-FIXES: auto a = rnn::pad_packed_sequence(packed, true, 0.0, x.size(1));
  auto b = rnn::pad_packed_sequence(packed, true, 0.0, {});
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: wrong length: pad_packed_sequence without total_length
  // CHECK-FIXES: auto b = rnn::pad_packed_sequence(packed, true, 0.0, x.size(1));
  auto c = rnn::pad_packed_sequence(packed, true, 0.0, torch::optional<int64_t>());
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: wrong length: pad_packed_sequence without total_length
  // CHECK-FIXES: auto c = rnn::pad_packed_sequence(packed, true, 0.0, x.size(1));
  return std::get<0>(a) + std::get<0>(b) + std::get<0>(c);
}

struct Batch {
  Tensor data, lengths;
};

class Encoder {
public:
  Tensor encode(const Batch &batch) {
    auto packed =
        rnn::pack_padded_sequence(batch.data, batch.lengths, batch_first_);
    return std::get<0>(rnn::pad_packed_sequence(packed, batch_first_));
    // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: wrong length: pad_packed_sequence without total_length
    // CHECK-FIXES: return std::get<0>(rnn::pad_packed_sequence(packed, batch_first_, 0.0, batch.data.size(batch_first_ ? 1 : 0)));
  }
  Tensor again() const {
    constexpr bool BatchFirst = true;
    auto packed = rnn::pack_padded_sequence(input_, lengths_, BatchFirst);
    return std::get<0>(rnn::pad_packed_sequence(packed, BatchFirst));
    // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: wrong length: pad_packed_sequence without total_length
    // CHECK-FIXES: return std::get<0>(rnn::pad_packed_sequence(packed, BatchFirst, 0.0, input_.size(1)));
  }

private:
  Tensor input_, lengths_;
  bool batch_first_ = true;
};

void in_lambda_and_loop(torch::nn::LSTM lstm, std::vector<Batch> batches) {
  auto run = [&](Tensor x, Tensor lengths) {
    auto packed = rnn::pack_padded_sequence(x, lengths, true);
    return rnn::pad_packed_sequence(packed, true);
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: wrong length: pad_packed_sequence without total_length
    // CHECK-FIXES: return rnn::pad_packed_sequence(packed, true, 0.0, x.size(1));
  };
  for (const auto &batch : batches) {
    Tensor y = batch.data * 2;
    auto packed = rnn::pack_padded_sequence(y, batch.lengths, true);
    auto padded = rnn::pad_packed_sequence(packed, true);
    // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: wrong length: pad_packed_sequence without total_length
    // CHECK-FIXES: auto padded = rnn::pad_packed_sequence(packed, true, 0.0, y.size(1));
    y = std::get<0>(padded) + std::get<0>(run(y, batch.lengths));
  }
}
