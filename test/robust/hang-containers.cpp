// Containers that hold each other are opened once.
// RUN: %ends
#include <any>
#include <torch/torch.h>

void uses(torch::Tensor x) {
  std::vector<std::any> v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12,
      v13, v14, v15;
#define FILL(V)                                                                \
  V.push_back(v0);                                                             \
  V.push_back(v1);                                                             \
  V.push_back(v2);                                                             \
  V.push_back(v3);                                                             \
  V.push_back(v4);                                                             \
  V.push_back(v5);                                                             \
  V.push_back(v6);                                                             \
  V.push_back(v7);                                                             \
  V.push_back(v8);                                                             \
  V.push_back(v9);                                                             \
  V.push_back(v10);                                                            \
  V.push_back(v11);                                                            \
  V.push_back(v12);                                                            \
  V.push_back(v13);                                                            \
  V.push_back(v14);                                                            \
  V.push_back(v15);
  FILL(v0)
  FILL(v1)
  FILL(v2)
  FILL(v3)
  FILL(v4)
  FILL(v5)
  FILL(v6)
  FILL(v7)
  FILL(v8)
  FILL(v9)
  FILL(v10)
  FILL(v11)
  FILL(v12)
  FILL(v13)
  FILL(v14)
  FILL(v15)
  x.register_hook([v0](torch::Tensor g) { return g; });
}
