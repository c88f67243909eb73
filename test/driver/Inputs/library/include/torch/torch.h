// As much of LibTorch as a finding takes, for tests that precompile it often.
#pragma once
#include "../version.h"
namespace at {
struct NoGradGuard {
  NoGradGuard();
  ~NoGradGuard();
};
} // namespace at
namespace torch {
using at::NoGradGuard;
} // namespace torch
