// Operators that 1.13 has not, methods whose sizes may be symbols, and what
// inference engines call.
// REQUIRES: libtorch-2.14
// RUN: %torch-facts -ops %s -- %torch-2.14-flags | %FileCheck %s
#include <ATen/ATen.h>

void calls(at::Tensor x, std::vector<at::Tensor> list) {
  auto a = at::_scaled_mm(x, x, x, x); // CHECK: [[@LINE]]: op _scaled_mm heavy{{$}}
  auto b = at::_scaled_dot_product_flash_attention_for_cpu(x, x, x); // CHECK: [[@LINE]]: op _scaled_dot_product_flash_attention_for_cpu heavy{{$}}
  at::_foreach_lerp_(list, list, 0.5); // CHECK: [[@LINE]]: op _foreach_lerp_ in-place{{$}}
  at::_fused_adamw_(list, list, list, list, list, list, 1e-3, 0.9, 0.99, 0, 1e-8, false, false); // CHECK: [[@LINE]]: op _fused_adamw_ in-place{{$}}
  auto c = x.view_symint({2, 3}); // CHECK: [[@LINE]]: op view view whole pure saves-nothing{{$}}
  auto d = at::narrow_symint(x, 0, 0, 1); // CHECK: [[@LINE]]: op narrow view part saves-nothing{{$}}
  auto e = at::zeros_symint({2}); // CHECK: [[@LINE]]: op zeros factory saves-nothing never-differentiable{{$}}
  auto f = at::_int_mm(x, x); // CHECK: [[@LINE]]: op _int_mm {{.*}}never-differentiable{{$}}
  // Containers have a resize() and a set() of their own.
  c10::SmallVector<int64_t, 4> sizes;
  sizes.resize(2); // CHECK-NOT: [[@LINE]]: op
}
