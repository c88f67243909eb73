#ifndef NET_H
#define NET_H
#include <vector>
#include <torch/torch.h>
struct Net {
  int Layers = LIBRARY_VERSION;
};
#endif // NET_H
