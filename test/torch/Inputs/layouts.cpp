// Prints, for operators of LibTorch, which strides their results have:
//   keeps    those of the operand, without gaps: packed of packed, permuted of
//            permuted
//   packs    packed, whatever the operand's are
//   columns  each matrix lies column by column, of a packed operand
//   other    none of these, or not always
#include <algorithm>
#include <cstdio>
#include <functional>
#include <torch/torch.h>
#include <torch/version.h>
#include <vector>

using torch::Tensor;
namespace F = torch::nn::functional;

/// The operand, and the order in which its dimensions lie in memory.
struct Operand {
  Tensor X;
  std::vector<int64_t> Order;
};

static std::vector<Operand> operands(std::vector<int64_t> Sizes, bool Gaps) {
  const int64_t N = Sizes.size();
  std::vector<int64_t> Order(N);
  for (int64_t I = 0; I < N; ++I)
    Order[I] = I;
  std::vector<Operand> All;
  const std::vector<int64_t> Natural = Order;
  do {
    std::vector<int64_t> In(N), Back(N);
    for (int64_t I = 0; I < N; ++I) {
      In[I] = Sizes[Order[I]];
      Back[Order[I]] = I;
    }
    if (Gaps)
      In[N - 1] += 2;
    torch::manual_seed(1);
    Tensor X = torch::rand(In) * 0.8 + 0.1;
    if (Gaps)
      X = X.slice(N - 1, 1, In[N - 1] - 1);
    All.push_back({X.permute(Back), Order});
  } while (std::next_permutation(Order.begin(), Order.end()));
  return All;
}

/// Does T lie as Order says, without gaps?
static bool lies(const Tensor &T, const std::vector<int64_t> &Order) {
  return T.dim() == (int64_t)Order.size() && T.permute(Order).is_contiguous();
}

static const char *kindOf(const std::function<Tensor(Tensor)> &Op,
                          const std::vector<std::vector<int64_t>> &Shapes) {
  bool Packs = true, Keeps = true, Columns = true;
  for (const std::vector<int64_t> &Sizes : Shapes)
    for (bool Gaps : {false, true})
      for (const Operand &Of : operands(Sizes, Gaps)) {
        Tensor R;
        try {
          R = Op(Of.X);
        } catch (const c10::Error &) {
          if (Sizes != Shapes.front())
            continue; // Not for tensors of this many dimensions.
          throw;
        }
        Packs &= R.is_contiguous();
        Keeps &= lies(R, Of.Order);
        const bool First = std::is_sorted(Of.Order.begin(), Of.Order.end());
        if (First && !Gaps)
          Columns &=
              !R.is_contiguous() && R.dim() > 1 && R.mT().is_contiguous();
      }
  return Packs ? "packs" : Keeps ? "keeps" : Columns ? "columns" : "other";
}

// Many operators treat four dimensions as images, whose channels may come last.
static const std::vector<std::vector<int64_t>> Any = {{4, 5, 3}, {2, 4, 5, 3}},
                                               Image = {{2, 4, 5, 3}},
                                               Square = {{2, 4, 4}},
                                               Matrix = {{4, 3}};

#define OP(NAME, SIZES, RESULT)                                                \
  std::printf("%s: %s\n", NAME,                                                \
              kindOf([&](Tensor x) -> Tensor { return RESULT; }, SIZES));
/// A method without further arguments.
#define PLAIN(NAME) OP(#NAME, Any, x.NAME())

int main() {
  const Tensor Spd = torch::eye(4).expand({2, 4, 4});
  const auto Definite = [&](Tensor x) { return x.copy_(Spd * 3 + 0.1); };
  PLAIN(abs)
  PLAIN(absolute)
  PLAIN(acos)
  PLAIN(acosh)
  PLAIN(angle)
  PLAIN(asin)
  PLAIN(asinh)
  PLAIN(atan)
  PLAIN(atanh)
  PLAIN(ceil)
  PLAIN(clone)
  PLAIN(conj_physical)
  PLAIN(cos)
  PLAIN(cosh)
  PLAIN(deg2rad)
  PLAIN(digamma)
  PLAIN(erf)
  PLAIN(erfc)
  PLAIN(erfinv)
  PLAIN(exp)
  PLAIN(exp2)
  PLAIN(expm1)
  PLAIN(fix)
  PLAIN(floor)
  PLAIN(frac)
  PLAIN(i0)
  PLAIN(isfinite)
  PLAIN(isinf)
  PLAIN(isnan)
  PLAIN(isneginf)
  PLAIN(isposinf)
  PLAIN(lgamma)
  PLAIN(log)
  PLAIN(log10)
  PLAIN(log1p)
  PLAIN(log2)
  PLAIN(logical_not)
  PLAIN(logit)
  PLAIN(nan_to_num)
  PLAIN(neg)
  PLAIN(negative)
  PLAIN(positive)
  PLAIN(rad2deg)
  PLAIN(reciprocal)
  PLAIN(relu)
  PLAIN(round)
  PLAIN(rsqrt)
  PLAIN(sgn)
  PLAIN(sigmoid)
  PLAIN(sign)
  PLAIN(signbit)
  PLAIN(sin)
  PLAIN(sinc)
  PLAIN(sinh)
  PLAIN(sqrt)
  PLAIN(square)
  PLAIN(tan)
  PLAIN(tanh)
  PLAIN(trunc)
  PLAIN(hardshrink)
  PLAIN(detach)
  PLAIN(alias)
  OP("add", Any, x.add(2))
  OP("sub", Any, x.sub(2))
  OP("mul", Any, x.mul(2))
  OP("div", Any, x.div(2))
  OP("true_divide", Any, x.true_divide(2))
  OP("floor_divide", Any, x.floor_divide(2))
  OP("fmod", Any, x.fmod(2))
  OP("remainder", Any, x.remainder(2))
  OP("pow", Any, x.pow(2))
  OP("eq", Any, x.eq(2))
  OP("ne", Any, x.ne(2))
  OP("lt", Any, x.lt(2))
  OP("le", Any, x.le(2))
  OP("gt", Any, x.gt(2))
  OP("ge", Any, x.ge(2))
  OP("clamp", Any, x.clamp(2))
  OP("clamp_min", Any, x.clamp_min(2))
  OP("clamp_max", Any, x.clamp_max(2))
  OP("clip", Any, x.clip(2))
  OP("float_power", Any, x.float_power(2))
  OP("copysign", Any, x.copysign(2))
  OP("cumsum", Any, x.cumsum(1))
  OP("cumprod", Any, x.cumprod(1))
  OP("logcumsumexp", Any, x.logcumsumexp(1))
  OP("softmax", Any, x.softmax(1))
  OP("log_softmax", Any, x.log_softmax(1))
  OP("argmax", Any, x.argmax(1))
  OP("argmin", Any, x.argmin(1))
  OP("sum", Any, x.sum(1))
  OP("mean", Any, x.mean(1))
  OP("std", Any, x.std(1))
  OP("var", Any, x.var(1))
  OP("prod", Any, x.prod(1))
  OP("amax", Any, x.amax(1))
  OP("amin", Any, x.amin(1))
  OP("any", Any, x.any(1))
  OP("all", Any, x.all(1))
  OP("logsumexp", Any, x.logsumexp(1))
  OP("flip", Any, x.flip(1))
  OP("elu", Any, torch::elu(x))
  OP("celu", Any, torch::celu(x))
  OP("gelu", Any, F::gelu(x))
  OP("silu", Any, torch::silu(x))
  OP("mish", Any, torch::mish(x))
  OP("hardtanh", Any, torch::hardtanh(x))
  OP("hardsigmoid", Any, torch::hardsigmoid(x))
  OP("hardswish", Any, torch::hardswish(x))
  OP("leaky_relu", Any, torch::leaky_relu(x))
  OP("softplus", Any, F::softplus(x))
  OP("softshrink", Any, torch::softshrink(x))
  OP("threshold", Any, torch::threshold(x, 0.5, 0))
  OP("relu6", Any, F::relu6(x))
  OP("log_sigmoid", Any, torch::log_sigmoid(x))
  OP("logsigmoid", Any, F::logsigmoid(x))
  OP("softsign", Any, F::softsign(x))
  OP("tanhshrink", Any, F::tanhshrink(x))
  OP("dropout", Any, torch::dropout(x, 0.5, true))
  OP("rsub", Any, torch::rsub(x, 2))
  OP("atan2", Any, torch::atan2(x, x))
  OP("maximum", Any, torch::maximum(x, x))
  OP("minimum", Any, torch::minimum(x, x))
  OP("fmax", Any, torch::fmax(x, x))
  OP("fmin", Any, torch::fmin(x, x))
  OP("lerp", Any, x.lerp(x, 0.5))
  OP("where", Any, torch::where(x > 0.5, x, x))
  OP("masked_fill", Any, x.masked_fill(x > 0.5, 0))
  OP("addcmul", Any, x.addcmul(x, x))
  OP("addcdiv", Any, x.addcdiv(x, x))
  OP("to", Any, x.to(torch::kDouble))
  OP("toType", Any, x.toType(torch::kDouble))
  OP("logical_and", Any, x.logical_and(x))
  OP("logical_or", Any, x.logical_or(x))
  OP("logical_xor", Any, x.logical_xor(x))
  OP("bitwise_not", Any, x.gt(0.5).bitwise_not())
  OP("bitwise_and", Any, x.gt(0.5).bitwise_and(x.gt(0.2)))
  OP("bitwise_or", Any, x.gt(0.5).bitwise_or(x.gt(0.2)))
  OP("bitwise_xor", Any, x.gt(0.5).bitwise_xor(x.gt(0.2)))
  OP("hypot", Any, x.hypot(x))
  OP("xlogy", Any, x.xlogy(x))
  OP("isclose", Any, x.isclose(x))
  OP("zeros_like", Any, torch::zeros_like(x))
  OP("ones_like", Any, torch::ones_like(x))
  OP("empty_like", Any, torch::empty_like(x))
  OP("full_like", Any, torch::full_like(x, 2))
  OP("rand_like", Any, torch::rand_like(x))
  OP("randn_like", Any, torch::randn_like(x))
  OP("randint_like", Any, torch::randint_like(x, 9))
  OP("new_zeros", Any, x.new_zeros({4, 5, 3}))
  OP("new_ones", Any, x.new_ones({4, 5, 3}))
  OP("new_empty", Any, x.new_empty({4, 5, 3}))
  OP("new_full", Any, x.new_full({4, 5, 3}, 1))
  OP("repeat", Any, x.repeat({2, 1, 1}))
  OP("tile", Any, x.tile({2, 1, 1}))
  OP("repeat_interleave", Any, x.repeat_interleave(2, 1))
  OP("roll", Any, x.roll(1, 1))
  OP("rot90", Any, x.rot90())
  OP("fliplr", Any, x.fliplr())
  OP("flipud", Any, x.flipud())
  OP("tril", Any, x.tril())
  OP("triu", Any, x.triu())
  OP("gather", Any, x.gather(1, torch::zeros({4, 5, 3}, torch::kLong)))
  OP("scatter", Any, x.scatter(1, torch::zeros({4, 5, 3}, torch::kLong), 1))
  OP("scatter_add", Any,
     x.scatter_add(1, torch::zeros({4, 5, 3}, torch::kLong), x))
  OP("index_select", Any, x.index_select(1, torch::arange(3)))
  OP("index_fill", Any, x.index_fill(1, torch::arange(3), 1))
  OP("index_add", Any, x.index_add(1, torch::arange(5), x))
  OP("index_copy", Any, x.index_copy(1, torch::arange(5), x))
  OP("index_put", Any, x.index_put({torch::arange(2)}, torch::tensor(1.0f)))
  OP("masked_select", Any, x.masked_select(x > 0.2))
  OP("masked_scatter", Any, x.masked_scatter(x > 0.2, x))
  OP("take", Any, x.take(torch::arange(3)))
  OP("take_along_dim", Any,
     x.take_along_dim(torch::zeros({4, 5, 3}, torch::kLong), 1))
  OP("sort", Any, std::get<0>(x.sort(1)))
  OP("topk", Any, std::get<0>(x.topk(2, 1)))
  OP("max", Any, std::get<0>(x.max(1)))
  OP("min", Any, std::get<0>(x.min(1)))
  OP("median", Any, std::get<0>(x.median(1)))
  OP("kthvalue", Any, std::get<0>(x.kthvalue(1, 1)))
  OP("mode", Any, std::get<0>(x.mode(1)))
  OP("cummax", Any, std::get<0>(x.cummax(1)))
  OP("cummin", Any, std::get<0>(x.cummin(1)))
  OP("layer_norm", Any, torch::layer_norm(x, {3}))
  OP("linear", Any, torch::linear(x, torch::ones({2, 3})))
  OP("matmul", Any, torch::matmul(x, torch::ones({3, 2})))
  OP("bmm", Any, torch::bmm(x, torch::ones({4, 3, 2})))
  OP("baddbmm", Any,
     torch::baddbmm(torch::ones({4, 5, 2}), x, torch::ones({4, 3, 2})))
  OP("einsum", Any, torch::einsum("ijk->kji", {x}))
  OP("cdist", Any, torch::cdist(x, x))
  OP("bucketize", Any, torch::bucketize(x, torch::arange(3.0f)))
  OP("searchsorted", Any, torch::searchsorted(torch::arange(3.0f), x))
  OP("one_hot", Any, torch::one_hot(x.to(torch::kLong)))
  OP("embedding", Any,
     torch::embedding(torch::ones({4, 2}), x.to(torch::kLong)))
  OP("diag_embed", Any, torch::diag_embed(x))
  OP("pad", Any, F::pad(x, F::PadFuncOptions({1, 1})))
  OP("constant_pad_nd", Any, torch::constant_pad_nd(x, {1, 1}))
  OP("fake_quantize_per_tensor_affine", Any,
     torch::fake_quantize_per_tensor_affine(x, 0.1, 0, 0, 255))
  OP("norm", Any, torch::norm(x, 2, 1))
  OP("multiply", Any, x.multiply(2))
  OP("divide", Any, x.divide(2))
  OP("subtract", Any, x.subtract(2))
  OP("greater", Any, x.greater(0.5))
  OP("less", Any, x.less(0.5))
  OP("greater_equal", Any, x.greater_equal(0.5))
  OP("less_equal", Any, x.less_equal(0.5))
  OP("not_equal", Any, x.not_equal(0.5))
  OP("max_pool2d", Image, F::max_pool2d(x, F::MaxPool2dFuncOptions(2)))
  OP("avg_pool2d", Image, F::avg_pool2d(x, F::AvgPool2dFuncOptions(2)))
  OP("adaptive_avg_pool2d", Image, torch::adaptive_avg_pool2d(x, {2, 2}))
  OP("interpolate", Image,
     F::interpolate(x, F::InterpolateFuncOptions()
                           .size(std::vector<int64_t>{8, 8})
                           .mode(torch::kNearest)))
  OP("upsample_bilinear2d", Image, torch::upsample_bilinear2d(x, {8, 8}, false))
  OP("upsample_nearest2d", Image, torch::upsample_nearest2d(x, {8, 8}))
  OP("conv2d", Image, torch::conv2d(x, torch::ones({2, 4, 2, 2})))
  OP("batch_norm", Image,
     torch::batch_norm(x, {}, {}, {}, {}, true, 0.1, 1e-5, false))
  OP("group_norm", Image, torch::group_norm(x, 2))
  OP("instance_norm", Image,
     torch::instance_norm(x, {}, {}, {}, {}, true, 0.1, 1e-5, false))
  OP("pixel_shuffle", Image, torch::pixel_shuffle(x, 2))
  OP("reflection_pad2d", Image, torch::reflection_pad2d(x, {1, 1, 1, 1}))
  OP("replication_pad2d", Image, torch::replication_pad2d(x, {1, 1, 1, 1}))
  OP("im2col", Image, F::unfold(x, F::UnfoldFuncOptions({2, 2})))
  OP("grid_sample", Image, F::grid_sample(x, torch::zeros({2, 3, 3, 2})))
  OP("linalg_cholesky", Square, torch::linalg_cholesky(Definite(x)))
  OP("linalg_cholesky_ex", Square,
     std::get<0>(torch::linalg_cholesky_ex(Definite(x))))
  OP("cholesky_inverse", Square, torch::cholesky_inverse(Definite(x)))
  OP("linalg_inv", Square, torch::linalg_inv(Definite(x)))
  OP("linalg_inv_ex", Square, std::get<0>(torch::linalg_inv_ex(Definite(x))))
  OP("inverse", Square, torch::inverse(Definite(x)))
  OP("linalg_pinv", Square, torch::linalg_pinv(x))
  OP("pinverse", Square, torch::pinverse(x))
  OP("linalg_solve", Square, torch::linalg_solve(Definite(x), Spd))
  OP("linalg_solve_triangular", Square,
     torch::linalg_solve_triangular(Definite(x), torch::eye(4), true))
  OP("triangular_solve", Square,
     std::get<0>(torch::triangular_solve(Spd, Definite(x))))
  OP("cholesky_solve", Square, torch::cholesky_solve(Spd, Definite(x)))
  OP("linalg_qr", Square, std::get<0>(torch::linalg_qr(x)))
  OP("linalg_svd", Square, std::get<0>(torch::linalg_svd(x)))
  OP("svd", Square, std::get<0>(torch::svd(x)))
  OP("linalg_eigh:1", Square, std::get<1>(torch::linalg_eigh(Definite(x))))
  OP("linalg_eig:1", Square, std::get<1>(torch::linalg_eig(Definite(x))))
  OP("linalg_lu_factor", Square,
     std::get<0>(torch::linalg_lu_factor(Definite(x))))
  OP("linalg_lstsq", Square,
     std::get<0>(torch::linalg_lstsq(x, torch::ones({2, 4, 4}))))
  OP("matrix_power", Square, torch::matrix_power(x, 2))
  OP("linalg_matrix_power", Square, torch::linalg_matrix_power(x, 2))
  OP("linalg_householder_product", Square,
     torch::linalg_householder_product(x, torch::ones({2, 4})))
  OP("mm", Matrix, torch::mm(x, torch::ones({3, 2})))
  OP("addmm", Matrix, torch::addmm(torch::ones({4, 2}), x, torch::ones({3, 2})))
  OP("outer", Matrix, torch::outer(x.select(1, 0), x.select(1, 1)))
  OP("diag", Matrix, x.diag())
  OP("cov", Matrix, x.cov())
  OP("corrcoef", Matrix, x.corrcoef())
  OP("linalg_qr:1", Square, std::get<1>(torch::linalg_qr(x)))
  OP("linalg_svd:2", Square, std::get<2>(torch::linalg_svd(x)))
  OP("svd:2", Square, std::get<2>(torch::svd(x)))
  OP("linalg_eigh:0", Square, std::get<0>(torch::linalg_eigh(Definite(x))))
  OP("linalg_svd:1", Square, std::get<1>(torch::linalg_svd(x)))
  // 2.6 no longer has the last, 2.14 none of these.
#if TORCH_VERSION_MAJOR < 2 || TORCH_VERSION_MINOR < 14
  OP("cholesky", Square, torch::cholesky(Definite(x)))
  OP("qr", Square, std::get<0>(torch::qr(x)))
  OP("qr:1", Square, std::get<1>(torch::qr(x)))
#else
  std::puts("cholesky: gone\nqr: gone\nqr:1: gone");
#endif
#if TORCH_VERSION_MAJOR < 2
  OP("symeig:1", Square, std::get<1>(torch::symeig(Definite(x), true)))
#else
  std::puts("symeig:1: gone");
#endif
}
