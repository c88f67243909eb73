#include "net.h"
int layers(const Net &N) {
  torch::NoGradGuard();
  return count(N);
}
