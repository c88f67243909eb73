// Programs load archives in many ways; which, is followed.
#include <fstream>
#include <torch/script.h>
#include <torch/torch.h>

static const std::string folder = "models/";

torch::jit::Module loaded(const std::string &name) { return torch::jit::load(folder + name); }

struct ServerImpl : torch::nn::Module {
  explicit ServerImpl(const char *file) : net(torch::jit::load(file)) {
    register_module("head", head);
  }
  torch::jit::Module net;
  torch::nn::Linear head{8, 2};
};
TORCH_MODULE(Server);

struct Plain {
  torch::jit::script::Module net = torch::jit::load("models/packed.pt", torch::kCPU);
};

int main(int argc, char **argv) {
  torch::jit::Module net = torch::jit::load("net.pt");
  net = torch::jit::load("net.pt"); // The same.
  loaded("plain.pt");
  Server server("models/sparse.pt"), whole("net.pt");
  Plain plain;
  const char *chosen = argc > 1 ? argv[1] : "models/none.pt";
  torch::jit::load(chosen);
  std::string named;
  std::cin >> named;
  torch::jit::load(named);
  std::ifstream stream("net.pt");
  torch::jit::load(stream);
  torch::nn::Linear other(2, 2);
  torch::load(other, "net.pt"); // No archive of TorchScript's is made of it.
}
