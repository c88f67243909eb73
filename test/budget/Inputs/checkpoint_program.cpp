// What backward() of a custom function runs again is no call of the program.
#include "peak.h"

using namespace torch;

struct Again : autograd::Function<Again> {
  static Tensor forward(autograd::AutogradContext *ctx, Tensor x,
                        nn::Sequential *block) {
    ctx->saved_data["block"] = reinterpret_cast<int64_t>(block);
    ctx->save_for_backward({x});
    NoGradGuard guard;
    return x + (*block)->forward(x);
  }
  static autograd::tensor_list backward(autograd::AutogradContext *ctx,
                                        autograd::tensor_list grads) {
    auto *block =
        reinterpret_cast<nn::Sequential *>(ctx->saved_data["block"].toInt());
    auto x = ctx->get_saved_variables()[0].detach().requires_grad_();
    Tensor y;
    {
      AutoGradMode mode(true);
      y = x + (*block)->forward(x);
    }
    y.backward(grads[0]);
    return {x.grad(), Tensor()};
  }
};

struct CheckpointedImpl : nn::Module {
  explicit CheckpointedImpl(int64_t width) : in(width, width) {
    block = nn::Sequential(nn::Linear(width, 4 * width), nn::ReLU(),
                           nn::Linear(4 * width, width));
    register_module("block", block);
    register_module("in", in);
  }
  Tensor forward(Tensor x) { return Again::apply(in(x), &block); }
  nn::Sequential block{nullptr};
  nn::Linear in;
};
TORCH_MODULE(Checkpointed);

int main() {
  Checkpointed net(64);
  optim::Adam adam(net->parameters());
  const Tensor input = torch::randn({128, 64});
  const Tensor target = torch::randn({128, 64});
  for (int i = 0; i < 3; ++i) {
    adam.zero_grad();
    Tensor loss = mse_loss(net->forward(input), target);
    loss.backward();
    adam.step();
  }
}
