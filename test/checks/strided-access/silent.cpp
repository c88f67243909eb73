// What looks like it and is right.
// RUN: %check_libtorch_tidy %s libtorch-strided-access %t

#include <torch/script.h>
#include <torch/torch.h>

#include <cstring>
#include <vector>

using torch::Tensor;
using torch::indexing::Slice;

std::vector<float> values(const Tensor &t) {
  return std::vector<float>(t.data_ptr<float>(), t.data_ptr<float>() + t.numel());
}

// Packed again.
void packed(const Tensor &x, float *to) {
  auto hwc = x.permute({1, 2, 0}).contiguous();
  std::memcpy(to, hwc.data_ptr<float>(), hwc.nbytes());
  auto flat = x.permute({1, 2, 0}).flatten();
  std::memcpy(to, flat.data_ptr<float>(), flat.nbytes());
  auto line = x.permute({1, 2, 0}).reshape({-1});
  std::memcpy(to, line.data_ptr<float>(), line.nbytes());
  auto back = x.permute({1, 2, 0}).mul(2).permute({2, 0, 1});
  std::memcpy(to, back.data_ptr<float>(), back.nbytes());
  auto soft = x.transpose(0, 1).softmax(1);
  std::memcpy(to, soft.data_ptr<float>(), soft.nbytes());
  auto forced = x.transpose(0, 1).clone(torch::MemoryFormat::Contiguous);
  std::memcpy(to, forced.data_ptr<float>(), forced.nbytes());
  values(x.transpose(0, 1).contiguous());
}

// Whole rows, dimensions of one element, and one element.
void in_one_piece(const Tensor &x, float *to) {
  auto rows = x.slice(0, 1, 3);
  std::memcpy(to, rows.data_ptr<float>(), rows.nbytes());
  auto row = x[2];
  std::memcpy(to, row.data_ptr<float>(), row.nbytes());
  auto gray = x.unsqueeze(0).permute({1, 2, 0});
  std::memcpy(to, gray.data_ptr<float>(), gray.nbytes());
  auto one = torch::rand({1, 4}).t();
  std::memcpy(to, one.data_ptr<float>(), one.nbytes());
  auto number = torch::rand({3, 4}).select(1, 0).select(0, 2);
  std::memcpy(to, number.data_ptr<float>(), number.nbytes());
  auto plane = torch::rand({3, 4, 5}).permute({1, 2, 0}).select(2, 0);
  std::memcpy(to, plane.data_ptr<float>(), plane.nbytes());
  auto all = torch::rand({3, 4}).slice(1, 0, 4);
  std::memcpy(to, all.data_ptr<float>(), all.nbytes());
}

// The order does not matter, or both have the same.
float any_order(const Tensor &x, float limit) {
  auto turned = x.t().clone();
  float *p = turned.data_ptr<float>();
  float sum = 0;
  for (int64_t i = 0; i < turned.numel(); ++i)
    sum += p[i];
  for (int64_t i = 0; i < turned.numel(); ++i)
    if (p[i] > limit)
      p[i] = limit;
  return sum + std::accumulate(p, p + turned.numel(), 0.0f);
}

// A part only: a row, the first element.
void parts(const Tensor &x, float *to) {
  auto part = x.slice(1, 1, 3);
  const float *p = part.data_ptr<float>();
  to[0] = *p + p[0];
  std::memcpy(to, p, part.size(1) * sizeof(float));
  for (int64_t i = 0; i < part.size(1); ++i)
    to[i] = p[i];
}

// The strides are asked for.
float strides(const Tensor &x) {
  auto part = x.slice(1, 1, 3);
  const float *p = part.data_ptr<float>();
  float sum = 0;
  for (int64_t i = 0; i < part.size(0); ++i)
    for (int64_t j = 0; j < part.size(1); ++j)
      sum += p[i * part.stride(0) + j * part.stride(1)];
  return sum;
}
std::vector<float> asked(const Tensor &x) {
  auto turned = x.t();
  TORCH_CHECK(turned.is_contiguous(), "packed tensors only");
  return std::vector<float>(turned.data_ptr<float>(),
                            turned.data_ptr<float>() + turned.numel());
}
void check_contiguous(const Tensor &t);
std::vector<float> checked(const Tensor &x) {
  auto turned = x.t();
  check_contiguous(turned);
  return std::vector<float>(turned.data_ptr<float>(),
                            turned.data_ptr<float>() + turned.numel());
}
float accessed(const Tensor &x) {
  auto turned = x.t();
  auto at = turned.accessor<float, 2>();
  return at[1][0];
}

// The index goes by the order in memory: planes of rows.
float planes(const Tensor &x) {
  auto hwc = x.permute({1, 2, 0});
  const float *p = hwc.data_ptr<float>();
  const auto h = hwc.size(0), w = hwc.size(1);
  float sum = 0;
  for (int64_t y = 0; y < h; ++y)
    for (int64_t c = 0; c < 3; ++c)
      sum += c * p[c * h * w + y * w];
  return sum;
}

// Nothing is known of what it is made of.
std::vector<float> unknown(const Tensor &x, const Tensor &mask,
                           at::IntArrayRef order) {
  auto picked = x.index({mask});
  values(picked);
  auto mixed = x.permute(order);
  return values(mixed);
}

// Of the dimensions that are moved, or that come before, one has one element.
std::vector<float> chosen(const Tensor &x) {
  auto picked = x.contiguous().index_select(2, torch::zeros({1}, torch::kLong));
  auto turned = picked.mT();
  return values(turned);
}
std::vector<float> joinedRows() {
  auto rows = torch::cat({torch::rand({3, 1, 4}), torch::rand({3, 1, 4})}, 2);
  auto flat = rows.select(1, 0);
  return values(flat);
}
std::vector<float> asColumn() {
  auto all = torch::full({6}, 2.0f);
  auto column = all.reshape({all.size(0), -1}).t();
  return values(column);
}
std::vector<float> half() {
  auto part = torch::rand({2, 3, 4}).chunk(2, 0)[0].narrow(1, 0, 1).mT();
  return values(part);
}
std::vector<float> lastOfMany(const Tensor &x) {
  auto more = torch::softmax(x, 1).unsqueeze(-1)[0].movedim(1, 2);
  return values(more);
}
std::vector<float> eitherWay(const Tensor &x, bool c) {
  auto more = torch::softmax(x, 1).unsqueeze(2);
  if (c)
    more = more.movedim(1, 2);
  more.transpose_(1, 2);
  return values(more);
}

// The second cut may leave one element, or none.
std::vector<float> cutTwice(const Tensor &x) {
  auto part = x.slice(0, 0, 9, 2).slice(0, 1);
  return values(part);
}

// An image whose channels come last is padded and rolled as it lies, and what may lie
// as its operand does is not known.
std::vector<float> paddedImage(const Tensor &nhwc) {
  auto image = torch::constant_pad_nd(nhwc.permute({0, 3, 1, 2}), {1, 1, 1, 1});
  auto back = image.permute({0, 2, 3, 1});
  return values(back);
}
std::vector<float> rolledImage(const Tensor &nhwc) {
  auto back = torch::roll(nhwc.permute({0, 3, 1, 2}), 1, 2).permute({0, 2, 3, 1});
  return values(back);
}
std::vector<float> convertedImage(const Tensor &nchw) {
  auto image = nchw.contiguous(torch::MemoryFormat::ChannelsLast);
  auto back = torch::constant_pad_nd(image, {1, 1, 1, 1}).permute({0, 2, 3, 1});
  return values(back);
}

// What gets an image whose channels come last may return another.
Tensor filtered(const Tensor &x);
std::vector<float> throughFunction(const Tensor &x) {
  auto back = filtered(x.permute({0, 3, 1, 2})).permute({0, 2, 3, 1});
  return values(back);
}
std::vector<float> throughModel(torch::nn::Conv2d &net, const Tensor &x) {
  auto back = net->forward(x.permute({0, 3, 1, 2}).to(torch::kFloat)).permute({0, 2, 3, 1});
  return values(back);
}
std::vector<float> throughScript(torch::jit::Module &net, const Tensor &x) {
  std::vector<torch::jit::IValue> inputs;
  inputs.push_back(x.permute({0, 3, 1, 2}));
  auto back = net.forward(inputs).toTensor().permute({0, 2, 3, 1});
  return values(back);
}

// One part is all of it.
std::vector<float> onePart() {
  auto all = torch::rand({3, 4}).split(9, 1)[0];
  return values(all);
}

// One of the two that were one element.
std::vector<float> oneOfRepeated() {
  auto one = torch::rand({1, 4}).expand({2, -1}).chunk(2, 0)[0];
  auto last = torch::rand({1, 4}).expand({2, -1}).slice(0, 1);
  values(last);
  return values(one);
}

// A sum of all, which a counter goes through; another begins anew in each row.
float summed(int h, int w) {
  auto hwc = torch::rand({3, 4, 5}).permute({1, 2, 0});
  const float *p = hwc.data_ptr<float>();
  float sum = 0;
  int k = 0;
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) {
      sum += p[k];
      ++k;
    }
  for (int y = 0; y < h; ++y) {
    k = 0;
    for (int x = 0; x < w; ++x) {
      sum += x * p[k];
      ++k;
    }
  }
  return sum;
}

// What is cut of a tensor whose dimensions are not known may have one element.
static Tensor turnedSomehow(const Tensor &x) { return x.permute({2, 0, 1}); }
void cut_to_one(const Tensor &x, float *to) {
  auto t = turnedSomehow(x).narrow(0, 0, 1);
  t = t.index_select(2, torch::zeros({1}, torch::kLong));
  auto part = t.select(1, 0);
  std::memcpy(to, part.data_ptr<float>(), part.nbytes());
}

// A part of one element, and then packed: what is moved is that dimension.
std::vector<float> cutToOne() {
  auto t = torch::empty_strided({3, 4}, {1, 3}).index({Slice(0, 1)}).contiguous();
  t.transpose_(1, 0);
  return values(t);
}
std::vector<float> newDimension() {
  auto t = torch::empty_strided({3, 4}, {1, 3}).index({torch::indexing::None, 0}).contiguous();
  return values(t.transpose(0, 1));
}

// A helper adds a dimension of one element, and its caller moves that.
Tensor asColumn(const Tensor &x) { return x.unsqueeze(1).contiguous(); }
std::vector<float> movedColumn(const Tensor &x) {
  auto t = asColumn(x).transpose(0, 1);
  return values(t);
}

// What a helper returns lies in one of several orders, of which one is put right.
Tensor eitherOrder(const Tensor &t, bool c) {
  if (c)
    return t.permute({1, 2, 0});
  return t.transpose(0, 1).select(0, 0).unsqueeze(1);
}
float ofEither(const Tensor &x, bool c) {
  auto rows = torch::zeros_like(eitherOrder(x, c).slice(1, 1).permute({0, 2, 1}));
  auto first = rows.index({Slice(), 0});
  float *p = first.data_ptr<float>(), sum = 0;
  for (int64_t i = 0; i < first.numel(); ++i)
    sum += p[i];
  return sum;
}
