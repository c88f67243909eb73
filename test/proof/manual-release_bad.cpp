// Memory that LibTorch owns is released by hand.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <torch/torch.h>

void freed() {
  torch::Tensor x = torch::rand({100, 100});
  std::free(x.data_ptr());
}

void deleted() {
  torch::Tensor x = torch::rand({100, 100});
  delete[] x.data_ptr<float>();
}

void tensor() {
  torch::Tensor x = torch::rand({100, 100});
  x.~Tensor();
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
