// What is returned, stored, or gone before its use: naming the temporary on the
// line before would not do.
// RUN: %check_libtorch_tidy %s libtorch-dangling-tensor-data %t

#include <torch/torch.h>

using torch::Tensor;
void read(const float *);

float *returned(Tensor x) {
  return (x * 2).data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: dangling pointer: what is returned points into a tensor that is destroyed when the function returns; return the tensor, not a pointer into it [libtorch-dangling-tensor-data]
}
float *returned_of_local(Tensor x) {
  Tensor doubled = x * 2;
  doubled.add_(1);
  return doubled.data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: dangling pointer: what is returned points into 'doubled', which is destroyed when the function returns; return the tensor, not a pointer into it [libtorch-dangling-tensor-data]
}
float *returned_later(Tensor x) {
  auto doubled = x * 2;
  float *p = doubled.data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: dangling pointer: what is returned points into 'doubled', which is destroyed when the function returns; return the tensor, not a pointer into it [libtorch-dangling-tensor-data]
  read(p);
  return p;
}
torch::IntArrayRef returned_list() {
  return {1, 2};
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: dangling reference: what is returned refers to a list in braces that is destroyed when the function returns; return a copy [libtorch-dangling-tensor-data]
}
torch::IntArrayRef returned_vector(Tensor x) {
  std::vector<int64_t> sizes = x.sizes().vec();
  return sizes;
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: dangling reference: what is returned refers to 'sizes', which is destroyed when the function returns; return a copy [libtorch-dangling-tensor-data]
}
torch::IntArrayRef returned_sizes(Tensor x) {
  auto turned = x.t();
  return turned.sizes();
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: dangling reference: what is returned refers to the sizes of 'turned', which is destroyed when the function returns; return a copy [libtorch-dangling-tensor-data]
}

void assigned(Tensor x, bool twice) {
  const float *p = nullptr;
  if (twice)
    p = (x * 2).data_ptr<float>();
    // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: dangling pointer: 'p' points into a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
  if (p)
    read(p);
}

void overwritten(Tensor x) {
  Tensor t = x * 2;
  float *p = t.data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: dangling pointer: 'p' points into the tensor that 't' held before it was assigned again; take it again after the assignment [libtorch-dangling-tensor-data]
  auto a = t.accessor<float, 2>();
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: dangling pointer: 'a' points into the tensor that 't' held before it was assigned again; take it again after the assignment [libtorch-dangling-tensor-data]
  auto sizes = t.sizes();
  // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: dangling reference: 'sizes' refers to the sizes of the tensor that 't' held before it was assigned again; take it again after the assignment [libtorch-dangling-tensor-data]
  t = torch::zeros({3, 3});
  read(p);
  std::cout << a[0][0] << sizes;
}
void resized(Tensor x) {
  Tensor t = torch::zeros({2});
  float *p = t.data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: dangling pointer: 'p' points into 't', whose memory may move when it is resized; take it again after that [libtorch-dangling-tensor-data]
  t.resize_({1000});
  read(p);
}
void inner_scope(Tensor x) {
  const float *p = nullptr;
  {
    Tensor t = x * 2;
    p = t.data_ptr<float>();
    // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: dangling pointer: 'p' points into 't', which is destroyed when its block ends; declare it before that block [libtorch-dangling-tensor-data]
    read(p);
  }
  read(p);
}

class View {
public:
  View(std::vector<int64_t> sizes) : sizes_(sizes) {}
  // CHECK-MESSAGES: :[[@LINE-1]]:38: warning: dangling reference: 'sizes_' refers to 'sizes', which is destroyed when the function returns; keep a copy [libtorch-dangling-tensor-data]
  void look(Tensor x) { data_ = torch::relu(x).data_ptr<float>(); }
  // CHECK-MESSAGES: :[[@LINE-1]]:33: warning: dangling pointer: 'data_' points into a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
  void lookAt(Tensor x) {
    Tensor y = x.clone();
    data_ = y.data_ptr<float>();
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: dangling pointer: 'data_' points into 'y', which is destroyed when the function returns; keep the tensor, too [libtorch-dangling-tensor-data]
  }

private:
  const float *data_ = nullptr;
  torch::IntArrayRef sizes_;
};

const torch::IntArrayRef image_size = {1, 3, 224, 224};
// CHECK-MESSAGES: :[[@LINE-1]]:39: warning: dangling reference: 'image_size' refers to a list in braces that is destroyed at the end of this statement; keep the list in a variable [libtorch-dangling-tensor-data]
Tensor blank() {
  static const torch::IntArrayRef size = {1, 3, 32, 32};
  // CHECK-MESSAGES: :[[@LINE-1]]:42: warning: dangling reference: 'size' refers to a list in braces that is destroyed at the end of this statement; keep the list in a variable [libtorch-dangling-tensor-data]
  return torch::zeros(size);
}
