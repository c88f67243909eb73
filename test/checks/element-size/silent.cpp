// What looks like it and is right.
// RUN: %check_libtorch_tidy %s libtorch-element-size %t

#include <torch/torch.h>

#include <cstring>
#include <fstream>
#include <vector>

void right(float *to, unsigned char *bytes, const torch::Tensor &t) {
  std::memcpy(to, t.data_ptr(), t.nbytes());
  std::memcpy(to, t.data_ptr(), t.numel() * t.element_size());
  std::memcpy(to, t.data_ptr<float>(), sizeof(float) * t.numel());
  std::memcpy(to, t.data_ptr<float>(), t.numel() * 4);
  std::memcpy(to, t.data_ptr(), torch::elementSize(torch::kFloat) * t.numel());
  std::memcpy(to, t.data_ptr(), t.dtype().itemsize() * t.numel());
  // Bytes, or what may be bytes.
  std::memcpy(bytes, t.data_ptr<uint8_t>(), t.numel());
  std::memcpy(bytes, t.data_ptr<bool>(), t.numel());
  std::memcpy(bytes, t.data_ptr(), t.numel());
  // Elements are counted, and copied as such.
  std::copy(t.data_ptr<float>(), t.data_ptr<float>() + t.numel(), to);
}

// An enumerator has as many bytes as an element of its type.
void by_chance(unsigned char *to, const torch::Tensor &t) {
  std::memcpy(to, t.data_ptr(), sizeof(torch::kUInt8) * t.numel());
  std::memcpy(to, t.data_ptr(), sizeof(torch::kBool) * t.numel());
}

// Dtypes are what is written.
void save(std::ostream &out, const std::vector<torch::ScalarType> &types,
          const torch::ScalarType *all, size_t n) {
  const torch::ScalarType first = types.front();
  out.write(reinterpret_cast<const char *>(&first), sizeof(first));
  out.write(reinterpret_cast<const char *>(types.data()),
            types.size() * sizeof(types[0]));
  out.write(reinterpret_cast<const char *>(all), n * sizeof(*all));
  out.write(reinterpret_cast<const char *>(all), n * sizeof(torch::ScalarType));
}

// A class of the user has its own way of counting.
struct Pixels {
  const float *data() const;
  size_t numel() const;
};
void pixels(char *to, const Pixels &p) { std::memcpy(to, p.data(), p.numel()); }

// The dtype itself.
void header(torch::Tensor t, char *to, std::ofstream &file) {
  const auto kind = t.scalar_type();
  std::memcpy(to, &kind, sizeof(t.scalar_type()));
  file.write(reinterpret_cast<const char *>(&kind), sizeof(t.scalar_type()));
}

// Bytes, tensors of which nothing says the dtype, and one that is made anew.
void of_bytes(unsigned char *to, const torch::Tensor &image, bool scale) {
  auto bytes = torch::zeros({4, 4}, torch::kByte);
  std::memcpy(to, bytes.data_ptr(), bytes.numel());
  auto pixels = image.mul(255).to(torch::kU8).contiguous();
  std::memcpy(to, pixels.data_ptr(), pixels.numel());
  auto given = image.contiguous();
  std::memcpy(to, given.data_ptr(), given.numel());
  auto changed = torch::zeros({4, 4});
  changed = changed.to(torch::kByte);
  std::memcpy(to, changed.data_ptr(), changed.numel());
}
