// Thousands of results whose shapes alone are read: what is read of their sum is
// looked up once, not for each of them.
// RUN: %ends
#include <iostream>
#include <torch/torch.h>

#define ONE(N)                                                                 \
  auto y##N = net(t);                                                          \
  all = all + y##N;
#define TEN(N)                                                                 \
  ONE(N##0) ONE(N##1) ONE(N##2) ONE(N##3) ONE(N##4)                            \
  ONE(N##5) ONE(N##6) ONE(N##7) ONE(N##8) ONE(N##9)
#define HUNDRED(N)                                                             \
  TEN(N##0) TEN(N##1) TEN(N##2) TEN(N##3) TEN(N##4)                            \
  TEN(N##5) TEN(N##6) TEN(N##7) TEN(N##8) TEN(N##9)
#define THOUSAND(N)                                                            \
  HUNDRED(N##0) HUNDRED(N##1) HUNDRED(N##2) HUNDRED(N##3) HUNDRED(N##4)        \
  HUNDRED(N##5) HUNDRED(N##6) HUNDRED(N##7) HUNDRED(N##8) HUNDRED(N##9)

int main() {
  torch::nn::Linear net(3, 3);
  auto t = torch::rand({3, 3}), all = torch::zeros({1});
  for (int n = 0; n < 5; ++n) {
    THOUSAND(1)
    THOUSAND(2)
    THOUSAND(3)
    THOUSAND(4)
    THOUSAND(5)
  }
  std::cout << all.sizes();
}
