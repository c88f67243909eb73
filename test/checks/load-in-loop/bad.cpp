// What is reported.
// RUN: %check_libtorch_tidy %s libtorch-load-in-loop %t

#include <string>
#include <torch/script.h>
#include <vector>

const char *const File = "model.pt";

std::vector<float> scores(const std::vector<torch::Tensor> &Images,
                          const std::string &Folder) {
  torch::NoGradGuard Guard;
  std::vector<float> Found;
  for (const torch::Tensor &Image : Images) {
    torch::jit::Module Model = torch::jit::load(Folder + "/model.pt");
    // CHECK-NOTES: :[[@LINE-1]]:32: warning: 'Model' is loaded from the same file in each iteration, and all its parameters are allocated anew; load it once [libtorch-load-in-loop]
    // CHECK-NOTES: :[[@LINE-3]]:3: note: load it before this loop
    Model.eval();
    Model.to(torch::kCUDA);
    Found.push_back(Model.forward({Image}).toTensor().item<float>());
  }
  return Found;
}

torch::Tensor detect(const torch::Tensor &Frame) {
  auto Net = torch::jit::load(File, torch::kCPU);
  // CHECK-NOTES: :[[@LINE-1]]:14: warning: 'Net' is loaded from the same file in each iteration, and all its parameters are allocated anew; load it once [libtorch-load-in-loop]
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
      // CHECK-NOTES: :[[@LINE-1]]:18: warning: 'Net' is loaded from the same file in each iteration, and all its parameters are allocated anew; load it once [libtorch-load-in-loop]
      // CHECK-NOTES: :[[@LINE-6]]:5: note: load it before this loop
      Net.run_method("encode", Input);
    }
  }

private:
  std::string Path;
};
