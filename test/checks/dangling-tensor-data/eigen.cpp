// An Eigen::Map refers to the memory of a tensor; a matrix that is made of one,
// or assigned one, has a copy of the elements.
// RUN: %check_libtorch_tidy %s libtorch-dangling-tensor-data %t

#include "../Inputs/matrices.h"
#include <memory>
#include <torch/torch.h>
#include <vector>

using Eigen::Map;
using Eigen::MatrixXf;
using torch::Tensor;

struct Output {
  MatrixXf policy;
  std::vector<MatrixXf> all;
  Output(const Tensor &o, int i) {
    auto p = o * 2;
    policy = Map<MatrixXf>(p[i].data_ptr<float>(), 1, p.size(1));
  }
  void set(const Tensor &o) {
    auto p = o * 2;
    policy = Map<MatrixXf>(p.data_ptr<float>(), 1, p.size(0));
    this->all[0] = Map<MatrixXf>(p.data_ptr<float>(), 1, p.size(0));
    all.push_back(Map<MatrixXf>(p.data_ptr<float>(), 1, p.size(0)));
    all.emplace_back(Map<MatrixXf>(p.data_ptr<float>(), 1, p.size(0)));
  }
};
void through_reference(const Tensor &o, MatrixXf &to) {
  auto p = o * 2;
  to = Map<MatrixXf>(p.data_ptr<float>(), 1, p.size(0));
}
void through_pointer(const Tensor &o, Output *to) {
  auto p = o * 2;
  to->policy = Map<MatrixXf>(p.data_ptr<float>(), 1, p.size(0));
  *to->all.data() = Map<MatrixXf>(p.data_ptr<float>(), 1, p.size(0));
}
MatrixXf returned(const Tensor &o) {
  auto p = o * 2;
  MatrixXf result;
  result = Map<MatrixXf>(p.data_ptr<float>(), 1, p.size(0));
  return result;
}
float after_block(const Tensor &o) {
  MatrixXf result;
  {
    auto p = o * 2;
    result = Map<MatrixXf>(p.data_ptr<float>(), 1, p.size(0));
  }
  return result.data()[0];
}
// An assignment to a map copies, too, to where it is.
Map<MatrixXf> filled(const Tensor &o, Tensor &to) {
  auto p = o * 2;
  Map<MatrixXf> result(to.data_ptr<float>(), 1, to.size(0));
  result = Map<MatrixXf>(p.data_ptr<float>(), 1, p.size(0));
  return result;
}
// It still is where it was made.
Map<MatrixXf> still_there(const Tensor &o, Tensor &to) {
  auto p = o * 2;
  Map<MatrixXf> result(p.data_ptr<float>(), 1, p.size(0));
  // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: dangling pointer: what is returned points into 'p', which is destroyed when the function returns; return the tensor, not a pointer into it [libtorch-dangling-tensor-data]
  result = Map<MatrixXf>(to.data_ptr<float>(), 1, to.size(0));
  return result;
}
Map<MatrixXf> made_here(const Tensor &o) {
  auto p = o * 2;
  return Map<MatrixXf>(p.data_ptr<float>(), 1, p.size(0));
  // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: dangling pointer: what is returned points into 'p', which is destroyed when the function returns; return the tensor, not a pointer into it [libtorch-dangling-tensor-data]
}

// What an operator= of one's own keeps of another class, its body says.
struct Deep {
  float *elements = nullptr;
  Deep &operator=(float *from) {
    std::copy(from, from + 4, elements);
    return *this;
  }
};
struct Shallow {
  float *elements = nullptr;
  Shallow &operator=(float *from) {
    elements = from;
    return *this;
  }
};
struct Unseen {
  float *elements = nullptr;
  template <class T> Unseen &operator=(const T &from);
};
void deep(const Tensor &o, Deep &to) {
  auto p = o * 2;
  to = p.data_ptr<float>();
}
void shallow(const Tensor &o, Shallow &to) {
  auto p = o * 2;
  to = p.data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:8: warning: dangling pointer: 'to.elements' points into 'p', which is destroyed when the function returns; keep the tensor, too [libtorch-dangling-tensor-data]
}
void unseen(const Tensor &o, Unseen &to) {
  auto p = o * 2;
  to = Map<MatrixXf>(p.data_ptr<float>(), 1, p.size(0));
}
