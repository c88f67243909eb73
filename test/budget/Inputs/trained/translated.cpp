// An encoder and a decoder with attention, which is told what to say in half of
// the steps. budget: --optimizer=adam
#include <iostream>
#include <random>
#include <torch/torch.h>

struct EncoderImpl : torch::nn::Module {
  EncoderImpl(int64_t vocab, int64_t hidden)
      : embedding(vocab, hidden),
        gru(torch::nn::GRUOptions(hidden, hidden).batch_first(true)) {
    register_module("embedding", embedding);
    register_module("gru", gru);
  }
  std::tuple<torch::Tensor, torch::Tensor> forward(torch::Tensor x) {
    return gru(embedding(x));
  }
  torch::nn::Embedding embedding;
  torch::nn::GRU gru;
};
TORCH_MODULE(Encoder);

struct AttnDecoderImpl : torch::nn::Module {
  AttnDecoderImpl(int64_t hidden, int64_t vocab)
      : embedding(vocab, hidden), attn(hidden, hidden),
        gru(torch::nn::GRUOptions(2 * hidden, hidden).batch_first(true)),
        out(hidden, vocab), dropout(0.1) {
    register_module("embedding", embedding);
    register_module("attn", attn);
    register_module("gru", gru);
    register_module("out", out);
    register_module("dropout", dropout);
  }
  std::tuple<torch::Tensor, torch::Tensor, torch::Tensor>
  forward(torch::Tensor token, torch::Tensor hidden, torch::Tensor memory) {
    auto e = dropout(embedding(token));                      // B x 1 x H
    auto query = attn(hidden.permute({1, 0, 2}));            // B x 1 x H
    auto scores = torch::bmm(query, memory.transpose(1, 2)); // B x 1 x T
    auto weights = torch::softmax(scores, -1);
    auto context = torch::bmm(weights, memory); // B x 1 x H
    torch::Tensor o;
    std::tie(o, hidden) = gru(torch::cat({e, context}, 2), hidden);
    return std::make_tuple(torch::log_softmax(out(o.squeeze(1)), -1), hidden,
                           weights);
  }
  torch::nn::Embedding embedding;
  torch::nn::Linear attn;
  torch::nn::GRU gru;
  torch::nn::Linear out;
  torch::nn::Dropout dropout;
};
TORCH_MODULE(AttnDecoder);

constexpr int64_t SOS = 0;
std::mt19937 rng(7);

double train(torch::Tensor input, torch::Tensor target, Encoder &encoder,
             AttnDecoder &decoder, torch::optim::Optimizer &eopt,
             torch::optim::Optimizer &dopt, double ratio) {
  eopt.zero_grad();
  dopt.zero_grad();
  auto [memory, hidden] = encoder->forward(input);
  auto token = torch::full({input.size(0), 1}, SOS, torch::kLong);
  torch::Tensor loss = torch::zeros({});
  bool teacher = std::uniform_real_distribution<double>(0, 1)(rng) < ratio;
  for (int64_t t = 0; t < target.size(1); ++t) {
    auto [logp, h, w] = decoder->forward(token, hidden, memory);
    hidden = h;
    loss = loss + torch::nll_loss(logp, target.select(1, t));
    if (teacher)
      token = target.select(1, t).unsqueeze(1);
    else
      token = std::get<1>(logp.topk(1)).detach();
  }
  loss.backward();
  torch::nn::utils::clip_grad_norm_(encoder->parameters(), 1.0);
  torch::nn::utils::clip_grad_norm_(decoder->parameters(), 1.0);
  eopt.step();
  dopt.step();
  return loss.item<double>() / target.size(1);
}

int main() {
  const int64_t vocab = 120, hidden = 48, batch = 16, length = 9;
  Encoder encoder(vocab, hidden);
  AttnDecoder decoder(hidden, vocab);
  torch::optim::Adam eopt(encoder->parameters(), 1e-3),
      dopt(decoder->parameters(), 1e-3);
  for (int i = 0; i < 8; ++i) {
    auto input = torch::randint(1, vocab, {batch, length}, torch::kLong);
    auto target = input.flip({1});
    std::cout << train(input, target, encoder, decoder, eopt, dopt, 0.5)
              << "\n";
  }
  return 0;
}
