// What is reported.
// RUN: %check_libtorch_tidy %s libtorch-load-in-loop %t

#include <algorithm>
#include <chrono>
#include <string>
#include <torch/script.h>
#include <torch/torch.h>
#include <vector>

const char *const File = "model.pt";

std::vector<float> scores(const std::vector<torch::Tensor> &Images,
                          const std::string &Folder) {
  torch::NoGradGuard Guard;
  std::vector<float> Found;
  for (const torch::Tensor &Image : Images) {
    torch::jit::Module Model = torch::jit::load(Folder + "/model.pt");
    // CHECK-NOTES: :[[@LINE-1]]:32: warning: repeated loading: 'Model' is loaded from the same file in each iteration, and all its parameters are allocated again; load it once [libtorch-load-in-loop]
    // CHECK-NOTES: :[[@LINE-3]]:3: note: load it before this loop
    Model.eval();
    Model.to(torch::kCUDA);
    Found.push_back(Model.forward({Image}).toTensor().item<float>());
  }
  return Found;
}

torch::Tensor detect(const torch::Tensor &Frame) {
  auto Net = torch::jit::load(File, torch::kCPU);
  // CHECK-NOTES: :[[@LINE-1]]:14: warning: repeated loading: 'Net' is loaded from the same file in each iteration, and all its parameters are allocated again; load it once [libtorch-load-in-loop]
  // CHECK-NOTES: :[[@LINE+8]]:3: note: this loop runs it again
  // CHECK-NOTES: :[[@LINE+9]]:5: note: 'detect' is called here, and loads it each time
  Net.eval();
  return Net.get_method("detect")({Frame}).toTensor();
}
torch::Tensor read();
void camera() {
  torch::InferenceMode Guard;
  while (true) {
    torch::Tensor Frame = read();
    detect(Frame);
  }
}

class Service {
public:
  void serve() {
    torch::NoGradGuard Guard;
    for (;;) {
      torch::Tensor Input = read();
      auto Module = std::make_shared<torch::jit::Module>(
          torch::jit::load(Path));
      auto Net = torch::jit::load(this->Path);
      // CHECK-NOTES: :[[@LINE-1]]:18: warning: repeated loading: 'Net' is loaded from the same file in each iteration, and all its parameters are allocated again; load it once [libtorch-load-in-loop]
      // CHECK-NOTES: :[[@LINE-6]]:5: note: load it before this loop
      Net.run_method("encode", Input);
    }
  }

private:
  std::string Path;
};

// By each call, as nobody here calls it just once.
float classify(const torch::Tensor &Image) {
  torch::NoGradGuard Guard;
  auto Classifier = torch::jit::load("classifier.pt");
  // CHECK-NOTES: :[[@LINE-1]]:21: warning: repeated loading: 'Classifier' is loaded from the same file by each call of 'classify', and all its parameters are allocated again; load it once and keep it [libtorch-load-in-loop]
  return Classifier.forward({Image}).toTensor().item<float>();
}

class Handler {
public:
  torch::Tensor handle(const torch::Tensor &Request) {
    torch::NoGradGuard Guard;
    torch::jit::Module Net;
    try {
      Net = torch::jit::load(Path);
      // CHECK-NOTES: :[[@LINE-1]]:13: warning: repeated loading: 'Net' is loaded from the same file by each call of 'handle', and all its parameters are allocated again; load it once and keep it [libtorch-load-in-loop]
    } catch (const c10::Error &E) {
      return {};
    }
    Net.eval();
    return Net.forward({Request}).toTensor();
  }

private:
  std::string Path;
};

void assigned(const std::vector<torch::Tensor> &Images) {
  torch::NoGradGuard Guard;
  torch::jit::Module Net;
  for (const torch::Tensor &Image : Images) {
    Net = torch::jit::load(File);
    // CHECK-NOTES: :[[@LINE-1]]:11: warning: repeated loading: 'Net' is loaded from the same file in each iteration, and all its parameters are allocated again; load it once [libtorch-load-in-loop]
    // CHECK-NOTES: :[[@LINE-3]]:3: note: load it before this loop
    Net.forward({Image});
  }
}

// Moved there and back.
class Segmenter {
public:
  torch::Tensor segment(const torch::Tensor &Image) {
    torch::NoGradGuard Guard;
    Net.to(torch::kCUDA);
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: repeated copying: 'Net' is moved to a device and back to the CPU by each call of 'segment', and all its parameters are allocated and copied each time; move it once and keep it there [libtorch-load-in-loop]
    // CHECK-NOTES: :[[@LINE+2]]:17: note: it is run here
    // CHECK-NOTES: :[[@LINE+2]]:5: note: it is moved back to the CPU here
    auto Mask = Net.forward({Image.to(torch::kCUDA)}).toTensor().cpu();
    Net.to(torch::Device("cpu"));
    return Mask;
  }

private:
  torch::jit::Module Net;
};

void denoise(torch::nn::Sequential &Net, torch::Device Device,
             std::vector<torch::Tensor> &Frames) {
  torch::NoGradGuard Guard;
  for (torch::Tensor &Frame : Frames) {
    Net->to(Device);
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: repeated copying: 'Net' is moved to a device and back to the CPU in each iteration, and all its parameters are allocated and copied each time; move it once and keep it there [libtorch-load-in-loop]
    // CHECK-NOTES: :[[@LINE+2]]:13: note: it is run here
    // CHECK-NOTES: :[[@LINE+2]]:5: note: it is moved back to the CPU here
    Frame = Net->forward(Frame.to(Device)).cpu();
    Net->to(torch::kCPU);
  }
}

// Through any number of calls, none of which is under a condition.
struct Engine {
  float run(at::Tensor X) {
    prepare(X);
    return inference(X);
  }
  void prepare(at::Tensor &X) { X = X / 255; }
  float inference(at::Tensor X) {
    torch::jit::Module M;
    M = torch::jit::load(Path);
    // CHECK-NOTES: :[[@LINE-1]]:9: warning: repeated loading: 'M' is loaded from the same file in each iteration, and all its parameters are allocated again; load it once [libtorch-load-in-loop]
    // CHECK-NOTES: :[[@LINE+9]]:3: note: this loop runs it again
    // CHECK-NOTES: :[[@LINE+9]]:12: note: 'run' is called here
    // CHECK-NOTES: :[[@LINE-9]]:12: note: 'inference' is called here, and loads it each time
    return M.forward({X}).toTensor().item<float>();
  }
  std::string Path = "model.pt";
};
float served(Engine &E) {
  float Sum = 0;
  for (int I = 0; I < 1000; ++I)
    Sum += E.run(torch::rand({1, 3, 8, 8}));
  return Sum;
}

// A clock that stamps a message measures nothing, and one that times only the
// run does not time the load.
std::string text(std::chrono::steady_clock::time_point);
void stamped(const std::vector<torch::Tensor> &All) {
  for (const auto &X : All) {
    std::string Stamp = text(std::chrono::steady_clock::now());
    auto M = torch::jit::load("model.pt");
    // CHECK-NOTES: :[[@LINE-1]]:14: warning: repeated loading: 'M' is loaded from the same file in each iteration, {{.*}}
    // CHECK-NOTES: :[[@LINE-4]]:3: note: load it before this loop
    auto Start = std::chrono::steady_clock::now();
    M.forward({X});
    auto Time = std::chrono::steady_clock::now() - Start;
    (void)Time;
    (void)Stamp;
  }
}

// An algorithm is a loop.
float each(const std::vector<torch::Tensor> &All) {
  float Sum = 0;
  std::for_each(All.begin(), All.end(), [&](const torch::Tensor &X) {
    auto M = torch::jit::load("model.pt");
    // CHECK-NOTES: :[[@LINE-1]]:14: warning: repeated loading: 'M' is loaded from the same file in each iteration, {{.*}}
    // CHECK-NOTES: :[[@LINE-3]]:3: note: load it before this loop
    Sum += M.forward({X}).toTensor().sum().item<float>();
  });
  return Sum;
}

// A module of C++ that is made and filled each time.
struct NetImpl : torch::nn::Module {
  torch::nn::Linear Lin{4, 4};
  NetImpl() { register_module("lin", Lin); }
  torch::Tensor forward(torch::Tensor X) { return Lin(X); }
};
TORCH_MODULE(Net);
int filled(const std::vector<torch::Tensor> &All) {
  int Sum = 0;
  for (const auto &X : All) {
    Net Model;
    torch::load(Model, "best.pt");
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: repeated loading: 'Model' is loaded from the same file in each iteration, {{.*}}
    // CHECK-NOTES: :[[@LINE-4]]:3: note: load it before this loop
    Model->eval();
    Sum += Model->forward(X).argmax().item<int>();
  }
  return Sum;
}
torch::Tensor classified(const torch::Tensor &X) {
  auto Model = std::make_shared<NetImpl>();
  torch::load(Model, "best.pt");
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: repeated loading: 'Model' is loaded from the same file in each iteration, {{.*}}
  // CHECK-NOTES: :[[@LINE+6]]:3: note: this loop runs it again
  // CHECK-NOTES: :[[@LINE+6]]:12: note: 'classified' is called here, and loads it each time
  return Model->forward(X);
}
int classifiedAll(const std::vector<torch::Tensor> &All) {
  int Sum = 0;
  for (const auto &X : All)
    Sum += classified(X).argmax().item<int>();
  return Sum;
}
