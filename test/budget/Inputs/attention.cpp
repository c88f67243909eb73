#include <torch/torch.h>

struct Attention : torch::nn::Module {
  Attention() {
    q = register_parameter("q", torch::rand({2, 3, 10, 8}));
    k = register_parameter("k", torch::rand({2, 3, 14, 8}));
    v = register_parameter("v", torch::rand({2, 3, 14, 8}));
    mask = register_parameter("mask", torch::zeros({10, 14}));
  }
  torch::Tensor q, k, v, mask;
};

// Weights are never there at once.
struct ByKernel : Attention {
  torch::Tensor forward(torch::Tensor) {
    return torch::scaled_dot_product_attention(q, k, v, {}, 0.0, true);
  }
};

// The kernel takes no mask that has a gradient.
struct ByProducts : Attention {
  torch::Tensor forward(torch::Tensor) {
    return torch::scaled_dot_product_attention(q, k, v, mask);
  }
};
