// A header of LibTorch that torch/torch.h does not have all of.
#pragma once
#include "torch.h"
namespace torch {
struct Script {};
} // namespace torch
