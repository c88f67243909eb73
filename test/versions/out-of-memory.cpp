// What torch::stable and models that AOTInductor compiled throw for whatever fails in
// them: std::runtime_error.
// REQUIRES: libtorch-2.14
// RUN: %check_libtorch_tidy %s libtorch-oom-catch-type %t --torch-flags "%torch-2.14-flags"

#include <ATen/ATen.h>
#include <stdexcept>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>
#include <torch/csrc/inductor/aoti_runner/model_container_runner_cpu.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>
#include <vector>

using torch::stable::Tensor;
bool isOutOfMemory(const std::string &what);
void use(const std::vector<at::Tensor> &);
void use(const Tensor &);

void compiled(torch::inductor::AOTIModelPackageLoader &model, torch::inductor::AOTIModelContainerRunnerCpu &runner, std::vector<at::Tensor> inputs, int64_t batch) {
  try {
    use(model.run(inputs));
  } catch (const c10::OutOfMemoryError &) {
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: ineffective handler: this handler never sees the compiled model run out of memory: what fails in it comes out as 'std::runtime_error', not 'c10::OutOfMemoryError'; catch 'std::exception' and look at what() [libtorch-oom-catch-type]
    // CHECK-NOTES: :[[@LINE-3]]:9: note: an allocation that fails inside this call comes out of it as 'std::runtime_error'
    batch /= 2;
  }
  try {
    use(runner.boxed_run(std::move(inputs)));
  } catch (const c10::Error &e) {
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: ineffective handler: this handler never sees the compiled model run out of memory: what fails in it comes out as 'std::runtime_error', not 'c10::Error'; catch 'std::exception' and look at what() [libtorch-oom-catch-type]
    // CHECK-NOTES: :[[@LINE-3]]:9: note: an allocation that fails inside this call comes out of it as 'std::runtime_error'
    // CHECK-NOTES: :[[@LINE+1]]:10: note: the handler is meant for running out of memory: it calls 'isOutOfMemory'
    if (!isOutOfMemory(e.what()))
      throw;
  }
  // These see it.
  try {
    use(model.run(inputs));
  } catch (const std::runtime_error &e) {
    if (!isOutOfMemory(e.what()))
      throw;
  }
  try {
    use(model.run(inputs));
  } catch (const c10::OutOfMemoryError &) {
    batch /= 2;
  } catch (const std::exception &e) {
    if (!isOutOfMemory(e.what()))
      throw;
  }
}

static std::vector<at::Tensor> helper(torch::inductor::AOTIModelPackageLoader &model, const std::vector<at::Tensor> &inputs) {
  return model.run(inputs);
}

void throughAFunction(torch::inductor::AOTIModelPackageLoader &model, const std::vector<at::Tensor> &inputs) {
  try {
    use(helper(model, inputs));
  } catch (const c10::OutOfMemoryError &) {
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: ineffective handler: this handler never sees the compiled model run out of memory: what fails in it comes out as 'std::runtime_error', not 'c10::OutOfMemoryError'; catch 'std::exception' and look at what() [libtorch-oom-catch-type]
    // CHECK-NOTES: :[[@LINE-3]]:9: note: 'helper' runs a model that AOTInductor compiled
    // CHECK-NOTES: :[[@LINE-9]]:10: note: an allocation that fails inside this call comes out of it as 'std::runtime_error'
    use(inputs);
  }
}

void stable(const Tensor &x) {
  try {
    use(torch::stable::matmul(x, x));
  } catch (const c10::OutOfMemoryError &) {
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: ineffective handler: this handler never sees LibTorch run out of memory: a function of torch::stable throws 'std::runtime_error', not 'c10::OutOfMemoryError'; catch 'std::exception' and look at what() [libtorch-oom-catch-type]
    // CHECK-NOTES: :[[@LINE-3]]:9: note: an allocation that fails inside this call comes out of it as 'std::runtime_error'
    use(x);
  }
  try {
    use(torch::stable::empty({1000, 1000}));
  } catch (const c10::Error &e) {
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: ineffective handler: this handler never sees LibTorch run out of memory: a function of torch::stable throws 'std::runtime_error', not 'c10::Error'; catch 'std::exception' and look at what() [libtorch-oom-catch-type]
    // CHECK-NOTES: :[[@LINE-3]]:9: note: an allocation that fails inside this call comes out of it as 'std::runtime_error'
    // CHECK-NOTES: :[[@LINE+1]]:10: note: the handler is meant for running out of memory: it calls 'isOutOfMemory'
    if (!isOutOfMemory(e.what()))
      throw;
  }
  // What is made and computed there is seen as this.
  try {
    use(torch::stable::matmul(torch::stable::empty({1000, 1000}), x));
  } catch (const std::runtime_error &e) {
    if (!isOutOfMemory(e.what()))
      throw;
  }
  // Views, and what writes in place, allocate nothing.
  try {
    Tensor y = torch::stable::transpose(x, 0, 1);
    torch::stable::zero_(y);
    use(torch::stable::from_blob(y.data_ptr(), {2, 3}, {3, 1}, torch::stable::Device("cpu"), torch::headeronly::ScalarType::Float));
  } catch (const c10::Error &e) {
    if (!isOutOfMemory(e.what()))
      throw;
  }
}
