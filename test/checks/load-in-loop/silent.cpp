// What looks like the defect and is right.
// RUN: %check_libtorch_tidy %s libtorch-load-in-loop %t

#include <chrono>
#include <string>
#include <torch/script.h>
#include <torch/torch.h>
#include <vector>

torch::Tensor read();

// Another file each time.
void all(const std::vector<std::string> &Files, const torch::Tensor &X) {
  for (const std::string &File : Files) {
    auto Model = torch::jit::load(File);
    Model.forward({X});
  }
  for (size_t I = 0; I < Files.size(); ++I) {
    auto Model = torch::jit::load(Files[I]);
    Model.forward({X});
  }
  std::string Name = "0.pt";
  for (int I = 0; I < 10; ++I) {
    auto Model = torch::jit::load(Name);
    Model.forward({X});
    Name = std::to_string(I) + ".pt";
  }
}
std::string newest();
void watched(const torch::Tensor &X) {
  while (true) {
    auto Model = torch::jit::load(newest());
    Model.forward({X});
  }
}

// One for each thread, device or slot.
std::vector<torch::jit::Module> replicas(int N) {
  std::vector<torch::jit::Module> Models;
  for (int I = 0; I < N; ++I)
    Models.push_back(torch::jit::load("model.pt"));
  for (int I = 0; I < N; ++I) {
    auto Model = torch::jit::load("model.pt");
    Model.to(torch::Device(torch::kCUDA, I));
    Model.forward({read()});
    Models.push_back(Model);
  }
  return Models;
}

// When it has changed, or until it is there.
void reloaded(bool &Changed, const std::string &File) {
  torch::jit::Module Current = torch::jit::load(File);
  while (true) {
    if (Changed) {
      auto Model = torch::jit::load(File);
      Model.forward({read()});
    }
    if (Changed)
      Current = torch::jit::load(File);
    Current.forward({read()});
  }
}
torch::Tensor retried() {
  for (;;) {
    try {
      auto Model = torch::jit::load("model.pt");
      return Model.forward({read()}).toTensor();
    } catch (const c10::Error &) {
    }
  }
}
torch::Tensor first() {
  while (true) {
    auto Model = torch::jit::load("model.pt");
    return Model.forward({read()}).toTensor();
  }
}

// A program that measures it, and one that does it a few times.
void measured() {
  for (int I = 0; I < 100; ++I) {
    auto Start = std::chrono::steady_clock::now();
    auto Model = torch::jit::load("model.pt");
    Model.forward({read()});
    auto Time = std::chrono::steady_clock::now() - Start;
    (void)Time;
  }
}
void few() {
  for (int I = 0; I < 3; ++I) {
    auto Model = torch::jit::load("model.pt");
    Model.forward({read()});
  }
}

// Called for each request by code that is not here, once, or with another file.
torch::Tensor once(const torch::Tensor &X) {
  auto Model = torch::jit::load("model.pt");
  return Model.forward({X}).toTensor();
}
torch::Tensor given(const std::string &File, const torch::Tensor &X) {
  auto Model = torch::jit::load(File);
  return Model.forward({X}).toTensor();
}
torch::Tensor kept(const torch::Tensor &X) {
  static auto Model = torch::jit::load("model.pt");
  return Model.forward({X}).toTensor();
}
void calls(const std::vector<std::string> &Files) {
  once(read());
  for (const std::string &File : Files) {
    given(File, read());
    kept(read());
  }
}

// Once, as far as this file shows: called in one place, given no data, the file is the
// caller's choice, or kept.
float only(const torch::Tensor &X) {
  auto Model = torch::jit::load("model.pt");
  return Model.forward({X}).toTensor().item<float>();
}
float all_of_it() {
  auto Model = torch::jit::load("model.pt");
  return Model.forward({read()}).toTensor().item<float>();
}
float chosen(const std::string &File, const torch::Tensor &X) {
  auto Model = torch::jit::load(File);
  return Model.forward({X}).toTensor().item<float>();
}
float when_needed(const torch::Tensor &X, bool Hard) {
  if (Hard) {
    auto Model = torch::jit::load("large.pt");
    return Model.forward({X}).toTensor().item<float>();
  }
  return X.item<float>();
}
struct Loaded {
  explicit Loaded(const torch::Tensor &X) {
    auto Model = torch::jit::load("model.pt");
    Result = Model.forward({X}).toTensor();
  }
  torch::Tensor Result;
};
void movedOnce(torch::jit::Module &Net, const torch::Tensor &Image) {
  Net.to(torch::kCUDA);
  Net.forward({Image});
  Net.to(torch::kCPU);
}
int main(int Count, char **Arguments) {
  auto Model = torch::jit::load("model.pt");
  movedOnce(Model, read());
  Model.forward({torch::full({1}, Count)});
  return only(read()) > 0;
}

// Moved, and worth it or wanted.
class Pipeline {
public:
  // One makes room for the other.
  torch::Tensor two(const torch::Tensor &Text) {
    Encoder.to(torch::kCUDA);
    auto Code = Encoder.forward({Text.to(torch::kCUDA)}).toTensor();
    Encoder.to(torch::kCPU);
    Decoder.to(torch::kCUDA);
    auto Image = Decoder.forward({Code}).toTensor().cpu();
    Decoder.to(torch::kCPU);
    return Image;
  }
  // For many runs.
  torch::Tensor steps(torch::Tensor Noise) {
    Decoder.to(torch::kCUDA);
    for (int Step = 0; Step < 50; ++Step)
      Noise = Decoder.forward({Noise}).toTensor();
    Decoder.to(torch::kCPU);
    return Noise;
  }
  // To be saved.
  torch::Tensor last(const torch::Tensor &Image) {
    Decoder.to(torch::kCUDA);
    auto Out = Decoder.forward({Image}).toTensor();
    Decoder.to(torch::kCPU);
    Decoder.save("last.pt");
    return Out;
  }
  // Another dtype, another device, another condition, nothing run in between.
  torch::Tensor others(const torch::Tensor &Image, bool Spare) {
    Decoder.to(torch::kHalf);
    auto Out = Decoder.forward({Image}).toTensor();
    Decoder.to(torch::kFloat);
    return Out;
  }
  torch::Tensor sometimes(const torch::Tensor &Image, bool Spare) {
    Decoder.to(torch::kCUDA);
    auto Out = Decoder.forward({Image}).toTensor();
    if (Spare)
      Decoder.to(torch::kCPU);
    return Out;
  }
  void look(const torch::Tensor &Image) {
    Decoder.to(torch::kCUDA);
    auto Same = Image.to(torch::kCUDA);
    Decoder.to(torch::kCPU);
    Encoder.forward({Image});
  }

private:
  torch::jit::Module Encoder, Decoder;
};

torch::Tensor ownModel(const torch::Tensor &Image, const std::string &Of) {
  torch::NoGradGuard Guard;
  auto Mine = torch::jit::load(Of);
  Mine.to(torch::kCUDA);
  auto Out = Mine.forward({Image}).toTensor();
  Mine.to(torch::kCPU);
  return Out;
}

// Through calls: under a condition on the way, or of a file that is set on the way.
struct Server {
  torch::Tensor load(const torch::Tensor &X) {
    auto Model = torch::jit::load(Path);
    return Model.forward({X}).toTensor();
  }
  torch::Tensor sometimes(const torch::Tensor &X, bool Hard) {
    return Hard ? hard(X) : X;
  }
  torch::Tensor hard(const torch::Tensor &X) {
    auto Model = torch::jit::load("hard.pt");
    return Model.forward({X}).toTensor();
  }
  torch::Tensor all(const torch::Tensor &X) { return load(X); }
  std::string Path;
};
void throughCalls(Server &S, const std::vector<std::string> &Files) {
  for (const std::string &File : Files) {
    S.Path = File;
    S.all(read());
    S.sometimes(read(), File == "hard");
  }
}

// A module that is reset, trained, given away or loaded once.
struct NetImpl : torch::nn::Module {
  torch::nn::Linear Lin{4, 4};
  NetImpl() { register_module("lin", Lin); }
  torch::Tensor forward(torch::Tensor X) { return Lin(X); }
};
TORCH_MODULE(Net);
void folds(const torch::Tensor &X) {
  Net Model;
  for (int Fold = 0; Fold < 10; ++Fold) {
    torch::load(Model, "initial.pt");
    Model->forward(X);
  }
  for (int Fold = 0; Fold < 10; ++Fold) {
    Net Fresh;
    torch::load(Fresh, "initial.pt");
    torch::optim::SGD Optimizer(Fresh->parameters(), 0.1);
    Fresh->forward(X).sum().backward();
    Optimizer.step();
  }
}
std::vector<Net> replicas(const torch::Tensor &X) {
  std::vector<Net> All;
  for (int Device = 0; Device < 8; ++Device) {
    Net Model;
    torch::load(Model, "model.pt");
    Model->forward(X); // A first pass.
    All.push_back(Model);
  }
  return All;
}
void epochs(const torch::Tensor &X) {
  for (int Epoch = 0; Epoch < 8; ++Epoch) {
    Net Model;
    torch::load(Model, "epoch_" + std::to_string(Epoch) + ".pt");
    Model->forward(X);
  }
}
void given(Net Model, const torch::Tensor &X) {
  for (int I = 0; I < 8; ++I) {
    torch::Tensor Y;
    torch::load(Model, "model.pt");
    torch::load(Y, "y.pt");
    Model->forward(X + Y);
  }
}
