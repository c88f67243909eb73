// Collected and joined once after the loop.
// RUN: %check_libtorch_tidy %s libtorch-cat-in-loop %t -- -- -I%S/../Inputs
#include "net.h"

using torch::Tensor;

Tensor next_row(int i);

Tensor rows(int n) {
  Tensor all = torch::empty({0, 4});
  // CHECK-FIXES: std::vector<torch::Tensor> all_parts{all};
  for (int i = 0; i < n; ++i) {
    Tensor row = torch::full({1, 4}, i);
    all = torch::cat({all, row});
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: quadratic copying: every iteration copies all of 'all' into a longer tensor; collect the parts in a std::vector and concatenate them once after the loop [libtorch-cat-in-loop]
    // CHECK-FIXES: all_parts.push_back(row);
  }
  // CHECK-FIXES: all = torch::cat(all_parts);
  return all;
}

Tensor with_dimension(Net &net, const Batches &batches) {
  Tensor scores = torch::zeros({4, 1}), score;
  // CHECK-FIXES: std::vector<torch::Tensor> scores_parts{scores};
  for (const Tensor &batch : batches) {
    score = net->forward(batch);
    scores = torch::cat({scores, score.t()}, /*dim=*/1);
    // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: quadratic copying: every iteration copies all of 'scores' into a longer tensor; collect the parts in a std::vector and concatenate them once after the loop [libtorch-cat-in-loop]
    // CHECK-FIXES: scores_parts.push_back(score.t());
  }
  // CHECK-FIXES: scores = torch::cat(scores_parts, /*dim=*/1);
  return scores;
}

Tensor without_braces(Tensor all, int n) {
  // CHECK-FIXES: std::vector<torch::Tensor> all_parts{all};
  for (int i = 0; i < n; ++i)
    all = at::vstack({all, torch::rand({1, 4})});
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: quadratic copying: every iteration copies all of 'all' into a longer tensor; collect the parts in a std::vector and concatenate them once after the loop [libtorch-cat-in-loop]
    // CHECK-FIXES: all_parts.push_back(torch::rand({1, 4}));
    // CHECK-FIXES: all = at::vstack(all_parts);
    // CHECK-FIXES: std::vector<torch::Tensor> all_parts2{all};
  while (n-- > 0)
    if (n % 2)
      all = torch::hstack({all, torch::ones({1, 4}) * 2});
      // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: quadratic copying: every iteration copies all of 'all' into a longer tensor; collect the parts in a std::vector and concatenate them once after the loop [libtorch-cat-in-loop]
      // CHECK-FIXES: all_parts2.push_back(torch::ones({1, 4}) * 2);
      // CHECK-FIXES: all = torch::hstack(all_parts2);
  return all;
}

// Over both loops: nothing else happens to it in between.
Tensor nested(int n) {
  Tensor grid = torch::empty({0, 4});
  // CHECK-FIXES: std::vector<torch::Tensor> grid_parts{grid};
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      grid = torch::cat({grid, torch::full({1, 4}, i * j)}, 0);
      // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: quadratic copying: every iteration copies all of 'grid' into a longer tensor; collect the parts in a std::vector and concatenate them once after the loop [libtorch-cat-in-loop]
      // CHECK-FIXES: grid_parts.push_back(torch::full({1, 4}, i * j));
    }
  }
  // CHECK-FIXES: grid = torch::cat(grid_parts, 0);
  return grid;
}

// Starts anew for each i: only the inner loop grows it.
void started_anew(int n) {
  Tensor line;
  for (int i = 0; i < n; ++i) {
    line = torch::empty({0});
    // CHECK-FIXES: std::vector<torch::Tensor> line_parts{line};
    for (int j = 0; j < n; ++j) {
      line = torch::cat({line, torch::full({1}, i)});
      // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: quadratic copying: every iteration copies all of 'line' into a longer tensor; collect the parts in a std::vector and concatenate them once after the loop [libtorch-cat-in-loop]
      // CHECK-FIXES: line_parts.push_back(torch::full({1}, i));
    }
    // CHECK-FIXES: line = torch::cat(line_parts);
    std::cout << line;
  }
}

// Two branches add to it.
Tensor branches(int n) {
  Tensor all_ = torch::empty({0, 4});
  int all_parts = 0;
  // CHECK-FIXES: std::vector<torch::Tensor> all_parts2{all_};
  for (int i = 0; i < n; ++i) {
    if (i % 3 == 0)
      all_ = torch::cat({all_, torch::zeros({1, 4})});
      // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: quadratic copying: every iteration copies all of 'all_' into a longer tensor; collect the parts in a std::vector and concatenate them once after the loop [libtorch-cat-in-loop]
      // CHECK-FIXES: all_parts2.push_back(torch::zeros({1, 4}));
    else
      all_ = torch::cat({all_, torch::ones({1, 4})});
      // CHECK-FIXES: all_parts2.push_back(torch::ones({1, 4}));
    ++all_parts;
  }
  // CHECK-FIXES: all_ = torch::cat(all_parts2);
  return all_ * all_parts;
}

// The first iteration sets it.
Tensor first(const Batches &batches, Net &net) {
  Tensor out;
  // CHECK-FIXES: std::vector<torch::Tensor> out_parts;
  for (size_t i = 0; i < batches.size(); ++i) {
    Tensor y = net(batches[i]);
    // CHECK-FIXES: out_parts.push_back(y);
    if (i == 0)
      out = y;
    else
      out = torch::cat({out, y}, 0);
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: quadratic copying: every iteration copies all of 'out' into a longer tensor; collect the parts in a std::vector and concatenate them once after the loop [libtorch-cat-in-loop]
  }
  // CHECK-FIXES: if (!out_parts.empty())
  // CHECK-FIXES: out = torch::cat(out_parts, 0);
  Tensor other;
  // CHECK-FIXES: std::vector<torch::Tensor> other_parts;
  for (const auto &batch : batches) {
    // CHECK-FIXES: other_parts.push_back(net(batch));
    if (other.defined()) {
      other = torch::cat({other, net(batch)});
    } else {
      other = net(batch);
    }
    // CHECK-MESSAGES: :[[@LINE-4]]:15: warning: quadratic copying: every iteration copies all of 'other'
  }
  // CHECK-FIXES: if (!other_parts.empty())
  // CHECK-FIXES: other = torch::cat(other_parts);
  return out + other;
}

// All rows are joined anew each time.
Tensor rejoined(int n) {
  Tensor all;
  std::vector<Tensor> rows;
  // CHECK-MESSAGES: :[[@LINE+3]]:11: warning: quadratic copying: every iteration concatenates all of 'rows' again; concatenate them once after the loop [libtorch-cat-in-loop]
  for (int i = 0; i < n; ++i) {
    rows.push_back(next_row(i));
    all = torch::stack(rows, 0);
    std::cout << i;
  }
  // CHECK-FIXES: std::cout << i;
  // CHECK-FIXES: }
  // CHECK-FIXES: if (!rows.empty())
  // CHECK-FIXES: all = torch::stack(rows, 0);
  return all;
}

// Indented as the loop is.
Tensor wide(int n) {
    Tensor all;
    std::vector<Tensor> rows;
    for (int i = 0; i < n; ++i) {
        rows.push_back(next_row(i));
        all = torch::stack(rows, 0);
        // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: quadratic copying: every iteration concatenates all of 'rows' again; concatenate them once after the loop [libtorch-cat-in-loop]
    }
    // CHECK-FIXES: {{^    }}if (!rows.empty())
    // CHECK-FIXES-NEXT: {{^        }}all = torch::stack(rows, 0);
    return all;
}
