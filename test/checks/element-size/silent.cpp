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

// Bytes are counted, and given to a tensor of other elements, or seen as such.
void raw(torch::Tensor to, const torch::Tensor &bytes, const std::vector<uint8_t> &file,
         const std::string &text, char *out) {
  std::memcpy(to.data_ptr<float>(), bytes.data_ptr<uint8_t>(), bytes.numel());
  std::memcpy(to.data_ptr<float>(), file.data(), file.size());
  std::memcpy(to.data_ptr<float>(), text.data(), text.size());
  const auto *floats = reinterpret_cast<const float *>(bytes.data_ptr<uint8_t>());
  std::memcpy(out, floats, bytes.numel());
  auto buffer = torch::empty({64}, torch::kByte);
  std::memcpy(to.data_ptr<float>(), buffer.data_ptr(), buffer.numel());
}

// Products of sizes with the size of an element, also one that is written as a number
// or is in a variable, or may be.
void sized(char *to, const torch::Tensor &t, const torch::Tensor &other, size_t pitch) {
  std::memcpy(to, t.data_ptr<float>(), t.size(0) * t.size(1) * sizeof(float));
  std::memcpy(to, t.data_ptr<float>(), t.size(0) * t.size(1) * 4);
  std::memcpy(to, t.data_ptr<float>(), t.size(0) * pitch);
  std::memcpy(to, t.data_ptr<float>(), t.size(0) * t.element_size() * t.size(1));
  std::memcpy(to, t.data_ptr(), t.size(0) * t.size(1));
  std::memcpy(to, t.data_ptr(), t.numel() * other.element_size());
  std::memcpy(to, t.data_ptr<float>(), t.numel() * t.dtype().itemsize());
  auto longs = torch::zeros({8}, torch::kLong);
  auto doubles = torch::zeros({8}, torch::kDouble);
  std::memcpy(to, longs.data_ptr(), longs.numel() * doubles.element_size());
}

// What the options say is not seen, or they say nothing.
void options(char *to, const torch::Tensor &t, torch::TensorOptions given) {
  auto like = torch::empty({4}, t.options());
  std::memcpy(to, like.data_ptr(), like.numel());
  auto as_given = torch::empty({4}, given);
  std::memcpy(to, as_given.data_ptr(), as_given.numel());
  auto by_default = torch::zeros({4});
  std::memcpy(to, by_default.data_ptr(), by_default.numel() * sizeof(double));
}
