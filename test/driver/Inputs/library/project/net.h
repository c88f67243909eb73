#ifndef NET_H
#define NET_H
#include <vector>
#include <torch/torch.h>
struct Net {
  int Layers = LIBRARY_VERSION;
};
int count(const Net &N);
#endif // NET_H
