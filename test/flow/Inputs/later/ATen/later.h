// An operator of a LibTorch that is newer than the table of operators.
#pragma once
#include <torch/torch.h>
namespace at {
Tensor blend_later(const Tensor &Self, const Tensor &Other);
}
