// What a container or an optional of numbers is given by two pointers, it has a
// copy of.
// RUN: %check_libtorch_tidy %s libtorch-dangling-tensor-data %t

#include <deque>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <torch/torch.h>
#include <vector>

using torch::Tensor;

struct Output {
  std::vector<float> scores;
  std::deque<float> last;
  std::list<double> all;
  std::string bytes;
  std::optional<std::vector<float>> found;
  std::vector<std::vector<float>> rows;
  std::map<int, std::vector<float>> named;
  std::vector<float *> pointers;
  std::optional<float *> pointer;

  void assigned(const Tensor &o) {
    auto p = o * 2;
    scores.assign(p.data_ptr<float>(), p.data_ptr<float>() + p.numel());
    this->last.assign(p.data_ptr<float>(), p.data_ptr<float>() + p.numel());
    float *from = p.data_ptr<float>();
    all.assign(from, from + 3);
    rows[0].assign(from, from + 3);
    named.at(1).assign(from, from + 3);
    bytes.assign(static_cast<const char *>(p.data_ptr()), p.nbytes());
  }
  void emplaced(const Tensor &o) {
    auto p = o * 2;
    found.emplace(p.data_ptr<float>(), p.data_ptr<float>() + p.numel());
    rows.emplace_back(p.data_ptr<float>(), p.data_ptr<float>() + p.numel());
  }
  void inserted(const Tensor &o) {
    auto p = o * 2;
    scores.insert(scores.end(), p.data_ptr<float>(),
                  p.data_ptr<float>() + p.numel());
  }
  // Pointers are no numbers.
  void kept(const Tensor &o) {
    auto p = o * 2;
    pointers.assign(3, p.data_ptr<float>());
    // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: dangling pointer: 'pointers' points into 'p', which is destroyed when the function returns; keep the tensor, too [libtorch-dangling-tensor-data]
    pointer.emplace(p.data_ptr<float>());
    // CHECK-MESSAGES: :[[@LINE-1]]:21: warning: dangling pointer: '*pointer' points into 'p', which is destroyed when the function returns; keep the tensor, too [libtorch-dangling-tensor-data]
  }
};
void to_caller(const Tensor &o, std::vector<float> &to) {
  auto p = o * 2;
  to.assign(p.data_ptr<float>(), p.data_ptr<float>() + p.numel());
}
float after_block(const Tensor &o) {
  std::vector<float> here;
  {
    auto p = o * 2;
    here.assign(p.data_ptr<float>(), p.data_ptr<float>() + p.numel());
  }
  return here[0];
}
