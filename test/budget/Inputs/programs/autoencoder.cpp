// An autoencoder of Sequentials; the model itself is one, too.

#include <torch/torch.h>

int main() {
  const int64_t batch = 128, width = 784, code = 32;
  torch::nn::Sequential encoder(
      torch::nn::Linear(width, 256), torch::nn::ReLU(),
      torch::nn::Linear(256, code));
  torch::nn::Sequential decoder(
      torch::nn::Linear(code, 256), torch::nn::ReLU(),
      torch::nn::Linear(256, width), torch::nn::Sigmoid());
  torch::nn::Sequential model(encoder, decoder);
  torch::optim::Adam optimizer(model->parameters(), 1e-3);
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (int step = 0; step < 10; ++step) {
      auto images = torch::rand({batch, 28, 28}).view({batch, -1});
      auto output = model->forward(images);
      auto loss = torch::mse_loss(output, images);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
    }
  }
}
