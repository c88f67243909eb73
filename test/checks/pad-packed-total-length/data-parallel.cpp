// Code that data_parallel's replicas run is told at level 1, with the way there.
// RUN: %check_libtorch_tidy %s libtorch-pad-packed-total-length %t --level=1

#include <torch/torch.h>

// torch/nn/parallel/data_parallel.h needs the headers of CUDA.
namespace torch::nn::parallel {
template <typename ModuleType>
Tensor data_parallel(ModuleType module, Tensor input,
                     optional<std::vector<Device>> devices = nullopt,
                     optional<Device> output_device = nullopt, int64_t dim = 0);
} // namespace torch::nn::parallel

namespace rnn = torch::nn::utils::rnn;
using torch::Tensor;

struct EncoderImpl : torch::nn::Module {
  torch::nn::LSTM lstm{nullptr};
  Tensor forward(Tensor x, Tensor lengths) {
    auto packed = rnn::pack_padded_sequence(x, lengths, true);
    auto [output, state] = lstm->forward_with_packed_input(packed);
    return std::get<0>(rnn::pad_packed_sequence(output, true));
    // CHECK-NOTES: :[[@LINE-1]]:24: warning: wrong length: pad_packed_sequence without total_length pads each data_parallel replica to its own longest sequence; gathering outputs of different lengths throws [libtorch-pad-packed-total-length]
    // CHECK-NOTES: :[[@LINE+55]]:26: note: data_parallel runs a replica of 'ModelImpl' on every device and gathers their outputs
    // CHECK-NOTES: :[[@LINE+24]]:11: note: every replica calls 'EncoderImpl::forward' here
    // CHECK-NOTES: :[[@LINE-6]]:19: note: 'x' is packed here, so its padded length is 'x.size(1)'
    // CHECK-FIXES: return std::get<0>(rnn::pad_packed_sequence(output, true, 0.0, x.size(1)));
  }
  Tensor not_run(Tensor x, Tensor lengths) {
    auto packed = rnn::pack_padded_sequence(x, lengths, true);
    return std::get<0>(rnn::pad_packed_sequence(packed, true));
  }
};
TORCH_MODULE(Encoder);

static Tensor padded(const rnn::PackedSequence &packed) {
  return std::get<0>(rnn::pad_packed_sequence(packed));
  // CHECK-NOTES: :[[@LINE-1]]:22: warning: wrong length: pad_packed_sequence without total_length pads each data_parallel replica
  // CHECK-NOTES: :[[@LINE+40]]:26: note: data_parallel runs a replica of 'ModelImpl'
  // CHECK-NOTES: :[[@LINE+11]]:12: note: every replica calls 'decode' here
  // CHECK-NOTES: :[[@LINE+15]]:12: note: every replica calls 'padded' here
}

struct ModelImpl : torch::nn::Module {
  Encoder encoder{nullptr};
  Tensor lengths;
  Tensor forward(Tensor x) {
    if (is_training())
      x = encoder(x, lengths);
    auto run = [this](const Tensor &y) { return rnn::pack_padded_sequence(y, lengths); };
    return decode(run(x));
  }
  Tensor decode(const rnn::PackedSequence &packed) {
    if (packed.is_cuda())
      return decode(packed.cpu());
    return padded(packed);
  }
};
TORCH_MODULE(Model);

struct HeadImpl : torch::nn::Module {
  Tensor forward(Tensor x) {
    auto packed = rnn::pack_padded_sequence(x, lengths);
    return std::get<0>(rnn::pad_packed_sequence(packed));
    // CHECK-NOTES: :[[@LINE-1]]:24: warning: wrong length: pad_packed_sequence without total_length pads each data_parallel replica
    // CHECK-NOTES: :[[@LINE+14]]:12: note: data_parallel runs a replica of 'TopImpl'
    // CHECK-NOTES: :[[@LINE+7]]:29: note: 'head' is replicated as a part of 'TopImpl'
    // CHECK-NOTES: :[[@LINE-5]]:19: note: 'x' is packed here, so its padded length is 'x.size(0)'
    // CHECK-FIXES: return std::get<0>(rnn::pad_packed_sequence(packed, false, 0.0, x.size(0)));
  }
  Tensor lengths;
};
struct TopImpl : torch::nn::Module {
  std::shared_ptr<HeadImpl> head;
  Tensor forward(Tensor x) { return x; }
};

void train(Model model, std::shared_ptr<TopImpl> top, Tensor x) {
  torch::Tensor output = torch::nn::parallel::data_parallel(model, x);
  output = torch::nn::parallel::data_parallel(top, output);
}

// On one device: at level 2 only.
struct SingleImpl : torch::nn::Module {
  Tensor forward(Tensor x, Tensor lengths) {
    auto packed = rnn::pack_padded_sequence(x, lengths);
    return std::get<0>(rnn::pad_packed_sequence(packed));
  }
};
