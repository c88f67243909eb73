#ifndef FIXED
// Memory that LibTorch owns is released by hand.
#else
// Memory that LibTorch owns is let go of.
#endif
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <torch/torch.h>

void freed() {
  torch::Tensor x = torch::rand({100, 100});
#ifndef FIXED
  std::free(x.data_ptr());
#else
  x.reset();
#endif
}

void deleted() {
  torch::Tensor x = torch::rand({100, 100});
#ifndef FIXED
  delete[] x.data_ptr<float>();
#else
  x = torch::Tensor();
#endif
}

void tensor() {
  torch::Tensor x = torch::rand({100, 100});
#ifndef FIXED
  x.~Tensor();
#else
  x.reset();
#endif
}

int main(int argc, char **argv) {
  at::set_num_threads(1);
  const char *what = argc > 1 ? argv[1] : "";
  if (std::strcmp(what, "freed") == 0)
    freed();
  else if (std::strcmp(what, "deleted") == 0)
    deleted();
  else if (std::strcmp(what, "tensor") == 0)
    tensor();
  std::printf("%s: ended\n", what);
  return 0;
}
