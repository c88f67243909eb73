// Over a vector that is only given short lists, a loop has few rounds.
// RUN: %check_libtorch_tidy %s libtorch-cat-in-loop %t

#include <torch/torch.h>
#include <vector>

using torch::Tensor;

static const std::vector<float> kScales{0.5, 1, 2};
static std::vector<float> changed_somewhere{0.5, 1, 2};

class Priors {
public:
  Priors() : strides_{8, 16, 32} { ratios_ = {{2}, {2, 3}, {2, 3}}; }
  Tensor few(size_t i, const Tensor &boxes) const {
    Tensor all = boxes;
    for (size_t j = 0; j < ratios_[i].size(); ++j)
      all = torch::cat({all, boxes * ratios_[i][j]}, 1);
    for (int stride : strides_)
      all = torch::cat({all, boxes * stride}, 1);
    for (float size : sizes_)
      all = torch::cat({all, boxes * size}, 1);
    for (float scale : kScales)
      all = torch::cat({all, boxes * scale}, 1);
    std::vector<int> shifts = {1, 2};
    for (size_t j = 0; j < shifts.size(); ++j)
      all = torch::cat({all, boxes + shifts[j]}, 1);
    return all;
  }
  Tensor of_all_levels(const Tensor &boxes) const {
    Tensor all = boxes;
    for (size_t j = 0; j < ratios_.size(); ++j)
      all = torch::cat({all, boxes * ratios_[j][0]}, 1);
    return all;
  }
  void add(float size) { sizes_to_add_.push_back(size); }

  Tensor many(const Tensor &boxes, const std::vector<float> &given, int n) {
    Tensor all = boxes;
    for (float size : sizes_to_add_)
      all = torch::cat({all, boxes * size}, 1);
      // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: quadratic copying: every iteration copies all of 'all' into a longer tensor; collect the parts in a std::vector and concatenate them once after the loop [libtorch-cat-in-loop]
      // CHECK-FIXES: std::vector<torch::Tensor> all_parts{all};
      // CHECK-FIXES: all_parts.push_back(boxes * size);
      // CHECK-FIXES: all = torch::cat(all_parts, 1);
    for (float step : steps_)
      all = torch::cat({all, boxes * step}, 1);
      // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: quadratic copying: every iteration copies all of 'all' into a longer tensor; collect the parts in a std::vector and concatenate them once after the loop [libtorch-cat-in-loop]
      // CHECK-FIXES: std::vector<torch::Tensor> all_parts2{all};
      // CHECK-FIXES: all_parts2.push_back(boxes * step);
      // CHECK-FIXES: all = torch::cat(all_parts2, 1);
    for (float scale : given)
      all = torch::cat({all, boxes * scale}, 1);
      // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: quadratic copying: every iteration copies all of 'all' into a longer tensor; collect the parts in a std::vector and concatenate them once after the loop [libtorch-cat-in-loop]
      // CHECK-FIXES: std::vector<torch::Tensor> all_parts3{all};
      // CHECK-FIXES: all_parts3.push_back(boxes * scale);
      // CHECK-FIXES: all = torch::cat(all_parts3, 1);
    for (float scale : changed_somewhere)
      all = torch::cat({all, boxes * scale}, 1);
      // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: quadratic copying: every iteration copies all of 'all' into a longer tensor; collect the parts in a std::vector and concatenate them once after the loop [libtorch-cat-in-loop]
      // CHECK-FIXES: std::vector<torch::Tensor> all_parts4{all};
      // CHECK-FIXES: all_parts4.push_back(boxes * scale);
      // CHECK-FIXES: all = torch::cat(all_parts4, 1);
    std::vector<float> filled(n);
    for (float scale : filled)
      all = torch::cat({all, boxes * scale}, 1);
      // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: quadratic copying: every iteration copies all of 'all' into a longer tensor; collect the parts in a std::vector and concatenate them once after the loop [libtorch-cat-in-loop]
      // CHECK-FIXES: std::vector<torch::Tensor> all_parts5{all};
      // CHECK-FIXES: all_parts5.push_back(boxes * scale);
      // CHECK-FIXES: all = torch::cat(all_parts5, 1);
    return all;
  }

private:
  std::vector<int> strides_;
  std::vector<std::vector<int>> ratios_;
  std::vector<float> sizes_ = {1, 2};
  std::vector<float> sizes_to_add_ = {1, 2};
  std::vector<float> steps_ = {1, 2, 3, 4, 5};
};
