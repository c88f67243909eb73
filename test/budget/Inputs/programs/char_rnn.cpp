// Characters: an own data set that reads a text, a hidden state over batches.

#include <fstream>
#include <sstream>
#include <torch/torch.h>

struct Options {
  std::string path = "input.txt";
  int64_t sequence = 48;
  int64_t batch = 32;
  int64_t hidden = 96;
  int64_t layers = 2;
  int64_t vocabulary = 128;
  int64_t epochs = 4;
};

class Characters : public torch::data::datasets::Dataset<Characters> {
public:
  Characters(const std::string &path, int64_t length) : length(length) {
    std::ifstream file(path);
    std::stringstream all;
    all << file.rdbuf();
    const std::string text = all.str();
    std::vector<int64_t> codes;
    for (const char c : text)
      codes.push_back(static_cast<unsigned char>(c));
    data = torch::tensor(codes, torch::kInt64);
  }
  torch::data::Example<> get(size_t index) override {
    const int64_t start = static_cast<int64_t>(index) * length;
    return {data.slice(0, start, start + length),
            data.slice(0, start + 1, start + 1 + length)};
  }
  torch::optional<size_t> size() const override {
    return (data.size(0) - 1) / length;
  }

private:
  torch::Tensor data;
  int64_t length;
};

struct CharRnnImpl : torch::nn::Module {
  CharRnnImpl(int64_t vocabulary, int64_t hidden, int64_t layers)
      : embedding(vocabulary, hidden),
        lstm(torch::nn::LSTMOptions(hidden, hidden).num_layers(layers).batch_first(true)),
        decoder(hidden, vocabulary) {
    register_module("embedding", embedding);
    register_module("lstm", lstm);
    register_module("decoder", decoder);
  }
  std::pair<torch::Tensor, std::tuple<torch::Tensor, torch::Tensor>>
  forward(torch::Tensor tokens, std::tuple<torch::Tensor, torch::Tensor> state) {
    auto [output, next] = lstm->forward(embedding->forward(tokens), state);
    return {decoder->forward(output), next};
  }
  torch::nn::Embedding embedding;
  torch::nn::LSTM lstm;
  torch::nn::Linear decoder;
};
TORCH_MODULE(CharRnn);

int main(int argc, char **argv) {
  Options options;
  if (argc > 1)
    options.path = argv[1];
  auto dataset = Characters(options.path, options.sequence)
                     .map(torch::data::transforms::Stack<>());
  auto loader =
      torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
          std::move(dataset),
          torch::data::DataLoaderOptions(options.batch).drop_last(true));
  CharRnn model(options.vocabulary, options.hidden, options.layers);
  torch::optim::Adam adam(model->parameters(), 1e-3);
  for (int64_t epoch = 0; epoch < options.epochs; ++epoch) {
    auto h = torch::zeros({options.layers, options.batch, options.hidden});
    auto c = torch::zeros_like(h);
    for (auto &batch : *loader) {
      adam.zero_grad();
      auto [output, state] =
          model->forward(batch.data, std::make_tuple(h, c));
      auto loss = torch::nn::functional::cross_entropy(
          output.reshape({-1, options.vocabulary}), batch.target.reshape({-1}));
      loss.backward();
      torch::nn::utils::clip_grad_norm_(model->parameters(), 1.0);
      adam.step();
      h = std::get<0>(state).detach();
      c = std::get<1>(state).detach();
    }
  }
}
