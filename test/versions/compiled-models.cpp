// Models that AOTInductor compiled.
// REQUIRES: libtorch-2.14
// RUN: %check_libtorch_tidy %s libtorch-load-in-loop,libtorch-dangling-tensor-data,libtorch-inference-without-no-grad,libtorch-empty-cache-in-loop %t --torch-flags "%torch-2.14-flags"

#include <ATen/DeviceAccelerator.h>
#include <memory>
#include <string>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>
#include <torch/csrc/inductor/aoti_runner/model_container_runner_cpu.h>
#include <vector>

using torch::inductor::AOTIModelContainerRunnerCpu;
using torch::inductor::AOTIModelPackageLoader;
void use(const float *);
void use(const std::vector<at::Tensor> &);

void loaded(const std::vector<std::vector<at::Tensor>> &batches, const std::string &path) {
  for (const auto &batch : batches) {
    AOTIModelPackageLoader model(path);
    // CHECK-NOTES: :[[@LINE-1]]:28: warning: repeated loading: 'model' is loaded from the same file in each iteration, and all its parameters are allocated again; load it once [libtorch-load-in-loop]
    // CHECK-NOTES: :[[@LINE-3]]:3: note: load it before this loop
    use(model.run(batch));
  }
  for (const auto &batch : batches) {
    auto runner = std::make_unique<AOTIModelContainerRunnerCpu>("model.so");
    // CHECK-NOTES: :[[@LINE-1]]:19: warning: repeated loading: 'runner' is loaded from the same file in each iteration, and all its parameters are allocated again; load it once [libtorch-load-in-loop]
    // CHECK-NOTES: :[[@LINE-3]]:3: note: load it before this loop
    use(runner->run(batch));
  }
  AOTIModelPackageLoader once(path);
  for (const auto &batch : batches)
    use(once.run(batch));
  // Another file each time.
  for (const auto &batch : batches) {
    AOTIModelPackageLoader other(path + std::to_string(batch.size()));
    use(other.run(batch));
  }
}

void results(AOTIModelPackageLoader &model, AOTIModelContainerRunnerCpu &runner, std::vector<at::Tensor> inputs) {
  float *p = model.run(inputs)[0].data_ptr<float>();
  // CHECK-NOTES: :[[@LINE-1]]:14: warning: dangling pointer: 'p' points into a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
  // CHECK-NOTES: :[[@LINE+3]]:7: note: 'p' is used here
  // CHECK-FIXES: auto p_tensor = model.run(inputs)[0];
  // CHECK-FIXES: float *p = p_tensor.data_ptr<float>();
  use(p);
  const float *q = runner.boxed_run(std::move(inputs)).front().const_data_ptr<float>();
  // CHECK-NOTES: :[[@LINE-1]]:20: warning: dangling pointer: 'q' points into a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
  // CHECK-NOTES: :[[@LINE+3]]:7: note: 'q' is used here
  // CHECK-FIXES: auto q_tensor = runner.boxed_run(std::move(inputs)).front();
  // CHECK-FIXES: const float *q = q_tensor.const_data_ptr<float>();
  use(q);
  std::vector<at::Tensor> outputs = model.run({});
  use(outputs[0].data_ptr<float>());
}

// Nothing that it computes has history: no guard is missing.
float predicted(AOTIModelPackageLoader &model, const at::Tensor &x) {
  return model.run({x})[0].item<float>();
}

void caches(AOTIModelPackageLoader &model, const std::vector<std::vector<at::Tensor>> &batches) {
  for (const auto &batch : batches) {
    use(model.run(batch));
    at::accelerator::emptyCache();
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: wasted time: emptyCache() in every iteration gives back to the device what the next one allocates again; it frees nothing that a tensor holds, and waits for the device each time [libtorch-empty-cache-in-loop]
    // CHECK-NOTES: :[[@LINE-4]]:3: note: this loop runs tensor work
  }
}
