// Images whose channels are last, and what reads them or is computed of them.
#include "step.h"

namespace nn = torch::nn;
namespace F = torch::nn::functional;
using torch::Tensor;

constexpr auto Last = torch::MemoryFormat::ChannelsLast;
const auto Options = torch::TensorOptions().memory_format(Last);

struct Parts : nn::Module {
  Parts() {
    register_module("one", one);
    register_module("two", two);
    register_module("norm", norm);
    weight = register_parameter("weight", torch::rand({2, 4, 14, 15}));
    other = register_parameter("other", torch::rand({2, 4, 14, 15}));
    channels = register_buffer("channels", torch::rand({4, 1, 1}));
    places =
        register_buffer("places", torch::zeros({2, 4, 14, 15}, torch::kLong));
  }
  nn::Conv2d one{nn::Conv2dOptions(4, 8, 3).padding(1)};
  nn::Conv2d two{nn::Conv2dOptions(4, 4, 3).dilation(2)};
  nn::BatchNorm2d norm{4};
  Tensor weight, other, channels, places;
};

// What comes lies in another order than what was kept, or is to be given.
#define FRAMED(...) (__VA_ARGS__).permute({0, 2, 1, 3}).contiguous() * 3

#define FORMS(FORM)                                                            \
  FORM(Scaled, x * 3)                                                          \
  FORM(Chosen, torch::where(x > 0.5, x, other).contiguous() * 3)               \
  FORM(ChosenByOther, torch::where(other > 0.5, x, other).contiguous() * 3)    \
  FORM(Joined, torch::cat({x, x * 2}, 1).contiguous() * 3)                     \
  FORM(JoinedToOther, torch::cat({x, other}, 1).contiguous() * 3)              \
  FORM(Scattered, x.scatter(1, places, other).contiguous() * 3)                \
  FORM(Added, x.scatter_add(1, places, other).contiguous() * 3)                \
  FORM(Shifted, (channels + x).contiguous() * 3)                               \
  FORM(Product, torch::relu(x *channels).contiguous() * 3)                     \
  FORM(Truths, (x > channels).contiguous() * weight)                           \
  FORM(Ordered, x.clone(torch::MemoryFormat::Contiguous) * 3)                  \
  FORM(Copied, weight.clone(Last).contiguous() * 3)                            \
  FORM(Converted, (weight * 2).to(torch::kFloat32, false, false, Last) * 3)    \
  FORM(Largest, F::max_pool2d(x, F::MaxPool2dFuncOptions(2)).contiguous() * 3) \
  FORM(Means, F::avg_pool2d(x, F::AvgPool2dFuncOptions(2)).contiguous() * 3)   \
  FORM(MeansOfFive,                                                            \
       F::adaptive_avg_pool2d(x, F::AdaptiveAvgPool2dFuncOptions(5))           \
               .contiguous() *                                                 \
           3)                                                                  \
  FORM(LargestOfFive,                                                          \
       F::adaptive_max_pool2d(x, F::AdaptiveMaxPool2dFuncOptions(5))           \
               .contiguous() *                                                 \
           3)                                                                  \
  FORM(Mean, F::adaptive_avg_pool2d(x, F::AdaptiveAvgPool2dFuncOptions(1)))    \
  FORM(Convolved, torch::relu(one(x)))                                         \
  FORM(Dilated, two(x))                                                        \
  FORM(Normalized, norm(x).contiguous())                                       \
  FORM(Deeper, torch::relu(two(torch::relu(norm(x)))))                         \
  FORM(Padded, F::pad(x, F::PadFuncOptions({1, 1, 1, 1})).contiguous())        \
  FORM(Likely, torch::softmax(x, 1).contiguous())                              \
  FORM(Filled, x.masked_fill(x > 0.5, 0.0).contiguous() * 3)                   \
  FORM(Sums, x.cumsum(1).contiguous() * 3)                                     \
  FORM(Triangles, x.tril().contiguous() * 3)                                   \
  FORM(Rolled, x.roll(1, 2).contiguous() * 3)                                  \
  FORM(Flat, x.flatten(2).sum(2))                                              \
  FORM(FramedRelu, FRAMED(torch::relu(one(weight))))                           \
  FORM(FramedLeakyRelu, FRAMED(torch::leaky_relu(one(weight))))                \
  FORM(FramedClamp, FRAMED(torch::clamp(one(weight), -0.5, 0.5)))              \
  FORM(FramedErf, FRAMED(torch::erf(one(weight))))                             \
  FORM(FramedCumsum, FRAMED(torch::cumsum(one(weight), 1)))                    \
  FORM(FramedRoll, FRAMED(torch::roll(one(weight), 1, 1)))                     \
  FORM(FramedTril, FRAMED(torch::tril(one(weight))))                           \
  FORM(FramedTanh, FRAMED(torch::tanh(one(weight))))                           \
  FORM(Made, torch::empty({2, 4, 14, 15}, Options).fill_(1) * weight)          \
  FORM(Like, torch::empty_like(weight, {}, Last).fill_(1).contiguous() * x)

#define DEFINE(NAME, ...)                                                      \
  struct NAME : Parts {                                                        \
    Tensor forward(Tensor) {                                                   \
      const Tensor x = (weight * 2).contiguous(Last);                          \
      return __VA_ARGS__;                                                      \
    }                                                                          \
  };
FORMS(DEFINE)

#define MEASURE(NAME, ...)                                                     \
  steps::step(                                                                 \
      #NAME "()", "1", [] { return std::make_shared<NAME>(); },                \
      std::function([] { return std::make_tuple(torch::rand(1)); }));

int main() {
  steps::begin();
  FORMS(MEASURE)
}
