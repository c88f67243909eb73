// Models of sizes that the program reads, and what --set gives for them.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <torch/torch.h>

enum class Size { Small, Large };
enum Plain { First, Second };
struct Layer {
  enum class Kind { Dense, Norm } kind;
  int64_t width = 4;
};

struct Config {
  int64_t in = 4, out = 2;
  Size size = Size::Small;
};
struct NetImpl : torch::nn::Module {
  explicit NetImpl(const Config &c)
      : fc(c.in, c.size == Size::Large ? 100 * c.out : c.out) {
    register_module("fc", fc);
  }
  torch::nn::Linear fc;
};
TORCH_MODULE(Net);

// Its default values are not what it has then.
Config readConfig(const char *path) {
  Config config;
  std::ifstream file(path);
  file >> config.in;
  file >> config.out;
  return config;
}

struct FileNetImpl : torch::nn::Module {
  explicit FileNetImpl(const std::string &path) {
    std::ifstream in(path);
    std::vector<int64_t> widths;
    for (int64_t w; in >> w;)
      widths.push_back(w);
    for (size_t i = 0; i + 1 < widths.size(); ++i)
      net->push_back(torch::nn::Linear(widths[i], widths[i + 1]));
    register_module("net", net);
  }
  torch::nn::Sequential net;
};
TORCH_MODULE(FileNet);

struct ArgumentsImpl : torch::nn::Module {
  ArgumentsImpl(int64_t in, int64_t out) : fc(in, out) {
    register_module("fc", fc);
  }
  torch::nn::Linear fc;
};
TORCH_MODULE(Arguments);

struct ChosenImpl : torch::nn::Module {
  ChosenImpl(Size size, Plain plain, const std::vector<Layer> &layers) {
    int64_t in = size == Size::Large ? 64 : 8;
    for (const Layer &layer : layers)
      if (layer.kind == Layer::Kind::Dense) {
        net->push_back(torch::nn::Linear(in, layer.width));
        in = layer.width;
      } else {
        net->push_back(torch::nn::BatchNorm1d(in));
      }
    if (plain == Second)
      net->push_back(torch::nn::Linear(in, 1));
    register_module("net", net);
  }
  torch::nn::Sequential net;
};
TORCH_MODULE(Chosen);

// Read with C.
struct ScannedImpl : torch::nn::Module {
  ScannedImpl() {
    int in = 3;
    if (FILE *file = std::fopen("in.txt", "r"))
      std::fscanf(file, "%d", &in);
    fc = register_module("fc", torch::nn::Linear(in, 2));
  }
  torch::nn::Linear fc{nullptr};
};
TORCH_MODULE(Scanned);

int main(int argc, char **argv) {
  Net net(readConfig("net.txt"));
  FileNet file("widths.txt");
  const int64_t out = std::atoi(argv[1]);
  Arguments arguments(16, out);
}
