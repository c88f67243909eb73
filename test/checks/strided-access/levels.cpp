// What makes a finding weaker.
// RUN: %check_libtorch_tidy %s libtorch-strided-access %t

#include <torch/script.h>
#include <torch/torch.h>

#include <cstring>
#include <vector>

using torch::Tensor;

// Another function made it.
std::vector<float> given(const Tensor &x) {
  auto c = x.select(1, 0);
  return std::vector<float>(c.data_ptr<float>(), c.data_ptr<float>() + c.numel());
  // CHECK-MESSAGES: :[[@LINE-1]]:31: warning: wrong bytes: 'vector' takes the elements of 'c' as they lie in memory, but 'select' has left those of the whole tensor between them; read from a packed copy, contiguous(), kept in a variable [libtorch-strided-access]
  // CHECK-FIXES: auto c_packed = c.contiguous();
  // CHECK-FIXES: return std::vector<float>(c_packed.data_ptr<float>(), c_packed.data_ptr<float>() + c.numel());
}

// On some paths.
void some_paths(bool turn, float *to) {
  auto t = torch::rand({3, 4});
  if (turn)
    t = t.t();
  std::memcpy(to, t.data_ptr<float>(), t.nbytes());
  // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: wrong bytes: 'memcpy' copies the bytes of 't' as they lie in memory, but 't()' has moved no bytes: they lie in the order from before; read from a packed copy, contiguous(), kept in a variable [libtorch-strided-access]
  // CHECK-FIXES: auto t_packed = t.contiguous();
  // CHECK-FIXES: std::memcpy(to, t_packed.data_ptr<float>(), t.nbytes());
}

// Where n is 1, it is in order.
void unknown_sizes(int64_t n, float *to) {
  auto t = torch::rand({n, 4}).t();
  std::memcpy(to, t.data_ptr<float>(), t.nbytes());
  // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: wrong bytes: 'memcpy' copies the bytes of 't' as they lie in memory, but 't()' has moved no bytes: they lie in the order from before; read from a packed copy, contiguous(), kept in a variable [libtorch-strided-access]
  // CHECK-FIXES: auto t_packed = t.contiguous();
  // CHECK-FIXES: std::memcpy(to, t_packed.data_ptr<float>(), t.nbytes());
}

// Of what is the index made?
float other_formula(int width) {
  auto t = torch::rand({3, 4}).t();
  const float *p = t.data_ptr<float>();
  // CHECK-FIXES: auto t_packed = t.contiguous();
  // CHECK-FIXES: const float *p = t_packed.data_ptr<float>();
  float sum = 0;
  for (int i = 0; i < 4; ++i)
    sum += i * p[i * width + 1];
    // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: wrong bytes: the index counts the elements of 't' row by row, but 't()' has moved no bytes: they lie in the order from before; read from a packed copy, contiguous(), kept in a variable [libtorch-strided-access]
  return sum;
}

// Column by column, in this version.
float lapack() {
  auto l = torch::linalg_cholesky(torch::eye(4));
  const float *p = l.data_ptr<float>();
  // CHECK-FIXES: auto l_packed = l.contiguous();
  // CHECK-FIXES: const float *p = l_packed.data_ptr<float>();
  return p[0] + p[1];
  // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: wrong bytes: the index counts the elements of 'l' row by row, but the result of 'linalg_cholesky' lies column by column; read from a packed copy, contiguous(), kept in a variable [libtorch-strided-access]
}

// Made like what may lie in any order.
Tensor made_like(const Tensor &image) {
  auto packed = image.contiguous();
  const float *in = packed.data_ptr<float>();
  auto out = torch::zeros_like(image);
  float *to = out.data_ptr<float>();
  for (int64_t i = 0; i < packed.numel(); ++i)
    to[i] = in[i] * 2;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: wrong bytes: the loop goes through the memory of 'out' element by element, but it lies like the parameter that it is made like, in whatever order; read from a packed copy, contiguous(), kept in a variable [libtorch-strided-access]
  return out;
}

// What a model returns.
void of_script(torch::jit::Module &net, const Tensor &x, float *to) {
  auto y = net.forward({x}).toTensor();
  std::memcpy(to, y.data_ptr<float>(), y.nbytes());
  // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: wrong bytes: 'memcpy' copies the bytes of 'y' as they lie in memory, but nothing says that the model returns them in order; read from a packed copy, contiguous(), kept in a variable [libtorch-strided-access]
  // CHECK-FIXES: auto y_packed = y.contiguous();
  // CHECK-FIXES: std::memcpy(to, y_packed.data_ptr<float>(), y.nbytes());
}

// A function that is not seen.
void gemm(const float *a, int64_t n);
void unseen_reader() {
  auto t = torch::rand({3, 4}).t();
  gemm(t.data_ptr<float>(), t.numel());
  // CHECK-MESSAGES: :[[@LINE-1]]:8: warning: wrong bytes: 'gemm' gets the memory of 't', and no strides, but 't()' has moved no bytes: they lie in the order from before; read from a packed copy, contiguous(), kept in a variable [libtorch-strided-access]
  // CHECK-FIXES: auto t_packed = t.contiguous();
  // CHECK-FIXES: gemm(t_packed.data_ptr<float>(), t.numel());
}

// A gradient comes in any layout.
struct Twice : torch::autograd::Function<Twice> {
  static Tensor forward(torch::autograd::AutogradContext *, const Tensor &x) {
    return x * 2;
  }
  static torch::autograd::variable_list
  backward(torch::autograd::AutogradContext *,
           torch::autograd::variable_list grads) {
    auto grad = grads[0];
    std::vector<float> v(grad.data_ptr<float>(),
    // CHECK-MESSAGES: :[[@LINE-1]]:31: warning: wrong bytes: 'vector' takes the elements of 'grad' as they lie in memory, but a gradient may arrive in any layout; read from a packed copy, contiguous(), kept in a variable [libtorch-strided-access]
                         grad.data_ptr<float>() + grad.numel());
                         // CHECK-FIXES: auto grad_packed = grad.contiguous();
                         // CHECK-FIXES: std::vector<float> v(grad_packed.data_ptr<float>(),
                         // CHECK-FIXES: grad_packed.data_ptr<float>() + grad.numel());
    return {torch::tensor(v)};
  }
};

// Exported, and nobody asks.
extern "C" void exported(const Tensor &x, float *to) {
  std::memcpy(to, x.data_ptr<float>(), x.nbytes());
  // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: wrong bytes: 'memcpy' copies the bytes of 'x' as they lie in memory, but callers may pass a tensor of any strides; read from a packed copy, contiguous(), kept in a variable [libtorch-strided-access]
  // CHECK-FIXES: auto x_packed = x.contiguous();
  // CHECK-FIXES: std::memcpy(to, x_packed.data_ptr<float>(), x.nbytes());
}

// Part of what is repeated may be one of it.
void part_of_repeated(int64_t n, float *to) {
  auto many = torch::rand({1, 4}).expand({n, -1}).slice(0, 1);
  std::memcpy(to, many.data_ptr<float>(), many.nbytes());
  // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: wrong bytes: 'memcpy' copies the bytes of 'many' as they lie in memory, but 'expand' has fewer elements in memory than it shows; read from a packed copy, contiguous(), kept in a variable [libtorch-strided-access]
  // CHECK-FIXES: auto many_packed = many.contiguous();
  // CHECK-FIXES: std::memcpy(to, many_packed.data_ptr<float>(), many.nbytes());
}

// All four columns, if there are no more; one of two, or one row of them.
void columns(const Tensor &x, float *to) {
  auto four = x.slice(1, 0, 4);
  std::memcpy(to, four.data_ptr<float>(), four.nbytes());
  // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: wrong bytes: 'memcpy' copies the bytes of 'four' as they lie in memory, but 'slice' has left those of the whole tensor between them; read from a packed copy, contiguous(), kept in a variable [libtorch-strided-access]
  // CHECK-FIXES: auto four_packed = four.contiguous();
  // CHECK-FIXES: std::memcpy(to, four_packed.data_ptr<float>(), four.nbytes());
}
void every_second(const Tensor &x, float *to) {
  auto second = x.slice(0, 0, 9, 2);
  std::memcpy(to, second.data_ptr<float>(), second.nbytes());
  // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: wrong bytes: 'memcpy' copies the bytes of 'second' as they lie in memory, but 'slice' has left those of the whole tensor between them; read from a packed copy, contiguous(), kept in a variable [libtorch-strided-access]
  // CHECK-FIXES: auto second_packed = second.contiguous();
  // CHECK-FIXES: std::memcpy(to, second_packed.data_ptr<float>(), second.nbytes());
}
void turned_rest(const Tensor &x, float *to) {
  auto rest = x.permute({1, 0}).slice(1, 1);
  std::memcpy(to, rest.data_ptr<float>(), rest.nbytes());
  // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: wrong bytes: 'memcpy' copies the bytes of 'rest' as they lie in memory, but 'permute' has moved no bytes: they lie in the order from before; read from a packed copy, contiguous(), kept in a variable [libtorch-strided-access]
  // CHECK-FIXES: auto rest_packed = rest.contiguous();
  // CHECK-FIXES: std::memcpy(to, rest_packed.data_ptr<float>(), rest.nbytes());
}

// The model gets a packed image.
void of_packed(torch::nn::Conv2d &net, const Tensor &x, float *to) {
  auto y = net->forward(x.permute({0, 3, 1, 2}).contiguous()).permute({0, 2, 3, 1});
  std::memcpy(to, y.data_ptr<float>(), y.nbytes());
  // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: wrong bytes: 'memcpy' copies the bytes of 'y' as they lie in memory, but 'permute' has moved no bytes: they lie in the order from before; read from a packed copy, contiguous(), kept in a variable [libtorch-strided-access]
  // CHECK-FIXES: auto y_packed = y.contiguous();
  // CHECK-FIXES: std::memcpy(to, y_packed.data_ptr<float>(), y.nbytes());
}
void second_of_packed(const Tensor &x, float *to) {
  auto second = torch::softmax(x, 1).slice(0, 0, 9, 2);
  std::memcpy(to, second.data_ptr<float>(), second.nbytes());
  // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: wrong bytes: 'memcpy' copies the bytes of 'second' as they lie in memory, but 'slice' has left those of the whole tensor between them; read from a packed copy, contiguous(), kept in a variable [libtorch-strided-access]
  // CHECK-FIXES: auto second_packed = second.contiguous();
  // CHECK-FIXES: std::memcpy(to, second_packed.data_ptr<float>(), second.nbytes());
}
