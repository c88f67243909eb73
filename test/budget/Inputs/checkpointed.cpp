// A checkpoint of a Sequential by hand, much as docs/less-memory.md has it.
// Without an argument the model runs plainly; with one it is the batch.
#include "peak.h"
#include <cstdlib>

using namespace torch;

struct Checkpoint : autograd::Function<Checkpoint> {
  static Tensor forward(autograd::AutogradContext *ctx, Tensor x,
                        nn::SequentialImpl *block) {
    ctx->saved_data["block"] = reinterpret_cast<int64_t>(block);
    ctx->save_for_backward({x});
    return block->forward(x);
  }
  static autograd::tensor_list backward(autograd::AutogradContext *ctx,
                                        autograd::tensor_list grads) {
    auto *block =
        reinterpret_cast<nn::SequentialImpl *>(ctx->saved_data["block"].toInt());
    Tensor x = ctx->get_saved_variables()[0].detach().requires_grad_();
    Tensor y;
    {
      AutoGradMode mode(true);
      y = block->forward(x);
    }
    y.backward(grads[0]);
    return {x.grad(), Tensor()};
  }
};

struct NetImpl : nn::Module {
  explicit NetImpl(bool again) : again(again) {
    in = register_module("in", nn::Linear(64, 64));
    body = register_module(
        "body", nn::Sequential(nn::Linear(64, 256), nn::Tanh(),
                               nn::Linear(256, 256), nn::Sigmoid(),
                               nn::Linear(256, 64)));
    noisy = register_module(
        "noisy", nn::Sequential(nn::Linear(64, 512), nn::Dropout(0.5),
                                nn::Linear(512, 64)));
    tail = register_module(
        "tail", nn::Sequential(nn::Linear(64, 64), nn::Tanh()));
  }
  Tensor forward(Tensor x) {
    x = in(x);
    x = again ? Checkpoint::apply(x, body.get()) : body->forward(x);
    return tail->forward(noisy->forward(x));
  }
  bool again;
  nn::Linear in{nullptr};
  nn::Sequential body{nullptr}, noisy{nullptr}, tail{nullptr};
};
TORCH_MODULE(Net);

int main(int argc, char **argv) {
  const int64_t batch = argc > 1 ? std::atoll(argv[1]) : 32;
  Net net(argc > 1);
  optim::SGD sgd(net->parameters(), 0.1);
  const Tensor input = torch::randn({batch, 64});
  for (int i = 0; i < 3; ++i) {
    sgd.zero_grad();
    Tensor loss = net->forward(input).sum();
    loss.backward();
    sgd.step();
  }
}
