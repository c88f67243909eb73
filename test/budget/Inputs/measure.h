// Prints what the library says of a model: the bytes of its parameters, of its
// buffers, and of the gradients that it would get.

#include <cstdio>
#include <set>
#include <torch/torch.h>

static std::set<void *> seen;

static long long bytesOf(const torch::Tensor &tensor) {
  if (!tensor.defined() || !seen.insert(tensor.unsafeGetTensorImpl()).second)
    return 0;
  return tensor.numel() * tensor.element_size();
}

template <typename Holder> void measure(const char *name, Holder model) {
  long long parameters = 0, buffers = 0, gradients = 0;
  seen.clear();
  for (auto &parameter : model->parameters()) {
    const long long bytes = bytesOf(parameter);
    parameters += bytes;
    if (parameter.requires_grad())
      gradients += bytes;
  }
  for (auto &buffer : model->buffers())
    buffers += bytesOf(buffer);
  std::printf("%s|%lld|%lld|%lld\n", name, parameters, buffers, gradients);
}

#define MEASURE(MODEL) measure(#MODEL, MODEL)
