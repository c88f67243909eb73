// RUN: %torch-facts -memory %s -- %torch_flags | %FileCheck %s
// One answer to "whose memory is it", whoever asks: what a call shares, what
// counts as the same memory, and what counts as work that allocates follow from
// the same row of the table and from the arguments.
#include <torch/torch.h>

using torch::indexing::Slice;

void calls(torch::Tensor x, torch::Tensor y, torch::Tensor mask) {
  // Indexing selects, unless a tensor is among the indices: that copies.
  x.index({0});             // CHECK: [[@LINE]]: index: view of x, a part, counts as x, work none
  x.index({Slice(0, 2)});   // CHECK: [[@LINE]]: index: view of x, a part, counts as x, work none
  x.index({mask});          // CHECK: [[@LINE]]: index: own memory, a part, work some
  x.index({Slice(), mask}); // CHECK: [[@LINE]]: index: own memory, a part, work some
  // A copy is the exception.
  x.reshape({-1});          // CHECK: [[@LINE]]: reshape: perhaps memory of x, counts as x, work none
  x.flatten();              // CHECK: [[@LINE]]: flatten: perhaps memory of x, counts as x, work none
  // A copy is what these are for.
  x.contiguous();           // CHECK: [[@LINE]]: contiguous: perhaps memory of x, work some
  x.to(torch::kCUDA);       // CHECK: [[@LINE]]: to: perhaps memory of x, work some
  torch::dropout(x, 0.5, true); // CHECK: [[@LINE]]: dropout: perhaps memory of x, work some
  // Always views, as methods, functions and operators.
  x.transpose(0, 1);        // CHECK: [[@LINE]]: transpose: view of x, counts as x, work none
  torch::transpose(x, 0, 1); // CHECK: [[@LINE]]: transpose: view of x, counts as x, work none
  x[0];                     // CHECK: [[@LINE]]: select: view of x, a part, counts as x, work none
  x.chunk(2);               // CHECK: [[@LINE]]: chunk: view of x, counts as x, work none
  x.detach();               // CHECK: [[@LINE]]: detach: view of x, counts as x, only reads, work none
  // The same tensor; it works, but it allocates nothing.
  x.add_(y);                // CHECK: [[@LINE]]: add_: same tensor as x, counts as x, work some
  // Other memory, or not known.
  x.resize_({4});           // CHECK: [[@LINE]]: resize_: unknown, work some
  x.to_sparse();            // CHECK: [[@LINE]]: to_sparse: unknown, work some
  // New tensors.
  x.clone();                // CHECK: [[@LINE]]: clone: own memory, only reads, work some
  torch::matmul(x, y);      // CHECK: [[@LINE]]: matmul: own memory, only reads, work heavy
  torch::einsum("ij->ji", {x}); // CHECK: [[@LINE]]: einsum: perhaps memory of {{.*}}, work heavy
  // Questions.
  x.size(0);                // CHECK: [[@LINE]]: size: unknown, metadata, only reads, work none
  x.defined();              // CHECK: [[@LINE]]: defined: unknown, metadata, only reads, work none
  x.item<float>();          // CHECK: [[@LINE]]: item: unknown, only reads, work none
  x.options().device(torch::kCPU); // CHECK: [[@LINE]]: options: unknown, metadata, only reads, work none
                            // CHECK-NOT: device:
  torch::dtype(torch::kLong); // CHECK-NOT: dtype:
}
