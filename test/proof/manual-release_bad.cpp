// Memory that LibTorch owns is released by hand.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <torch/torch.h>

struct NetImpl : torch::nn::Module {
  torch::nn::Linear layer = register_module("layer", torch::nn::Linear(100, 10));
  torch::Tensor forward(const torch::Tensor &x) { return layer(x); }
};
TORCH_MODULE(Net);

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

void module() {
  Net net;
  net->~NetImpl();
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
  else if (std::strcmp(what, "module") == 0)
    module();
  std::printf("%s: ended\n", what);
  return 0;
}
