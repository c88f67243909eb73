// Tensors over buffers that are gone, freed or written again.
#include <cstdio>
#include <cstring>
#include <torch/torch.h>
#include <vector>

torch::Tensor returned() {
  std::vector<float> samples(1000, 3.0f);
#ifndef FIXED
  return torch::from_blob(samples.data(), {1000});
#else
  return torch::from_blob(samples.data(), {1000}).clone();
#endif
}

torch::Tensor returnedFromStack() {
  float samples[64];
  for (float &sample : samples)
    sample = 5;
#ifndef FIXED
  return torch::from_blob(samples, {64}).to(torch::kFloat);
#else
  return torch::from_blob(samples, {64}).to(torch::kFloat).clone();
#endif
}

/// Read here, not in LibTorch, so that the compiler's checks see it.
float valueAt(const torch::Tensor &t, int64_t i) {
  return t.data_ptr<float>()[i];
}

float freed() {
  float *samples = new float[1000];
  std::fill(samples, samples + 1000, 7.0f);
#ifndef FIXED
  torch::Tensor t = torch::from_blob(samples, {1000});
#else
  torch::Tensor t = torch::from_blob(samples, {1000}).clone();
#endif
  delete[] samples;
  return valueAt(t, 10);
}

/// Frees its buffer when it ends.
struct Loader {
  Loader() : buffer(new float[1000]) {
    std::fill(buffer, buffer + 1000, 9.0f);
  }
  Loader(const Loader &) = delete;
  ~Loader() { delete[] buffer; }
  float *data() { return buffer; }
  float *buffer;
};

torch::Tensor loaded() {
  Loader loader;
#ifndef FIXED
  return torch::from_blob(loader.data(), {1000});
#else
  return torch::from_blob(loader.data(), {1000}).clone();
#endif
}

std::vector<torch::Tensor> frames() {
  std::vector<torch::Tensor> all;
  std::vector<float> buffer(4);
  for (int i = 0; i < 3; ++i) {
    for (float &x : buffer)
      x = static_cast<float>(i);
#ifndef FIXED
    all.push_back(torch::from_blob(buffer.data(), {4}));
#else
    all.push_back(torch::from_blob(buffer.data(), {4}).clone());
#endif
  }
  for (const torch::Tensor &frame : all)
    std::printf("frame: %g\n", valueAt(frame, 0));
  return all;
}

int main(int argc, char **argv) {
  at::set_num_threads(1);
  const char *what = argc > 1 ? argv[1] : "";
  if (std::strcmp(what, "returned") == 0)
    std::printf("returned: %g\n", valueAt(returned(), 10));
  else if (std::strcmp(what, "stack") == 0)
    std::printf("stack: %g\n", valueAt(returnedFromStack(), 10));
  else if (std::strcmp(what, "freed") == 0)
    std::printf("freed: %g\n", freed());
  else if (std::strcmp(what, "loaded") == 0)
    std::printf("loaded: %g\n", valueAt(loaded(), 10));
  else if (std::strcmp(what, "frames") == 0)
    frames();
  return 0;
}
